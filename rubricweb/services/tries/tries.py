"""Trying a judge: it is asked what a run would ask about one submission, and tells each answer as it comes.

It runs where it was asked for, in the thread of the page, the API's or the terminal's, and ends with it:
nothing of it is a job. Why, and what becomes of what was asked when the reader leaves, is in decision 0049.
"""

import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Busy, Conflict
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.client.request_body import encoded
from rubricweb.judges.pool import Answered, RequestQueue
from rubricweb.judges.turns import QueueKey
from rubricweb.models import Judge, JudgeTry, Team, TriedCall, User
from rubricweb.services.endpoints import memory
from rubricweb.services.grading import reply_cache
from rubricweb.services.grading.asking.base import storable
from rubricweb.services.grading.asking.open_items import key_of
from rubricweb.services.judges.versions import require_valid
from rubricweb.services.tries.answers import BEFORE, TRIED, StillWaiting, TryPiece, TryStopped
from rubricweb.services.tries.money import TryMoney
from rubricweb.services.tries.one_side import OneSide
from rubricweb.services.tries.subject import Subject

SECONDS = 60.0
"""What a whole try may take; then requests in flight have their grace, and the rest is not asked."""

PER_MINUTE = 10
"""Tries a team may make in a minute: each asks live, and somebody pays."""

AT_ONCE = 3
"""Tries in one process: each holds one of its eight threads for up to a minute."""

BEAT_SECONDS = 1.0
"""How long nothing comes before the reader is told so, which shows whether there still is one."""

SIGN_SECONDS = 10.0
"""How often what is set aside says that it is still wanted."""

GRACE_SECONDS = 2.0
"""What requests in flight have when nothing more is waited for: what they bring is paid for, and kept."""

_places = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True)
class TryRequest:
    """Who tries which definition on what. `judge` is whose it is, or will be, None for a model that was
    picked or a judge that is not kept yet. `before` is the definition of the version it is held against, None
    for nothing.
    """

    team: Team
    by: User
    definition: JudgeDefinition
    subject: Subject
    judge: Judge | None = None
    before: JudgeDefinition | None = None


class Trying:
    """A try that was let in: its pieces, once, in the order in which they come. Close it when nobody reads
    on.

    What goes wrong with an answer is told with it; nothing is raised on the way but a fault of ours.
    """

    def __init__(
        self, request: TryRequest, sides: Sequence[OneSide], row: JudgeTry, queue: RequestQueue
    ) -> None:
        self._request = request
        self._sides = sides
        self._row = row
        self._queue = queue
        self._queue_key: QueueKey = (request.team.pk, row.pk)
        self._money = TryMoney(request.team)
        self._of: dict[int, tuple[OneSide, Question]] = {}
        self._asked: dict[UUID, list[Question]] = {}
        self._began = self._signed = time.monotonic()
        self._stopped = self._closed = False
        self._pieces = self._run()

    @property
    def subject(self) -> Subject:
        return self._request.subject

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(side.side for side in self._sides)

    def __iter__(self) -> Iterator[TryPiece]:
        return self

    def __next__(self) -> TryPiece:
        try:
            return next(self._pieces)
        except BaseException:  # the end, or a fault: the place is free for the next
            self.close()
            raise

    def close(self) -> None:
        """Asks nothing more; what is in flight has its grace, and what it brings is kept for the next who
        asks.
        """
        if self._closed:
            return
        self._closed = True
        self._pieces.close()
        try:
            self._wind_up()
        finally:
            # First what no database can hinder: it may be away.
            self._queue.close()
            _places.release()
            self._money.close(timezone.now())
        memory.keep(now=timezone.now())

    # ── What is told ─────────────────────────────────────────────────────────────────────────────

    def _run(self) -> Generator[TryPiece]:
        for side in self._sides:
            yield from side.checks()
        for side in self._sides:
            yield from self._ask(side)
        while self._queue.outstanding:
            answered = self._queue.take(BEAT_SECONDS)
            if time.monotonic() - self._began > SECONDS and not self._stopped:
                yield self._stop(f"It took longer than {SECONDS:g} s: a run waits longer.")
            if not answered:
                yield self._nothing_came()
            for one in answered:
                yield from self._take(one)
        for side in self._sides:
            yield side.total()

    def _nothing_came(self) -> StillWaiting:
        now = time.monotonic()
        if now - self._signed > SIGN_SECONDS:
            self._signed = now
            self._money.beat(timezone.now())
        return StillWaiting(round(now - self._began, 1))

    def _stop(self, why: str) -> TryStopped:
        self._stopped = True
        self._queue.cancel(self._queue_key, GRACE_SECONDS)
        return TryStopped(why)

    # ── Asking ───────────────────────────────────────────────────────────────────────────────────

    def _ask(self, side: OneSide) -> Iterator[TryPiece]:
        """Asks what is to be asked of this side now; what is known is told at once."""
        questions = side.questions()
        known = self._known(side, questions)
        to_send: list[tuple[JudgeConfig, Question]] = []
        told: list[Reply] = []
        for question in questions:
            self._of[id(question.key)] = side, question
            key = key_of(question)
            cached = known.get(key.content)
            reply = None if cached is None else reply_cache.read_again(question, cached)
            if reply is not None:
                told.append(reply)
            elif key.content in self._asked:
                self._asked[key.content].append(question)
            else:
                self._asked[key.content] = []
                to_send.append((side.judges[key.judge], question))
        refusal = self._send(side, to_send)
        for reply in told:
            yield from self._hear(side, reply)
        if refusal:
            yield TryStopped(refusal)

    def _known(self, side: OneSide, questions: Sequence[Question]) -> dict[UUID, reply_cache.CachedReply]:
        found = reply_cache.known(self._request.team.pk, [key_of(question).content for question in questions])
        if found and any(judge.sampling.logprobs for judge in side.judges.values()):
            return reply_cache.with_confidences(found)
        return found

    def _send(self, side: OneSide, asked: Sequence[tuple[JudgeConfig, Question]]) -> str:
        """Sends these, once the money for them is set aside; why not, "" where they are sent."""
        if not asked:
            return ""
        if self._stopped:
            self._forgo([question for _, question in asked])
            return ""
        try:
            self._money.set_aside(asked, timezone.now())
        except Conflict as error:
            self._forgo([question for _, question in asked])
            return str(error)
        for name, config in side.judges.items():
            of_judge = [question for _, question in asked if key_of(question).judge == name]
            if of_judge:
                self._queue.put(self._queue_key, config, of_judge)
        return ""

    def _forgo(self, questions: Sequence[Question]) -> None:
        """These are not asked, nor who waits for the same answers."""
        self._money.not_sent(questions)
        for question in questions:
            for one in [question, *self._asked.pop(key_of(question).content, ())]:
                self._of.pop(id(one.key))[0].not_asked()

    # ── What came ────────────────────────────────────────────────────────────────────────────────

    def _take(self, answered: Answered) -> Iterator[TryPiece]:
        """One answer: it is kept, and told to every side that asked for it."""
        reply = answered.reply
        if answered.fault is not None:
            self._forgo([answered.question])
            raise answered.fault
        if reply is None:
            self._forgo([answered.question])
            return
        side, _ = self._of[id(answered.question.key)]
        self._keep(reply)
        same = self._asked.pop(key_of(reply).content, [])
        yield from self._hear(side, self._in_time(reply))
        for question in same:
            other, _ = self._of[id(question.key)]
            yield from self._hear(other, _as_known(question, reply))

    def _hear(self, side: OneSide, reply: Reply) -> Iterator[TryPiece]:
        """What the reply says, and what is asked because of it: the next stage of a cascade."""
        _, question = self._of.pop(id(reply.key))
        yield from side.hear(reply, question.prompt)
        if not side.outstanding:
            yield from self._ask(side)

    def _in_time(self, reply: Reply) -> Reply:
        """The same; where time was up, it says so and not that a run was stopped."""
        if reply.error is None or reply.error.kind != "stopped":
            return reply
        return replace(reply, error=JudgeError("stopped", f"no answer within {SECONDS:g} s"))

    def _keep(self, reply: Reply) -> None:
        """Books what the reply cost, and keeps it for who asks the same, in one transaction."""
        with transaction.atomic():
            self._money.book([reply], timezone.now())
            if reply.error is None and reply.text:
                TriedCall.objects.create(**_kept(self._row, reply))

    def _wind_up(self) -> None:
        """Gives requests in flight their grace, and keeps what they bring."""
        if not self._queue.outstanding:
            return
        self._queue.cancel(self._queue_key, GRACE_SECONDS)
        until = time.monotonic() + 2 * GRACE_SECONDS
        while self._queue.outstanding and time.monotonic() < until:
            for one in self._queue.take(BEAT_SECONDS):
                if one.reply is not None:
                    self._keep(one.reply)
                else:
                    self._money.not_sent([one.question])


def start_try(request: TryRequest, *, queue: Callable[[], RequestQueue] = RequestQueue) -> Trying:
    """Lets a try in and writes down that it was made; its answers come as it is read.

    Raises Invalid with the place of each fault of the definition, Conflict where it cannot be asked or its
    judge is archived, Busy above `PER_MINUTE` tries of the team and `AT_ONCE` of this process.
    """
    if request.judge is not None and request.judge.archived_at is not None:
        raise Conflict(f"The judge {request.judge} is archived: restore it first, or try another.")
    sides = []
    for name, definition in ((TRIED, request.definition), (BEFORE, request.before)):
        if definition is not None:
            require_valid(request.team, definition)
            sides.append(OneSide(name, request.team, definition, request.subject))
    if not _places.acquire(blocking=False):
        raise Busy(f"{AT_ONCE} judges are being tried here at the moment. Try again in a minute.")
    try:
        now = timezone.now()
        row = _written_down(request, now)
        for side in sides:
            memory.remind(side.judges.values(), now=now)
        return Trying(request, sides, row, queue())
    except BaseException:
        _places.release()
        raise


def _written_down(request: TryRequest, now: datetime) -> JudgeTry:
    """One at a time per team, so that a crowd cannot slip through between counting and writing down."""
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=request.team.pk)
        since = now - timedelta(minutes=1)
        lately = JudgeTry.objects.filter(team=request.team, created_at__gt=since).count()
        if lately >= PER_MINUTE:
            raise Busy(f"This team tried judges {lately} times within a minute. Try again in a minute.")
        return JudgeTry.objects.create(
            team=request.team,
            user=request.by,
            judge=request.judge,
            digest=request.definition.digest,
            beside_digest=request.before.digest if request.before else "",
            item=request.subject.item,
        )


def _as_known(question: Question, reply: Reply) -> Reply:
    """What was just answered, for the other side that asked the very same."""
    cached = reply_cache.as_cached(reply, None)
    again = reply_cache.read_again(question, cached) if reply.error is None else None
    if again is not None:
        return replace(again, request=reply.request)
    return replace(
        reply,
        key=question.key,
        is_known=True,
        attempts=0,
        cost_usd=0.0,
        unanswered=0,
        unmetered=0,
    )


def _kept(row: JudgeTry, reply: Reply) -> dict[str, object]:
    answers = sorted(reply.reading.answers.items()) if reply.reading else ()
    return {
        "team_id": row.team_id,
        "of": row,
        "content_key": key_of(reply).content,
        "model": storable(reply.model[:200]),
        "rung": reply.rung,
        "fallback": reply.fallback,
        "request": None if reply.request is None else zlib.compress(encoded(reply.request), level=1),
        "reply": storable(reply.text),
        "reasoning": storable(reply.reasoning),
        "confidences": [answer.confidence for _, answer in answers],
    }
