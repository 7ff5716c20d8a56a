"""Shapes of a try: on what a judge is tried, and each thing that comes of it."""

from collections.abc import Iterable
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.judges.schemas import SentDefinition
from rubricweb.api.schemas import Id, Input, OneOf
from rubricweb.api.schemas import Prompt as SentPrompt
from rubricweb.api.shapes import Shape
from rubricweb.engine.rubric import Rubric
from rubricweb.selectors.tries import NEXT, WRONG
from rubricweb.services.tries.answers import (
    BEFORE,
    TRIED,
    StillWaiting,
    TriedReply,
    TriedResult,
    TriedSum,
    TriedVerdict,
    TryPiece,
    TryStopped,
)


class TriedSubmission(Input):
    """A submission that is in no dataset."""

    output: str
    query: SentPrompt = None
    reference: str | None = None
    thinking: str | None = None


class NewTry(Input):
    """On what it is tried: an `item`; or of a `dataset` the next item, or one it got wrong, after the item
    `after`; or a `submission`. Against a published version, `rubric_version`, or a `rubric` that is not
    stored; an item's own rubric wins over the former.
    """

    item: Id | None = None
    dataset: Id | None = None
    which: Annotated[str, OneOf((NEXT, WRONG)), Field(description="Of the dataset.")] = NEXT
    after: Id | None = None
    submission: TriedSubmission | None = None
    rubric_version: Id | None = None
    rubric: Annotated[
        dict[str, Any] | None, Field(description="Title, guidelines and criteria, as a rubric file has them.")
    ] = None


class NewVersionTry(NewTry):
    """With `changes`, a JSON Merge Patch, or a `definition` that is tried as it is, beside the version."""

    definition: SentDefinition | None = None
    changes: Annotated[
        dict[str, Any] | None, Field(description="A JSON Merge Patch (RFC 7396) to the version.")
    ] = None


class NewDefinitionTry(NewTry):
    """A judge that is not kept: its `definition`, or what a run would name as its `judge`, such as
    `endpoint-3`.
    """

    definition: SentDefinition | None = None
    judge: Annotated[str, Field(max_length=200, examples=["endpoint-3"])] = ""


class TryError(Schema):
    """Why there is no answer, and what to do about it."""

    kind: str
    message: str
    advice: str = ""


class CriterionTry(Schema):
    """What was said of one criterion, at `place` from 0 in its rubric; `value` is that of a check."""

    place: int
    criterion: str | None
    verdict: str | None
    option: str | None
    value: float | None
    confidence: float | None
    reason: str
    error: TryError | None


class OverallTry(Schema):
    score: Annotated[float, Field(description="0 to 100.")]
    reason: str


Side = Annotated[str, OneOf((TRIED, BEFORE)), Field(description="What is tried, or the version before.")]


class TryAnswer(Schema):
    """What came of one question. With a panel it is a vote (`is_vote`), and `result` says what votes come to.
    `reply` is the text as it came where it could not be read; `request` the body as it was sent. Costs are
    null where nobody knows them, 0 where the answer `is_known` from before.
    """

    side: Side
    judge: str
    repeat: int
    criteria: list[CriterionTry]
    overall: OverallTry | None
    is_vote: bool
    error: TryError | None
    reply: str
    request: dict[str, Any]
    model: str
    fallback: bool
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float
    is_known: bool


class TryResult(Shape[TriedResult]):
    """What a check says, or what votes come to."""

    side: Side
    by: Annotated[str, OneOf(("check", "votes"))]
    criterion: CriterionTry


class TrySum(Shape[TriedSum]):
    """One side when nothing more comes; `unanswered` counts criteria without a verdict."""

    side: Side


KINDS = ("item", "answer", "result", "sum", "waiting", "stopped")


class TryLine(Schema):
    """One line of a stream: what it is, under the name of its `kind`; the others are null. The first is the
    item, null for a submission; `waiting` are seconds since the try began.
    """

    kind: Annotated[str, OneOf(KINDS)]
    item: int | None = None
    answer: TryAnswer | None = None
    result: TryResult | None = None
    sum: TrySum | None = None
    waiting: float | None = None
    stopped: str | None = None


class JudgeTry(Schema):
    """All that came of a try. `stopped` says why nothing more was asked, null where everything was."""

    item: Annotated[int | None, Field(description="The id of the item; null for a submission.")]
    answers: list[TryAnswer]
    results: list[TryResult]
    sums: list[TrySum]
    stopped: str | None


def line_of(piece: TryPiece, rubric: Rubric) -> TryLine:
    """A piece of a try as a line."""
    if isinstance(piece, TriedReply):
        return TryLine(kind="answer", answer=_answer(piece, rubric))
    if isinstance(piece, TriedResult):
        result = vars(piece) | {"criterion": _criterion(piece.criterion, rubric)}
        return TryLine(kind="result", result=TryResult(**result))
    if isinstance(piece, TriedSum):
        return TryLine(kind="sum", sum=TrySum(**vars(piece)))
    if isinstance(piece, StillWaiting):
        return TryLine(kind="waiting", waiting=piece.seconds)
    assert isinstance(piece, TryStopped)
    return TryLine(kind="stopped", stopped=piece.why)


def whole_try(pieces: Iterable[TryPiece], rubric: Rubric, item: int | None) -> JudgeTry:
    """All of it at once."""
    lines = [line_of(piece, rubric) for piece in pieces]
    return JudgeTry(
        item=item,
        answers=[line.answer for line in lines if line.answer is not None],
        results=[line.result for line in lines if line.result is not None],
        sums=[line.sum for line in lines if line.sum is not None],
        stopped=next((line.stopped for line in lines if line.stopped is not None), None),
    )


def _answer(reply: TriedReply, rubric: Rubric) -> TryAnswer:
    overall, error = reply.overall, reply.error
    same = {
        name: getattr(reply, name)
        for name in TryAnswer.model_fields
        if name not in ("criteria", "overall", "error", "reply", "request")
    }
    return TryAnswer(
        criteria=[_criterion(verdict, rubric) for verdict in reply.verdicts],
        overall=None if overall is None else OverallTry(score=overall.score, reason=overall.reason),
        error=None
        if error is None
        else TryError(kind=error.kind, message=error.message, advice=reply.advice),
        reply=reply.text,
        request=dict(reply.request),
        **same,
    )


def _criterion(said: TriedVerdict, rubric: Rubric) -> CriterionTry:
    answer, error = said.answer, said.error
    return CriterionTry(
        place=said.index,
        criterion=rubric.criteria[said.index].name,
        verdict=str(answer.verdict) if answer and answer.verdict else None,
        option=answer.option if answer else None,
        value=answer.value if answer else None,
        confidence=answer.confidence if answer else None,
        reason=answer.reason if answer else "",
        error=None if error is None else TryError(kind=error.kind, message=error.message),
    )
