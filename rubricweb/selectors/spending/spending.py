"""What runs have cost so far and what is set aside for calls in flight, from the tallies of their workers."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.db.models import Case, F, Q, QuerySet, Sum, Value, When
from django.db.models.expressions import Combinable

from rubricweb.models import Run, RunTally, Team, User
from rubricweb.selectors.shared.workers import BATCH, BATCH_HELD_FOR
from rubricweb.selectors.withheld_runs import withheld_runs

# What a run says that a cap has stopped: how the sentence begins, and which cap it names.
REFUSED = "The next call"
RUN_CAP, MONTH_CAP = "the run's budget", "the team's budget"

TRY = "try"
"""How the worker of a tally begins that is of a judge somebody tried, and of no run."""


@dataclass(frozen=True, slots=True)
class Spending:
    """US dollars against a cap; `cap_usd` None is no cap.

    `spent_usd` is what calls are known to have cost, `held_usd` what living workers set aside for calls in
    flight. `lost_calls` were cut off or never answered: nobody knows whether they were paid for; together
    they cost at most `lost_at_most_usd`, which counts against the cap. `unpriced` counts the calls whose
    cost is unknown: where a cap held they are in `spent_usd` with what was set aside for them, else not.
    """

    cap_usd: float | None
    spent_usd: float
    held_usd: float
    unpriced: int
    lost_calls: int = 0
    lost_at_most_usd: float = 0.0

    @property
    def left_usd(self) -> float | None:
        """What may still be set aside, at least 0; None without a cap.

        5.00 with 3.20 spent, 0.20 lost at most and 0.30 held: 1.30.
        """
        if self.cap_usd is None:
            return None
        return max(0.0, self.cap_usd - self.spent_usd - self.lost_at_most_usd - self.held_usd)

    @property
    def share(self) -> float | None:
        """Share of the cap that is spent or lost, above 1 when the cap was lowered since; None without a cap
        or with one of 0.
        """
        return (self.spent_usd + self.lost_at_most_usd) / self.cap_usd if self.cap_usd else None


def refused_by(stop_reason: str) -> str:
    """Which cap stopped a run for this reason: "budget" is its own, "month_budget" that of its team's month;
    "" where none did.
    """
    if not stop_reason.startswith(REFUSED):
        return ""
    return "month_budget" if MONTH_CAP in stop_reason else "budget"


def month_of(now: datetime) -> date:
    """The first day of the month, UTC: how tallies name a month."""
    return now.astimezone(UTC).date().replace(day=1)


def run_spending(run: Run, *, now: datetime) -> Spending:
    """What one run has cost, over all its months and resumes. One query."""
    return _spending(run.budget_usd, RunTally.objects.filter(run=run), None, now)


def month_spending(team: Team, *, now: datetime) -> Spending:
    """What all runs of the team have cost in the calendar month of `now`. One query."""
    lately = RunTally.objects.filter(team=team, month__gte=_earliest_held(now))
    return _spending(team.monthly_budget_usd, lately, Q(month=month_of(now)), now)


def visible_month_spending(team: Team, *, viewer: User | None, now: datetime) -> Spending | None:
    """`month_spending`, as far as this person may know it: None while a run whose cost is withheld from them
    is part of the sum. None as viewer is nobody who reviews. At most six queries, two for most.
    """
    withheld = RunTally.objects.filter(run__in=withheld_runs(viewer, team), month=month_of(now))
    return None if withheld.exists() else month_spending(team, now=now)


def _spending(cap: float | None, tallies: QuerySet[RunTally], counted: Q | None, now: datetime) -> Spending:
    # At once: of a call that is stored between two queries neither would know.
    found = tallies.order_by().aggregate(
        spent=Sum("cost_usd", filter=counted),
        unpriced=Sum("unpriced", filter=counted),
        # What a worker set aside before midnight on the last of a month is still in flight after it.
        held=Sum("reserved_usd", filter=holding(now)),
        lost_calls=Sum(lost_calls(now), filter=counted),
        lost=Sum(lost_usd(now), filter=counted),
    )
    return Spending(
        cap,
        found["spent"] or 0.0,
        found["held"] or 0.0,
        found["unpriced"] or 0,
        lost_calls=found["lost_calls"] or 0,
        lost_at_most_usd=found["lost"] or 0.0,
    )


def lost_calls(now: datetime) -> Combinable:
    """Of one tally: calls that were cut off, by a worker that is dead and not reaped yet too."""
    return F("lost_calls") + _if_dead(F("at_risk_calls") - F("at_risk_unpriced"), 0, now)


def lost_usd(now: datetime) -> Combinable:
    """What the `lost_calls` of one tally cost at most."""
    return F("lost_at_most_usd") + _if_dead(F("at_risk_usd"), 0.0, now)


def _if_dead(value: Combinable, nothing: float, now: datetime) -> Case:
    """The value where the worker gave no sign for as long as a lease lasts, else nothing, 0 or 0.0."""
    lease = timedelta(seconds=settings.GRADING_LEASE_SECONDS)
    return Case(When(beat_at__gt=now - lease, then=Value(nothing)), default=value)


def holding(now: datetime) -> Q:
    """Tallies of workers that live: a dead one's reservation lapses with its lease. What is set aside for a
    provider's batch gives no sign until its answers are there.
    """
    lease = timedelta(seconds=settings.GRADING_LEASE_SECONDS)
    holds = Q(beat_at__gt=now - lease) | Q(worker__startswith=f"{BATCH}:", beat_at__gt=now - BATCH_HELD_FOR)
    return holds & Q(month__gte=_earliest_held(now), reserved_usd__gt=0)


def _earliest_held(now: datetime) -> date:
    """Last month at the earliest, so that the index of months serves and old tallies are never looked at."""
    return month_of(now - BATCH_HELD_FOR)
