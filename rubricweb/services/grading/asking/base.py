"""What all ways of asking have in common: they say what is left to ask about an item, and store the answers.

None of them keeps anything that its rows do not: to resume is to load the rows and ask again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders import PromptedAutograder
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.content import content_key, first_repeats
from rubricweb.models import Judgement, Run
from rubricweb.selectors.labels.stored_answers import answer_of, label_of
from rubricweb.selectors.runs.graders import Graders
from rubricweb.services.grading.asking.open_items import OpenItem, QuestionKey, key_of
from rubricweb.services.shared import bulk_rows

JUDGEMENT_COLUMNS = (
    "run_id",
    "item_id",
    "criterion_id",
    "judge",
    "repeat",
    "verdict",
    "value",
    "confidence",
    "reason",
    "error_kind",
    "error_message",
    "call_id",
    "created_at",
)

Arrived = tuple[OpenItem, int, Reply]
"""An item, the id of the call about it, and the reply it brought."""


class GradingStrategy(ABC):
    """What a run still has to ask about an item, by the name of the judge, and what it stores of replies."""

    def __init__(self, run: Run, judges: Mapping[str, JudgeConfig]) -> None:
        self.run = run
        self.judges = judges
        self.graders = Graders(run)
        self._first_repeats = first_repeats(judges, run.repeats_of(judges), self.graders.member_words)

    @abstractmethod
    def questions(self, item: OpenItem) -> Iterator[Question]:
        """What can be asked about the item now and is not being asked yet, each under a `QuestionKey`."""

    @abstractmethod
    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        """Writes the answers and failures of these replies, and marks in the items what is settled.

        Doing it again with the same replies, after a transaction that was rolled back, comes to the same.
        """

    def load(self, items: Sequence[OpenItem]) -> None:
        """Reads what is stored about the items already."""
        by_id = {item.row.item_id: item for item in items}
        places = {item.row.item_id: _places(item) for item in items}
        stored = Judgement.objects.filter(run=self.run, item_id__in=by_id)
        for item_id, criterion_id, verdict, value in stored.values_list(
            "item_id", "criterion_id", "verdict", "value"
        ):
            item, index = by_id[item_id], places[item_id][criterion_id]
            item.answers[index] = answer_of(item.rubric.criteria[index], verdict, value)

    def is_complete(self, item: OpenItem) -> bool:
        """Whether nothing is left to ask about the item."""
        return len(item.answers) == len(item.criteria)

    def hopeless(self, down: Collection[str]) -> bool:
        """Whether going on is no use while these judges do not answer."""
        return bool(down)

    def _question(
        self, item: OpenItem, prompt: Prompt, grader: PromptedAutograder, judge: str, repeat: int = 0
    ) -> Question:
        times = self._first_repeats[judge] + repeat
        content = content_key(self.judges[judge], prompt, times)
        key = QuestionKey(item.row.pk, prompt.criteria, judge, repeat, content)
        return Question(key, prompt, _reader(grader, prompt, item.rubric), times)


class Outcome(NamedTuple):
    """What became of one criterion: an answer, or the error that took its place."""

    answer: Answer | None
    error_kind: str | None = None
    error_message: str = ""


def outcomes(reply: Reply) -> Iterator[tuple[int, Outcome]]:
    """(index, outcome) for every criterion the reply's question was about."""
    answers: Mapping[int, Answer] = reply.reading.answers if reply.reading else {}
    error = reply.error
    for index in key_of(reply).criteria:
        if index in answers:
            yield index, Outcome(answers[index])
        elif error is not None:
            yield index, Outcome(None, error.kind, error.message)
        else:
            yield index, Outcome(None, "missing_criterion", "The reply left it out.")


def judgement_row(
    run: Run,
    item: OpenItem,
    index: int,
    judge: str,
    outcome: Outcome,
    now: datetime,
    *,
    call: int | None = None,
    passed_on: str = "",
) -> bulk_rows.Row:
    """One criterion's outcome as a row of JUDGEMENT_COLUMNS; `passed_on` stands before the reason."""
    answer = outcome.answer
    return (
        run.pk,
        item.row.item_id,
        item.criteria[index].pk,
        judge[:200],
        0,
        label_of(answer) if answer else None,
        answer.value if answer else None,
        answer.confidence if answer else None,
        storable(passed_on + answer.reason) if answer else passed_on,
        outcome.error_kind[:40] if outcome.error_kind else None,
        storable(outcome.error_message),
        call,
        now,
    )


def storable(text: str) -> str:
    """The text without what no database stores and a judge may send: NUL characters, half surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\x00", "\ufffd")


def _places(item: OpenItem) -> dict[int, int]:
    return {criterion.pk: index for index, criterion in enumerate(item.criteria)}


def _reader(grader: PromptedAutograder, prompt: Prompt, rubric: engine.Rubric) -> Callable[[str], Reading]:
    return lambda reply: grader.read(prompt, reply, rubric)
