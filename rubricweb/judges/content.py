"""What makes two questions the same: a key over everything that decides the answer."""

from __future__ import annotations

import functools
import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from pydantic import BaseModel

from rubricweb.engine.autograders.base import Prompt
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.reply_formats import strict_schema

FORMAT = 1
"""Raised when the same question would be sent differently: stored answers then answer it no more."""


def content_key(config: JudgeConfig, prompt: Prompt, repeat: int) -> uuid.UUID:
    """The key under which an answer to this question may stand in for asking it again.

    The first 16 bytes of the SHA-256 of a canonical JSON of: address (identity, where the judge has one),
    model, fallback model, sampling, extra headers, whether token probabilities were wanted, the prompt's
    texts, how its reply is read and the schema it must fit, and `repeat` (0 for the only time it is asked).
    Not of the judge's name, API key, prices, limits or patience, nor of which criterion of which rubric the
    prompt was made for: the same words asked of the same model are the same question.
    """
    digest = hashlib.sha256(_of_judge(config))
    digest.update(_of_schema(prompt.schema))
    digest.update(_canonical([prompt.reply_format, prompt.system, prompt.user, repeat]))
    return uuid.UUID(bytes=digest.digest()[:16])


def first_repeats(
    judges: Mapping[str, JudgeConfig], repeats: Mapping[str, int], words: Mapping[str, Hashable] | None = None
) -> dict[str, int]:
    """From which `repeat` on each judge's questions are counted, when each is asked the same so many times.

    Judges that ask the same model in the same way are asked independently, like repeats of one: two of them
    asked twice each count 0, 1 and 2, 3. `words` tells judges apart that are told something else before they
    are asked: each counts from 0, for its questions are its own.
    """
    asked: Counter[Hashable] = Counter()
    first = {}
    for name, config in judges.items():
        alike = _of_judge(config), (words or {}).get(name)
        first[name] = asked[alike]
        asked[alike] += repeats[name]
    return first


@functools.lru_cache(maxsize=256)
def _of_judge(config: JudgeConfig) -> bytes:
    return _canonical(
        {
            "format": FORMAT,
            "base_url": config.answered_by,
            "model": config.model,
            "fallback_model": config.fallback_model,
            **config.sampling.in_key(),
            "headers": sorted((name.lower(), value) for name, value in config.extra_headers),
        }
    )


@functools.lru_cache(maxsize=1024)
def _of_schema(schema: type[BaseModel] | None) -> bytes:
    return _canonical(None if schema is None else {schema.__name__: strict_schema(schema)})


def _canonical(value: Any) -> bytes:
    """Keys sorted except where their order is sent, and so matters: a schema's properties."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
