"""`rubricweb runs compare`: several runs beside each other, at the terminal."""

import argparse

from rubricweb import access
from rubricweb.engine.number_format import counted, share, text_of
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import Table, terminal, words
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.comparison.run_table import RunInTable, run_table
from rubricweb.templatetags.display import usd


def run(options: argparse.Namespace) -> int:
    """A row for each run, by system version, held against the first."""
    actor = resolve_actor(options, Role.VIEWER)
    runs = [access.access_run(actor.team, pk) for pk in dict.fromkeys(options.runs)]
    compared = run_table(runs, viewer=actor.user)
    if options.json:
        from rubricweb.api.comparison.schemas import RunTable

        print_shape(RunTable, compared, indent=2)
        return 0
    table = Table()
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("run")
    for title in ("score", "Δ to the first", "pass", "κ with people", "cost"):
        table.add_column(title, justify="right")
    for criterion in compared.criteria:
        table.add_column(words(criterion.name), justify="right")
    for row in compared.rows:
        shares = [share(one.value) for one in row.shares] or ["–"] * len(compared.criteria)
        table.add_row(
            str(row.run.pk),
            words(" · ".join(filter(None, (str(row.run), row.run.system, row.judge)))),
            "hidden" if row.withheld else "–" if row.score is None else text_of(row.score),
            words(_apart(row)),
            share(row.passes),
            words(row.no_kappa) if row.kappa is None else text_of(row.kappa),
            "–" if row.cost_usd is None else usd(row.cost_usd),
            *shares,
        )
    terminal().print(table)
    return 0


def _apart(row: RunInTable) -> str:
    if row.difference is None or row.paired_by is None:
        return row.no_difference or "first"
    return f"{text_of(row.difference, signed=True)} over {counted(row.difference.n, row.paired_by)}"
