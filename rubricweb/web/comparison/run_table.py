"""Several runs that were ticked in the list, as a table, and the same as a CSV file."""

from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from rubricweb import access
from rubricweb.models import Role
from rubricweb.selectors.comparison.run_table import FEWEST, MOST, RunTable, run_table
from rubricweb.web.csv_files import csv_file
from rubricweb.web.http import TeamRequest, team_page, whole_number

COLUMNS = (
    *("run", "name", "system", "judge", "dataset", "items", "scored", "score", "score_low", "score_high"),
    *("passes", "kappa", "kappa_low", "kappa_high", "kappa_n", "cost_usd", "difference", "difference_low"),
    *("difference_high", "difference_n", "paired_by", "not_compared"),
)


@team_page(Role.VIEWER)
@require_safe
def table(request: TeamRequest) -> HttpResponse:
    """The runs of the address, each as `run`; `?format=csv` hands them out. Where they are too few or too
    many the list says so.
    """
    numbers = [whole_number(one, "A run") for one in request.GET.getlist("run")]
    runs = [access.access_run(request.team, pk) for pk in dict.fromkeys(numbers) if pk is not None]
    if not FEWEST <= len(runs) <= MOST:
        messages.error(request, f"Tick {FEWEST} to {MOST} runs to compare them, not {len(runs)}.")
        return redirect("runs", request.team.slug)
    found = run_table(runs, viewer=request.user)
    if request.GET.get("format") == "csv":
        names = [f"passes: {criterion.name}" for criterion in found.criteria]
        return csv_file("runs.csv", [*COLUMNS, *names], _rows(found))
    return render(request, "runs/table.html", {"table": found})


def _rows(found: RunTable) -> Iterator[list[object]]:
    for row in found.rows:
        score, kappa, apart = row.score, row.kappa, row.difference
        shares = [one.value for one in row.shares] or [None] * len(found.criteria)
        yield [
            *(row.run.pk, str(row.run), row.run.system, row.judge),
            *(str(row.run.dataset), row.summary and row.summary.items, score and score.n),
            *(score and score.value, score and score.low, score and score.high, row.passes),
            *(kappa and kappa.value, kappa and kappa.low, kappa and kappa.high, kappa and kappa.n),
            *(row.cost_usd, apart and apart.value, apart and apart.low, apart and apart.high),
            *(apart and apart.n, row.paired_by, row.no_difference, *shares),
        ]
