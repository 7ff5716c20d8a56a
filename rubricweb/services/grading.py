"""One worker's share of a run: claim items, ask what is missing, store answers and scores together."""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

from rubricweb import engine
from rubricweb.errors import Refusal
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.pool import ask_all
from rubricweb.models import JudgeCall, Run, RunItem, RunState
from rubricweb.services import asking, item_scores, panels, runs
from rubricweb.services.arrivals import Arrivals
from rubricweb.services.asking import OpenItem, key_of, storable

log = logging.getLogger(__name__)

AskAll = Callable[..., Any]

# Errors of the endpoint itself: after this many in a row with no answer, a judge counts as away.
ENDPOINT_ERRORS = frozenset({"connection", "unauthorized", "forbidden", "not_found", "blocked_address"})
GIVE_UP_AFTER = 10


def grade_chunk(run_id: int, *, now: Callable[[], datetime], ask: AskAll = ask_all) -> bool:
    """Claims some items of the run, asks what is missing, stores it. True when unclaimed work is left.

    Safe to call at any time from any number of processes: claims are leases, verdicts and votes are unique
    rows, and only those that are missing are asked for.
    """
    run = Run.objects.select_related("endpoint").filter(pk=run_id, state=RunState.RUNNING).first()
    if run is None:
        return False
    worker = runs.worker_name()
    claimed = _claim(run, worker, now())
    if claimed:
        try:
            judges = panels.judges_of(run)
        except Refusal as error:
            runs.give_up(run, f"The judge cannot be used: {error}", now())
            return False
        try:
            _Chunk(run, claimed, judges, worker, now).grade(ask)
        except DatabaseError:
            raise  # the database is away: what is missing is asked for when it is back
        except Exception as error:
            # A fault of ours would meet the same items again and pay for them again: stop and say so.
            runs.give_up(run, f"An internal error stopped the run: {type(error).__name__}: {error}", now())
            raise
        if not Run.objects.filter(pk=run.pk, state=RunState.RUNNING).exists():
            runs.summarise(run)  # it ended while these verdicts were on their way
    runs.finish_if_done(run, now())
    return RunItem.objects.filter(runs.unclaimed(now()), run=run, run__state=RunState.RUNNING).exists()


def _claim(run: Run, worker: str, now: datetime) -> list[RunItem]:
    """Leases the next items of the run to this worker; two workers never get the same one."""
    with transaction.atomic():
        free = RunItem.objects.filter(runs.unclaimed(now), run=run).order_by("pk")
        if connection.features.has_select_for_update_skip_locked:
            free = free.select_for_update(skip_locked=True)
        ids = list(free.values_list("pk", flat=True)[: settings.GRADING_CHUNK_ITEMS])
        RunItem.objects.filter(pk__in=ids).update(leased_by=worker, leased_until=now + _lease())
    return list(
        RunItem.objects.filter(pk__in=ids)
        .select_related("item__dataset", "rubric_version")
        .prefetch_related("rubric_version__criteria")
        .order_by("pk")
    )


def _lease() -> timedelta:
    return timedelta(seconds=settings.GRADING_LEASE_SECONDS)


def _opened(rows: Sequence[RunItem]) -> list[OpenItem]:
    """The claimed rows as what is asked about; items of one rubric version share its rubric."""
    rubrics: dict[int, engine.Rubric] = {}
    items = []
    for row in rows:
        version = row.rubric_version
        if version.pk not in rubrics:
            rubrics[version.pk] = version.to_engine()
        items.append(OpenItem(row, rubrics[version.pk], list(version.criteria.all()), row.item.to_engine()))
    return items


@dataclass
class _Chunk:
    """The items one worker has claimed, and how far they are."""

    run: Run
    rows: list[RunItem]
    judges: Mapping[str, JudgeConfig]
    worker: str
    now: Callable[[], datetime]
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    # Errors of the endpoint itself in a row, by judge, and what the last one said.
    silent: Counter[str] = field(default_factory=Counter)
    silence: str = ""

    def __post_init__(self) -> None:
        self.items = {item.row.pk: item for item in _opened(self.rows)}
        self.asking = asking.way_of(self.run, self.judges)

    def grade(self, ask: AskAll) -> None:
        items = list(self.items.values())
        self.asking.load(items)
        heartbeat = threading.Thread(target=self._heartbeat, name=f"lease of run {self.run.pk}", daemon=True)
        heartbeat.start()
        try:
            self._check(items)
            # A stage of a cascade is asked when the one before it has answered: as often as there is more.
            while not self.stop.is_set() and (questions := self._questions(items)):
                if not self._ask(ask, questions):
                    break
        finally:
            self.stop.set()
            self.done.set()
            heartbeat.join()
            self._release()
        if self._hopeless():
            runs.give_up(self.run, f"The judge did not answer: {self.silence}", self.now())

    def _check(self, items: Sequence[OpenItem]) -> None:
        """Answers what needs no judge, and scores the items that have everything then."""
        made = asking.check(self.run, items)
        with transaction.atomic():
            asking.store_checks(items, made)
            self._score()

    def _questions(self, items: Sequence[OpenItem]) -> dict[str, list[Question]]:
        """What can be asked now, by the name of the judge."""
        questions: dict[str, list[Question]] = defaultdict(list)
        for item in items:
            for judge, question in self.asking.questions(item):
                questions[judge].append(question)
        return questions

    def _ask(self, ask: AskAll, questions: Mapping[str, list[Question]]) -> int:
        """Asks every judge its questions at once; how many replies were stored."""
        replies = Arrivals(
            ask(self.judges[judge], asked, stop=self.stop) for judge, asked in questions.items()
        )
        stored = 0
        try:
            for batch in replies.batches():
                stored += self._store(batch)
        except BaseException:
            self.stop.set()
            raise
        finally:
            replies.join()
        return stored

    def _store(self, replies: Sequence[Reply]) -> int:
        """Calls, their answers, and the scores of items that are now complete: one transaction."""
        replies = [reply for reply in replies if reply.error is None or reply.error.kind != "stopped"]
        for reply in replies:
            self._watch_endpoint(reply)
        if self._hopeless():
            self.stop.set()
        with transaction.atomic():
            calls = JudgeCall.objects.bulk_create([self._call(reply) for reply in replies])
            self.asking.store(
                [
                    (self.items[key_of(reply).row], call, reply)
                    for call, reply in zip(calls, replies, strict=True)
                ]
            )
            self._score()
        return len(replies)

    def _score(self) -> None:
        complete = [
            item
            for item in self.items.values()
            if item.row.graded_at is None and self.asking.is_complete(item)
        ]
        item_scores.score_items(self.run, complete, self.now())

    def _call(self, reply: Reply) -> JudgeCall:
        return JudgeCall(
            run=self.run,
            item_id=self.items[key_of(reply).row].row.item_id,
            model=reply.model[:200],
            rung=reply.rung,
            attempts=reply.attempts,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost_usd=reply.cost_usd,
            latency_seconds=reply.latency_seconds,
            reply=storable(reply.text),
            error_kind=reply.error.kind if reply.error else None,
            error_message=storable(reply.error.message) if reply.error else "",
        )

    def _watch_endpoint(self, reply: Reply) -> None:
        """Counts errors of an endpoint itself in a row; any answer starts its count again."""
        judge = key_of(reply).judge
        if reply.error is not None and reply.error.kind in ENDPOINT_ERRORS:
            self.silent[judge] += 1
            self.silence = f"{reply.error.kind}: {reply.error.message}"
        else:
            self.silent[judge] = 0

    def _hopeless(self) -> bool:
        away = [judge for judge, errors in self.silent.items() if errors >= GIVE_UP_AFTER]
        return bool(away) and self.asking.hopeless(away)

    def _heartbeat(self) -> None:
        """Renews the leases until done; a run that ended meanwhile stops asking.

        A database that is busy for a moment is no reason to lose the leases: the next beat tries again.
        """
        last = time.monotonic()
        try:
            while not self.done.wait(min(settings.GRADING_LEASE_SECONDS / 3, 1.0)):
                try:
                    if not Run.objects.filter(pk=self.run.pk, state=RunState.RUNNING).exists():
                        self.stop.set()
                    if time.monotonic() - last >= settings.GRADING_LEASE_SECONDS / 3:
                        self._renew()
                        last = time.monotonic()
                except OperationalError as error:
                    log.warning("heartbeat of run %s missed: %s", self.run.pk, error)
        finally:
            connection.close()

    def _renew(self) -> None:
        RunItem.objects.filter(run=self.run, leased_by=self.worker, graded_at=None).update(
            leased_until=self.now() + _lease()
        )

    def _release(self) -> None:
        RunItem.objects.filter(
            pk__in=[row.pk for row in self.rows], leased_by=self.worker, graded_at=None
        ).update(leased_by="", leased_until=None)
