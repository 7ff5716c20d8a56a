"""`rubricweb spending`: what the team's month has cost, and the cap on it, at the terminal."""

import argparse

from django.utils import timezone

from rubricweb.engine.number_format import counted
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import facts, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.spending.month_figures import month_figures
from rubricweb.services.runs import budgets
from rubricweb.templatetags.display import count, percent, usd

WITHHELD = "withheld while you review blind"


def show(options: argparse.Namespace) -> int:
    """The month so far, the dearest runs first."""
    actor = resolve_actor(options, Role.VIEWER)
    figures = month_figures(actor.team, viewer=actor.user, now=timezone.now())
    if options.json:
        from rubricweb.api.spending.schemas import Spending

        print_shape(Spending, figures)
        return 0
    spent, cap = figures.spending, figures.cap_usd
    rows = [("month", f"{figures.month:%B %Y}"), ("cap", "none" if cap is None else usd(cap))]
    if spent is None:
        rows += [("spent", WITHHELD)]
    else:
        share = "" if spent.share is None else f", {percent(spent.share)} of the cap"
        unknown = f", and {count(spent.unpriced)} calls of unknown cost" if spent.unpriced else ""
        rows += [("spent", f"{usd(spent.spent_usd)}{share}{unknown}"), ("set aside", usd(spent.held_usd))]
        if spent.lost_calls:
            lost = counted(spent.lost_calls, "request")
            rows.append(("perhaps spent", f"at most {usd(spent.lost_at_most_usd)}, {lost} without an answer"))
    console = terminal()
    console.print(facts(rows))
    runs = table(("id", "run"), ("calls", "used again", "cost"))
    for row in figures.runs:
        nobodys = "judges tried" if row.of_tries else "deleted runs"
        named = ("", nobodys) if row.run is None else (str(row.run.pk), str(row.run))
        if row.withheld:
            runs.add_row(*named, WITHHELD, "", "")
        else:
            more = f" and {count(row.unpriced)} unknown" if row.unpriced else ""
            more += f" and at most {usd(row.lost_at_most_usd)}" if row.lost_calls else ""
            runs.add_row(*named, count(row.calls), count(row.cached), f"{usd(row.cost_usd)}{more}")
    if figures.runs:
        console.print(runs)
    return say(*[f"and {count(figures.more_runs)} more runs"] * bool(figures.more_runs))


def cap(options: argparse.Namespace) -> int:
    """Another cap on a month, all runs of the team together; calls asked from now on go by it."""
    actor = resolve_actor(options, Role.OWNER)
    budgets.change_monthly_budget(actor.team, by=actor.user, monthly_budget_usd=options.cap)
    if options.cap is None:
        return say(f"A month of {actor.team} has no cap.")
    return say(f"A month of {actor.team} may cost {usd(options.cap)}.")
