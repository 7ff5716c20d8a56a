"""The body of a request for a chat completion: what is asked, in the form the endpoint was found to take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from rubricweb.engine.autograders.base import Prompt
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.reply_formats import (
    CACHE_MARK,
    JSON_SCHEMA,
    RUNGS,
    EndpointCapabilities,
    response_format,
    schema_in_words,
)

TOP_LOGPROBS = 5
"""How many alternatives to every token to ask for; OpenAI allows 20, some servers no more than 5."""

BYTES_PER_TOKEN = 4
USUAL_COMPLETION_TOKENS = 256


def is_prose(prompt: Prompt) -> bool:
    """Whether the answer is prose, which no schema constrains."""
    return prompt.reply_format == "yes_no" or prompt.schema is None


def request_body(
    config: JudgeConfig,
    prompt: Prompt,
    capabilities: EndpointCapabilities,
    rung: int,
    *,
    spell_out_schema: bool,
) -> dict[str, Any]:
    """What to send to `/chat/completions`; `rung` is an index into RUNGS.

    `spell_out_schema` puts the schema into the system message even where the decoder knows it.
    """
    schema = None if is_prose(prompt) else prompt.schema
    system = prompt.system
    if schema is not None and (RUNGS[rung] != JSON_SCHEMA or spell_out_schema):
        system += schema_in_words(schema)
    body: dict[str, Any] = {
        "model": config.model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}],
    }
    wanted_format = response_format(RUNGS[rung], schema)
    if wanted_format is not None:
        body["response_format"] = wanted_format
    parameters = config.sampling.request()
    if (limit := parameters.pop("max_tokens", None)) is not None:
        body["max_completion_tokens" if capabilities.completion_tokens_name else "max_tokens"] = limit
    body |= {name: value for name, value in parameters.items() if name not in capabilities.without}
    if "logprobs" in body and "top_logprobs" not in capabilities.without:
        body["top_logprobs"] = TOP_LOGPROBS
    return body


def marked(body: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The same body with a mark for the cache after so many characters of the user's message.

    What is stored of a request is the body without the mark: the texts are the same.
    """
    system, user = body["messages"]
    parts = [{"type": "text", "text": user["content"][:at], CACHE_MARK: {"type": "ephemeral"}}]
    if rest := user["content"][at:]:
        parts.append({"type": "text", "text": rest})
    return {**body, "messages": [system, {**user, "content": parts}]}


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body as JSON in UTF-8."""
    try:
        return to_json(body)
    except PydanticSerializationError:  # half of a surrogate pair in a text: JSON can spell it, UTF-8 cannot
        return json.dumps(body, separators=(",", ":")).encode()


def guessed_tokens(config: JudgeConfig, sent: bytes) -> int:
    """How many tokens a request is likely to use, its answer included, for whoever shares out a limit."""
    return len(sent) // BYTES_PER_TOKEN + (config.sampling.max_output_tokens or USUAL_COMPLETION_TOKENS)
