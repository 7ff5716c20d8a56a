"""Ways of asking for a structured reply, best first, and what each endpoint was found to accept.

    json_schema         response_format with a strict JSON schema: the decoder cannot leave it
    json_object_schema  response_format json_object with the schema beside it (llama.cpp's dialect)
    json_object         any JSON object; the schema is in the system message
    text                no response_format; the schema is in the system message, or the answer is prose

An endpoint that refuses a rung is asked on the next one down, and that is remembered per address, key and
model, as are parameters it refuses: for the process, and by whoever keeps `EndpointCapabilities.dump()` for
longer.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS

JSON_SCHEMA, JSON_OBJECT_SCHEMA, JSON_OBJECT, TEXT = (
    "json_schema",
    "json_object_schema",
    "json_object",
    "text",
)
RUNGS = (JSON_SCHEMA, JSON_OBJECT_SCHEMA, JSON_OBJECT, TEXT)

RECHECK_SECONDS = 600.0
"""How long a rung is passed over because of a 500, which may as well have been an outage."""

# Keywords that strict decoders refuse or ignore; the reply is checked against the full model when it is read.
_DROPPED_KEYWORDS = frozenset(
    {"title", "default", "examples", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems"}
)
_FORMAT_WORDS = re.compile(
    r"response_format|json_schema|json_object|response schema|structured[ _]output|guided_json|grammar|"
    r"additionalproperties"
)
_REFUSING_WORDS = re.compile(
    r"support|deprecat|allow|permit|recogni[sz]|unknown|unexpected|extra|cannot|not available"
)
_MARK_WORDS = re.compile(
    r"cache_control|content\b.{0,80}\b(?:string|str|list|array|parts?|type)\b", re.DOTALL
)
_PARAMETERS = (
    *(option.sent_as for option in SAMPLING_OPTIONS if option.sent_as != "max_tokens"),
    "top_logprobs",
)
OPTIONAL_PARAMETERS = tuple(
    sorted(_PARAMETERS, key=lambda name: sum(name in longer for longer in _PARAMETERS))
)
"""What is left out of requests to an endpoint that refuses it; longer names before those they contain."""


CACHE_MARK = "cache_control"
"""The mark at the end of a beginning that a provider is to keep; left out where an endpoint refuses it."""

SHORTEST_CACHED_TOKENS = 1024
"""Providers keep no shorter beginning of a prompt, some none below 2,048 or 4,096 tokens."""

CACHE_TRIALS = 20
"""So many answers in a row without cached tokens, to prompts whose beginning the provider had just been sent,
say that it keeps none of that length."""


@functools.lru_cache(maxsize=1024)
def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema as strict decoders want it: every object closed, every property required.

    Property order, which decides what a model writes first, is kept. Treat the result as read-only.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def response_format(rung: str, model: type[BaseModel] | None) -> dict[str, Any] | None:
    """The `response_format` of a request on this rung; None leaves the field out."""
    if model is None or rung == TEXT:
        return None
    if rung == JSON_SCHEMA:
        return {
            "type": "json_schema",
            "json_schema": {"name": model.__name__, "strict": True, "schema": strict_schema(model)},
        }
    if rung == JSON_OBJECT_SCHEMA:
        return {"type": "json_object", "schema": strict_schema(model)}
    return {"type": "json_object"}


@functools.lru_cache(maxsize=1024)
def schema_in_words(model: type[BaseModel]) -> str:
    """What to add to the system message when the decoder does not know the schema."""
    schema = json.dumps(strict_schema(model), ensure_ascii=False, separators=(",", ":"))
    return f"\n\nAnswer with one JSON object that fits this JSON schema, and nothing else:\n{schema}"


@dataclass(slots=True)
class EndpointCapabilities:
    """What one endpoint and model were found to accept so far. Lives in the client's loop: no lock.

    `revision` counts what was learned for good, so that whoever keeps it sees that there is something new.
    """

    floor: int = 0
    recheck_at: float = math.inf
    proven: set[int] = field(default_factory=set)
    without: set[str] = field(default_factory=set)
    completion_tokens_name: bool = False
    # From how many tokens on a beginning of a prompt is worth waiting for, and whether one was ever cached.
    cached_from: int = SHORTEST_CACHED_TOKENS
    has_cached: bool = False
    revision: int = 0
    # Answers in a row that might have had cached tokens and had none, and the longest beginning among them.
    cache_misses: int = 0
    longest_miss: int = 0

    def first_rung(self, now: float) -> int:
        """Index into RUNGS at which to start; `now` in seconds of the same clock as `learn`."""
        if now >= self.recheck_at:
            self.floor, self.recheck_at = 0, math.inf
        return self.floor

    def learn(self, rung: int, *, refused: bool, failed: bool, now: float) -> None:
        """A request on `rung` was answered, after rungs above it were refused (4xx) or failed (500)."""
        if rung not in self.proven:
            self.proven.add(rung)
            self.revision += 1
        if not (refused or failed) or rung <= self.floor:
            return
        self.floor = rung
        self.recheck_at = math.inf if refused else now + RECHECK_SECONDS
        self.revision += 1

    def steps_down_on_500(self, rung: int) -> bool:
        """Whether a 500 on this rung may be about the rung: never once it worked, never on the last."""
        return rung not in self.proven and rung < len(RUNGS) - 1

    def adapt(self, payload: Mapping[str, Any], body: object) -> str:
        """Give up a parameter that this 400 or 422 refuses; its name, "" when nothing changed."""
        param, code, message = _error_fields(body)
        if "max_tokens" in payload and (
            "max_completion_tokens" in message or (param == "max_tokens" and code == "unsupported_parameter")
        ):
            self.completion_tokens_name = True
            self.revision += 1
            return "max_tokens"
        sent = [name for name in OPTIONAL_PARAMETERS if name in payload]
        refused = next((name for name in sent if param == name), "")
        if not refused and _REFUSING_WORDS.search(message):
            refused = next((name for name in sent if name in message), "")
        if refused:
            self.without.add(refused)
            self.revision += 1
        return refused

    def learn_cached(self, tokens: int, cached: int) -> None:
        """A prompt whose beginning of about so many tokens may be in the provider's cache was answered, and
        `cached` tokens were.

        After CACHE_TRIALS answers in a row without any, only beginnings twice as long are tried again.
        """
        if cached:
            self.cache_misses = self.longest_miss = 0
            if not self.has_cached or 0 < tokens < self.cached_from:
                self.has_cached = True
                self.cached_from = min(self.cached_from, max(tokens, SHORTEST_CACHED_TOKENS))
                self.revision += 1
            return
        if tokens < self.cached_from:
            return
        self.cache_misses += 1
        self.longest_miss = max(self.longest_miss, tokens)
        if self.cache_misses >= CACHE_TRIALS:
            self.cached_from = 2 * self.longest_miss
            self.cache_misses = self.longest_miss = 0
            self.revision += 1

    def refuses_mark(self, body: object) -> bool:
        """Whether this 400 or 422 to a request with a cache mark is about the mark or the parts of text."""
        _, _, message = _error_fields(body)
        if not _MARK_WORDS.search(message):
            return False
        self.without.add(CACHE_MARK)
        self.revision += 1
        return True

    def given_up(self) -> list[str]:
        """What requests leave out because of this, in words."""
        names = sorted(self.without)
        if self.completion_tokens_name:
            names.append("max_tokens")
        if self.floor:
            names.append(f"a reply format above {RUNGS[self.floor]}")
        return names

    def beyond(self, asked: EndpointCapabilities) -> EndpointCapabilities:
        """What of this is refused though a request in the form `asked` still had it, and the rungs that were
        answered.
        """
        return EndpointCapabilities(
            floor=self.floor if self.floor > asked.floor else 0,
            proven=set(self.proven),
            without=self.without - asked.without,
            completion_tokens_name=self.completion_tokens_name and not asked.completion_tokens_name,
        )

    def joined(self, other: EndpointCapabilities) -> EndpointCapabilities:
        """What two processes learned for good about the same endpoint and model."""
        return EndpointCapabilities(
            floor=max(self.floor, other.floor),
            proven=self.proven | other.proven,
            without=self.without | other.without,
            completion_tokens_name=self.completion_tokens_name or other.completion_tokens_name,
            cached_from=max(self.cached_from, other.cached_from),
            has_cached=self.has_cached or other.has_cached,
        )

    def dump(self) -> dict[str, Any]:
        """What was learned for good, as JSON: not what a 500 taught, which may have been an outage."""
        return {
            "floor": RUNGS[self.floor if self.recheck_at == math.inf else 0],
            "proven": [RUNGS[rung] for rung in sorted(self.proven)],
            "without": sorted(self.without),
            "completion_tokens_name": self.completion_tokens_name,
            "cached_from": None if self.cached_from == SHORTEST_CACHED_TOKENS else self.cached_from,
            "has_cached": self.has_cached,
        }

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> EndpointCapabilities:
        """What `dump` gave; what is missing or of another version counts as not learned yet."""
        proven, without = (
            {value for value in given if isinstance(value, str)} if isinstance(given, list) else set()
            for given in (dumped.get("proven"), dumped.get("without"))
        )
        floor = dumped.get("floor")
        return cls(
            floor=RUNGS.index(floor) if floor in RUNGS else 0,
            proven={RUNGS.index(rung) for rung in proven if rung in RUNGS},
            without=without & {*OPTIONAL_PARAMETERS, CACHE_MARK},
            completion_tokens_name=dumped.get("completion_tokens_name") is True,
            cached_from=_whole(dumped.get("cached_from"), SHORTEST_CACHED_TOKENS),
            has_cached=dumped.get("has_cached") is True,
        )

    @classmethod
    def parse(cls, text: object) -> EndpointCapabilities | None:
        """What `dump` gave, written as JSON; None for anything else, whoever it came from."""
        try:
            dumped = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            return None
        return cls.load(dumped) if isinstance(dumped, dict) else None


def _whole(number: object, least: int) -> int:
    """The number, where it is a whole one from `least` on; else `least`."""
    return number if type(number) is int and number >= least else least


def concerns_format(body: object) -> bool:
    """Whether an error body is about the form of the reply that was asked for."""
    param, _, message = _error_fields(body)
    return bool(_FORMAT_WORDS.search(param) or _FORMAT_WORDS.search(message))


def _error_fields(body: object) -> tuple[str, str, str]:
    """(param, code, message) in lower case, "" where absent; without a message, the body's beginning."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return "", "", str(error)[:4000].lower()
    param, code, message = (error.get(name) for name in ("param", "code", "message"))
    text = message if isinstance(message, str) else json.dumps(error, default=str)
    return str(param or "").lower(), str(code or "").lower(), text[:4000].lower()


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # strict decoders refuse anything beside a reference
    kept = {
        # Names under properties and $defs are the model's own, not keywords.
        name: {key: _strict(part) for key, part in value.items()}
        if name in ("properties", "$defs")
        else _strict(value)
        for name, value in schema.items()
        if name not in _DROPPED_KEYWORDS
    }
    if "oneOf" in kept:
        kept["anyOf"] = kept.pop("oneOf")
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept
