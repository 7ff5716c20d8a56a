"""Three ways of getting a criterion answered: one judge each, one judge for all, votes of several.

Each says what is still to be asked about an item, and stores what came back. None of them keeps anything that
its rows do not: to resume is to load the rows and ask again.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast
from uuid import UUID

from django.utils import timezone

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders import CascadeGrader, PromptedAutograder
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.engine.checks import run_check
from rubricweb.engine.report import Vote
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.content import content_key
from rubricweb.models import Criterion, Judgement, Run, RunItem
from rubricweb.models import Vote as VoteRow
from rubricweb.selectors.labels.stored_answers import answer_of, engine_votes, label_of
from rubricweb.selectors.runs.graders import PER_ITEM, Graders, Settled, settled, stage_of
from rubricweb.services.shared import bulk_rows

CHECK = "check"
"""What a judgement made by a function has in the place of its judge's name."""

_JUDGEMENT = (
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
_VOTE = (
    "run_id",
    "item_id",
    "criterion_id",
    "judge",
    "repeat",
    "stage",
    "weight",
    "verdict",
    "confidence",
    "reason",
    "error_kind",
    "error_message",
    "call_id",
    "created_at",
)


@dataclass(eq=False, slots=True)
class Key:
    """What a question was asked for: a run item's row, criteria by index, and whose which vote it is.

    `content` names what is asked (see `judges.content`); `expected_usd` is set aside for it.
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
    def unasked(self) -> list[int]:
        """What the judges have not settled yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if not criterion.is_check and index not in self.answers
        ]

    @property
    def unchecked(self) -> list[int]:
        """Checks without a result yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if criterion.is_check and index not in self.answers
        ]


Checked = tuple[list[bulk_rows.Row], list[tuple[OpenItem, int, Answer | None]]]
"""Judgements of checks as rows, and what each answered about which criterion."""
_ANYTHING = Prompt("", "", PerCriterionOutput, ())
Arrived = tuple[OpenItem, int, Reply]
"""An item, the id of the call about it, and what it brought."""


def way_of(run: Run, judges: Mapping[str, JudgeConfig]) -> "Asking":
    """How this run asks."""
    if run.panel is not None:
        return Voting(run, judges)
    return Holistic(run, judges) if run.autograder == PER_ITEM else Single(run, judges)


def key_of(asked: Question | Reply) -> Key:
    """What it was asked for."""
    return cast(Key, asked.key)


def storable(text: str) -> str:
    """The text without what no database stores and a judge may send: NUL characters, half surrogates."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\x00", "\ufffd")


class Asking(ABC):
    """What a run still has to ask about an item, by the name of the judge, and what it stores of replies."""

    def __init__(self, run: Run, judges: Mapping[str, JudgeConfig]) -> None:
        self.run = run
        self.judges = judges
        self.graders = Graders(run)

    @abstractmethod
    def questions(self, item: OpenItem) -> Iterator[Question]:
        """What can be asked about the item now and is not being asked yet, each under a `Key`."""

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
        times = self._times_before(judge) + repeat
        content = content_key(self.judges[judge], prompt, times)
        key = Key(item.row.pk, prompt.criteria, judge, repeat, content)
        return Question(key, prompt, _reader(grader, prompt, item.rubric), times)

    def _times_before(self, judge: str) -> int:
        """How often the very same is asked on purpose before this judge's first time."""
        return 0


class Single(Asking):
    """One judge, every criterion answered once."""

    def questions(self, item: OpenItem) -> Iterator[Question]:
        unasked = item.unasked
        if not unasked:
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric, only=unasked):
            yield self._question(item, prompt, grader, next(iter(self.judges)))

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        made = []
        for item, call, reply in arrived:
            judge = key_of(reply).judge
            for index, answer, kind, message in _results(reply):
                made.append(_judgement(self.run, item, index, judge, answer, kind, message, now, call))
                item.answers[index] = answer
        if not bulk_rows.insert_new(Judgement, _JUDGEMENT, made):
            # Another worker answered first: what counts is what is stored.
            self.load([item for item, _, _ in arrived])


class Holistic(Asking):
    """One judge, one number for the whole item; checks are answered one by one beside it."""

    def questions(self, item: OpenItem) -> Iterator[Question]:
        if not self._waits(item):
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric):
            yield self._question(item, prompt, grader, next(iter(self.judges)))

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        for item, _, reply in arrived:
            row = item.row
            overall = reply.reading.overall if reply.reading else None
            if overall is not None:
                row.llm_raw_score = overall.score if overall.said is None else overall.said
                row.reason = storable(overall.reason)
                row.error_kind, row.error_message = None, ""
            elif reply.error is not None:
                row.error_kind, row.error_message = reply.error.kind, storable(reply.error.message)

    def is_complete(self, item: OpenItem) -> bool:
        return not item.unchecked and not self._waits(item)

    def _waits(self, item: OpenItem) -> bool:
        return bool(item.unasked) and item.row.llm_raw_score is None and item.row.error_kind is None


class Voting(Asking):
    """A panel or cascade: votes are rows of their own, a judgement is made of them once all are there."""

    def __init__(self, run: Run, judges: Mapping[str, JudgeConfig]) -> None:
        super().__init__(run, judges)
        self._before: dict[str, int] = {}

    def questions(self, item: OpenItem) -> Iterator[Question]:
        unasked = item.unasked
        if not unasked:
            return
        voting = self.graders.voting(item.row.rubric_version_id)
        for asked in voting.prompts(item.submission, item.rubric, only=unasked, votes=item.votes):
            grader = voting.judges[asked.judge].grader
            yield self._question(item, asked.prompt, grader, asked.judge, asked.repeat)

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        made = []
        for item, call, reply in arrived:
            voting = self.graders.voting(item.row.rubric_version_id)
            key = key_of(reply)
            stage, weight = stage_of(voting, key.judge), voting.judges[key.judge].weight
            for index, answer, kind, message in _results(reply):
                made.append(
                    (
                        self.run.pk,
                        item.row.item_id,
                        item.criteria[index].pk,
                        key.judge,
                        key.repeat,
                        stage,
                        weight,
                        label_of(answer) if answer else None,
                        answer.confidence if answer else None,
                        storable(answer.reason) if answer else "",
                        kind[:40] if kind else None,
                        storable(message),
                        call,
                        now,
                    )
                )
        bulk_rows.insert_new(VoteRow, _VOTE, made)
        # Read back: another worker's vote may have come first, and the judgement is made of what is stored.
        self._settle(list({id(item): item for item, _, _ in arrived}.values()), now)

    def load(self, items: Sequence[OpenItem]) -> None:
        super().load(items)
        self._settle(items, timezone.now())

    def hopeless(self, down: Collection[str]) -> bool:
        """A judge that is away costs its own votes; no use without any, or without a stage nobody covers."""
        away = set(down)
        voting = self.graders.voting(self.run.rubric_version_id or 0)
        if isinstance(voting, CascadeGrader) and "error" not in voting.escalate_on:
            return any(away.issuperset(stage.panel.judges) for stage in voting.stages)
        return away.issuperset(self.judges)

    def _times_before(self, judge: str) -> int:
        """Members that ask the same model in the same way are asked independently, like repeats of one."""
        if not self._before:
            panel = self.run.panel or {}
            repeats = panel["cascade"]["repeats"] if panel["cascade"] else [panel["repeats"]]
            asked: Counter[UUID] = Counter()
            for member in panel["members"]:
                alike = content_key(self.judges[member["name"]], _ANYTHING, 0)
                self._before[member["name"]] = asked[alike]
                asked[alike] += repeats[member["stage"]]
        return self._before[judge]

    def _settle(self, items: Sequence[OpenItem], now: datetime) -> None:
        """Reads the votes on these items and stores a judgement wherever they are all there."""
        rows = VoteRow.objects.filter(run=self.run, item_id__in=[item.row.item_id for item in items])
        cast_on: dict[tuple[int, int], list[VoteRow]] = defaultdict(list)
        for row in rows:
            cast_on[row.item_id, row.criterion_id].append(row)
        made = []
        for item in items:
            voting = self.graders.voting(item.row.rubric_version_id)
            for index in item.unasked:
                criterion = item.rubric.criteria[index]
                item.votes[index] = engine_votes(
                    criterion, cast_on[item.row.item_id, item.criteria[index].pk]
                )
                found = settled(voting, criterion, item.votes[index])
                if found is not None:
                    made.append(self._settled(item, index, found, now))
                    item.answers[index] = found.tally.answer
        if not bulk_rows.insert_new(Judgement, _JUDGEMENT, made):
            super().load(items)

    def _settled(self, item: OpenItem, index: int, found: Settled, now: datetime) -> bulk_rows.Row:
        answer, error = found.tally.answer, found.tally.error
        kind, message = (error.kind, error.message) if error is not None else (None, "")
        passed_on = "".join(f"{step.stage} passed it on ({step.reason}). " for step in found.escalations)
        judge = str(self.run.judge["name"])
        return _judgement(self.run, item, index, judge, answer, kind, message, now, passed_on=passed_on)


def check(run: Run, items: Iterable[OpenItem], now: datetime) -> Checked:
    """What the checks of these items say, not stored yet; a check that failed is an error of its own."""
    rows: list[bulk_rows.Row] = []
    found: list[tuple[OpenItem, int, Answer | None]] = []
    for item in items:
        for index in item.unchecked:
            result = run_check(item.rubric.criteria[index], item.submission)
            if isinstance(result, Answer):
                answer, kind, message = result, None, ""
            else:
                answer, kind, message = None, result.kind, result.message
            rows.append(_judgement(run, item, index, CHECK, answer, kind, message, now))
            found.append((item, index, answer))
    return rows, found


def store_checks(checked: Checked) -> None:
    """Writes what `check` gave. A check says the same to everybody, so it does not matter who was first."""
    rows, found = checked
    bulk_rows.insert_new(Judgement, _JUDGEMENT, rows)
    for item, index, answer in found:
        item.answers[index] = answer


def _judgement(
    run: Run,
    item: OpenItem,
    index: int,
    judge: str,
    answer: Answer | None,
    kind: str | None,
    message: str,
    now: datetime,
    call: int | None = None,
    *,
    passed_on: str = "",
) -> bulk_rows.Row:
    """An answer, or the error that took its place, as a row of `_JUDGEMENT`."""
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
        kind[:40] if kind else None,
        storable(message),
        call,
        now,
    )


def _results(reply: Reply) -> Iterator[tuple[int, Answer | None, str | None, str]]:
    """(index, answer, error kind, message) for every criterion the reply's question was about."""
    answers: Mapping[int, Answer] = reply.reading.answers if reply.reading else {}
    error = reply.error
    for index in key_of(reply).criteria:
        if index in answers:
            yield index, answers[index], None, ""
        elif error is not None:
            yield index, None, error.kind, error.message
        else:
            yield index, None, "missing_criterion", "The reply left it out."


def _places(item: OpenItem) -> dict[int, int]:
    return {criterion.pk: index for index, criterion in enumerate(item.criteria)}


def _reader(grader: PromptedAutograder, prompt: Prompt, rubric: engine.Rubric) -> Callable[[str], Reading]:
    return lambda reply: grader.read(prompt, reply, rubric)
