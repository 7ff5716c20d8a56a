"""Runs that ask by the provider's batch interface: slower, for half the price.

The items of a run are dealt out to batches, each a row of BatchJob that holds its items by lease. A sweep
comes by now and then and takes each batch one step further: hand it in, ask how far it is, store its answers.
A step that is repeated, also after a kill at any moment, finds what the one before it did: a batch opened but
not written down is found by its mark, answers stored twice are stored once. What a batch did not answer, and
the later stages of what it did, are asked live once all its run's batches are stored.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Container,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from rubricweb.errors import Refusal
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.client import batches as desk
from rubricweb.judges.client.batches import BatchError, BatchState
from rubricweb.judges.client.reply_formats import Habits
from rubricweb.judges.rate_limit.store import endpoint_key
from rubricweb.models import (
    UNENDED,
    BatchJob,
    EndpointMemory,
    JudgeEndpoint,
    Run,
    RunEvent,
    RunItem,
    RunMode,
    RunState,
    RunTally,
)
from rubricweb.selectors.shared.workers import BATCH, BATCH_HELD_FOR
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import leases, reply_cache
from rubricweb.services.grading import questions as asking
from rubricweb.services.grading.questions import OpenItem, key_of
from rubricweb.services.grading.writer import Batch, Ledger
from rubricweb.services.runs import control, panels, starting
from rubricweb.services.runs.budgets import Purse
from rubricweb.services.runs.events import note
from rubricweb.services.runs.summaries import summarise
from rubricweb.services.runs.work_queue import Enqueue

# What one file holds at most: far below what providers allow, so that it fits into a worker's memory.
MOST_QUESTIONS = 10_000
MOST_BYTES = 64 * 1024 * 1024
ITEMS_AT_ONCE = 200
STORED_AT_ONCE = 500
LOOK_AGAIN = timedelta(seconds=30)
CANCELLING = "cancelling"
# A step that has not come back by now was killed, and may be taken again.
STEP_LASTS = timedelta(minutes=15)
# Answers that cannot be read are fetched so many times, after a minute, two, four …: two hours in all.
READ_TRIES = 8
READ_AGAIN = timedelta(minutes=1)

T = TypeVar("T")


def due(now: datetime) -> list[int]:
    """Runs whose batches want a step: to be dealt out, or to be looked at again."""
    unplanned = Q(state=RunState.RUNNING, mode=RunMode.BATCH, batches=None)
    # Of a run that was stopped, what was never handed in waits for it to be resumed.
    under_way = Q(run__state=RunState.RUNNING) | Q(requests__gt=0)
    waiting = BatchJob.objects.filter(under_way, stored_at=None).filter(
        Q(checked_at=None) | Q(checked_at__lte=now - LOOK_AGAIN)
    )
    found = Run.objects.filter(unplanned | Q(pk__in=waiting.order_by().values("run")))
    return list(found.order_by("pk").values_list("pk", flat=True).distinct())


def advance(run_id: int, *, now: Callable[[], datetime], enqueue: Enqueue) -> bool:
    """Takes every batch of the run one step further. False when the run has none to wait for: it is live.

    A batch run whose batches are all stored is rung for: what is left of it is asked live.
    """
    run = (
        Run.objects.select_related("endpoint", "team", "dataset", "rubric_version").filter(pk=run_id).first()
    )
    if run is None or run.mode != RunMode.BATCH:
        return False
    if run.state == RunState.RUNNING and not run.batches.exists():
        _deal_out(run, now())
    if not run.batches.filter(stored_at=None).exists():
        return False
    try:
        judges = panels.judges_of(run)
    except Refusal as error:
        control.give_up(run, f"The judge cannot be used: {error}", now())
        _leave_alone(run, now())
        return True
    for job in run.batches.filter(stored_at=None):
        if _taken(job, now()):
            _Step(run, job, judges, now).take()
    if not run.batches.filter(stored_at=None).exists() and not control.finish_if_done(run, now()):
        enqueue(run.pk)
    return True


@transaction.atomic
def _deal_out(run: Run, now: datetime) -> None:
    """One batch for every so many items; the items are the batch's from now on."""
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if locked.batches.exists():
        return
    rows = list(RunItem.objects.filter(run=run, graded_at=None).order_by("pk").values_list("pk", flat=True))
    version = run.rubric_version
    per_item = max(version.criteria.count(), 1) if version and run.autograder == "per_criterion" else 1
    size = max(MOST_QUESTIONS // per_item, 1)
    for start in range(0, len(rows), size):
        job = BatchJob.objects.create(run=run, judge=str(run.judge["name"]))
        _hold(job, rows[start : start + size], now)


def _hold(job: BatchJob, rows: Sequence[int], now: datetime) -> None:
    RunItem.objects.filter(pk__in=rows).update(leased_by=_holder(job), leased_until=now + BATCH_HELD_FOR)


def _holder(job: BatchJob) -> str:
    return f"{BATCH}:{job.pk}"


def _taken(job: BatchJob, now: datetime) -> bool:
    """Whether this process takes the next step: one that is being taken, or was just now, is left alone."""
    free = Q(checked_at=None) | Q(checked_at__lte=now - LOOK_AGAIN)
    # Looked at again LOOK_AGAIN after the moment that stands here; a step that ends says so.
    lasts = now + STEP_LASTS - LOOK_AGAIN
    return bool(BatchJob.objects.filter(free, pk=job.pk, stored_at=None).update(checked_at=lasts))


def _leave_alone(run: Run, now: datetime) -> None:
    """Nobody can be asked about the batches. What an endpoint that was removed had taken is given up, for its
    key is forgotten; what may be mended is looked at again later.
    """
    asked = [judge["id"] for judge in starting.asked_judges(run.judge, run.panel)]
    endpoints_of = {pk for pk in map(endpoints.endpoint_of, asked) if pk is not None}
    left = JudgeEndpoint.objects.filter(pk__in=endpoints_of, removed_at=None).count()
    for job in run.batches.filter(stored_at=None):
        if left < len(endpoints_of):
            _give_back(run, job, now)
            note(run.pk, "batch", "The endpoint was removed; answers it may have cannot be fetched any more.")
        else:
            BatchJob.objects.filter(pk=job.pk).update(checked_at=now)


def _give_back(run: Run, job: BatchJob, now: datetime) -> None:
    """Ends a batch: its items are free, and nothing is set aside for it any more."""
    held = RunItem.objects.filter(run=run, leased_by=_holder(job), graded_at=None)
    with transaction.atomic():
        leases.release(_holder(job), list(held.values_list("pk", flat=True)))
        RunTally.objects.filter(run=run, worker=_holder(job)).update(reserved_usd=0.0)
        BatchJob.objects.filter(pk=job.pk).update(stored_at=now, error_message="")


class _NoMoney(Exception):
    """The budget does not reach for the batch; the message says which."""


class _Step:
    """One batch, looked at once."""

    def __init__(
        self, run: Run, job: BatchJob, judges: dict[str, JudgeConfig], now: Callable[[], datetime]
    ) -> None:
        self.run = run
        self.job = job
        self.judges = judges
        # Members of a panel that is asked by batch are one model, asked in different ways.
        self.config = config = next(iter(judges.values()))
        self.now = now
        self.asking = asking.way_of(run, judges)
        self.ledger = Ledger(run, _holder(job), self.asking)
        memory = EndpointMemory.objects.filter(key=endpoint_key(config)).first()
        self.habits = Habits.load(memory.habits if memory else {})

    def take(self) -> None:
        """Hands the batch in, or asks how far it is and stores what it brought."""
        try:
            if not self.job.provider_id:
                self._hand_in()
            else:
                self._look()
        except BatchError as error:
            self._failed(error)
        except _NoMoney as error:
            self._try_again()
            control.pause_for_money(self.run, now=self.now(), why=str(error))

    def _hand_in(self) -> None:
        mark = f"{self.run.pk}-{self.job.pk}-{int(self.job.created_at.timestamp())}"
        since = self.job.created_at
        state = _wait(desk.handed_in(self.config, mark, since)) if self.job.requests else None
        if state is None:
            state = self._opened(mark)
        if state is not None:
            BatchJob.objects.filter(pk=self.job.pk).update(
                provider_id=state.id[:200], state=state.state[:40], checked_at=self.now()
            )

    def _opened(self, mark: str) -> BatchState | None:
        """A new batch of what is left to ask; None where nothing is, or while the run is stopped."""
        if not self._is_running():
            self._lay_by()
            return None
        lines = self._lines()
        if not lines:
            self._close("Nothing of it is left to ask.")
            return None
        # Putting many prompts together takes its time, and who stopped the run meanwhile is not to pay.
        if not self._is_running():
            self._lay_by()
            return None
        _hold(self.job, list(self._held().values_list("pk", flat=True)), self.now())
        BatchJob.objects.filter(pk=self.job.pk).update(requests=len(lines))
        state = _wait(desk.hand_in(self.config, b"".join(lines), mark))
        note(self.run.pk, "batch", f"Handed in {len(lines):,} questions as batch {state.id}.")
        return state

    def _is_running(self) -> bool:
        return Run.objects.filter(pk=self.run.pk, state=RunState.RUNNING).exists()

    def _lay_by(self) -> None:
        """Nothing was handed in, and nothing is until the run is resumed: its items are nobody's work."""
        with transaction.atomic():
            self._held().update(leased_until=None)
            self._set_nothing_aside()
            BatchJob.objects.filter(pk=self.job.pk).update(requests=0, checked_at=None)

    def _set_nothing_aside(self) -> None:
        RunTally.objects.filter(run=self.run, worker=_holder(self.job)).update(reserved_usd=0.0)

    def _look(self) -> None:
        try:
            state = _wait(desk.state_of(self.config, self.job.provider_id))
        except BatchError as error:
            if not error.gone:
                raise
            self._lost(error)
            return
        if not state.is_over and state.state != CANCELLING and self.run.state not in UNENDED:
            state = _wait(desk.cancel(self.config, self.job.provider_id))
        BatchJob.objects.filter(pk=self.job.pk).update(state=state.state[:40], error_message="")
        if state.is_over:
            self._collect(state)
        else:
            self._try_soon()

    def _collect(self, state: BatchState) -> None:
        answers = _wait(desk.answers(self.config, state))
        why = f"The answers of batch {state.id} cannot be read"
        if answers.unreadable and self._fetch_again(why, answers.unreadable):
            return
        stored = failed = 0
        in_vain: list[Reply] = []
        for items in self._items():
            questions = dict(self._questions(items))
            replies = _wait(_all(desk.replayed(self._asked_of(questions), answers.by_id, self.habits)))
            settled = [one for one in replies if one.error is None or not one.error.retryable]
            self._store(items, settled)
            stored += len(settled)
            in_vain += [_cost_alone(one) for one in replies if one.error and one.error.retryable]
            if answers.unreadable:
                told = answers.by_id.keys() | answers.unanswered
                lost = [one for name, one in questions.items() if name not in told]
                failed += self._fail(items, lost, f"{why}: {answers.unreadable}.")
        said = f": {state.error}" if state.error else ""
        lost_words = f", {failed:,} could not be read" if failed else ""
        self._close(
            f"Batch {state.id} is {state.state}{said}; {stored:,} of its answers were stored{lost_words}.",
            in_vain,
        )
        if state.state == "failed" and not stored and self.run.state == RunState.RUNNING:
            control.pause_run(
                self.run, by=None, now=self.now(), why=f"The provider refused the batch{said}"[:400]
            )

    def _lost(self, error: BatchError) -> None:
        """The provider knows the batch no more; what it may have charged for is not asked again unbidden."""
        why = f"Batch {self.job.provider_id} cannot be found"
        if self._fetch_again(why, str(error)):
            return
        failed = 0
        for items in self._items():
            lost = [question for _, question in self._questions(items)]
            failed += self._fail(items, lost, f"{why}: {error}.")
        self._close(f"{why}; {failed:,} of its answers are lost.")

    def _fetch_again(self, why: str, fault: str) -> bool:
        """Notes that the answers could not be had and when that is tried again; False after the last try.

        The run's log counts the tries: it outlasts whoever tries.
        """
        lines = RunEvent.objects.filter(run=self.run, kind="batch", message__startswith=f"{why}:")
        before = lines.aggregate(tries=Sum("count"))["tries"] or 0
        if before + 1 >= READ_TRIES:
            return False
        pause = READ_AGAIN * 2**before
        # Looked at again LOOK_AGAIN after the moment that stands here.
        next_look = self.now() + pause - LOOK_AGAIN
        BatchJob.objects.filter(pk=self.job.pk).update(
            error_message=f"{why}: {fault}."[:1000], checked_at=next_look
        )
        minutes = int(pause.total_seconds() // 60)
        again = f"It is tried again in {minutes} minute{'s' * (minutes != 1)}."
        note(self.run.pk, "batch", f"{why}: {fault}. {again}"[:400])
        return True

    def _fail(self, items: Sequence[OpenItem], lost: Sequence[Question], why: str) -> int:
        """Ends these questions as errors, for asking them again is somebody's to decide; how many.

        What an earlier answer tells was not in the file, and so is not lost; the others may be paid for.
        """
        known: Container[UUID] = ()
        if self.run.use_cache:
            known = reply_cache.known(self.run.team_id, {key_of(one).content for one in lost})
        asked = [one for one in lost if key_of(one).content not in known]
        purse = Purse(self.run, _holder(self.job))
        most = [purse.most_cost(self.judges[key_of(one).judge].by_batch(), one.prompt) for one in asked]
        with transaction.atomic():
            self._store(items, [desk.unread(self.judges[key_of(one).judge], one, why) for one in asked])
            self.ledger.lose([usd for usd in most if usd != 0], self.now())
        return len(asked)

    def _store(self, items: Sequence[OpenItem], replies: Sequence[Reply]) -> None:
        by_row = {item.row.pk: item for item in items}
        for start in range(0, len(replies), STORED_AT_ONCE):
            some = replies[start : start + STORED_AT_ONCE]
            self.ledger.store(Batch([(by_row[key_of(one).row], one) for one in some]), self.now())

    def _close(self, why: str, in_vain: Sequence[Reply] = ()) -> None:
        """Gives the items back: what they lack is asked live. What was answered in vain was paid for too."""
        with transaction.atomic():
            if in_vain:
                self.ledger.count(in_vain, self.now())
            _give_back(self.run, self.job, self.now())
        note(self.run.pk, "batch", why)
        if self.run.state not in UNENDED:
            summarise(self.run)

    def _failed(self, error: BatchError) -> None:
        BatchJob.objects.filter(pk=self.job.pk).update(error_message=str(error)[:1000])
        note(self.run.pk, "batch", f"{error}"[:400])
        if error.again:
            self._try_soon()
            return
        if not self.job.provider_id:
            self._set_nothing_aside()
        # Of a run that was stopped it is looked at again as late as after a kill, or once it is resumed.
        if self.run.state == RunState.RUNNING:
            self._try_again()
            control.pause_run(self.run, by=None, now=self.now(), why=f"The batch: {error}"[:400])

    def _try_soon(self) -> None:
        """The step is over: it need not be waited for as for one that was killed."""
        BatchJob.objects.filter(pk=self.job.pk).update(checked_at=self.now())

    def _try_again(self) -> None:
        """The step may be taken again as soon as somebody has mended what kept it and resumed the run."""
        BatchJob.objects.filter(pk=self.job.pk).update(checked_at=None)

    # ── What is asked ────────────────────────────────────────────────────────────────────────────

    def _lines(self) -> list[bytes]:
        """The lines of the file; what earlier answers tell is not in it. Items that do not fit go to a batch
        of their own. Raises _NoMoney when the budget does not reach.
        """
        purse = Purse.open(self.run, _holder(self.job))
        lines: list[bytes] = []
        size = 0
        asked: set[UUID] = set()
        over: list[int] = []
        for items in self._items():
            for item, fresh in self._fresh(items, asked):
                written = [self._line(name, question) for name, question in fresh]
                length = sum(map(len, written))
                if lines and (size + length > MOST_BYTES or len(lines) + len(written) > MOST_QUESTIONS):
                    over.append(item.row.pk)
                    continue
                for _, question in fresh:
                    self._reserve(purse, question)
                asked |= {key_of(question).content for _, question in fresh}
                lines += written
                size += length
        if over:
            with transaction.atomic():
                _hold(BatchJob.objects.create(run=self.run, judge=self.job.judge), over, self.now())
        return lines

    def _line(self, name: str, question: Question) -> bytes:
        return desk.line_of(self.judges[key_of(question).judge], question, name, self.habits)

    def _fresh(
        self, items: Sequence[OpenItem], asked: Collection[UUID]
    ) -> Iterator[tuple[OpenItem, list[tuple[str, Question]]]]:
        """The items with what is to be asked about each and was not answered, nor asked, before."""
        found = {item.row.pk: list(self._questions([item])) for item in items}
        known: Container[UUID] = ()
        if self.run.use_cache:
            keys = {key_of(question).content for some in found.values() for _, question in some}
            known = {*reply_cache.known(self.run.team_id, keys), *asked}
        for item in items:
            fresh = [one for one in found[item.row.pk] if key_of(one[1]).content not in known]
            if fresh:
                yield item, fresh

    def _reserve(self, purse: Purse, question: Question) -> None:
        config = self.judges[key_of(question).judge].by_batch()
        if not purse.reserve(purse.expected_cost(config, question.prompt), self.now()):
            purse.settle(self.now())
            raise _NoMoney(purse.refusal)

    def _questions(self, items: Sequence[OpenItem]) -> Iterator[tuple[str, Question]]:
        """Every open question about these items, under the name it has in the file."""
        for item in items:
            for question in self.asking.questions(item):
                key = key_of(question)
                yield f"{key.row}.{key.criteria[0]}.{key.repeat}", question

    def _items(self) -> Iterator[list[OpenItem]]:
        """The items of the batch with what is stored about them, some at a time."""
        rows = list(self._held().values_list("pk", flat=True))
        rubrics = leases.Rubrics()
        for start in range(0, len(rows), ITEMS_AT_ONCE):
            items = rubrics.open(self.run, rows[start : start + ITEMS_AT_ONCE])
            self.asking.load(items)
            yield items

    def _asked_of(self, questions: Mapping[str, Question]) -> dict[str, tuple[JudgeConfig, Question]]:
        return {name: (self.judges[key_of(one).judge], one) for name, one in questions.items()}

    def _held(self) -> QuerySet[RunItem]:
        return RunItem.objects.filter(run=self.run, leased_by=_holder(self.job), graded_at=None).order_by(
            "pk"
        )


def _cost_alone(reply: Reply) -> Reply:
    """The reply without what it says, of which there may be much."""
    return replace(reply, reading=None, text="", reasoning="", request=None)


def _wait(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


async def _all(replies: AsyncIterator[Reply]) -> list[Reply]:
    return [reply async for reply in replies]
