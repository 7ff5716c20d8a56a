"""Operations that hold judges against people: agreement, disagreements."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.comparison import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import cut
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors.comparison import comparison as selected

comparison = Room("comparison")


@comparison.read("/runs/{int:run_id}/comparison", Role.VIEWER, schemas.Comparison)
def compare(request: TokenRequest, run_id: int, asked: Query[schemas.ComparisonQuery]) -> Any:
    """A run against the people of some queues, overall and per criterion.

    Ground truth is an adjudication, else the majority of submitted reviews. Abstentions and errors are
    counted beside the agreement, never in it. Items you are still to review blind are left out.
    """
    team = request.auth.team
    run = access.run_for(team, run_id)
    return selected.compare(run, access.queues_for(team, asked.queue), viewer=request.auth.user)


@comparison.read("/disagreements", Role.VIEWER, list_of(schemas.Disagreement), names_rows=True)
def list_disagreements(request: TokenRequest, asked: Query[schemas.DisagreementQuery]) -> Any:
    """Where people and judge differ, most informative first.

    Items you are still to review blind are left out.
    """
    team = request.auth.team
    rows = selected.disagreements(
        None if asked.run is None else access.run_for(team, asked.run),
        access.queues_for(team, asked.queue),
        team=team,
        viewer=request.auth.user,
        criterion_id=asked.criterion,
        kind=asked.kind or "",
        judged=asked.judged or "",
        truth=asked.truth or "",
        include_decided=asked.include_decided,
    )
    return cut(rows, asked, key=_place)


def _place(row: selected.Disagreement) -> tuple[float, ...]:
    """The order the selector lists them in, as numbers a cursor can hold."""
    kind = selected.DISAGREEMENT_KINDS.index(row.kind)
    return (kind, -abs(row.criterion.weight), row.item_id, row.criterion.position, row.criterion.pk)
