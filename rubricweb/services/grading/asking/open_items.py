"""Items of a run that are not complete: what is known about each, and what a question is about."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from django.db.models import prefetch_related_objects

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.report import Vote
from rubricweb.judges.base import Question, Reply
from rubricweb.models import Criterion, RubricVersion, Run, RunItem

# Rubrics kept ready: datasets may bring one per item.
RUBRICS_KEPT = 300


@dataclass(eq=False, slots=True)
class QuestionKey:
    """What a question is about: a run item's row, criteria by index, the judge, and which of its repeats.

    `content` names what is asked (see `judges.content`); `expected_usd` is reserved for it.
    """

    row: int
    criteria: tuple[int, ...]
    judge: str
    repeat: int
    content: UUID
    expected_usd: float | None = None


@dataclass
class OpenItem:
    """One item of a run with what is known about it so far; criteria by 0-based index in its rubric.

    `answers` are those that are stored, None for a failure. `outstanding` counts the questions about it that
    have no reply yet.
    """

    row: RunItem
    rubric: engine.Rubric
    criteria: Sequence[Criterion]
    submission: engine.Submission
    answers: dict[int, Answer | None] = field(default_factory=dict)
    votes: dict[int, list[Vote]] = field(default_factory=dict)
    outstanding: int = 0

    @property
    def unanswered_criteria(self) -> list[int]:
        """What the judges have not settled yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if not criterion.is_check and index not in self.answers
        ]

    @property
    def unanswered_checks(self) -> list[int]:
        """Checks without a result yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if criterion.is_check and index not in self.answers
        ]


def key_of(asked: Question | Reply) -> QuestionKey:
    """What a question, or the reply to it, is about."""
    return cast(QuestionKey, asked.key)


class OpenItems:
    """Opens items of one run; a rubric is read once and kept while there is room."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[int, tuple[engine.Rubric, tuple[Criterion, ...]]] = {}

    def open(self, rows: Iterable[int]) -> list[OpenItem]:
        """These rows as open items, in their order, nothing known about them yet; three queries."""
        claimed = list(RunItem.every.filter(pk__in=rows).select_related("item").order_by("pk"))
        self._load_rubrics({row.rubric_version_id for row in claimed})
        items = []
        for row in claimed:
            row.item.dataset = self._run.dataset  # the same for all of them
            rubric, criteria = self._known[row.rubric_version_id]
            items.append(OpenItem(row, rubric, criteria, row.item.to_engine()))
        return items

    def _load_rubrics(self, version_ids: Collection[int]) -> None:
        new = [pk for pk in version_ids if pk not in self._known]
        if len(self._known) + len(new) > RUBRICS_KEPT:
            self._known = {pk: known for pk, known in self._known.items() if pk in version_ids}
        versions: Sequence[RubricVersion] = list(RubricVersion.objects.filter(pk__in=new))
        prefetch_related_objects(versions, "criteria")
        for version in versions:
            self._known[version.pk] = version.to_engine(), tuple(version.criteria.all())
