"""A grading session: one worker process grades whatever runs are running, for a bounded time.

One thread claims, renders and stores; the event loop of the request queue asks meanwhile; a third, small
thread keeps the leases alive. Nothing is kept that the rows do not say: a session that is killed at any
moment costs the calls in flight, and whoever looks next goes on from the rows. Decision 0011 says why it is
built like this, and what was measured.
"""

# Long because the whole life of a session is told here.

import logging
import math
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from django.conf import settings
from django.db import DatabaseError

from rubricweb.errors import Refusal
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.pool import Answered, RequestQueue
from rubricweb.judges.turns import QueueKey
from rubricweb.models import Run, RunState, RunTally
from rubricweb.services.endpoints import memory
from rubricweb.services.grading import reply_cache
from rubricweb.services.grading.asking.open_items import key_of
from rubricweb.services.grading.asking.same_questions import SameQuestions
from rubricweb.services.grading.leases import MOST_ITEMS_AT_ONCE, MOST_ITEMS_BESIDE_OTHERS
from rubricweb.services.grading.run_log import PaceLog, say_left_to_others
from rubricweb.services.grading.run_watch import RunWatch
from rubricweb.services.grading.worker_run import WorkerRun
from rubricweb.services.grading.workers.heartbeats import LeaseHeartbeat
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.runs import control, panels
from rubricweb.services.shared.database_retry import DATABASE_AWAY, retry_while_away
from rubricweb.services.shared.run_summaries import summarise

log = logging.getLogger(__name__)

# Replies are stored together when this many have come in, or this much time has passed.
FLUSH_REPLIES = 200
FLUSH_SECONDS = 0.1
# Runs one session works on at a time.
MOST_RUNS = 24
# How long calls in flight have when the worker is told to stop.
SHUTDOWN_SECONDS = 5.0
JOINED_LATELY_SECONDS = 30.0
"""A run that joined longer ago than this and had no answer in the last second asks a slow endpoint."""

T = TypeVar("T")


class AsksJudges(Protocol):
    """What a session needs of a request queue; see `judges.pool.RequestQueue`."""

    @property
    def outstanding(self) -> int: ...
    def in_flight(self, queue_key: QueueKey) -> int: ...
    def held(self, queue_key: QueueKey) -> int: ...
    def put(self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]) -> None: ...
    def take(self, seconds: float, at_least: int = 1) -> list[Answered]: ...
    def cancel(self, queue_key: QueueKey, grace_seconds: float) -> None: ...
    def withdraw(self, queue_key: QueueKey) -> None: ...
    def reopen(self, queue_key: QueueKey) -> None: ...
    def pause(self) -> None: ...
    def go_on(self) -> None: ...
    def close(self) -> None: ...


def grade(
    run_id: int,
    *,
    now: Callable[[], datetime],
    queue: Callable[[], AsksJudges] = RequestQueue,
    only_this_run: bool = False,
    shutting_down: Callable[[], bool] = lambda: False,
) -> list[int]:
    """Works on this run, and unless `only_this_run` on all others that are running, for a bounded time.

    It ends when nobody has left anything to claim, after GRADING_SESSION_SECONDS, or soon after
    `shutting_down` is true. Returns the ids of the runs that still have unclaimed work: wake a worker for
    those.

    Safe to call at any time from any number of processes: claims are leases, verdicts and votes are unique
    rows, and only those that are missing are asked for. What breaks in one run ends that run, is raised at
    the end, and does not touch the others.
    """
    session = GradingSession(run_id, now, queue(), only_this_run, shutting_down)
    try:
        session.work()
    finally:
        session.close()
    if session.fault is not None:
        raise session.fault
    return session.left_over()


# Long because who may stop what, and when, is read in one place.
class GradingSession:
    """The runs a worker grades right now, and whose turn it is."""

    def __init__(
        self,
        first: int,
        now: Callable[[], datetime],
        queue: AsksJudges,
        only_first: bool,
        shutting_down: Callable[[], bool],
    ) -> None:
        self.fault: BaseException | None = None
        self._first = first
        self._now = now
        self._pace_log = PaceLog()
        self._queue = queue
        self._shutting_down = shutting_down
        self._worker = worker_name()
        self._runs: dict[int, WorkerRun] = {}
        # Rows that were claimed in this session and could not be completed, by run.
        self._skipped: dict[int, set[int]] = defaultdict(set)
        # Runs whose offline judge this process cannot ask.
        self._left_to_others: set[int] = set()
        # Questions that are being asked, and who else waits for the answer.
        self._same: SameQuestions[WorkerRun] = SameQuestions()
        self._deadline = time.monotonic() + settings.GRADING_SESSION_SECONDS
        self._watch = RunWatch(now, first if only_first else None)
        self._closing = False
        # Endpoints whose answers were waited for when time was up: nothing more is begun there.
        self._slow_endpoints: set[str] = set()
        self._heartbeat = LeaseHeartbeat(self._worker, self._runs, queue.in_flight, now)

    def work(self) -> None:
        """Until nothing is left to do, or time is up.

        Each round looks which runs are running; has each of them claim items, reserve money and send its
        questions; and stores the answers that have come.
        """
        self._heartbeat.start()
        while True:
            self._retry(self._look_around)
            any_claimed = False
            for run in self._smallest_first():
                any_claimed = self._claim(run) or any_claimed
                self._advance(run)
            if not self._runs and not any_claimed:
                return
            if self._queue.outstanding:
                self._receive(self._queue.take(FLUSH_SECONDS, FLUSH_REPLIES))
            elif any(run.funding.waiting for run in self._runs.values()):
                time.sleep(FLUSH_SECONDS)  # other workers may give back money that they reserved

    def close(self) -> None:
        """Gives back what is held; calls in flight are cancelled."""
        self._queue.close()
        self._heartbeat.stop()
        for run in list(self._runs.values()):
            # The database may be away for good: then the leases run out by themselves.
            with suppress(DatabaseError):
                self._leave(run)

    def left_over(self) -> list[int]:
        """Runs with items that nobody holds; what this session could not complete waits for the reaper."""
        return [run_id for run_id, _ in self._with_free_items()]

    # ── Which runs ───────────────────────────────────────────────────────────────────────────────

    def _smallest_first(self) -> list[WorkerRun]:
        """A small run is not to wait while questions of a large one are rendered, or its answers stored."""
        return sorted(self._runs.values(), key=lambda run: run.unanswered)

    def _look_around(self) -> None:
        """Now and then: ends when time is up, joins runs that have work, stops those that were stopped."""
        if self._shutting_down():
            self._close_down(SHUTDOWN_SECONDS)
        elif not self._closing and time.monotonic() > self._deadline:
            self._wind_up()
        ours = {pk: run.run for pk, run in self._runs.items()}
        news = self._watch.look(ours, [run.run for run in self._runs.values() if not run.stopped])
        if news is None:
            return
        for pk, may_finish in news.ended.items():
            self._stop(self._runs[pk], math.inf if may_finish else 0.0)
        for pk, caps in news.caps.items():
            if pk in self._runs and self._runs[pk].funding.use_caps(*caps):
                self._queue.withdraw(self._runs[pk].queue_key)
        for row, why in news.unusable:
            control.give_up(row, why, self._now())
            self._stop(self._runs[row.pk], math.inf)
        for decision in self._pace_log.news():
            for run in self._runs.values():
                if run.asks(decision.endpoint):
                    run.log.add(decision.kind, message=decision.words)
        memory.keep(now=self._now())
        if not self._closing:
            self._join(self._with_free_items())

    def _with_free_items(self) -> list[tuple[int, int]]:
        free = self._watch.free_items(but=[pk for rows in self._skipped.values() for pk in rows])
        return [(run_id, team_id) for run_id, team_id in free if run_id not in self._left_to_others]

    def _join(self, with_free_items: Sequence[tuple[int, int]]) -> None:
        """Joins runs: first the one this worker was woken for, then teams in turn."""
        waiting = [(run_id, team_id) for run_id, team_id in with_free_items if run_id not in self._runs]
        of_team = Counter(run.run.team_id for run in self._runs.values())
        while waiting and len(self._runs) < MOST_RUNS:
            chosen = min(waiting, key=lambda run: (run[0] != self._first, of_team[run[1]], run[0]))
            waiting.remove(chosen)
            run_id, team_id = chosen
            of_team[team_id] += 1
            self._open(run_id)
        # With more runs than places, those joined longest ago leave once what they hold is done.
        by_age = sorted(self._runs.values(), key=lambda run: run.joined)
        for run in by_age[: len(waiting)]:
            run.retiring = True

    def _open(self, run_id: int) -> None:
        row = (
            Run.objects.select_related("endpoint", "team", "dataset", "rubric_version")
            .filter(pk=run_id, state=RunState.RUNNING)
            .first()
        )
        if row is None:
            return
        if not panels.can_ask_from_here(row):
            self._left_to_others.add(run_id)
            say_left_to_others(row, self._worker)
            return
        try:
            judges = panels.judges_of(row)
        except Refusal as error:
            control.give_up(row, f"The judge cannot be used: {error}", self._now())
            return
        if self._slow_endpoints & {judge.base_url for judge in judges.values()}:
            return
        memory.remind(judges.values(), now=self._now())
        run = WorkerRun(row, judges, self._worker, self._now)
        run.skipped = self._skipped[run_id]
        self._queue.reopen(run.queue_key)
        self._runs[run_id] = run

    # ── Claiming and sending ─────────────────────────────────────────────────────────────────────

    def _claim(self, run: WorkerRun) -> bool:
        """Claims items where few questions wait, and stores what is known of them; whether there were any."""
        if self._closing:
            return False
        most = MOST_ITEMS_AT_ONCE if len(self._runs) == 1 else MOST_ITEMS_BESIDE_OTHERS
        with self._ending_at_a_fault(run):
            if not self._retry(partial(run.claim, most, held=self._queue.held(run.queue_key))):
                return False
            self._store(run, self._retry(run.open_claimed))
        return True

    def _advance(self, run: WorkerRun) -> None:
        """Reserves money, sends what it suffices for, and stops or leaves a run that is at its end."""
        with self._ending_at_a_fault(run):
            self._retry(run.funding.reserve)
            of_judge = run.take_funded(partial(self._same.wait_or_ask, run, run.run.team_id))
            if sent := [question for questions in of_judge.values() for question in questions]:
                self._retry(partial(run.funding.book_as_sent, sent))
            for judge, questions in of_judge.items():
                self._queue.put(run.queue_key, run.judges[judge], questions)
            if run.funding.is_used_up and not run.stopped:
                why = run.funding.refusal
                if self._retry(partial(control.pause_for_money, run.run, why=why)):
                    self._stop(run, math.inf)
            if run.hopeless and not run.stopped:
                self._retry(partial(control.give_up, run.run, run.hopeless, self._now()))
                self._stop(run, math.inf)
            self._retry(run.release_unneeded)
        if run.done and run.run.pk in self._runs:
            self._retry(partial(self._leave, run))

    # ── Receiving and storing ────────────────────────────────────────────────────────────────────

    def _receive(self, answered: Sequence[Answered]) -> None:
        of_run: dict[QueueKey, list[Answered]] = defaultdict(list)
        for one in answered:
            of_run[one.queue_key].append(one)
        for run in self._smallest_first():
            if arrived := of_run.pop(run.queue_key, []):
                with self._ending_at_a_fault(run):
                    self._take(run, arrived)
                self._advance(run)
        # What is left is of runs that a fault has ended: nobody waits for it.

    def _take(self, run: WorkerRun, answered: Sequence[Answered]) -> None:
        """Stores answers; what came back without one is asked again, or by whoever still wants it."""
        cancelled = [one.reply for one in answered if one.reply is not None and _was_cancelled(one.reply)]
        if cancelled:
            self._retry(partial(run.writer.book_broken_off, cancelled, self._now()))
        replies, withdrawn, dropped = [], [], []
        for one in answered:
            if one.reply is not None and not _was_cancelled(one.reply):
                replies.append(one.reply)
            elif one.withdrawn and not run.stopped:
                withdrawn.append(one.question)
            else:
                dropped.append(one.question)
        run.funding.withdrawn(withdrawn)
        run.drop(dropped)
        self._let_others_ask(run.queue_key, [*withdrawn, *dropped])
        self._store(run, replies)
        for one in answered:
            if one.fault is not None:
                raise one.fault

    def _store(self, run: WorkerRun, replies: Sequence[Reply]) -> None:
        """Stores replies, and all that is known at once because of them.

        That may be the next stage of the same item, where an earlier call answers it, and the very same
        question of another run.
        """
        to_store = deque([(run, replies)])
        while to_store:
            of, replies = to_store.popleft()
            if of.abandoned or not replies:
                continue
            with self._ending_at_a_fault(of):
                batch = of.batch(replies)
                self._retry(partial(of.writer.store, batch, self._now()))
                next_stage = of.after_storing(batch)
                known = self._retry(partial(of.known_replies, next_stage))
                to_store.append((of, of.line_up(next_stage, known)))
                for (_, reply), call_id in zip(batch.arrived, batch.ids, strict=True):
                    if not reply.is_known:
                        to_store.extend(self._answer_others(of, reply, call_id))

    def _answer_others(
        self, run: WorkerRun, reply: Reply, call_id: int
    ) -> list[tuple[WorkerRun, list[Reply]]]:
        """The replies of those who asked the very same meanwhile; after an error, the first of them asks."""
        content = key_of(reply).content
        known = {content: reply_cache.as_cached(reply, call_id)} if reply.error is None else {}
        replies = []
        for other, questions in self._same.over(run.run.team_id, content).items():
            with self._ending_at_a_fault(other):
                replies.append((other, other.line_up(questions, known)))
        return replies

    def _let_others_ask(self, queue_key: QueueKey, questions: Sequence[Question]) -> None:
        """These were not asked after all: whoever waited for their answers asks now."""
        for question in questions:
            for other, waiting in self._same.over(queue_key[0], key_of(question).content).items():
                other.funding.waiting.extend(waiting)

    # ── Stopping and leaving ─────────────────────────────────────────────────────────────────────

    def _stop(self, run: WorkerRun, grace_seconds: float) -> None:
        """Asks nothing more of this run, and gives what is in flight so long."""
        if run.stopped and grace_seconds >= run.grace_seconds:
            return
        run.grace_seconds = grace_seconds
        run.drop(self._same.leave(run))
        run.stop()
        self._queue.cancel(run.queue_key, grace_seconds)

    def _wind_up(self) -> None:
        """Time is up: the session ends once no judge is left whose calls in flight may last.

        Until then it goes on with runs that are answered, and with those that come: nobody is to wait for an
        endpoint they do not ask.
        """
        silent = [run for run in self._runs.values() if not run.claim_size.answers_per_second()]
        lately = time.monotonic() - JOINED_LATELY_SECONDS
        slow = [run for run in self._runs.values() if run.stopped]
        slow += [run for run in silent if not run.stopped and run.joined < lately]
        for run in slow:
            self._slow_endpoints |= {judge.base_url for judge in run.judges.values()}
            self._stop(run, math.inf)
        if not slow and not silent:
            self._close_down(math.inf)

    def _close_down(self, grace_seconds: float) -> None:
        """Claims nothing more, asks nothing more, and waits so long for what is in flight."""
        self._closing = True
        for run in self._runs.values():
            self._stop(run, grace_seconds)

    def _leave(self, run: WorkerRun) -> None:
        """Gives back what is held of the run, and finishes it when everything is graded."""
        run.leave()
        memory.keep(now=self._now())
        RunTally.objects.filter(run=run.run, worker=self._worker).update(in_flight=0)
        self._runs.pop(run.run.pk, None)
        if not control.finish_if_done(run.run, self._now()) and run.stopped:
            summarise(run.run)  # its last answers came after it was stopped

    @contextmanager
    def _ending_at_a_fault(self, run: WorkerRun) -> Iterator[None]:
        """A fault of ours would meet the same items again and pay for them again: the run ends and says so.

        A database that is away is nobody's fault.
        """
        try:
            yield
        except DATABASE_AWAY:
            raise
        except Exception as fault:
            log.exception("run %s ended", run.run.pk)
            self.fault = self.fault or fault
            self._queue.cancel(run.queue_key, 0.0)
            self._same.leave(run)
            for other, question in self._same.break_off(run):
                other.funding.waiting.append(question)
            run.abandon()
            why = f"An internal error stopped the run: {type(fault).__name__}: {fault}"
            control.give_up(run.run, why, self._now())

    def _retry(self, do: Callable[[], T]) -> T:
        """Does what asks the database, again and again while it is away; meanwhile nothing new is asked."""
        result, lost_seconds = retry_while_away(do, on_first_failure=self._queue.pause)
        if lost_seconds:
            self._queue.go_on()
            for run in self._runs.values():
                run.log.add("database")
        return result


def _was_cancelled(reply: Reply) -> bool:
    return reply.error is not None and reply.error.kind == "stopped"
