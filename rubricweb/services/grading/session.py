"""A worker's session: it claims items of running runs, asks what is missing, and stores what comes back.

One session is one thread that claims, renders and stores while the event loop of its line asks; a second
small thread keeps the leases alive. Nothing is kept that the rows do not say: a session that is killed at any
moment costs the calls in flight, and whoever looks next goes on from the rows. Decision 0011 says why it is
built like this, and what was measured.
"""

import logging
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Exists, OuterRef, QuerySet

from rubricweb.errors import Refusal
from rubricweb.judges import pool
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.pool import Answered, Line
from rubricweb.judges.turns import Lane
from rubricweb.models import JudgeEndpoint, Run, RunItem, RunState, RunTally
from rubricweb.services.endpoints import memory
from rubricweb.services.endpoints.endpoints import endpoint_of
from rubricweb.services.grading import leases, writer
from rubricweb.services.grading import work as shares
from rubricweb.services.grading.heartbeats import Heartbeat
from rubricweb.services.grading.questions import key_of
from rubricweb.services.grading.work import MOST_AMONG_OTHERS, MOST_AT_ONCE, Share
from rubricweb.services.grading.workers import worker_name
from rubricweb.services.grading.writer import Batch, patiently
from rubricweb.services.runs import control, panels
from rubricweb.services.runs.starting import asked_judges
from rubricweb.services.runs.summaries import summarise
from rubricweb.services.runs.work_queue import asked_live, unclaimed

log = logging.getLogger(__name__)

# Replies are stored together when this many have come in, or this much time has passed.
FLUSH_REPLIES = 200
FLUSH_SECONDS = 0.1
# How often the session looks whether runs were started, paused or cancelled meanwhile, and how often for
# work that came free in those it knows.
LOOK_SECONDS, LOOK_CLOSELY_SECONDS = 0.05, 1.0
# Runs one session works on at a time.
MOST_RUNS = 24
# How long calls in flight have when the worker is told to stop.
LEAVE_SECONDS = 5.0
# What gates decide, as kinds of lines in a run's log. How many 429 there were a reply says when it comes.
_PACE = {
    "throttled": "throttled",
    "waiting": "throttled",
    "paced": "paced",
    "halved": "paced",
    "shared": "paced",
}

Caps = tuple[float | None, float | None]
"""On a run and on its team's month, in US dollars; None is no cap."""

T = TypeVar("T")


class AsksJudges(Protocol):
    """What a session needs of a line; see `judges.pool.Line`."""

    @property
    def outstanding(self) -> int: ...
    def in_flight(self, lane: Lane) -> int: ...
    def put(self, lane: Lane, config: JudgeConfig, questions: Sequence[Question]) -> None: ...
    def take(self, seconds: float, at_least: int = 1) -> list[Answered]: ...
    def halt(self, lane: Lane, grace_seconds: float) -> None: ...
    def recall(self, lane: Lane) -> None: ...
    def reopen(self, lane: Lane) -> None: ...
    def pause(self) -> None: ...
    def go_on(self) -> None: ...
    def close(self) -> None: ...


def grade(
    run_id: int,
    *,
    now: Callable[[], datetime],
    line: Callable[[], AsksJudges] = Line,
    alone: bool = False,
    leave: Callable[[], bool] = lambda: False,
) -> list[int]:
    """Works on this run, and unless `alone` on all others that are running, for a bounded time.

    It ends when nobody has left anything to claim, after GRADING_SESSION_SECONDS, or soon after `leave` is
    true. Returns the ids of the runs that still have unclaimed work: ring for those.

    Safe to call at any time from any number of processes: claims are leases, verdicts and votes are unique
    rows, and only those that are missing are asked for. What breaks in one run ends that run, is raised at
    the end, and does not touch the others.
    """
    session = _Session(run_id, now, line(), alone, leave)
    try:
        session.work()
    finally:
        session.close()
    if session.fault is not None:
        raise session.fault
    return session.left_over()


class _Session:
    """The runs a worker has a share of right now, and whose turn it is."""

    def __init__(
        self,
        first: int,
        now: Callable[[], datetime],
        line: AsksJudges,
        alone: bool,
        leave: Callable[[], bool],
    ) -> None:
        self.fault: BaseException | None = None
        self._first = first
        self._now = now
        gates = pool.gates()
        self._told = max((decision.number for decision in gates.decisions()), default=0) if gates else 0
        self._line = line
        self._alone = alone
        self._leave = leave
        self._worker = worker_name()
        self._shares: dict[int, Share] = {}
        # Rows that were claimed in this session and could not be completed, by run.
        self._left: dict[int, set[int]] = defaultdict(set)
        # Who waits for the answer to a question that is being asked already.
        self._asking: dict[tuple[Hashable, UUID], list[tuple[Share, Question]]] = {}
        self._deadline = time.monotonic() + settings.GRADING_SESSION_SECONDS
        self._looked = self._looked_closely = -math.inf
        # Endpoints that are asked and where they are, as they were when that was looked at last.
        self._endpoints: dict[int, str] = {}
        # Runs that go on, with the caps on each and on its team's month.
        self._known: dict[int, Caps] = {}
        self._closing = False
        # Endpoints whose answers were waited for when time was up: nothing more is begun there.
        self._slow: set[str] = set()
        self._heartbeat = Heartbeat(self._worker, self._shares, line.in_flight, now)

    def work(self) -> None:
        """Until nothing is left to do, or time is up."""
        self._heartbeat.start()
        while True:
            self._patiently(self._look_around)
            found = False
            for share in self._nearest_its_end_first():
                found = self._patiently(partial(self._top_up, share)) or found
                self._go_on(share)
            if not self._shares and not found:
                return
            if self._line.outstanding:
                self._receive(self._line.take(FLUSH_SECONDS, FLUSH_REPLIES))
            elif any(share.unpaid for share in self._shares.values()):
                time.sleep(FLUSH_SECONDS)  # others may give back money that they set aside

    def close(self) -> None:
        """Gives back what is held; what is on its way is broken off."""
        self._line.close()
        self._heartbeat.stop()
        for share in list(self._shares.values()):
            # The database may be away for good: then the leases run out by themselves.
            with suppress(DatabaseError):
                self._leave_share(share)

    def left_over(self) -> list[int]:
        """Runs with work that nobody holds; what this session could not complete waits for a sweep."""
        return [run_id for run_id, _ in self._with_work()]

    # ── Looking and claiming ─────────────────────────────────────────────────────────────────────

    def _look_around(self) -> None:
        """Looks now and then for runs that came or were stopped."""
        if self._leave():
            self._close_down(LEAVE_SECONDS)
        elif not self._closing and time.monotonic() > self._deadline:
            self._wind_up()
        if not self._shares or time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()

    def _nearest_its_end_first(self) -> list[Share]:
        """A small run is not to wait while questions of a large one are rendered, or its answers stored."""
        return sorted(self._shares.values(), key=lambda share: share.outstanding)

    def _look(self) -> None:
        """Joins runs that have work, and leaves those that were stopped.

        Usually nothing has changed, and seeing that costs one small query.
        """
        now = self._looked = time.monotonic()
        caps = self._candidates().values_list("pk", "budget_usd", "team__monthly_budget_usd")
        of_now = {pk: (of_run, of_month) for pk, of_run, of_month in caps}
        if self._shares and of_now == self._known and now - self._looked_closely < LOOK_CLOSELY_SECONDS:
            return
        self._looked_closely, self._known = now, of_now
        self._notice_stopped(of_now)
        self._notice_caps(of_now)
        self._notice_removed()
        self._listen_to_gates()
        memory.keep(now=self._now())
        if not self._closing:
            self._join(self._with_work())

    def _candidates(self) -> QuerySet[Run]:
        running = Run.objects.filter(asked_live(), state=RunState.RUNNING).order_by("pk")
        return running.filter(pk=self._first) if self._alone else running

    def _with_work(self) -> list[tuple[int, int]]:
        """(run, team) of running runs that have items nobody holds."""
        free = RunItem.objects.filter(unclaimed(self._now()), run=OuterRef("pk"))
        if left := [pk for rows in self._left.values() for pk in rows]:
            free = free.exclude(pk__in=left)
        return list(self._candidates().filter(Exists(free)).values_list("pk", "team_id"))

    def _listen_to_gates(self) -> None:
        """Has the logs of runs say what the gates decided about the endpoints they ask."""
        gates = pool.gates()
        for decision in gates.decisions(self._told) if gates else ():
            self._told = decision.number
            for share in self._shares.values():
                if decision.kind in _PACE and share.asks(decision.base_url, decision.model):
                    share.remember(_PACE[decision.kind], words=decision.words)

    def _notice_caps(self, caps: Mapping[int, Caps]) -> None:
        for pk, share in self._shares.items():
            if pk in caps and share.go_by_caps(*caps[pk]):
                self._line.recall(share.lane)

    def _notice_removed(self) -> None:
        """An endpoint that was removed, or moved to another host, is sent nothing more."""
        shares = [share for share in self._shares.values() if not share.halted]
        judges = [judge for share in shares for judge in asked_judges(share.run.judge, share.run.panel)]
        asked = {pk for judge in judges if (pk := endpoint_of(judge["id"])) is not None}
        there = JudgeEndpoint.objects.filter(pk__in=asked, removed_at=None)
        today = dict(there.values_list("pk", "base_url"))
        if today == self._endpoints and len(today) == len(asked):
            return
        self._endpoints = today
        for run in Run.objects.select_related("endpoint").filter(pk__in=[share.run.pk for share in shares]):
            try:
                panels.judges_of(run)
            except Refusal as error:
                control.give_up(run, f"The judge cannot be used: {error}", self._now())
                self._halt(self._shares[run.pk], math.inf)

    def _notice_stopped(self, running: Container[int]) -> None:
        gone = [pk for pk in self._shares if pk not in running]
        if not gone:
            return
        finish = dict(Run.objects.filter(pk__in=gone).values_list("pk", "finish_in_flight"))
        for pk in gone:
            self._halt(self._shares[pk], math.inf if finish.get(pk, False) else 0.0)

    def _join(self, with_work: Sequence[tuple[int, int]]) -> None:
        """Takes a share in runs that have work: first the run that was rung for, then teams in turn."""
        waiting = [(run_id, team_id) for run_id, team_id in with_work if run_id not in self._shares]
        of_team = Counter(share.run.team_id for share in self._shares.values())
        while waiting and len(self._shares) < MOST_RUNS:
            chosen = min(waiting, key=lambda run: (run[0] != self._first, of_team[run[1]], run[0]))
            waiting.remove(chosen)
            run_id, team_id = chosen
            of_team[team_id] += 1
            self._open(run_id)
        # With more runs than places, those that have been here longest make room once what they hold is done.
        longest = sorted(self._shares.values(), key=lambda share: share.opened)
        for share in longest[: len(waiting)]:
            share.retiring = True

    def _open(self, run_id: int) -> None:
        run = (
            Run.objects.select_related("endpoint", "team", "dataset", "rubric_version")
            .filter(pk=run_id, state=RunState.RUNNING)
            .first()
        )
        if run is None:
            return
        try:
            judges = panels.judges_of(run)
        except Refusal as error:
            control.give_up(run, f"The judge cannot be used: {error}", self._now())
            return
        if self._slow & {judge.base_url for judge in judges.values()}:
            return
        memory.remind(judges.values(), now=self._now())
        share = Share(run, judges, self._worker, self._now)
        share.left = self._left[run_id]
        self._line.reopen(share.lane)
        self._shares[run_id] = share

    def _top_up(self, share: Share) -> bool:
        """Claims more of a run of which little waits; whether there was more."""
        at_once = MOST_AT_ONCE if len(self._shares) == 1 else MOST_AMONG_OTHERS
        limit = 0 if self._closing else share.wanted(at_once)
        if not limit:
            return False
        rows = leases.claim(share.run, self._worker, self._now(), limit, but=share.left)
        share.exhausted = len(rows) < limit
        if not rows:
            return False
        with self._blamed_on(share):
            try:
                known = share.take_in(rows)
            except DatabaseError:
                with suppress(DatabaseError):
                    leases.release(self._worker, rows)
                raise
            self._store(share, known)
        return True

    # ── Asking ───────────────────────────────────────────────────────────────────────────────────

    def _go_on(self, share: Share) -> None:
        """Whatever comes next for a share: paying, asking, or leaving."""
        with self._blamed_on(share):
            self._patiently(share.pay)
            self._ask(share)
            if share.unpaid and share.purse.final and not share.halted:
                self._patiently(lambda: self._pause(share))
            if share.hopeless and not share.halted:
                self._patiently(lambda: control.give_up(share.run, share.hopeless, self._now()))
                self._halt(share, math.inf)
            self._patiently(share.upkeep)
        if share.done and share.run.pk in self._shares:
            self._patiently(lambda: self._leave_share(share))

    def _ask(self, share: Share) -> None:
        """Hands over what is paid; a question that is being asked already is asked once."""
        by_judge: dict[str, list[Question]] = defaultdict(list)
        while share.paid:
            question = share.paid.popleft()
            key = key_of(question)
            if share.run.use_cache:
                same = (share.run.team_id, key.content)
                if same in self._asking:
                    self._asking[same].append((share, question))
                    continue
                self._asking[same] = []
            by_judge[key.judge].append(question)
        asked = [question for questions in by_judge.values() for question in questions]
        if asked:
            self._patiently(lambda: share.hand_over(asked))
        for judge, questions in by_judge.items():
            self._line.put(share.lane, share.judges[judge], questions)

    def _pause(self, share: Share) -> None:
        if control.pause_for_money(share.run, now=self._now(), why=share.purse.refusal):
            self._halt(share, math.inf)

    def _halt(self, share: Share, grace_seconds: float) -> None:
        """Asks nothing more of this run, and gives what is in flight so long."""
        if share.halted and grace_seconds >= share.grace_seconds:
            return
        share.grace_seconds = grace_seconds
        # Those that wait for another run's answer do so no more.
        for same, waiting in self._asking.items():
            mine = [question for follower, question in waiting if follower is share]
            if mine:
                share.unasked(mine)
                self._asking[same] = [entry for entry in waiting if entry[0] is not share]
        share.halt()
        self._line.halt(share.lane, grace_seconds)

    def _wind_up(self) -> None:
        """Time is up: the session ends once no judge is left whose calls in flight may last.

        Until then it goes on with runs that are answered, and with those that come: nobody is to wait for an
        endpoint they do not ask.
        """
        slow = [share for share in self._shares.values() if share.halted or not share.per_second()]
        for share in slow:
            self._slow |= {judge.base_url for judge in share.judges.values()}
            self._halt(share, math.inf)
        if not slow:
            self._close_down(math.inf)

    def _close_down(self, grace_seconds: float) -> None:
        """Claims nothing more, begins nothing more, and waits so long for what is in flight."""
        self._closing = True
        for share in self._shares.values():
            self._halt(share, grace_seconds)

    # ── Receiving ────────────────────────────────────────────────────────────────────────────────

    def _receive(self, answered: Sequence[Answered]) -> None:
        of_run: dict[Lane, list[Answered]] = defaultdict(list)
        for one in answered:
            of_run[one.lane].append(one)
        for share in self._nearest_its_end_first():
            if arrived := of_run.pop(share.lane, []):
                with self._blamed_on(share):
                    self._take(share, arrived)
                self._go_on(share)
        for lane, arrived in of_run.items():  # of runs that a fault has stopped
            self._ask_others(lane, [one.question for one in arrived])

    def _take(self, share: Share, answered: Sequence[Answered]) -> None:
        replies = [one.reply for one in answered if one.reply is not None and not _was_stopped(one.reply)]
        recalled = [one.question for one in answered if one.recalled and not share.halted]
        unasked = [
            one.question
            for one in answered
            if (share.halted or not one.recalled) and (one.reply is None or _was_stopped(one.reply))
        ]
        stopped = [one.reply for one in answered if one.reply is not None and _was_stopped(one.reply)]
        if stopped:
            self._patiently(lambda: share.broken_off(stopped))
        share.recalled(recalled)
        share.unasked(unasked)
        self._ask_others(share.lane, [*recalled, *unasked])
        self._store(share, replies)
        for one in answered:
            if one.fault is not None:
                raise one.fault

    def _store(self, share: Share, replies: Sequence[Reply]) -> None:
        """Writes replies and all that follows from them, until there are no more that are known at once."""
        while replies:
            batch = share.batch(replies)
            self._patiently(partial(self._write, share, batch))
            follow = share.settle(batch)
            for (_, reply), call_id in zip(batch.arrived, batch.ids, strict=True):
                if reply.cached_from is None:
                    self._pass_on(share, reply, call_id)
            known = self._patiently(partial(share.known, follow))
            replies = share.line_up(follow, known)

    def _write(self, share: Share, batch: Batch) -> None:
        share.ledger.store(batch, self._now())

    def _pass_on(self, share: Share, reply: Reply, call_id: int) -> None:
        """Gives the answer to those who asked the very same meanwhile; without one, the next of them asks."""
        same = (share.run.team_id, key_of(reply).content)
        waiting = self._asking.pop(same, None)
        if not waiting:
            return
        known = {key_of(reply).content: shares.as_cached(reply, call_id)} if reply.error is None else {}
        of_share: dict[int, list[Question]] = defaultdict(list)
        for follower, question in waiting:
            of_share[follower.run.pk].append(question)
        for pk, questions in of_share.items():
            follower = self._shares[pk]
            with self._blamed_on(follower):
                self._store(follower, follower.line_up(questions, known))

    def _ask_others(self, lane: Lane, questions: Sequence[Question]) -> None:
        """These were not asked after all: whoever waited for their answers asks now."""
        for question in questions:
            for follower, waiting in self._asking.pop((lane[0], key_of(question).content), ()):
                follower.unpaid.append(waiting)

    # ── Leaving ──────────────────────────────────────────────────────────────────────────────────

    def _leave_share(self, share: Share) -> None:
        """Gives back what is held of the run, and ends it when everything is graded."""
        share.leave()
        memory.keep(now=self._now())
        RunTally.objects.filter(run=share.run, worker=self._worker).update(in_flight=0)
        self._shares.pop(share.run.pk, None)
        if not control.finish_if_done(share.run, self._now()) and share.halted:
            summarise(share.run)  # its last answers came after it was stopped

    @contextmanager
    def _blamed_on(self, share: Share) -> Iterator[None]:
        """A fault of ours would meet the same items again and pay for them again: the run stops and says so.

        A database that is away is nobody's fault.
        """
        try:
            yield
        except writer.AWAY:
            raise
        except Exception as fault:
            log.exception("run %s stopped", share.run.pk)
            self.fault = self.fault or fault
            self._line.halt(share.lane, 0.0)
            share.halted, share.outstanding = True, 0
            for same, waiting in self._asking.items():
                self._asking[same] = [entry for entry in waiting if entry[0] is not share]
            why = f"An internal error stopped the run: {type(fault).__name__}: {fault}"
            control.give_up(share.run, why, self._now())

    def _patiently(self, do: Callable[[], T]) -> T:
        """Does what asks the database, waiting while it is away; meanwhile nothing new is asked."""
        result, lost_seconds = patiently(do, away=self._line.pause)
        if lost_seconds:
            self._line.go_on()
            for share in self._shares.values():
                share.remember("database")
        return result


def _was_stopped(reply: Reply) -> bool:
    return reply.error is not None and reply.error.kind == "stopped"
