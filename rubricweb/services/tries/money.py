"""What tries cost: set aside before anything is sent, and counted in the team's month as runs are."""

import math
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F

from rubricweb.engine.number_format import money
from rubricweb.errors import Conflict
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.models import RunTally, Team
from rubricweb.selectors.spending.spending import MONTH_CAP, REFUSED, TRY, month_of, month_spending
from rubricweb.services.grading.asking.open_items import QuestionKey, key_of
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.grading.writer import is_unpriced, spent_usd, tokens_of
from rubricweb.services.runs.budgets import (
    DUST_USD,
    LONGEST_REPLY_RATIO,
    USUAL_COMPLETION_TOKENS,
    dearest_answer_usd,
    expected_prompt_tokens,
    unpriced,
)


class TryMoney:
    """The money of one try. What it costs stands in a tally of its own, of no run: so the month's cap holds
    over runs and tries together, and what a process that died had at risk is booked like a worker's.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._tally: int | None = None
        # What has no answer yet: set aside for it, and what it may cost at most.
        self._open: dict[QuestionKey, tuple[float, float | None]] = {}

    def set_aside(self, asked: Sequence[tuple[JudgeConfig, Question]], now: datetime) -> None:
        """Before these are sent. Raises Conflict where the team's month cannot pay for them, and where nobody
        can say whether it could.
        """
        expected = {key_of(question): _expected_usd(config, question) for config, question in asked}
        most = {key_of(question): _most_usd(config, question) for config, question in asked}
        with transaction.atomic():
            team = Team.objects.select_for_update(no_key=True).get(pk=self._team.pk)
            if team.monthly_budget_usd is not None:
                self._require_room(team, asked, math.fsum(usd or 0.0 for usd in expected.values()), now)
            for key, usd in expected.items():
                key.expected_usd = usd
            self._open |= {key: (expected[key] or 0.0, most[key]) for key in expected if most[key] != 0}
            if self._open:
                self._write(now)

    def _require_room(
        self, team: Team, asked: Sequence[tuple[JudgeConfig, Question]], usd: float, now: datetime
    ) -> None:
        cap = f"{MONTH_CAP} of {money(team.monthly_budget_usd or 0.0)} for the month"
        unknown = dict.fromkeys(name for config, _ in asked for name in unpriced(config))
        if unknown:
            names = ", ".join(unknown)
            raise Conflict(
                f"There is no price for {names}, so that {cap} cannot hold a try: enter one in Models."
            )
        spending = month_spending(team, now=now)
        left = spending.left_usd
        if left is not None and usd > left + DUST_USD:
            raise Conflict(
                f"{REFUSED}, about {money(usd)}, would pass {cap}: {money(spending.spent_usd)} is spent."
            )

    def book(self, replies: Sequence[Reply], now: datetime) -> None:
        """Counts what these cost, broken off or not, and as lost what requests without an answer may have."""
        if self._tally is None:
            return
        lost = [
            self._open[key_of(reply)][1]
            for reply in replies
            if key_of(reply) in self._open
            for _ in range(reply.unanswered)
        ]
        for reply in replies:
            self._open.pop(key_of(reply), None)
        changes: dict[str, float] = {
            "calls": sum(reply.error is None or reply.error.kind != "stopped" for reply in replies),
            "attempts": sum(reply.attempts for reply in replies),
            **tokens_of(replies),
            "cost_usd": math.fsum(spent_usd(reply) for reply in replies),
            "unpriced": sum(is_unpriced(reply) for reply in replies) + sum(usd is None for usd in lost),
            "lost_calls": sum(usd is not None for usd in lost),
            "lost_at_most_usd": math.fsum(usd or 0.0 for usd in lost),
        }
        self._write(now, **{name: F(name) + change for name, change in changes.items() if change})

    def not_sent(self, questions: Sequence[Question]) -> None:
        """These were not sent after all."""
        for question in questions:
            self._open.pop(key_of(question), None)

    def beat(self, now: datetime) -> None:
        """Says that what is set aside is still wanted."""
        if self._tally is not None and self._open:
            RunTally.objects.filter(pk=self._tally).update(beat_at=now)

    def close(self, now: datetime) -> None:
        """Nothing is waited for any more: what has no answer is lost."""
        if self._tally is None:
            return
        left = [usd for _, usd in self._open.values()]
        self._open.clear()
        self._write(
            now,
            lost_calls=F("lost_calls") + sum(usd is not None for usd in left),
            lost_at_most_usd=F("lost_at_most_usd") + math.fsum(usd or 0.0 for usd in left),
            unpriced=F("unpriced") + sum(usd is None for usd in left),
        )

    def _write(self, now: datetime, **more: object) -> None:
        """The tally as it is with what is open now; made where there is none."""
        if self._tally is None:
            row = RunTally.objects.create(
                run=None, team=self._team, worker=f"{TRY}:{worker_name()}"[:100], month=month_of(now)
            )
            self._tally = row.pk
        at_risk = [usd for _, usd in self._open.values()]
        RunTally.objects.filter(pk=self._tally).update(
            reserved_usd=math.fsum(usd for usd, _ in self._open.values()),
            at_risk_calls=len(at_risk),
            at_risk_unpriced=sum(usd is None for usd in at_risk),
            at_risk_usd=math.fsum(usd or 0.0 for usd in at_risk),
            beat_at=now,
            **more,
        )


def _expected_usd(config: JudgeConfig, question: Question) -> float | None:
    """What an answer will probably cost, as a run reckons before it knows any of its own."""
    out = USUAL_COMPLETION_TOKENS
    if config.sampling.max_output_tokens is not None:
        out = min(out, config.sampling.max_output_tokens)
    return config.cost_usd(expected_prompt_tokens(question.prompt), out)


def _most_usd(config: JudgeConfig, question: Question) -> float | None:
    longest = config.sampling.max_output_tokens or LONGEST_REPLY_RATIO * USUAL_COMPLETION_TOKENS
    return dearest_answer_usd(config, question.prompt, longest)
