"""One worker's share of a run: the items it holds, what it asks about them, and how far they are."""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from rubricweb.engine.autograders.base import Reading
from rubricweb.engine.errors import UnreadableReply
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.turns import Lane
from rubricweb.models import Run
from rubricweb.services.grading import leases, reply_cache
from rubricweb.services.grading import questions as asking
from rubricweb.services.grading.questions import OpenItem, key_of
from rubricweb.services.grading.reply_cache import CachedReply
from rubricweb.services.grading.writer import Batch, Ledger
from rubricweb.services.runs.budgets import Purse
from rubricweb.services.runs.events import note

# Errors of the endpoint itself: after this many in a row with no answer, a judge counts as away. A question
# that was told 429 for all of its patience, minutes, says as much as three.
ENDPOINT_ERRORS = frozenset(
    {"connection", "unauthorized", "forbidden", "not_found", "blocked_address", "rate_limited"}
)
GIVE_UP_AFTER = 10

# Work is claimed for about this long ahead: what a killed worker holds is not much, and is asked for soon.
AHEAD_SECONDS = 1.0
# Rendering the questions of many items would keep the loop's thread from asking, and other runs waiting.
MOST_AT_ONCE, MOST_AMONG_OTHERS = 32, 12
PAY_AGAIN_SECONDS = 0.5
# Lines of the log are gathered for so long: an endpoint in trouble would write hundreds.
LOG_SECONDS = 2.0

_LOGGED = {
    "throttled": "The endpoint answered 429: too many requests.",
    "retried": "Asked again after an error that may pass.",
    "fell_back": "The fallback model was asked.",
    "cached": "Answered by an earlier call that asked the very same.",
    "database": "The database was away; replies were kept until it was back.",
}


class Share:
    """What one worker has claimed of one run.

    Only methods that say so ask the database; those may be called again after an error of it. `unpaid` are
    questions the budget has not been asked about or has no money for, `paid` those that may be asked now.
    `halted`: nothing more is asked, what is in flight may still come. `left` are rows that were claimed here
    and could not be completed.
    """

    def __init__(
        self, run: Run, judges: dict[str, JudgeConfig], worker: str, now: Callable[[], datetime]
    ) -> None:
        self.run = run
        self.judges = judges
        self.lane: Lane = (run.team_id, run.pk)
        self.asking = asking.way_of(run, judges)
        self.purse = Purse.open(run, worker)
        self.ledger = Ledger(run, worker, self.asking)
        self.ledger.book_what_is_left()  # by a process that had the same name and was killed
        self.ledger.tally(now())  # shows that somebody is here before the first answer comes
        self.items: dict[int, OpenItem] = {}
        self.unpaid: deque[Question] = deque()
        self.paid: deque[Question] = deque()
        self.left: set[int] = set()
        self.outstanding = 0
        self.opened = time.monotonic()
        self.halted = False
        self.grace_seconds = math.inf
        # The last claim found less than it asked for.
        self.exhausted = False
        self.retiring = False
        # Why the run cannot go on, once that is so.
        self.hopeless = ""
        self._worker = worker
        self._now = now
        self._rubrics = leases.Rubrics()
        self._silent: Counter[str] = Counter()
        self._per_item = 0.0
        self._answered: deque[tuple[float, int]] = deque()
        self._to_release: list[int] = []
        self._to_free_usd = 0.0
        self._log: Counter[tuple[str, str]] = Counter()
        self._logged = time.monotonic()
        self._refused = -math.inf

    @property
    def done(self) -> bool:
        """Whether nothing is on its way, nor will be without another claim."""
        if self.halted:
            return not self.outstanding
        return not self.items and (self.exhausted or self.retiring)

    # ── Taking items in ──────────────────────────────────────────────────────────────────────────

    def wanted(self, at_once: int = MOST_AT_ONCE) -> int:
        """How many more items it should claim now: enough for about a second, never less than keeps all
        judges busy; 0 while more than half of that waits, and once there is nothing left. Once it is known
        what an item brings, no more than `at_once`.
        """
        if self.halted or self.exhausted or self.retiring or self.unpaid:
            return 0
        chunk: int = settings.GRADING_CHUNK_ITEMS
        busy = 2 * sum({(j.base_url, j.model): j.concurrency for j in self.judges.values()}.values())
        if not busy:
            return chunk
        ahead = max(busy, self.per_second() * AHEAD_SECONDS)
        if self.outstanding > ahead / 2:
            return 0
        if not self._per_item:
            return min(math.ceil(ahead / self._criteria()), chunk)
        return min(math.ceil((ahead - self.outstanding) / self._per_item), at_once)

    def per_second(self) -> float:
        """Answers in the last second."""
        now = time.monotonic()
        while self._answered and self._answered[0][0] < now - 1.0:
            self._answered.popleft()
        return float(sum(count for _, count in self._answered))

    def take_in(self, rows: Sequence[int]) -> list[Reply]:
        """Opens claimed rows, answers their checks, and lines up what is to be asked; asks the database.

        Returns the replies that are known from earlier calls and still to be stored.
        """
        items = self._rubrics.open(self.run, rows)
        self.asking.load(items)
        checked = asking.check(self.run, items, self._now())
        with transaction.atomic():
            asking.store_checks(checked)
            self.ledger.score(items, self._now())
        still_open = [item for item in items if not self.asking.is_complete(item)]
        asked = {item.row.pk: list(self.asking.questions(item)) for item in still_open}
        questions = [question for some in asked.values() for question in some]
        known = self.known(questions)
        # Nothing above has left a trace in memory, should the database have gone away.
        self.items |= {item.row.pk: item for item in still_open}
        for item in still_open:
            self._expect(item, asked[item.row.pk])
        if items:
            fresh = len(questions) / len(items)
            self._per_item = (self._per_item + fresh) / 2 if self._per_item else fresh
        return self.line_up(questions, known)

    def known(self, questions: Sequence[Question]) -> dict[UUID, CachedReply]:
        """What the team was answered to any of these questions already; asks the database."""
        if not self.run.use_cache or not questions:
            return {}
        found = reply_cache.known(self.run.team_id, [key_of(question).content for question in questions])
        if found and any(judge.logprobs for judge in self.judges.values()):
            return reply_cache.with_confidences(found)
        return found

    def line_up(self, questions: Sequence[Question], known: Mapping[UUID, CachedReply]) -> list[Reply]:
        """Lines questions up to be paid and asked, save those that are answered by what is known.

        Questions that begin alike stand together, whatever the autograder puts first into its prompts: a
        provider that keeps the beginnings of prompts in its cache finds them there.
        """
        replies = []
        for question in sorted(questions, key=_text):
            found = known.get(key_of(question).content)
            reply = None if found is None else read_again(question, found)
            if reply is None:
                self.unpaid.append(question)
            else:
                replies.append(reply)
        return replies

    def _criteria(self) -> int:
        """About how many questions an item brings, before any was seen."""
        version = self.run.rubric_version
        return 1 if version is None else max(version.criteria.count(), 1)

    def _expect(self, item: OpenItem, questions: Sequence[Question]) -> None:
        item.outstanding = len(questions)
        self.outstanding += len(questions)
        if not questions:
            # Not complete, and nothing to ask: somebody else has to look at it.
            self._put_back(item)

    def _put_back(self, item: OpenItem) -> None:
        self.left.add(item.row.pk)
        self.items.pop(item.row.pk, None)
        self._to_release.append(item.row.pk)

    # ── Paying ───────────────────────────────────────────────────────────────────────────────────

    def pay(self) -> None:
        """Moves from `unpaid` to `paid` what the budget allows; asks the database.

        After a refusal it is tried again once answers have come here, for what they left over, and else once
        in a while: others may give back what they set aside.
        """
        if not self.unpaid or time.monotonic() - self._refused < PAY_AGAIN_SECONDS:
            return
        self._free()
        now = self._now()
        while self.unpaid:
            question = self.unpaid[0]
            key = key_of(question)
            if self.purse.capped and key.expected_usd is None:
                expected = self.purse.expected_cost(self.judges[key.judge], question.prompt)
                if not self.purse.reserve(expected, now):
                    self._refused = time.monotonic()
                    return
                key.expected_usd = expected
                question = replace(question, set_aside_usd=expected)
            self.paid.append(question)
            self.unpaid.popleft()

    def hand_over(self, questions: Sequence[Question]) -> None:
        """Writes down what these questions may cost at most, before they are asked; asks the database."""
        most = {
            key_of(one): self.purse.most_cost(self.judges[key_of(one).judge], one.prompt) for one in questions
        }
        self.ledger.hand_over(most, self._now())

    def broken_off(self, replies: Sequence[Reply]) -> None:
        """These were stopped on the way: what was sent may have been paid for; asks the database."""
        self.ledger.break_off(replies, self._now())

    def recalled(self, questions: Sequence[Question]) -> None:
        """These were lined up and are to be paid for anew, before all others: what is asked costs more than
        was thought, or a cap has changed.
        """
        for question in questions:
            self._take_back(key_of(question))
        self.unpaid.extendleft(reversed(questions))
        self._to_free_usd += self.purse.tighten()

    def go_by_caps(self, budget_usd: float | None, monthly_budget_usd: float | None) -> bool:
        """Has the purse go by these caps of the run and of its team's month; whether that changes anything.

        Then what is lined up is to be recalled: it was paid for by the caps of before.
        """
        run = self.run
        if (run.budget_usd, run.team.monthly_budget_usd) == (budget_usd, monthly_budget_usd):
            return False
        run.budget_usd, run.team.monthly_budget_usd = budget_usd, monthly_budget_usd
        self._to_free_usd += self.purse.tighten()
        self._refused = -math.inf
        return True

    def _take_back(self, key: asking.Key) -> None:
        """What was set aside for a question is so no more."""
        self.purse.returned(key.expected_usd)
        self._to_free_usd += key.expected_usd or 0.0
        key.expected_usd = None
        self.ledger.take_back(key)

    # ── What comes back ──────────────────────────────────────────────────────────────────────────

    def batch(self, replies: Sequence[Reply]) -> Batch:
        """Replies as what `Ledger.store` writes together."""
        return Batch([(self.items[key_of(reply).row], reply) for reply in replies])

    def settle(self, batch: Batch) -> list[Question]:
        """What follows once a batch is written: the questions of a next stage, and what the log will say."""
        for item, reply in batch.arrived:
            item.outstanding -= 1
            self.purse.returned(key_of(reply).expected_usd)
            if reply.cached_from is None:
                judge = self.judges[key_of(reply).judge]
                self.purse.learn(judge, reply.cost_usd, reply.completion_tokens)
            self._watch_endpoint(reply)
            self._remember(reply)
        self.outstanding -= len(batch.arrived)
        self._refused = -math.inf
        self._answered.append((time.monotonic(), len(batch.arrived)))
        follow: list[Question] = []
        for item in batch.items:
            if self.asking.is_complete(item):
                # Where another worker answered meanwhile, some of ours are still on their way.
                if not item.outstanding:
                    self.items.pop(item.row.pk, None)
            elif not item.outstanding and not self.halted:
                more = list(self.asking.questions(item))
                self._expect(item, more)
                follow += more
        return follow

    def unasked(self, questions: Sequence[Question]) -> None:
        """These were lined up and not asked, or broken off: nothing is known about them."""
        for question in questions:
            key = key_of(question)
            self._take_back(key)
            item = self.items.get(key.row)
            if item is not None:
                item.outstanding -= 1
                if not item.outstanding and not self.halted:
                    self._put_back(item)
        self.outstanding -= len(questions)

    def halt(self) -> None:
        """Asks nothing more; what waits for money or for its turn to be handed over is given up."""
        self.halted = True
        self.unasked([*self.unpaid, *self.paid])
        self.unpaid.clear()
        self.paid.clear()

    def _watch_endpoint(self, reply: Reply) -> None:
        """Counts errors of an endpoint itself in a row; any answer starts its count again."""
        if reply.cached_from is not None:
            return
        judge = key_of(reply).judge
        if reply.error is None or reply.error.kind not in ENDPOINT_ERRORS:
            self._silent[judge] = 0
            return
        self._silent[judge] += 3 if reply.error.kind == "rate_limited" else 1
        away = [name for name, errors in self._silent.items() if errors >= GIVE_UP_AFTER]
        if away and self.asking.hopeless(away):
            self.hopeless = f"The judge did not answer: {reply.error.kind}: {reply.error.message}"

    # ── Upkeep ───────────────────────────────────────────────────────────────────────────────────

    def remember(self, kind: str, count: int = 1, words: str = "") -> None:
        """Has the run's log say so, soon; without words of their own those of `_LOGGED`."""
        self._log[kind, words or _LOGGED[kind]] += count

    def asks(self, base_url: str, model: str) -> bool:
        """Whether this model at this address is among those it asks."""
        return any((judge.base_url, judge.model) == (base_url, model) for judge in self.judges.values())

    def upkeep(self, *, at_once: bool = False) -> None:
        """Gives back what is not needed any more, and writes the log; asks the database."""
        if self._to_release:
            leases.release(self._worker, self._to_release)
            self._to_release = []
        self._free()
        if self._log and (at_once or time.monotonic() - self._logged > LOG_SECONDS):
            while self._log:
                (kind, words), count = next(iter(self._log.items()))
                note(self.run.pk, kind, words, count)
                del self._log[kind, words]
            self._logged = time.monotonic()

    def _free(self) -> None:
        self.ledger.write_risks()
        if self._to_free_usd:
            self.ledger.free(self._to_free_usd, self._now())
            self._to_free_usd = 0.0

    def leave(self) -> None:
        """Gives everything back; asks the database."""
        self._to_release += self.items
        self.items = {}
        self.upkeep(at_once=True)
        self.ledger.book_what_is_left()
        self.purse.settle(self._now())

    def _remember(self, reply: Reply) -> None:
        if reply.cached_from is not None:
            self.remember("cached")
            return
        if reply.throttled:
            self.remember("throttled", reply.throttled)
        # The first request to either model is none that was sent again.
        again = reply.attempts - 1 - reply.fallback - reply.throttled
        if again > 0:
            self.remember("retried", again)
        if reply.fallback:
            self.remember("fell_back")


def read_again(question: Question, found: CachedReply) -> Reply | None:
    """The stored answer as the reply to this question; None when it can no longer be read as one."""
    try:
        reading = question.read(found.text)
    except (UnreadableReply, ValueError, RecursionError):
        return None
    if reading.missing:
        return None
    return Reply(
        key=question.key,
        reading=_as_sure_as_then(reading, found),
        error=None,
        text=found.text,
        model=found.model,
        rung=found.rung,
        attempts=0,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=0.0,
        latency_seconds=0.0,
        reasoning=found.reasoning,
        fallback=found.fallback,
        cached_from=found.call_id,
    )


def as_cached(reply: Reply, call_id: int) -> CachedReply:
    """What was just answered, for those who asked the very same meanwhile."""
    answers = sorted(reply.reading.answers.items()) if reply.reading else ()
    sure = tuple(answer.confidence for _, answer in answers)
    return CachedReply(call_id, reply.text, reply.model, reply.rung, reply.reasoning, reply.fallback, sure)


def _as_sure_as_then(reading: Reading, found: CachedReply) -> Reading:
    """The reading with the confidences that token probabilities gave when the answer was new."""
    if len(found.confidences) != len(reading.answers) or not any(found.confidences):
        return reading
    answers = {
        index: answer if answer.confidence is not None else replace(answer, confidence=confidence)
        for (index, answer), confidence in zip(
            sorted(reading.answers.items()), found.confidences, strict=True
        )
    }
    return replace(reading, answers=answers)


def _text(question: Question) -> tuple[str, str]:
    return question.prompt.system, question.prompt.user
