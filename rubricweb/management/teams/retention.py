"""`rubricweb retention`: how long prompts and raw replies are kept, at the terminal."""

import argparse

from rubricweb.engine.number_format import counted
from rubricweb.management.terminal.printed import say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.management.terminal.who import acting
from rubricweb.models import Role, Team
from rubricweb.selectors.spending.month_figures import pruning_rounds
from rubricweb.services.teams import retention
from rubricweb.templatetags.display import count


def show(options: argparse.Namespace) -> int:
    """How long calls are kept, and when some were pruned."""
    who = acting(options, Role.VIEWER)
    rounds = pruning_rounds(who.team, viewer=who.user)
    if options.json:
        from rubricweb.api.spending.schemas import Retention

        print_shape(Retention, {"keep_calls_days": who.team.keep_calls_days, "rounds": rounds})
        return 0
    say(_kept(who.team))
    if rounds:
        rows = table((), ("pruned at", "calls made before", "calls"))
        for one in rounds:
            calls = "withheld" if one.calls is None else count(one.calls)
            rows.add_row(*(f"{one.at:%Y-%m-%d %H:%M}", f"{one.before:%Y-%m-%d %H:%M}", calls))
        terminal().print(rows)
    return 0


def keep(options: argparse.Namespace) -> int:
    """Keeps prompts and raw replies for so many days; what is due is pruned within the hour."""
    who = acting(options, Role.OWNER)
    retention.change_retention(who.team, by=who.user, days=options.days)
    return say(_kept(who.team))


def _kept(team: Team) -> str:
    days = team.keep_calls_days
    if days is None:
        return "Prompts and raw replies are kept for ever."
    return f"Prompts and raw replies are kept for {counted(days, 'day')}."
