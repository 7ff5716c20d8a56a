"""What an endpoint answers with 200, read in one pass: what is not as it should be reads as absent.

Providers differ in every corner of this format, so that nothing but an answer without any choice is worth
failing for. The names are theirs.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from rubricweb.engine.parsers.think import without_thinking
from rubricweb.judges.client.foreign_json import respelled

CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "token_limit"})
"""Finish reasons, in lower case, that say: the output token limit was reached."""

DECLINED = frozenset(
    {
        "content_filter",
        "content_filtered",
        "refusal",
        "safety",
        "prohibited_content",
        "blocklist",
        "recitation",
        "spii",
        "sensitive",
        "guardrail_intervened",
    }
)
"""Finish reasons that say: the model, or a filter around it, declined."""

BROKE_DOWN = frozenset({"error", "insufficient_system_resource", "aborted", "abort"})
"""Finish reasons that say: the provider failed on the way."""


class _OrNone:
    """Annotates a field whose value becomes None when it does not fit; pydantic-core does it, not Python."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


# Of anything else there is no more than this in an answer that is one: what is longer reads as absent, before
# a hundred bytes are made of every three.
MOST_CHOICES, MOST_PARTS, MOST_TOKENS, MOST_TOP_LOGPROBS = 128, 10_000, 50_000, 100

Text: TypeAlias = Annotated[str | None, _OrNone]
# No more than a column of the database holds.
Count: TypeAlias = Annotated[Annotated[int, Field(strict=True, ge=0, lt=2**31)] | None, _OrNone]


class TokenChance(_Part):
    """One token with the natural logarithm of its probability; `bytes` where it is no text of its own."""

    token: str
    logprob: float
    bytes: Annotated[
        Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(max_length=1000)] | None, _OrNone
    ] = None


class Token(TokenChance):
    """A token of the answer, and the likeliest ones in its place."""

    top_logprobs: Annotated[
        Annotated[list[TokenChance], Field(max_length=MOST_TOP_LOGPROBS)] | None, _OrNone
    ] = None


class _Logprobs(_Part):
    content: Annotated[Annotated[list[Token], Field(max_length=MOST_TOKENS)] | None, _OrNone] = None


class _TextPart(_Part):
    text: Text = None


class CompletionMessage(_Part):
    """What the model said, in whole or in parts, and where providers put what it thought before."""

    content: Annotated[
        str | Annotated[list[_TextPart], Field(max_length=MOST_PARTS)] | None,
        Field(union_mode="left_to_right"),
        _OrNone,
    ] = None
    refusal: Text = None
    reasoning_content: Text = None
    reasoning: Text = None

    @property
    def text(self) -> str:
        """The content as one text, "" when there is none."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text or "" for part in self.content or ())


class CompletionChoice(_Part):
    """One answer, and why it ended there."""

    message: Annotated[CompletionMessage | None, _OrNone] = None
    finish_reason: Text = None
    logprobs: Annotated[_Logprobs | None, _OrNone] = None

    @property
    def finish(self) -> str:
        """Why the answer ended, in lower case; "" when that is not said."""
        return (self.finish_reason or "").lower()


class _PromptDetails(_Part):
    cached_tokens: Count = None
    cache_write_tokens: Count = None
    cache_creation_tokens: Count = None


class _CompletionDetails(_Part):
    reasoning_tokens: Count = None


class CompletionUsage(_Part):
    """What was used, in tokens."""

    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: Annotated[_PromptDetails | None, _OrNone] = None
    completion_tokens_details: Annotated[_CompletionDetails | None, _OrNone] = None
    prompt_cache_hit_tokens: Count = None
    cache_creation_input_tokens: Count = None

    @property
    def cached(self) -> int | None:
        """Prompt tokens the provider had in its cache, None when it does not say."""
        details = self.prompt_tokens_details
        if details is not None and details.cached_tokens is not None:
            return details.cached_tokens
        return self.prompt_cache_hit_tokens

    @property
    def cache_written(self) -> int:
        """Prompt tokens the provider bills for having written them into its cache, as far as that is said."""
        details = self.prompt_tokens_details
        said = (details.cache_write_tokens, details.cache_creation_tokens) if details is not None else ()
        return next((count for count in (*said, self.cache_creation_input_tokens) if count), 0)

    @property
    def reasoning(self) -> int:
        """Completion tokens spent on thinking, as far as that is said."""
        details = self.completion_tokens_details
        return (details.reasoning_tokens if details is not None else None) or 0

    @property
    def completion(self) -> int | None:
        """Tokens paid for as output; None where the prompt's or the completion's are unknown.

        Some providers count thinking beside `completion_tokens`, and only in `total_tokens`: 10,120 and 1,499
        of 14,428 in all are 4,308 of output. A total below the sum of both says nothing.
        """
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return max(self.completion_tokens, (self.total_tokens or 0) - self.prompt_tokens)

    @property
    def total(self) -> int | None:
        """Prompt and completion together; None when either is unknown."""
        if self.prompt_tokens is None or self.completion is None:
            return None
        return self.prompt_tokens + self.completion


class Completion(_Part):
    """A chat completion. Without `choices` it is none: some gateways answer 200 with an error inside."""

    model: Text = None
    choices: Annotated[Annotated[list[CompletionChoice], Field(max_length=MOST_CHOICES)] | None, _OrNone] = (
        None
    )
    usage: Annotated[CompletionUsage | None, _OrNone] = None

    @property
    def choice(self) -> CompletionChoice | None:
        """The first choice that holds a message; None when there is none."""
        first = self.choices[0] if self.choices else None
        return first if first is not None and first.message is not None else None


def read_completion(body: bytes) -> Completion | None:
    """The answer in this body, None when it is no JSON object, or one nested deeper than anybody means.

    Half of a surrogate pair, which JSON can spell and UTF-8 cannot, reads as a question mark.
    """
    try:
        return Completion.model_validate_json(body)
    except ValidationError:
        pass
    try:
        return Completion.model_validate_json(respelled(body))
    except ValidationError:
        return None


# Where a chat template opens the block itself, only its end is in the answer: on a line of its own.
_BARE_END = re.compile(r"(?:\A|\n)[ \t]*</think(?:ing)?>[ \t]*(?:\n|\Z)", re.IGNORECASE)
_TAG = re.compile(r"\A\s*<think(?:ing)?>|</think(?:ing)?>\s*\Z", re.IGNORECASE)


def split_thinking(content: str) -> tuple[str, int]:
    """What the model thought aloud at the beginning of its answer, and where the answer proper begins.

    `"<think>Paris? Yes.</think>YES"` gives `("Paris? Yes.", 26)`; an answer without thinking gives
    `("", 0)`; a block that is never closed is all thinking.
    """
    answer = without_thinking(content)
    start = len(content) - len(answer)
    if not start:
        if "</think" not in content or content.lstrip().startswith(("{", "[", "```")):
            return "", 0
        ends = list(_BARE_END.finditer(content))
        if not ends:
            return "", 0
        start = ends[-1].end()
    return _TAG.sub("", content[:start]).strip(), start
