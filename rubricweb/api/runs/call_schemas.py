"""Shapes of calls to judges."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.runs.schemas import JudgeError
from rubricweb.api.shapes import Shape
from rubricweb.selectors.runs.calls import CallMessage as ShownMessage


class Message(Shape[ShownMessage]):
    pass


class CallReference(Schema):
    id: int
    run_id: int
    item_id: int


class Call(Schema):
    """One call to a judge after its retries, with what was sent and what came back.

    `request` is the body as it was sent, null where it was not kept, was pruned (`pruned_at`) or is
    `withheld` because it shows labels of items you are still to review blind. An answer taken from an earlier
    call names it in `cached_from`, has that call's request, and cost nothing. One that came in a try, or with
    a call that was deleted since, names none and has no attempts.
    """

    id: int
    judge: Annotated[str, Field(description="Who was asked; empty when that is not stored.")]
    model: Annotated[str, Field(description="What the endpoint says answered.")]
    fallback: Annotated[bool, Field(description="Whether the fallback model answered.")]
    reply_format: Annotated[str, Field(examples=["json_schema"])]
    request: dict[str, Any] | None
    messages: Annotated[
        list[Message],
        Field(description="What the judge was told; rebuilt from the rubric where no request was kept."),
    ]
    reply: Annotated[str, Field(description="As it came.")]
    reasoning: str
    attempts: int
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_seconds: Annotated[
        float | None, Field(description="Null for an answer of a batch, or taken from an earlier call.")
    ]
    cached_from: CallReference | None
    error: JudgeError | None
    pruned_at: datetime | None
    withheld: bool
    created_at: datetime

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return JudgeError(kind=row.error_kind, message=row.error_message) if row.error_kind else None

    @staticmethod
    def resolve_latency_seconds(row: Any) -> float | None:
        return row.latency_seconds or None  # earlier releases stored 0 for what was not timed

    @staticmethod
    def resolve_reply_format(row: Any) -> str:
        return str(row.rung)
