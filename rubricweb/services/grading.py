"""One worker's share of a run: claim items, ask what is missing, store verdicts and scores together."""

import logging
import queue
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

from rubricweb import engine
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.scoring import FAILED, Abstention, OnError, Score, score_holistic, score_verdicts
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Refusal
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.pool import ask_all
from rubricweb.models import Criterion, JudgeCall, Judgement, Run, RunItem, RunState
from rubricweb.services import endpoints, runs

log = logging.getLogger(__name__)

AskAll = Callable[..., Any]

# Replies are stored together when this many have come in, or this much time has passed.
FLUSH_REPLIES = 100
FLUSH_SECONDS = 0.5
# Errors of the endpoint itself: after this many in a row with no answer, a run stops asking.
ENDPOINT_ERRORS = frozenset({"connection", "unauthorized", "forbidden", "not_found", "blocked_address"})
GIVE_UP_AFTER = 10


def grade_chunk(run_id: int, *, now: Callable[[], datetime], ask: AskAll = ask_all) -> bool:
    """Claims some items of the run, asks what is missing, stores it. True when unclaimed work is left.

    Safe to call at any time from any number of processes: claims are leases, verdicts are unique rows,
    and only verdicts that are missing are asked for.
    """
    run = Run.objects.select_related("endpoint").filter(pk=run_id, state=RunState.RUNNING).first()
    if run is None:
        return False
    worker = runs.worker_name()
    claimed = _claim(run, worker, now())
    if claimed:
        try:
            judge = endpoints.thawed(run)
        except Refusal as error:
            runs.give_up(run, f"The judge cannot be used: {error}", now())
            return False
        try:
            _Chunk(run, claimed, judge, worker, now).grade(ask)
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


@dataclass
class _Chunk:
    """The items one worker has claimed, and what is still to be asked about them."""

    run: Run
    rows: list[RunItem]
    judge: JudgeConfig
    worker: str
    now: Callable[[], datetime]
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    open_questions: Counter[int] = field(default_factory=Counter)
    endpoint_errors: int = 0
    endpoint_error: str = ""

    def grade(self, ask: AskAll) -> None:
        questions = self._questions()
        self._store([])  # items whose verdicts were all there already
        heartbeat = threading.Thread(target=self._heartbeat, name=f"lease of run {self.run.pk}", daemon=True)
        heartbeat.start()
        replies = _Arrivals(ask(self.judge, questions, stop=self.stop))
        try:
            for batch in replies.batches():
                self._store(batch)
        finally:
            self.stop.set()
            replies.join()
            self.done.set()
            heartbeat.join()
            self._release()
        if self.endpoint_errors >= GIVE_UP_AFTER:
            runs.give_up(self.run, f"The judge did not answer: {self.endpoint_error}", self.now())

    def _questions(self) -> list[Question]:
        """One question per prompt that still has an unanswered criterion."""
        have: dict[int, set[int]] = defaultdict(set)
        stored = Judgement.objects.filter(run=self.run, item_id__in=[row.item_id for row in self.rows])
        for item_id, criterion_id in stored.values_list("item_id", "criterion_id"):
            have[item_id].add(criterion_id)
        grader = runs.grader(self.run.autograder, self.run.reply_format, self.run.normalize)
        questions = []
        for row in self.rows:
            rubric = row.rubric_version.to_engine()
            criteria = list(row.rubric_version.criteria.all())
            missing = [
                index for index, criterion in enumerate(criteria) if criterion.pk not in have[row.item_id]
            ]
            if not missing and not self._holistic:
                continue
            for prompt in grader.prompts(
                row.item.to_engine(), rubric, only=None if self._holistic else missing
            ):
                self.open_questions[row.pk] += 1
                read = _reader(grader, prompt, rubric)
                questions.append(Question(key=(row.pk, prompt.criteria), prompt=prompt, read=read))
        return questions

    @property
    def _holistic(self) -> bool:
        return self.run.autograder == "rubric_as_judge"

    def _store(self, replies: Sequence[Reply]) -> None:
        """Calls, their verdicts, and the scores of items that are now complete: one transaction."""
        rows = {row.pk: row for row in self.rows}
        replies = [reply for reply in replies if reply.error is None or reply.error.kind != "stopped"]
        for reply in replies:
            self._watch_endpoint(reply)
        if self.endpoint_errors >= GIVE_UP_AFTER:
            self.stop.set()
        with transaction.atomic():
            calls = JudgeCall.objects.bulk_create(
                [self._call(rows[_key(reply)[0]], reply) for reply in replies]
            )
            judgements: list[Judgement] = []
            for call, reply in zip(calls, replies, strict=True):
                row = rows[_key(reply)[0]]
                self.open_questions[row.pk] -= 1
                if self._holistic:
                    self._take_overall(row, reply)
                else:
                    judgements += self._judgements(row, call, reply)
            Judgement.objects.bulk_create(judgements, ignore_conflicts=True, batch_size=500)
            complete = [
                row for row in self.rows if row.graded_at is None and self.open_questions[row.pk] == 0
            ]
            self._score(complete)

    def _call(self, row: RunItem, reply: Reply) -> JudgeCall:
        return JudgeCall(
            run=self.run,
            item_id=row.item_id,
            model=reply.model[:200],
            rung=reply.rung,
            attempts=reply.attempts,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost_usd=reply.cost_usd,
            latency_seconds=reply.latency_seconds,
            reply=_storable(reply.text),
            error_kind=reply.error.kind if reply.error else None,
            error_message=_storable(reply.error.message) if reply.error else "",
        )

    def _judgements(self, row: RunItem, call: JudgeCall, reply: Reply) -> list[Judgement]:
        """A verdict for each criterion that was answered, an error for each that was not."""
        criteria = list(row.rubric_version.criteria.all())
        answers = reply.reading.answers if reply.reading else {}
        error = reply.error
        made = []
        for index in _key(reply)[1]:
            answer = answers.get(index)
            made.append(
                Judgement(
                    run=self.run,
                    item_id=row.item_id,
                    criterion_id=criteria[index].pk,
                    judge=self.judge.name[:200],
                    verdict=answer.verdict.value if answer else None,
                    reason=_storable(answer.reason) if answer else "",
                    error_kind=None if answer else (error.kind if error else "missing_criterion"),
                    error_message=""
                    if answer
                    else _storable(error.message if error else "The reply left it out."),
                    call=call,
                )
            )
        return made

    def _take_overall(self, row: RunItem, reply: Reply) -> None:
        overall = reply.reading.overall if reply.reading else None
        if overall is not None:
            row.llm_raw_score = overall.score if overall.said is None else overall.said
            row.reason = _storable(overall.reason)
        elif reply.error is not None:
            row.error_kind, row.error_message = reply.error.kind, _storable(reply.error.message)

    def _score(self, rows: Sequence[RunItem]) -> None:
        if not rows:
            return
        outcomes: dict[int, dict[int, str | None]] = defaultdict(dict)
        stored = Judgement.objects.filter(run=self.run, item_id__in=[row.item_id for row in rows])
        for item_id, criterion_id, verdict in stored.values_list("item_id", "criterion_id", "verdict"):
            outcomes[item_id][criterion_id] = verdict
        for row in rows:
            criteria = list(row.rubric_version.criteria.all())
            score = self._score_of(row, criteria, outcomes[row.item_id])
            row.score, row.raw_score, row.coverage = score.score, score.raw_score, score.coverage
            if not self._holistic:
                row.errors = sum(verdict is None for verdict in outcomes[row.item_id].values())
            else:
                row.errors = int(row.error_kind is not None)
            row.graded_at, row.leased_by, row.leased_until = self.now(), "", None
        RunItem.objects.bulk_update(
            rows,
            [
                "score",
                "raw_score",
                "llm_raw_score",
                "coverage",
                "errors",
                "reason",
                "error_kind",
                "error_message",
                "graded_at",
                "leased_by",
                "leased_until",
            ],
            batch_size=200,
        )

    def _score_of(
        self, row: RunItem, criteria: Sequence[Criterion], verdicts: dict[int, str | None]
    ) -> Score:
        weights = [criterion.weight for criterion in criteria]
        if self._holistic:
            if row.llm_raw_score is None:
                return Score(score=None, raw_score=None, coverage=0.0)
            return score_holistic(weights, row.llm_raw_score, normalize=self.run.normalize)
        found = [verdicts.get(criterion.pk) for criterion in criteria]
        return score_verdicts(
            weights,
            [FAILED if verdict is None else Verdict(verdict) for verdict in found],
            normalize=self.run.normalize,
            abstention=cast(Abstention, self.run.abstention),
            on_error=cast(OnError, self.run.on_error),
        )

    def _watch_endpoint(self, reply: Reply) -> None:
        """Counts errors of the endpoint itself in a row; any answer starts the count again."""
        if reply.error is not None and reply.error.kind in ENDPOINT_ERRORS:
            self.endpoint_errors += 1
            self.endpoint_error = f"{reply.error.kind}: {reply.error.message}"
        else:
            self.endpoint_errors = 0

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


def _key(reply: Reply) -> tuple[int, tuple[int, ...]]:
    """The row a reply belongs to and the criteria it was asked about: what its question was keyed by."""
    return cast(tuple[int, tuple[int, ...]], reply.key)


def _reader(grader: Any, prompt: Prompt, rubric: engine.Rubric) -> Callable[[str], Reading]:
    return lambda reply: grader.read(prompt, reply, rubric)


class _Arrivals:
    """Replies gathered into batches: waiting for a slow one never keeps the others from being stored."""

    def __init__(self, replies: Iterator[Reply]) -> None:
        self._arrived: queue.SimpleQueue[Reply | BaseException | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._pump, args=(replies,), name="replies", daemon=True)
        self._thread.start()

    def batches(self) -> Iterator[list[Reply]]:
        """Batches of at most FLUSH_REPLIES, each ready FLUSH_SECONDS after its first reply at the latest."""
        while (first := self._next(None)) is not None:
            batch, deadline = [first], time.monotonic() + FLUSH_SECONDS
            ended = False
            while len(batch) < FLUSH_REPLIES and (left := deadline - time.monotonic()) > 0:
                try:
                    reply = self._next(left)
                except queue.Empty:
                    break
                if reply is None:
                    ended = True
                    break
                batch.append(reply)
            yield batch
            if ended:
                return

    def join(self) -> None:
        self._thread.join()

    def _next(self, timeout: float | None) -> Reply | None:
        arrived = self._arrived.get(timeout=timeout)
        if isinstance(arrived, BaseException):
            raise arrived
        return arrived

    def _pump(self, replies: Iterator[Reply]) -> None:
        try:
            for reply in replies:
                self._arrived.put(reply)
            self._arrived.put(None)
        except BaseException as error:  # handed to the thread that waits for it
            self._arrived.put(error)


def _storable(text: str) -> str:
    """PostgreSQL stores no NUL characters; a judge may send one."""
    return text.replace("\x00", "\ufffd")
