"""Caps on spending: nothing is asked that a run's or its team's month's budget could not pay."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import F, Max, Sum

from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.number_format import money
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeSnapshot, Run, RunTally, Team, User
from rubricweb.selectors.spending.spending import (
    MONTH_CAP,
    REFUSED,
    RUN_CAP,
    Spending,
    month_of,
    month_spending,
    run_spending,
)
from rubricweb.services.shared.journal import record

BYTES_PER_TOKEN = 4
# Roles, separators and the schema's own words, which the prompt's text does not show.
TOKENS_AROUND_A_PROMPT = 40
# A reply's tokens until this run has some of its own to go by.
USUAL_COMPLETION_TOKENS = 400
CALLS_TO_GO_BY = 5
# A reply of a judge without a limit of its own is at most so many times as long as this run's are on average.
LONGEST_REPLY_RATIO = 4
# One reservation serves this many calls of the same price, but takes no more than this share of what is left:
# workers then neither ask the database for every call nor starve each other near the cap.
CALLS_PER_RESERVATION = 32
SHARE_PER_RESERVATION = 1 / 16
MAX_BUDGET_USD = 1e9
# What sums of floats may be off by: no reason to leave the last cent of a cap unspent.
DUST_USD = 1e-9


class BudgetReservation:
    """What one worker may spend on one run right now.

    It sets money aside in the worker's tally before calls are sent. The caps are those of the rows at that
    moment, so that raising one takes effect at once; spending and reservations of all other workers count. A
    worker that dies holds its reservation until its lease runs out. Of one worker and run there is one budget
    at a time.

    For every call: `reserve` what `expected_cost` says; once its reply is stored, or it was not sent, lower
    the tally's `reserved_usd` by the same amount and say `released`. At the end `close`. After a refusal
    that is not `final` it is worth asking again when replies have come, here or to other workers.
    """

    def __init__(self, run: Run, worker: str) -> None:
        self.run = run
        self.worker = worker
        # After a refusal: which cap it was, in a sentence.
        self.refusal = ""
        # After a refusal: False while money that may come back unspent is set aside, here or elsewhere.
        self.final = False
        self._held_usd = 0.0
        self._out_usd = 0.0
        self._completion_tokens: float | None = None
        self._longest_completion = 0
        self._dearest_usd = 0.0
        self._learned = False
        self._costs: dict[JudgeConfig, deque[float]] = {}

    @classmethod
    def open(cls, run: Run, worker: str) -> BudgetReservation:
        """The worker's budget, empty: what a budget before it left behind is given back."""
        budget = cls(run, worker)
        if budget.capped:
            budget._give_back()
            budget._learn()
        return budget

    @property
    def capped(self) -> bool:
        """Whether the run or its team's month has a cap, as far as `self.run` and its team say."""
        return self.run.budget_usd is not None or self.run.team.monthly_budget_usd is not None

    def expected_cost(self, config: JudgeConfig, prompt: Prompt) -> float | None:
        """What one call will probably cost in US dollars; None for a judge without prices.

        Tokens in are the prompt's UTF-8 bytes / 4 and a few around it; tokens out the mean of this run's
        calls, before there are five of them 400, never more than `max_output_tokens`. A prompt of 3,840 bytes
        at 2.5 and 10 per million: 1,000 in and 400 out, 0.0025 + 0.004 = 0.0065. Not less than the mean of
        what this judge's latest calls did cost, retries and fallbacks included: see `observe_cost`.
        """
        out = self._completion_tokens or USUAL_COMPLETION_TOKENS
        if config.sampling.max_output_tokens is not None:
            out = min(out, config.sampling.max_output_tokens)
        expected = config.cost_usd(expected_prompt_tokens(prompt), math.ceil(out))
        costs = self._costs.get(config)
        if expected is None or not costs:
            return expected
        return max(expected, sum(costs) / max(len(costs), CALLS_TO_GO_BY))

    def most_cost(self, config: JudgeConfig, prompt: Prompt) -> float | None:
        """What one answer may cost at most, in US dollars; None for a judge without prices. The first time it
        asks the database how long this run's replies are, and what they cost.

        Once five of this run's calls are answered it is what the dearest of them cost, or what this one will
        probably cost where that is more, and never more than the following. No token is shorter than a byte:
        tokens in are the prompt's UTF-8 bytes and a few around it. Tokens out are `max_output_tokens`, else
        four times the mean of this run's replies, and no less than the longest seen here. Of the
        model and the one it falls back on the dearer counts. A prompt of 960 bytes and at most 200 tokens
        out, at 2.5 and 10 per million: 1,000 × 2.5 + 200 × 10, 0.0045.
        """
        if not self._learned:
            self._learn()
        usual = self._completion_tokens or USUAL_COMPLETION_TOKENS
        out = config.sampling.max_output_tokens or max(
            math.ceil(LONGEST_REPLY_RATIO * usual), self._longest_completion
        )
        most = dearest_answer_usd(config, prompt, out)
        if most is None or self._completion_tokens is None or not self._dearest_usd:
            return most
        return min(most, max(self._dearest_usd, self.expected_cost(config, prompt) or 0.0))

    def observe_cost(
        self, config: JudgeConfig, cost_usd: float | None, completion_tokens: int | None = None
    ) -> None:
        """What a call of this judge did cost and how long its reply was, None where nobody knows.

        The latest 32 costs are gone by, and of fewer than five the missing ones count as 0, lest one dear
        call alone end a run.
        """
        self._longest_completion = max(self._longest_completion, completion_tokens or 0)
        self._dearest_usd = max(self._dearest_usd, cost_usd or 0.0)
        if cost_usd is not None and self.capped:
            self._costs.setdefault(config, deque(maxlen=CALLS_PER_RESERVATION)).append(cost_usd)

    def reserve(self, usd: float | None, now: datetime) -> bool:
        """Sets this much aside; False, with `refusal` and `final`, when it would pass a cap.

        Always True without a cap, and for None: a judge without prices was let in on purpose.
        """
        if usd is None or not self.capped:
            return True
        if self._out_usd + usd > self._held_usd + DUST_USD and not self._top_up(usd, now):
            return False
        self._out_usd += usd
        return True

    def released(self, usd: float | None) -> None:
        """A call's reservation is over, and gone from the tally too (see the class)."""
        if usd is not None:
            self._out_usd -= usd
            self._held_usd -= usd

    def release_unused(self) -> float:
        """Holds no more than is needed for calls that are asked for, so that the next one is held against the
        caps; how much less: the tally's `reserved_usd` is to be lowered by as much.
        """
        spare = max(self._held_usd - self._out_usd, 0.0)
        self._held_usd -= spare
        return spare

    def close(self) -> None:
        """Gives back all that is set aside; nothing of this budget may be in flight any more."""
        if self.capped or self._held_usd > 0:  # a cap may have been lifted meanwhile
            self._give_back()
        self._held_usd = self._out_usd = 0.0

    def _give_back(self) -> None:
        held = RunTally.objects.filter(run=self.run, worker=self.worker).exclude(reserved_usd=0.0)
        held.update(reserved_usd=0.0)

    @transaction.atomic
    def _top_up(self, usd: float, now: datetime) -> bool:
        """Raises the reservation in the worker's tally so that it covers this call, if the caps allow it."""
        run = self._locked()
        missing = self._out_usd + usd - self._held_usd
        room = math.inf
        for words, spending in _caps(run, now):
            left = spending.left_usd
            assert left is not None, "it has a cap"
            if missing > left + DUST_USD:
                self.refusal = f"{REFUSED}, about {money(usd)}, would pass {words}"
                self.refusal += f": {money(spending.spent_usd)} is spent"
                if spending.lost_at_most_usd:
                    lost = money(spending.lost_at_most_usd)
                    self.refusal += f", and at most {lost} by requests without an answer"
                self.refusal += "."
                self.final = usd > left + spending.held_usd + DUST_USD
                return False
            room = min(room, left)
        amount = max(missing, min(usd * CALLS_PER_RESERVATION, room * SHARE_PER_RESERVATION))
        RunTally.objects.get_or_create(
            run=run, worker=self.worker, month=month_of(now), defaults={"team_id": run.team_id}
        )
        RunTally.objects.filter(run=run, worker=self.worker, month=month_of(now)).update(
            reserved_usd=F("reserved_usd") + amount, beat_at=now
        )
        self._held_usd += amount
        self._learn()
        return True

    def _locked(self) -> Run:
        """The run's row, locked, and its team's when the month has a cap: always in this order, so that no
        two workers wait for each other. The lock leaves inserts that refer to these rows alone.
        """
        run = Run.objects.select_for_update(no_key=True).get(pk=self.run.pk)
        run.team = Team.objects.get(pk=run.team_id)
        if run.team.monthly_budget_usd is not None:
            run.team = Team.objects.select_for_update(no_key=True).get(pk=run.team_id)
        self.run.budget_usd, self.run.team = run.budget_usd, run.team
        return run

    def _learn(self) -> None:
        """How long this run's replies are, and what the dearest call cost."""
        sums = (
            RunTally.objects.filter(run=self.run)
            .order_by()
            .aggregate(calls=Sum("calls"), tokens=Sum("completion_tokens"), dearest=Max("dearest_usd"))
        )
        self._dearest_usd = max(self._dearest_usd, sums["dearest"] or 0.0)
        if sums["tokens"] and sums["calls"] >= CALLS_TO_GO_BY:
            self._completion_tokens = sums["tokens"] / sums["calls"]
        self._learned = True


def _caps(run: Run, now: datetime) -> Iterator[tuple[str, Spending]]:
    """Every cap over this run, in words, and what of it is left."""
    if run.budget_usd is not None:
        yield f"{RUN_CAP} of {money(run.budget_usd)}", run_spending(run, now=now)
    monthly = run.team.monthly_budget_usd
    if monthly is not None:
        yield f"{MONTH_CAP} of {money(monthly)} for the month", month_spending(run.team, now=now)


def dearest_answer_usd(config: JudgeConfig, prompt: Prompt, completion_tokens: int) -> float | None:
    """What an answer of so many tokens costs at most, by the model or the one it falls back on; None for a
    judge without prices. No token is shorter than a byte.
    """
    asked = [config, config.as_fallback()] if config.fallback_model else [config]
    into = _size(prompt) + TOKENS_AROUND_A_PROMPT
    return max(
        (usd for one in asked if (usd := one.cost_usd(into, completion_tokens)) is not None), default=None
    )


def expected_prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt is: its UTF-8 bytes / 4, and a few around it."""
    return math.ceil(_size(prompt) / BYTES_PER_TOKEN) + TOKENS_AROUND_A_PROMPT


def _size(prompt: Prompt) -> int:
    """A prompt's UTF-8 bytes."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in (prompt.system, prompt.user))


def unpriced(judge: JudgeConfig) -> Iterator[str]:
    """What of a judge has no known price: itself, and the model it falls back on. 0 is a price."""
    if None in (judge.input_usd_per_million, judge.output_usd_per_million):
        yield repr(judge.name)
    prices = judge.fallback_input_usd_per_million, judge.fallback_output_usd_per_million
    if judge.fallback_model and None in prices:
        yield f"{judge.fallback_model!r}, on which {judge.name!r} falls back"


def require_caps_hold(judges: Iterable[JudgeSnapshot], *, budget_usd: float | None, no_cap: bool) -> None:
    """Refuses a budget that is no amount, and frozen judges no budget could hold unless that is wanted.

    Raises Invalid with the place `budget_usd` or `no_cap`.
    """
    if budget_usd is not None:
        _require_amount("budget_usd", budget_usd)
        if no_cap:
            raise Invalid.at("no_cap", f"no cap beside a budget of {money(budget_usd)}", "one of them")
    unknown = dict.fromkeys(name for judge in judges if judge.config for name in unpriced(judge.config))
    if unknown and not no_cap:
        names = ", ".join(unknown)
        raise Invalid.at(
            "no_cap",
            f"no price for {names}, so that no budget can hold the run",
            "a price for it, or the explicit wish to run without a cap",
        )


@transaction.atomic
def change_monthly_budget(team: Team, *, by: User | None, monthly_budget_usd: float | None) -> None:
    """Gives the team's months another cap, None for none; calls asked from now on go by it."""
    if monthly_budget_usd is not None:
        _require_amount("monthly_budget_usd", monthly_budget_usd)
    was, team.monthly_budget_usd = team.monthly_budget_usd, monthly_budget_usd
    team.save(update_fields=["monthly_budget_usd"])
    record(team, by, "changed the budget of", team, was=was, monthly_budget_usd=monthly_budget_usd)


def _require_amount(place: str, usd: float) -> None:
    if not 0 <= usd <= MAX_BUDGET_USD:
        allowed = f"US dollars from 0 to {MAX_BUDGET_USD:,.0f}, or nothing for no cap"
        raise Invalid.at(place, repr(usd), allowed)
