"""Replies become rows: calls, their answers, the scores of items that are now complete, and the tally.

All that a batch of replies brings commits together, so that a kill leaves all of it or nothing.
"""

import math
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest

from rubricweb.judges.base import Reply
from rubricweb.judges.client.request_body import encoded
from rubricweb.models import JudgeCall, Run, RunTally
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.grading import scores
from rubricweb.services.grading.asking.base import GradingStrategy, storable
from rubricweb.services.grading.asking.open_items import OpenItem, QuestionKey, key_of
from rubricweb.services.runs.events import note
from rubricweb.services.runs.lost_calls import book_lost, dearest_call_usd, lost_words
from rubricweb.services.shared import bulk_rows

_CALL = (
    "id",
    "run_id",
    "item_id",
    "model",
    "rung",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "cost_usd",
    "cached_prompt_tokens",
    "latency_seconds",
    "content_key",
    "cached_from_id",
    "fallback",
    "request",
    "reply",
    "reasoning",
    "error_kind",
    "error_message",
    "created_at",
)


@dataclass
class Writer:
    """Writes what one worker's calls for one run bring, and what they cost into its tallies."""

    run: Run
    worker: str
    strategy: GradingStrategy
    _tallies: dict[date, int] = field(default_factory=dict)
    # What was handed over and has no outcome yet: the tally it is written in, and what it may cost at most.
    _at_risk: dict[QuestionKey, tuple[int, float | None]] = field(default_factory=dict)
    # Tallies that say more is at risk than is.
    _outdated: set[int] = field(default_factory=set)

    def tally(self, now: datetime) -> int:
        """The id of this worker's tally of the month, made when there is none."""
        month = month_of(now)
        if month not in self._tallies:
            row, _ = RunTally.objects.get_or_create(
                run=self.run, worker=self.worker, month=month, defaults={"team_id": self.run.team_id}
            )
            self._tallies[month] = row.pk
        return self._tallies[month]

    def store(self, batch: "Batch", now: datetime) -> None:
        """Writes the batch in one transaction, and marks in its items what is settled.

        May be called again with the same batch after an error: also when nobody knows whether the database
        had committed before it went away, nothing is written or counted twice.
        """
        if batch.tried:
            # What a transaction that was rolled back had marked does not count.
            for item in batch.items:
                item.answers.clear()
            self.strategy.load(batch.items)
            if batch.ids and JudgeCall.objects.filter(pk=batch.ids[0]).exists():
                self._forget(key_of(reply) for _, reply in batch.arrived)
                return
        batch.tried = True
        if connection.vendor == "postgresql" and not batch.ids:
            batch.ids = bulk_rows.reserve_ids(JudgeCall, len(batch.arrived))
        with transaction.atomic():
            ids = batch.ids or bulk_rows.reserve_ids(JudgeCall, len(batch.arrived))
            calls = [
                self._call(pk, item, reply, now) for pk, (item, reply) in zip(ids, batch.arrived, strict=True)
            ]
            bulk_rows.insert(JudgeCall, _CALL, calls)
            self.strategy.store(
                [(item, pk, reply) for pk, (item, reply) in zip(ids, batch.arrived, strict=True)], now
            )
            self.score(batch.items, now)
            self._book_unanswered([reply for _, reply in batch.arrived], now)
            self.add_to_tally([reply for _, reply in batch.arrived], now)
        self._forget(key_of(reply) for _, reply in batch.arrived)
        batch.ids = ids

    def book_at_risk(self, most_usd: Mapping[QuestionKey, float | None], now: datetime) -> None:
        """Writes down, before they are sent, what these calls may cost at most; None is without a price.

        Whatever becomes of this process, what was sent is known to be at risk. Free calls are not written.
        """
        tally = self.tally(now)
        self._at_risk |= {key: (tally, usd) for key, usd in most_usd.items() if usd != 0}
        if any(usd != 0 for usd in most_usd.values()):
            RunTally.objects.filter(pk=tally).update(**self._risk_of(tally), beat_at=now)

    def not_sent(self, key: QuestionKey) -> None:
        """This call was not sent: it is at risk no more, which `write_risks` says soon."""
        if key in self._at_risk:
            self._outdated.add(self._at_risk.pop(key)[0])

    def book_broken_off(self, replies: Sequence[Reply], now: datetime) -> None:
        """Books calls that were stopped on the way: what they are known to have cost, and what is lost."""
        sent = [reply for reply in replies if reply.attempts]
        if not sent:
            return
        changes: dict[str, float] = {
            "attempts": sum(reply.attempts for reply in sent),
            **tokens_of(sent),
            "cost_usd": sum(spent_usd(reply) for reply in sent),
            "unpriced": sum(is_unpriced(reply) for reply in sent),
        }
        with transaction.atomic():
            self._book_unanswered(sent, now)
            raised = {name: F(name) + change for name, change in changes.items() if change}
            RunTally.objects.filter(pk=self.tally(now)).update(**raised, beat_at=now)
            self._lower_risks({key_of(reply) for reply in sent})
        self._forget(key_of(reply) for reply in sent)

    def book_lost(self, most_usd: Sequence[float | None], now: datetime) -> None:
        """Books calls that were not waited for, by what each may cost at most, or by what this run's dearest
        call has cost where that is less; None is nobody knows.
        """
        if most_usd:
            dearest = dearest_call_usd(self.run.pk) or math.inf
            RunTally.objects.filter(pk=self.tally(now)).update(
                lost_calls=F("lost_calls") + sum(usd is not None for usd in most_usd),
                lost_at_most_usd=F("lost_at_most_usd")
                + math.fsum(min(usd or 0.0, dearest) for usd in most_usd),
                unpriced=F("unpriced") + sum(usd is None for usd in most_usd),
            )
            note(self.run.pk, "lost", lost_words(len(most_usd)))

    def _book_unanswered(self, replies: Sequence[Reply], now: datetime) -> None:
        """Books as lost every request of theirs that had no answer, by what the call may cost at most."""
        at_risk = [reply for reply in replies if key_of(reply) in self._at_risk]
        self.book_lost(
            [self._at_risk[key_of(reply)][1] for reply in at_risk for _ in range(reply.unanswered)], now
        )

    def write_risks(self) -> None:
        """Has the tallies say what is at risk now, where they say more."""
        for tally in self._outdated:
            RunTally.objects.filter(pk=tally).update(**self._risk_of(tally))
        self._outdated.clear()

    def book_unanswered_as_lost(self) -> None:
        """Books what this worker has at risk as lost: it will not hear of it any more."""
        self.write_risks()
        book_lost(RunTally.objects.filter(run=self.run, worker=self.worker))
        self._at_risk.clear()

    def _risk_of(self, tally: int, but: Collection[QuestionKey] = ()) -> dict[str, float]:
        """What is at risk in a tally, these calls left out; from all of them anew, so that no sum drifts."""
        left = [usd for key, (row, usd) in self._at_risk.items() if row == tally and key not in but]
        return {
            "at_risk_calls": len(left),
            "at_risk_unpriced": sum(usd is None for usd in left),
            "at_risk_usd": math.fsum(usd or 0.0 for usd in left),
        }

    def _lower_risks(self, done: Collection[QuestionKey]) -> None:
        for tally in {self._at_risk[key][0] for key in done if key in self._at_risk}:
            RunTally.objects.filter(pk=tally).update(**self._risk_of(tally, but=done))

    def _forget(self, done: Iterable[QuestionKey]) -> None:
        for key in done:
            self._at_risk.pop(key, None)

    def release(self, usd: float, now: datetime) -> None:
        """Sets this much less aside: it was for calls that were not made."""
        if usd:
            lower = Greatest(F("reserved_usd") - usd, 0.0)
            RunTally.objects.filter(pk=self.tally(now)).update(reserved_usd=lower)

    def add_to_tally(self, replies: Sequence[Reply], now: datetime) -> None:
        """Adds what these replies cost to the month's tally, and sets nothing aside for them any more."""
        asked = [reply for reply in replies if not reply.is_known]
        freed = sum(key_of(reply).expected_usd or 0.0 for reply in replies)
        changes: dict[str, float] = {
            "calls": len(asked),
            "cached": len(replies) - len(asked),
            "attempts": sum(reply.attempts for reply in asked),
            **tokens_of(asked),
            "cost_usd": sum(spent_usd(reply) for reply in asked),
            "unpriced": sum(is_unpriced(reply) for reply in asked),
        }
        raised: dict[str, Any] = {name: F(name) + change for name, change in changes.items() if change}
        if dearest := max((reply.cost_usd or 0.0 for reply in asked), default=0.0):
            raised["dearest_usd"] = Greatest(F("dearest_usd"), dearest)
        if freed:
            # What was reserved last month is given back when the budget's reservation is closed.
            raised["reserved_usd"] = Greatest(F("reserved_usd") - freed, 0.0)
        RunTally.objects.filter(pk=self.tally(now)).update(**raised, beat_at=now)
        self._lower_risks({key_of(reply) for reply in replies})

    def score(self, items: Sequence[OpenItem], now: datetime) -> None:
        """Scores those that are complete."""
        scores.score_items(self.run, [item for item in items if self.strategy.is_complete(item)], now)

    def _call(self, pk: int, item: OpenItem, reply: Reply, now: datetime) -> bulk_rows.Row:
        """The call as a row of `_CALL`."""
        request = None
        if reply.request is not None:
            request = zlib.compress(encoded(reply.request), level=1)
        return (
            pk,
            self.run.pk,
            item.row.item_id,
            storable(reply.model[:200]),
            reply.rung,
            reply.attempts,
            reply.prompt_tokens,
            reply.completion_tokens,
            None if reply.unmetered else reply.cost_usd,  # a part of it is not known
            reply.cached_prompt_tokens,
            reply.latency_seconds or None,  # of an earlier answer, and one of a batch, nobody knows it
            key_of(reply).content,
            reply.cached_from,
            reply.fallback,
            request,
            storable(reply.text),
            storable(reply.reasoning),
            reply.error.kind if reply.error else None,
            storable(reply.error.message) if reply.error else "",
            now,
        )


@dataclass
class Batch:
    """Replies of one run that are stored together. `ids` are those of their calls, once they are known."""

    arrived: Sequence[tuple[OpenItem, Reply]]
    ids: Sequence[int] = ()
    tried: bool = False

    @property
    def items(self) -> list[OpenItem]:
        """Every item there is a reply about, once."""
        return list({id(item): item for item, _ in self.arrived}.values())


def tokens_of(replies: Sequence[Reply]) -> dict[str, float]:
    """What these took in tokens, and what the provider's cache of prompts saved of their cost."""
    return {
        "prompt_tokens": sum(reply.prompt_tokens or 0 for reply in replies),
        "cached_prompt_tokens": sum(reply.cached_prompt_tokens or 0 for reply in replies),
        "completion_tokens": sum(reply.completion_tokens or 0 for reply in replies),
        "cache_saved_usd": math.fsum(reply.cache_saved_usd for reply in replies),
    }


def spent_usd(reply: Reply) -> float:
    """What the call is known to have cost, and for each answer of unknown cost what was set aside for it, so
    that a cap holds.
    """
    return (reply.cost_usd or 0.0) + _unpriced_answers(reply) * (key_of(reply).expected_usd or 0.0)


def is_unpriced(reply: Reply) -> bool:
    """Whether something was paid for this call and nobody knows how much."""
    return _unpriced_answers(reply) > 0


def _unpriced_answers(reply: Reply) -> int:
    """How many answers of unknown cost the call had: those that do not say what they used, and, as one, those
    of a model without a price.
    """
    answered = reply.prompt_tokens is not None or (reply.error is None and not reply.unmetered)
    return reply.unmetered + (reply.cost_usd is None and answered)
