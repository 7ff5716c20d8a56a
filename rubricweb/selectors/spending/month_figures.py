"""What a team's runs cost this month, run by run, and what was pruned of its calls."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Case, Sum, Value, When

from rubricweb.models import PRUNED, JournalEntry, Run, RunTally, Team, User
from rubricweb.selectors.spending.spending import (
    TRY,
    Spending,
    lost_calls,
    lost_usd,
    month_of,
    visible_month_spending,
)
from rubricweb.selectors.withheld_runs import withheld_runs

MOST_RUNS = 20


@dataclass(frozen=True)
class RunCost:
    """What one run cost within the month; `unpriced` calls, of unknown cost, are in it with what was set
    aside for them, where a cap held, and `lost_calls` cost at most `lost_at_most_usd` on top. `run` None is
    all those that were deleted since; `of_tries` all judges that were tried, which are no runs.

    While it is `withheld` from the viewer, who is to review some of its items blind, every figure is None.
    """

    run: Run | None
    cost_usd: float | None
    calls: int | None
    cached: int | None
    unpriced: int | None
    lost_calls: int | None
    lost_at_most_usd: float | None
    withheld: bool = False
    of_tries: bool = False


@dataclass(frozen=True)
class MonthFigures:
    """A calendar month, UTC, named by its first day, with the team's cap on it.

    `runs` are the dearest first, then those withheld, the newest first; at most `MOST_RUNS`. `spending` is
    None while one of them is withheld: the sum would tell what it cost.
    """

    month: date
    cap_usd: float | None
    spending: Spending | None
    runs: tuple[RunCost, ...]
    more_runs: int


@dataclass(frozen=True)
class PruningRound:
    """One time that calls were pruned: how many, None while some runs' are withheld, and from before when."""

    at: datetime
    calls: int | None
    before: datetime


def month_figures(team: Team, *, viewer: User | None, now: datetime) -> MonthFigures:
    """What the month of `now` has cost so far, as far as this person may know it. None is nobody who reviews.

    Seven queries at most, however many calls; nine more for somebody who rates blind.
    """
    month = month_of(now)
    of_month = RunTally.objects.filter(team=team, month=month).order_by()
    untold = set(withheld_runs(viewer, team).values_list("pk", flat=True))
    rows = (
        of_month.exclude(run__in=untold)
        .annotate(of_tries=Case(When(worker__startswith=f"{TRY}:", then=Value(True)), default=Value(False)))
        .values("run_id", "of_tries")
        .annotate(
            cost_usd=Sum("cost_usd"),
            calls=Sum("calls"),
            cached=Sum("cached"),
            unpriced=Sum("unpriced"),
            lost_calls=Sum(lost_calls(now)),
            lost_at_most_usd=Sum(lost_usd(now)),
        )
        .order_by("-cost_usd", "-run_id")
    )
    dearest = list(rows[:MOST_RUNS])
    withheld = sorted(set(of_month.filter(run__in=untold).values_list("run_id", flat=True)), reverse=True)
    listed = withheld[: MOST_RUNS - len(dearest)]
    runs = Run.objects.select_related("dataset").in_bulk(
        [*(row["run_id"] for row in dearest if row["run_id"]), *listed]
    )
    costs = [
        RunCost(
            None if row["run_id"] is None else runs[row["run_id"]],
            row["cost_usd"],
            row["calls"],
            row["cached"],
            row["unpriced"],
            row["lost_calls"],
            row["lost_at_most_usd"],
            of_tries=row["of_tries"],
        )
        for row in dearest
    ]
    costs += [RunCost(runs[pk], None, None, None, None, None, None, withheld=True) for pk in listed]
    more = rows.count() + len(withheld) - len(costs) if len(costs) == MOST_RUNS else 0
    spending = visible_month_spending(team, viewer=viewer, now=now)
    return MonthFigures(month, team.monthly_budget_usd, spending, tuple(costs), more)


def pruning_rounds(team: Team, *, viewer: User | None, most: int = 10) -> list[PruningRound]:
    """The latest times that calls of the team were pruned, newest first."""
    lines = JournalEntry.objects.filter(team=team, verb=PRUNED).order_by("-pk")[:most]
    withheld = withheld_runs(viewer, team).exists()
    return [
        PruningRound(
            line.at,
            None if withheld else line.detail["calls"],
            datetime.fromisoformat(line.detail["before"]),
        )
        for line in lines
    ]
