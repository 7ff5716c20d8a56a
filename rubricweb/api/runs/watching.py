"""Operations for watching a run: how far it is, and what was decided."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.runs import watching_schemas as schemas
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors.runs.log import run_log
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.shared.clock import database_now

run_watching = Room("runs")


@run_watching.read("/runs/{int:run_id}/progress", Role.VIEWER, schemas.Progress)
def get_progress(request: TokenRequest, run_id: int) -> Any:
    """How far a run is, what it spends and what it waits for.

    Small enough to be asked every few seconds, however large the run: `poll_seconds` says how soon it is
    worth asking again. What calls there were, what they cost and what failed is withheld (null) where it
    would tell you what a judge said about an item you are still to review blind.
    """
    run = access.access_run(request.auth.team, run_id)
    return progress(run, viewer=request.auth.user, now=database_now())


@run_watching.read("/runs/{int:run_id}/events", Role.VIEWER, list_of(schemas.RunEvent))
def list_run_events(request: TokenRequest, run_id: int, asked: Query[ListQuery]) -> Any:
    """The log of a run, newest first: what was decided, by whom or why.

    Lines about calls are left out where the calls are withheld from you.
    """
    run = access.access_run(request.auth.team, run_id)
    return listed(run_log(run, viewer=request.auth.user, cursor=asked.cursor, size=asked.limit))
