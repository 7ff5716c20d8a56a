"""Operations about what was deleted for good. What deletes a thing stands beside its other operations."""

from typing import Any

from ninja import Query

from rubricweb.api.deletions import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors import deletions as selected

deletions = Room("deletions")


@deletions.read("/deletions", Role.OWNER, list_of(schemas.Deletion))
def list_deletions(request: TokenRequest, asked: Query[ListQuery]) -> Any:
    """What was deleted in the team, newest first, and how far the removal of its rows is."""
    return listed(selected.deletions(request.auth.team, cursor=asked.cursor, size=asked.limit))


@deletions.read("/deletions/{int:deletion_id}", Role.OWNER, schemas.Deletion)
def get_deletion(request: TokenRequest, deletion_id: int) -> Any:
    """One deletion: it is `done` once all rows are removed."""
    return selected.deletion_for(request.auth.team, deletion_id)
