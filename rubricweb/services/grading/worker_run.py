"""One run at one worker: the items it has leased, the questions about them, and what came back.

A question waits for money (`funding`), is sent, is answered and stored. An item stays open until its last
question is stored; then it is scored and its lease is given back.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.rate_limit.store import endpoint_key
from rubricweb.judges.turns import QueueKey
from rubricweb.models import Run
from rubricweb.services.grading import leases, reply_cache
from rubricweb.services.grading.asking import checks, strategy_of
from rubricweb.services.grading.asking.open_items import OpenItem, OpenItems, key_of
from rubricweb.services.grading.funding import Funding
from rubricweb.services.grading.leases import ClaimSize
from rubricweb.services.grading.reply_cache import CachedReply
from rubricweb.services.grading.run_log import RunLog
from rubricweb.services.grading.writer import Batch, Writer

# Errors of the endpoint itself: after this many in a row with no answer, a judge counts as down. A question
# that was told 429 for all of its patience, minutes, says as much as three. A gateway that answers 5xx is
# often back within seconds, in which all questions in flight may end: the run goes on, they can be retried.
ENDPOINT_ERRORS = frozenset(
    {
        "timeout",
        "connection",
        "rate_limited",
        "unauthorized",
        "forbidden",
        "not_found",
        "blocked_address",
    }
)
GIVE_UP_AFTER = 10
RATE_LIMITED_COUNTS = 3


class WorkerRun:
    """A run that this worker grades.

    Methods that ask the database say so, and may be called again after it failed. `stopped`: nothing more is
    asked, what is in flight may still come. `skipped` are rows that were claimed here and could not be
    completed.
    """

    def __init__(
        self, run: Run, judges: dict[str, JudgeConfig], worker: str, now: Callable[[], datetime]
    ) -> None:
        self.run = run
        self.judges = judges
        self.queue_key: QueueKey = (run.team_id, run.pk)
        self.strategy = strategy_of(run, judges)
        self.writer = Writer(run, worker, self.strategy)
        self.writer.book_unanswered_as_lost()  # by a process that had the same name and was killed
        self.writer.tally(now())  # shows that a worker is here before the first answer comes
        self.funding = Funding(run, judges, worker, self.writer, now)
        self.log = RunLog(run.pk)
        self.items: dict[int, OpenItem] = {}
        self.skipped: set[int] = set()
        # Questions of open items that have no stored reply, wherever they are.
        self.unanswered = 0
        self.joined = time.monotonic()
        self.stopped = False
        # It was ended by a fault of ours: what still comes is not looked at.
        self.abandoned = False
        self.grace_seconds = math.inf
        # The last claim found fewer items than it asked for.
        self.exhausted = False
        # Other runs wait for a place: no more items are claimed.
        self.retiring = False
        # Why the run cannot go on, once that is so.
        self.hopeless = ""
        self.claim_size = ClaimSize(run, judges)
        self._worker = worker
        self._now = now
        self._opener = OpenItems(run)
        self._endpoint_errors: Counter[str] = Counter()
        # Rows that are leased and not opened yet, and those that may be given back.
        self._claimed: list[int] = []
        self._rows_to_release: list[int] = []

    @property
    def done(self) -> bool:
        """Whether nothing is left to wait for, unless more is claimed."""
        if self.stopped:
            return self.abandoned or not self.unanswered
        return not self.items and (self.exhausted or self.retiring)

    @property
    def leased_rows(self) -> list[int]:
        """What it holds now; may be asked from another thread."""
        return [*self._claimed, *list(self.items)]

    def asks(self, endpoint: str) -> bool:
        """Whether one of its judges, or the model it falls back on, is asked there; see `endpoint_key`."""
        judges = list(self.judges.values())
        judges += [judge.as_fallback() for judge in judges if judge.fallback_model]
        return any(endpoint_key(judge) == endpoint for judge in judges)

    # ── Claiming items ───────────────────────────────────────────────────────────────────────────

    def claim(self, most: int, *, held: int = 0) -> bool:
        """Leases items for about a second's work, at most `most` at a time; asks the database.

        `held` questions wait for one that begins alike: meanwhile they keep no judge busy. Gives whether
        there were any: they are opened next.
        """
        if self.stopped or self.exhausted or self.retiring or self.funding.waiting:
            return False
        limit = self.claim_size.items(self.unanswered - held, most)
        if not limit:
            return False
        rows = leases.claim(self.run, self._worker, self._now(), limit, but=self.skipped)
        self.exhausted = len(rows) < limit
        self._claimed += rows
        return bool(rows)

    def open_claimed(self) -> list[Reply]:
        """Runs the checks of claimed items and lines up what is to be asked about them; asks the database.

        Gives the replies that are known from earlier calls, which are to be stored.
        """
        items = self._opener.open(self._claimed)
        self.strategy.load(items)
        checked = checks.check(self.run, items, self._now())
        with transaction.atomic():
            checks.store(checked)
            self.writer.score(items, self._now())
        still_open = [item for item in items if not self.strategy.is_complete(item)]
        of_item = {item.row.pk: list(self.strategy.questions(item)) for item in still_open}
        questions = [question for some in of_item.values() for question in some]
        known = self.known_replies(questions)
        # Nothing above has changed this object, should the database have failed.
        self._claimed = []
        self.items |= {item.row.pk: item for item in still_open}
        for item in still_open:
            self._expect(item, of_item[item.row.pk])
        self.claim_size.opened(len(items), len(questions))
        return self.line_up(questions, known)

    def known_replies(self, questions: Sequence[Question]) -> dict[UUID, CachedReply]:
        """What the team was answered to any of these questions before; asks the database."""
        if not self.run.use_cache or not questions:
            return {}
        known = reply_cache.known(self.run.team_id, [key_of(question).content for question in questions])
        if known and any(judge.sampling.logprobs for judge in self.judges.values()):
            return reply_cache.with_confidences(known)
        return known

    def line_up(self, questions: Sequence[Question], known: Mapping[UUID, CachedReply]) -> list[Reply]:
        """Lines questions up for money; those with a known answer get it at once: these replies.

        They stand sorted by their text: a provider that caches the beginnings of prompts finds them there.
        """
        replies = []
        for question in sorted(questions, key=lambda one: (one.prompt.system, one.prompt.user)):
            cached = known.get(key_of(question).content)
            reply = None if cached is None else reply_cache.read_again(question, cached)
            if reply is None:
                self.funding.waiting.append(question)
            else:
                replies.append(reply)
        return replies

    # ── Sending and storing ──────────────────────────────────────────────────────────────────────

    def take_funded(self, is_being_asked: Callable[[Question], bool]) -> dict[str, list[Question]]:
        """What is to be sent now, by the name of the judge, without what is being asked already."""
        of_judge: dict[str, list[Question]] = defaultdict(list)
        while self.funding.funded:
            question = self.funding.funded.popleft()
            if not (self.run.use_cache and is_being_asked(question)):
                of_judge[key_of(question).judge].append(question)
        return of_judge

    def batch(self, replies: Sequence[Reply]) -> Batch:
        """Replies as what `Writer.store` writes together."""
        return Batch([(self.items[key_of(reply).row], reply) for reply in replies])

    def after_storing(self, batch: Batch) -> list[Question]:
        """Counts a batch that was written; the questions of the next stage that follow from it."""
        self.funding.answered(reply for _, reply in batch.arrived)
        self.claim_size.answered(len(batch.arrived))
        self.unanswered -= len(batch.arrived)
        for item, reply in batch.arrived:
            item.outstanding -= 1
            self._watch_endpoint(reply)
            self.log.add_reply(reply)
        next_stage: list[Question] = []
        for item in batch.items:
            if self.strategy.is_complete(item):
                # Where another worker answered meanwhile, some of our questions are still on their way.
                if not item.outstanding:
                    self.items.pop(item.row.pk, None)
            elif not item.outstanding and not self.stopped:
                questions = list(self.strategy.questions(item))
                self._expect(item, questions)
                next_stage += questions
        return next_stage

    def drop(self, questions: Sequence[Question]) -> None:
        """These were not sent, or broken off: nothing is known about them, and nothing is waited for."""
        self.funding.not_sent(questions)
        self.unanswered -= len(questions)
        for question in questions:
            item = self.items.get(key_of(question).row)
            if item is not None:
                item.outstanding -= 1
                if not item.outstanding and not self.stopped:
                    self._skip(item)

    def _expect(self, item: OpenItem, questions: Sequence[Question]) -> None:
        item.outstanding = len(questions)
        self.unanswered += len(questions)
        if not questions:
            self._skip(item)  # not complete, and nothing to ask: another worker has to look at it

    def _skip(self, item: OpenItem) -> None:
        self.skipped.add(item.row.pk)
        self.items.pop(item.row.pk, None)
        self._rows_to_release.append(item.row.pk)

    def _watch_endpoint(self, reply: Reply) -> None:
        """Counts errors of an endpoint in a row; any answer starts its count again."""
        if reply.is_known:
            return
        judge = key_of(reply).judge
        if reply.error is None or reply.error.kind not in ENDPOINT_ERRORS:
            self._endpoint_errors[judge] = 0
            return
        self._endpoint_errors[judge] += RATE_LIMITED_COUNTS if reply.error.kind == "rate_limited" else 1
        down = [name for name, errors in self._endpoint_errors.items() if errors >= GIVE_UP_AFTER]
        if down and self.strategy.hopeless(down):
            self.hopeless = f"The judge did not answer: {reply.error.kind}: {reply.error.message}"

    # ── Giving back ──────────────────────────────────────────────────────────────────────────────

    def stop(self) -> None:
        """Asks nothing more; what was not sent yet is dropped."""
        self.stopped = True
        self.drop(self.funding.clear())

    def abandon(self) -> None:
        """After a fault of ours: nothing is waited for any more."""
        self.stopped = self.abandoned = True
        self.funding.not_sent(self.funding.clear())

    def release_unneeded(self) -> None:
        """Gives back leases and money that are not needed any more, and writes the log; asks the database."""
        if self._rows_to_release:
            leases.release(self._worker, self._rows_to_release)
            self._rows_to_release = []
        self.funding.release()
        self.log.flush_if_due()

    def leave(self) -> None:
        """Gives everything back; asks the database."""
        self._rows_to_release += self.leased_rows
        self.items, self._claimed = {}, []
        self.release_unneeded()
        self.log.flush()
        self.funding.close()
