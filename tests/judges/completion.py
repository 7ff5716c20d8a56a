"""Answers of an endpoint, written out as other providers write them."""

import json
import math
from typing import Any

from rubricweb.judges.offline.script import Garbage

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


def completion(
    content: object = None,
    *,
    finish: str | None = "stop",
    usage: object = USAGE,
    logprobs: object = None,
    model: object = "m",
    **message: Any,
) -> Garbage:
    """A 200 with this message; further keywords are further fields of the message."""
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": content, **message}}
    choice |= {"finish_reason": finish} if finish is not None else {}
    choice |= {"logprobs": logprobs} if logprobs is not None else {}
    return Garbage(json.dumps({"model": model, "choices": [choice], "usage": usage}))


def token(text: str, probability: float, **others: float) -> dict[str, Any]:
    """A token of the answer with its probability, and those of others in its place."""
    top = [{"token": text, "logprob": math.log(probability)}]
    top += [{"token": other, "logprob": math.log(chance)} for other, chance in others.items()]
    return {"token": text, "logprob": math.log(probability), "top_logprobs": top}
