"""One step of one batch: it is handed in, looked at, or its answers are stored."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from rubricweb.engine.number_format import counted
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.client import batches as batch_client
from rubricweb.judges.client.batches import BatchError, BatchState
from rubricweb.judges.client.reply_formats import EndpointCapabilities
from rubricweb.models import UNENDED, BatchJob, Run, RunEvent, RunState, RunTally
from rubricweb.services.endpoints import memory
from rubricweb.services.grading import reply_cache
from rubricweb.services.grading.asking import strategy_of
from rubricweb.services.grading.asking.open_items import OpenItem, key_of
from rubricweb.services.grading.batches.holding import give_back, hold, holder, lay_by, set_aside
from rubricweb.services.grading.batches.questions import BatchQuestions, OutOfBudget
from rubricweb.services.grading.writer import Batch, Writer
from rubricweb.services.runs import control
from rubricweb.services.runs.budgets import BudgetReservation
from rubricweb.services.runs.events import note
from rubricweb.services.shared.run_summaries import summarise

STORED_AT_ONCE = 500
LOOK_AGAIN = timedelta(seconds=30)
CANCELLING = "cancelling"
# Answers that cannot be read are fetched so many times, after a minute, two, four …: two hours in all.
READ_TRIES = 8
READ_AGAIN = timedelta(minutes=1)

T = TypeVar("T")


class BatchStep:
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
        self.writer = Writer(run, holder(job), strategy_of(run, judges))
        self.refused = _refused_lately(run, now())
        self.capabilities = memory.known_of(config, now=now()).joined(self.refused)
        self.questions = BatchQuestions(run, job, judges, self.writer, self.capabilities)
        # What was in its file, as far as its answers were gone through: of equal questions only one.
        self._in_file: set[UUID] = set()

    def take(self) -> None:
        """Hands the batch in, or asks how far it is and stores what it brought."""
        try:
            if not self.job.provider_id:
                self._submit()
            else:
                self._look()
        except BatchError as error:
            self._failed(error)
        except OutOfBudget as error:
            lay_by(self.run, self.job)
            control.pause_for_money(self.run, why=str(error))

    def give_up(self) -> None:
        """Ends a batch whose provider can be asked no more: its items are free, and what its answers may have
        cost is booked as lost.
        """
        most: list[float | None] = []
        if self.job.requests:
            for items in self.questions.items():
                most += self._most_costs(self._untold([one for _, one in self.questions.named(items)]))
        with transaction.atomic():
            self.writer.book_lost(most, self.now())
            give_back(self.run, self.job, self.now())

    def _submit(self) -> None:
        mark = f"{self.run.pk}-{self.job.pk}-{int(self.job.created_at.timestamp())}"
        since = self.job.created_at
        state = _wait(batch_client.find_submitted(self.config, mark, since)) if self.job.requests else None
        if state is None:
            state = self._opened(mark)
        if state is not None:
            BatchJob.objects.filter(pk=self.job.pk).update(
                provider_id=state.id[:200], state=state.state[:40], checked_at=self.now()
            )

    def _opened(self, mark: str) -> BatchState | None:
        """A new batch of what is left to ask; None where nothing is, or while the run is stopped."""
        if not self._is_running():
            lay_by(self.run, self.job)
            return None
        lines = self.questions.lines(self.now())
        if not lines:
            self._close("Nothing of it is left to ask.")
            return None
        # Putting many prompts together takes its time, and who stopped the run meanwhile is not to pay.
        if not self._is_running():
            lay_by(self.run, self.job)
            return None
        rows = list(self.questions.held().values_list("pk", flat=True))
        with transaction.atomic():
            hold(self.job, rows, self.now())
            form = self.capabilities.dump()
            BatchJob.objects.filter(pk=self.job.pk).update(requests=len(lines), form=form)
        state = _wait(batch_client.submit(self.config, b"".join(lines), mark, self.capabilities))
        note(self.run.pk, "batch", f"Handed in {len(lines):,} questions as batch {state.id}.")
        return state

    def _is_running(self) -> bool:
        return Run.objects.filter(pk=self.run.pk, state=RunState.RUNNING).exists()

    def _look(self) -> None:
        try:
            state = _wait(batch_client.state_of(self.config, self.job.provider_id))
        except BatchError as error:
            if not error.gone:
                raise
            self._lost(error)
            return
        if not state.is_over and state.state != CANCELLING and self.run.state not in UNENDED:
            state = _wait(batch_client.cancel(self.config, self.job.provider_id))
        BatchJob.objects.filter(pk=self.job.pk).update(state=state.state[:40], error_message="")
        if state.is_over:
            self._collect(state)
        else:
            self._try_soon()

    def _collect(self, state: BatchState) -> None:
        answers = _wait(batch_client.answers(self.config, state))
        why = f"The answers of batch {state.id} cannot be read"
        if answers.unreadable and self._fetch_again(why, answers.unreadable):
            return
        stored = failed = 0
        in_vain: list[Reply] = []
        # Read as it was asked: its siblings, or live questions, may have taught more since.
        form = self._asked_form(state)
        learned = EndpointCapabilities()
        for items in self.questions.items():
            questions = dict(self.questions.named(items))
            asked = self.questions.with_judges(questions)
            read = _wait(_all(batch_client.replayed(asked, answers.by_id, form)))
            for one in read:
                learned = learned.joined(one.learned)
            settled = [one.reply for one in read if one.is_settled]
            self._store(items, settled)
            stored += len(settled)
            in_vain += [_cost_alone(one.reply) for one in read if not one.is_settled]
            if answers.unreadable:
                answered = answers.by_id.keys() | answers.unanswered
                self._in_file |= {key_of(one).content for name, one in questions.items() if name in answered}
                lost = [one for name, one in questions.items() if name not in answered]
                failed += self._fail(items, lost, f"{why}: {answers.unreadable}.")
        error = f": {state.error}" if state.error else ""
        lost_words = f", {failed:,} could not be read" if failed else ""
        self._remember(learned)
        words = (
            f"Batch {state.id} is {state.state}{error}; {stored:,} of its answers were stored{lost_words}."
        )
        if given_up := learned.given_up():
            when = "" if self._is_running() else ", once the run goes on"
            words += f" The endpoint refuses {_listed(given_up)}: what is open is handed in without it{when}."
        self._close(words, in_vain, refused=learned)
        if state.state == "failed" and not stored and self.run.state == RunState.RUNNING:
            control.pause_run(self.run, by=None, why=f"The provider refused the batch{error}"[:400])

    def _asked_form(self, state: BatchState) -> EndpointCapabilities:
        """What its questions left out. Of a batch handed in before that was written down, what its provider
        repeats; else nothing, so that whatever was refused is seen to be: it is handed in again, and written
        down.
        """
        if self.job.form is not None:
            return EndpointCapabilities.load(self.job.form)
        return state.form or EndpointCapabilities()

    def _remember(self, learned: EndpointCapabilities) -> None:
        """Tells all others what this batch taught. A reply format that this run's batches were driven to
        counts once it was answered in, as it does live: until then nobody knows that it helps.
        """
        floor = self.refused.floor if self.refused.floor in learned.proven else 0
        kept = replace(learned, floor=floor)
        if kept.given_up():
            memory.keep_of(self.config, kept.dump(), now=self.now())

    def _lost(self, error: BatchError) -> None:
        """The provider knows the batch no more; what it may have charged for is not asked again unbidden."""
        why = f"Batch {self.job.provider_id} cannot be found"
        if self._fetch_again(why, str(error)):
            return
        failed = 0
        for items in self.questions.items():
            lost = [question for _, question in self.questions.named(items)]
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
        again = f"It is tried again in {counted(minutes, 'minute')}."
        note(self.run.pk, "batch", f"{why}: {fault}. {again}"[:400])
        return True

    def _fail(self, items: Sequence[OpenItem], lost: Sequence[Question], why: str) -> int:
        """Ends these questions as errors, for asking them again is somebody's to decide; how many."""
        asked = self._untold(lost)
        most = self._most_costs(asked)
        with transaction.atomic():
            self._store(
                items, [batch_client.unread(self.judges[key_of(one).judge], one, why) for one in asked]
            )
            self.writer.book_lost(most, self.now())
        return len(asked)

    def _untold(self, lost: Sequence[Question]) -> list[Question]:
        """Those that no earlier answer tells: what is told was not in the file, and so is not lost."""
        known: Container[UUID] = ()
        if self.run.use_cache:
            known = reply_cache.known(self.run.team_id, {key_of(one).content for one in lost})
        return [one for one in lost if key_of(one).content not in known]

    def _most_costs(self, lost: Sequence[Question]) -> list[float | None]:
        """What the answers to those of them that were in the file may cost at most, free ones left out."""
        in_file = list(lost)
        if self.run.use_cache:
            once = {key_of(one).content: one for one in lost}
            in_file = [one for content, one in once.items() if content not in self._in_file]
            self._in_file |= once.keys()
        budget = BudgetReservation(self.run, holder(self.job))
        most = [
            budget.most_cost(self.judges[key_of(one).judge].at_batch_price(), one.prompt) for one in in_file
        ]
        return [usd for usd in most if usd != 0]

    def _store(self, items: Sequence[OpenItem], replies: Sequence[Reply]) -> None:
        by_row = {item.row.pk: item for item in items}
        for start in range(0, len(replies), STORED_AT_ONCE):
            some = replies[start : start + STORED_AT_ONCE]
            self.writer.store(Batch([(by_row[key_of(one).row], one) for one in some]), self.now())

    def _close(
        self, why: str, in_vain: Sequence[Reply] = (), *, refused: EndpointCapabilities | None = None
    ) -> None:
        """Gives the items back: what they lack is asked live. Where something was refused it is asked in
        another batch without that, which waits for a run that was stopped to be resumed. What was answered in
        vain was paid for too.
        """
        with transaction.atomic():
            if in_vain:
                self.writer.add_to_tally(in_vain, self.now())
            again = refused is not None and refused.given_up()
            rows = list(self.questions.held().values_list("pk", flat=True)) if again else []
            give_back(self.run, self.job, self.now())
            if rows and refused is not None:
                set_aside(BatchJob.objects.create(run=self.run, judge=self.job.judge), rows)
                # For `_refused_lately`: nobody else reads it of a batch that is over.
                BatchJob.objects.filter(pk=self.job.pk).update(error_message=json.dumps(refused.dump()))
        note(self.run.pk, "batch", why)
        if not self._is_running():
            summarise(self.run)

    def _failed(self, error: BatchError) -> None:
        BatchJob.objects.filter(pk=self.job.pk).update(error_message=str(error)[:1000])
        note(self.run.pk, "batch", f"{error}"[:400])
        if error.again:
            self._try_soon()
            return
        if not self.job.provider_id:
            RunTally.objects.filter(run=self.run, worker=holder(self.job)).update(reserved_usd=0.0)
        # Of a run that was stopped it is looked at again as late as after a kill, or once it is resumed.
        if self.run.state == RunState.RUNNING:
            self._try_again()
            control.pause_run(self.run, by=None, why=f"The batch: {error}"[:400])

    def _try_soon(self) -> None:
        """The step is over: it need not be waited for as for one that was killed."""
        BatchJob.objects.filter(pk=self.job.pk).update(checked_at=self.now())

    def _try_again(self) -> None:
        """The step may be taken again as soon as somebody has mended what kept it and resumed the run."""
        BatchJob.objects.filter(pk=self.job.pk).update(checked_at=None)


def _refused_lately(run: Run, now: datetime) -> EndpointCapabilities:
    """What the endpoint refused in batches of the run that are over, as `_close` wrote it down.

    Their successors leave it out even where nobody else is told yet: so each asks for less than the one
    before it, and there is a last one.
    """
    over = BatchJob.objects.filter(run=run, stored_at__gt=now - memory.LASTS).exclude(error_message="")
    refused = EndpointCapabilities()
    for written in over.values_list("error_message", flat=True):
        refused = refused.joined(EndpointCapabilities.parse(written) or EndpointCapabilities())
    return refused


def _cost_alone(reply: Reply) -> Reply:
    """The reply without what it says, of which there may be much."""
    return replace(reply, reading=None, text="", reasoning="", request=None)


def _wait(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


async def _all(read: AsyncIterator[T]) -> list[T]:
    return [one async for one in read]


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
