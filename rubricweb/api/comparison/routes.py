"""Operations that hold judges against people."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.comparison import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.comparison import comparison as selected
from rubricweb.selectors.comparison.run_table import run_table
from rubricweb.selectors.labels import comparable
from rubricweb.services.datasets.halves import looks

comparison = Room("comparison")


@comparison.read("/runs/table", Role.VIEWER, schemas.RunTable, names_rows=True)
def compare_many_runs(request: TokenRequest, asked: Query[schemas.RunTableQuery]) -> Any:
    """Two to twelve runs beside each other, by system version.

    Scores are over each run's own items. `difference` is to the first run over what both scored, where the
    two may be compared: same dataset, rubric version and scale; `no_difference` says why not. Its interval
    holds for all rows at once. What is withheld until you have submitted your reviews is null.
    """
    runs = [access.access_run(request.auth.team, pk) for pk in dict.fromkeys(asked.run)]
    return run_table(runs, viewer=request.auth.user)


@comparison.read("/runs/{int:run_id}/comparison", Role.VIEWER, schemas.Comparison)
def compare(request: TokenRequest, run_id: int, asked: Query[schemas.ComparisonQuery]) -> Any:
    """A run against the people of some queues, overall and per criterion.

    Ground truth is an adjudication, else the majority of submitted reviews. Abstentions and errors are
    counted beside the agreement, never in it. Items you are still to review blind are left out. Where test
    cases of the dataset are compared, it is counted as a look at its test split.
    """
    team = request.auth.team
    run = access.access_run(team, run_id)
    user = request.auth.user
    queues = access.access_queues(team, asked.queue) or comparable.queues_to_compare(run)
    return looks.count_look(selected.compare(run, queues, viewer=user), by=user)
