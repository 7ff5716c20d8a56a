"""`rubricweb retention`: how long prompts and raw replies are kept, at the terminal."""

import argparse

from rubricweb.engine.number_format import counted
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role, Team
from rubricweb.selectors.spending.month_figures import pruning_rounds
from rubricweb.services.teams import retention
from rubricweb.templatetags.display import count


def show(options: argparse.Namespace) -> int:
    """How long calls are kept, and when some were pruned."""
    actor = resolve_actor(options, Role.VIEWER)
    rounds = pruning_rounds(actor.team, viewer=actor.user)
    if options.json:
        from rubricweb.api.spending.schemas import Retention

        print_shape(Retention, {"keep_calls_days": actor.team.keep_calls_days, "rounds": rounds})
        return 0
    say(_kept(actor.team))
    if rounds:
        rows = table((), ("pruned at", "calls made before", "calls"))
        for one in rounds:
            calls = "withheld" if one.calls is None else count(one.calls)
            rows.add_row(*(f"{one.at:%Y-%m-%d %H:%M}", f"{one.before:%Y-%m-%d %H:%M}", calls))
        terminal().print(rows)
    return 0


def keep(options: argparse.Namespace) -> int:
    """Keeps prompts and raw replies for so many days; what is due is pruned within the hour."""
    actor = resolve_actor(options, Role.OWNER)
    retention.change_retention(actor.team, by=actor.user, days=options.days)
    return say(_kept(actor.team))


def _kept(team: Team) -> str:
    days = team.keep_calls_days
    if days is None:
        return "Prompts and raw replies are kept for ever."
    return f"Prompts and raw replies are kept for {counted(days, 'day')}."
