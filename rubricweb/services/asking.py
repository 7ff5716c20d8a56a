"""Three ways of getting a criterion answered: one judge each, one judge for all, votes of several.

Each says what is still to be asked about an item, and stores what came back. None of them keeps anything that
its rows do not: to resume is to load the rows and ask again.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders import CascadeGrader, PromptedAutograder
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.checks import run_check
from rubricweb.engine.report import Vote
from rubricweb.judges.base import Question, Reply
from rubricweb.models import Criterion, JudgeCall, Judgement, Run, RunItem
from rubricweb.models import Vote as VoteRow
from rubricweb.selectors.run_graders import PER_ITEM, Graders, Settled, settled, stage_of
from rubricweb.selectors.stored_answers import engine_votes, label_of

CHECK = "check"
"""What a judgement made by a function has in the place of its judge's name."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a question was asked for: a run item's row, criteria by index, and whose which vote it is."""

    row: int
    criteria: tuple[int, ...]
    judge: str
    repeat: int = 0


@dataclass
class OpenItem:
    """One item of a run with what is known about it so far; criteria by 0-based index in its rubric."""

    row: RunItem
    rubric: engine.Rubric
    criteria: list[Criterion]
    submission: engine.Submission
    answered: set[int] = field(default_factory=set)
    votes: dict[int, list[Vote]] = field(default_factory=dict)

    @property
    def unasked(self) -> list[int]:
        """What the judges have not settled yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if not criterion.is_check and index not in self.answered
        ]

    @property
    def unchecked(self) -> list[int]:
        """Checks without a result yet."""
        return [
            index
            for index, criterion in enumerate(self.rubric.criteria)
            if criterion.is_check and index not in self.answered
        ]


Arrived = tuple[OpenItem, JudgeCall, Reply]


def way_of(run: Run, judges: Collection[str]) -> "Asking":
    """How this run asks."""
    if run.panel is not None:
        return Voting(run, judges)
    return Holistic(run, judges) if run.autograder == PER_ITEM else Single(run, judges)


def key_of(reply: Reply) -> Key:
    return cast(Key, reply.key)


def storable(text: str) -> str:
    """PostgreSQL stores no NUL characters; a judge may send one."""
    return text.replace("\x00", "\ufffd")


class Asking(ABC):
    """What a run still has to ask about an item, by the name of the judge, and what it stores of replies."""

    def __init__(self, run: Run, judges: Collection[str]) -> None:
        self.run = run
        self.judges = tuple(judges)
        self.graders = Graders(run)

    @abstractmethod
    def questions(self, item: OpenItem) -> Iterator[tuple[str, Question]]:
        """What can be asked about the item now, with the name of the judge to ask."""

    @abstractmethod
    def store(self, arrived: Sequence[Arrived]) -> None:
        """Writes the answers and failures of these replies, and marks in the items what is settled."""

    def load(self, items: Sequence[OpenItem]) -> None:
        """Reads what is stored about the items already."""
        by_id = {item.row.item_id: item for item in items}
        places = {item.row.item_id: _places(item) for item in items}
        stored = Judgement.objects.filter(run=self.run, item_id__in=by_id)
        for item_id, criterion_id in stored.values_list("item_id", "criterion_id"):
            by_id[item_id].answered.add(places[item_id][criterion_id])

    def is_complete(self, item: OpenItem) -> bool:
        """Whether nothing is left to ask about the item."""
        return len(item.answered) == len(item.criteria)

    def hopeless(self, down: Collection[str]) -> bool:
        """Whether going on is no use while these judges do not answer."""
        return bool(down)

    def _question(
        self, item: OpenItem, prompt: Prompt, grader: PromptedAutograder, judge: str, repeat: int = 0
    ) -> tuple[str, Question]:
        key = Key(item.row.pk, prompt.criteria, judge, repeat)
        return judge, Question(key=key, prompt=prompt, read=_reader(grader, prompt, item.rubric))


class Single(Asking):
    """One judge, every criterion answered once."""

    def questions(self, item: OpenItem) -> Iterator[tuple[str, Question]]:
        unasked = item.unasked
        if not unasked:
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric, only=unasked):
            yield self._question(item, prompt, grader, self.judges[0])

    def store(self, arrived: Sequence[Arrived]) -> None:
        made = []
        for item, call, reply in arrived:
            for index, answer, kind, message in _results(reply):
                judgement = _judgement(self.run, item, index, answer, kind, message)
                judgement.judge, judgement.call = key_of(reply).judge[:200], call
                made.append(judgement)
        _create(made)
        for item, _, reply in arrived:
            item.answered.update(key_of(reply).criteria)


class Holistic(Asking):
    """One judge, one number for the whole item; checks are answered one by one beside it."""

    def questions(self, item: OpenItem) -> Iterator[tuple[str, Question]]:
        if not self._waits(item):
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric):
            yield self._question(item, prompt, grader, self.judges[0])

    def store(self, arrived: Sequence[Arrived]) -> None:
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

    def questions(self, item: OpenItem) -> Iterator[tuple[str, Question]]:
        unasked = item.unasked
        if not unasked:
            return
        voting = self.graders.voting(item.row.rubric_version_id)
        for asked in voting.prompts(item.submission, item.rubric, only=unasked, votes=item.votes):
            grader = voting.judges[asked.judge].grader
            yield self._question(item, asked.prompt, grader, asked.judge, asked.repeat)

    def store(self, arrived: Sequence[Arrived]) -> None:
        made = []
        for item, call, reply in arrived:
            voting = self.graders.voting(item.row.rubric_version_id)
            key = key_of(reply)
            for index, answer, kind, message in _results(reply):
                made.append(
                    VoteRow(
                        run=self.run,
                        item_id=item.row.item_id,
                        criterion_id=item.criteria[index].pk,
                        judge=key.judge,
                        repeat=key.repeat,
                        stage=stage_of(voting, key.judge),
                        weight=voting.judges[key.judge].weight,
                        verdict=label_of(answer) if answer else None,
                        confidence=answer.confidence if answer else None,
                        reason=storable(answer.reason) if answer else "",
                        error_kind=kind,
                        error_message=storable(message),
                        call=call,
                    )
                )
        VoteRow.objects.bulk_create(made, ignore_conflicts=True, batch_size=500)
        # Read back: another worker's vote may have come first, and the judgement is made of what is stored.
        self._settle(list({id(item): item for item, _, _ in arrived}.values()))

    def load(self, items: Sequence[OpenItem]) -> None:
        super().load(items)
        self._settle(items)

    def hopeless(self, down: Collection[str]) -> bool:
        """A judge that is away costs its own votes; no use without any, or without a stage nobody covers."""
        away = set(down)
        voting = self.graders.voting(self.run.rubric_version_id or 0)
        if isinstance(voting, CascadeGrader) and "error" not in voting.escalate_on:
            return any(away.issuperset(stage.panel.judges) for stage in voting.stages)
        return away.issuperset(self.judges)

    def _settle(self, items: Sequence[OpenItem]) -> None:
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
                    made.append(self._settled(item, index, found))
                    item.answered.add(index)
        _create(made)

    def _settled(self, item: OpenItem, index: int, found: Settled) -> Judgement:
        answer, error = found.tally.answer, found.tally.error
        kind, message = (error.kind, error.message) if error is not None else (None, "")
        judgement = _judgement(self.run, item, index, answer, kind, message)
        judgement.judge = str(self.run.judge["name"])[:200]
        passed_on = "".join(f"{step.stage} passed it on ({step.reason}). " for step in found.escalations)
        judgement.reason = storable(passed_on) + judgement.reason
        return judgement


def check(run: Run, items: Iterable[OpenItem]) -> list[Judgement]:
    """What the checks of these items say, not stored yet; a check that failed is an error of its own."""
    made = []
    for item in items:
        for index in item.unchecked:
            result = run_check(item.rubric.criteria[index], item.submission)
            if isinstance(result, Answer):
                judgement = _judgement(run, item, index, result, None, "")
            else:
                judgement = _judgement(run, item, index, None, result.kind, result.message)
            judgement.judge = CHECK
            made.append(judgement)
    return made


def store_checks(items: Iterable[OpenItem], made: Sequence[Judgement]) -> None:
    """Writes what `check` gave."""
    _create(made)
    for item in items:
        item.answered.update(item.unchecked)


def _judgement(
    run: Run, item: OpenItem, index: int, answer: Answer | None, kind: str | None, message: str
) -> Judgement:
    """An answer, or the error that took its place, as a row."""
    return Judgement(
        run=run,
        item_id=item.row.item_id,
        criterion_id=item.criteria[index].pk,
        verdict=label_of(answer) if answer else None,
        value=answer.value if answer else None,
        confidence=answer.confidence if answer else None,
        reason=storable(answer.reason) if answer else "",
        error_kind=kind[:40] if kind else None,
        error_message=storable(message),
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


def _create(judgements: Sequence[Judgement]) -> None:
    Judgement.objects.bulk_create(judgements, ignore_conflicts=True, batch_size=500)


def _places(item: OpenItem) -> dict[int, int]:
    return {criterion.pk: index for index, criterion in enumerate(item.criteria)}


def _reader(grader: PromptedAutograder, prompt: Prompt, rubric: engine.Rubric) -> Callable[[str], Reading]:
    return lambda reply: grader.read(prompt, reply, rubric)
