"""Shapes of a case and the answers to it."""

from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.adjudication.schemas import GroundTruth, ground_truth_of_item
from rubricweb.api.datasets.schemas import AnswerToCase, TagsOrNone
from rubricweb.api.paging import ListQuery
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.runs.schemas import JudgeError
from rubricweb.api.schemas import JudgeVersionName, LeftOut, NextCursor, Prompt, WithFields
from rubricweb.models import Case as StoredCase
from rubricweb.selectors.comparison.case import CaseAnswers
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.selectors.shared.left_out import left_out


class CaseQuery(ListQuery):
    limit: Annotated[int, Field(ge=1, le=50, description="How many answers at most.")] = 12


class CaseVerdict(Schema):
    """What the judge said of one criterion of an answer, or the error that took its place."""

    criterion: Criterion
    verdict: Annotated[
        str | None,
        Field(description="MET, UNMET, CANNOT_ASSESS, or the chosen option's label; null for a check."),
    ]
    value: Annotated[float | None, Field(description="What a check measured; null for all others.")]
    reason: str
    error: JudgeError | None

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return JudgeError(kind=row.error_kind, message=row.error_message) if row.error_kind else None


class CaseGrading(Schema):
    """What the newest run that graded the answer came to."""

    run_id: int
    run: Annotated[str, Field(description="The name of the run.")]
    judge_version: JudgeVersionName
    score: float | None
    coverage: float | None
    errors: int

    @staticmethod
    def resolve_run(row: Any) -> str:
        return str(row.run)


class CaseAnswer(AnswerToCase):
    """One answer to the case, with what the judge and people said of it."""

    id: int
    wording: Annotated[int, Field(description="Which words of the case it answers: 1 are its first.")]
    submission: str
    grading: Annotated[CaseGrading | None, Field(description="Null until a run has graded it.")]
    verdicts: list[CaseVerdict]
    ground_truth: Annotated[list[GroundTruth], Field(description="What stands for it by people.")]


class Case(Schema):
    """The present words of a case, and a page of the answers to it by the order of system versions."""

    id: int
    dataset_id: int
    key: str
    wording: Annotated[int, Field(description="How many times it was worded: 1 unless it was corrected.")]
    prompt: Prompt
    reference: str | None
    graded_alike: Annotated[
        bool, Field(description="One judge graded the answers of this page, by one rubric version.")
    ]
    tags: TagsOrNone
    answers: list[CaseAnswer]
    left_out: Annotated[list[LeftOut], Field(description="Of all answers; empty where nothing is left out.")]
    next_cursor: NextCursor


def case_in_full(case: StoredCase, found: CaseAnswers) -> WithFields:
    """The case for the schema `Case`; people are not named."""
    words = words_of(case).to_engine()
    answers = [
        WithFields(
            one.item,
            grading=one.grading and WithFields(one.grading, judge_version=one.judge_version),
            verdicts=one.verdicts,
            ground_truth=ground_truth_of_item(one.item, one.labels, names=False)["criteria"],
        )
        for one in found.answers
    ]
    return WithFields(
        case,
        prompt=words.query,
        reference=words.reference,
        graded_alike=found.graded_alike,
        tags=None if found.hidden else tags_of([case.pk]).get(case.pk, ()),
        left_out=left_out(to_review_blind=found.hidden),
        answers=answers,
        next_cursor=found.next_cursor,
    )
