"""Operations about the team of the token, and who holds it."""

from typing import Any

from ninja import Query

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.schemas import teams as schemas
from rubricweb.api.schemas.shared import With, list_of
from rubricweb.models import Role
from rubricweb.selectors import teams as selected
from rubricweb.services.teams import choose_single_keys

teams = Room("team")


@teams.read("/me", Role.VIEWER, schemas.Me)
def get_me(request: TokenRequest) -> Any:
    """Whom this token stands for."""
    return _me(request)


@teams.write("PATCH", "/me", Role.VIEWER, schemas.Me)
def change_me(request: TokenRequest, body: schemas.OwnChoices) -> Any:
    """Change what you choose for yourself, such as single keys.

    It holds in all your teams and on every device.
    """
    choose_single_keys(request.auth.user, on=body.single_keys)
    return _me(request)


@teams.read("/team", Role.VIEWER, schemas.TeamWithMembers)
def get_team(request: TokenRequest) -> Any:
    """The token's team and its members."""
    team = request.auth.team
    return With(team, members=selected.members(team))


@teams.read("/journal", Role.VIEWER, list_of(schemas.JournalEntry))
def list_journal(request: TokenRequest, asked: Query[schemas.JournalQuery]) -> Any:
    """Who did what, newest first."""
    page = selected.journal(
        request.auth.team,
        viewer=request.auth.user,
        actor=asked.actor or "",
        kind=asked.kind or "",
        cursor=asked.cursor,
        size=asked.limit,
    )
    return {"items": page.rows, "next_cursor": page.next_cursor}


def _me(request: TokenRequest) -> dict[str, Any]:
    caller = request.auth
    return {
        "username": caller.user.username,
        "name": str(caller.user),
        "role": caller.membership.get_role_display(),
        "team": caller.team,
        "token": caller.token,
        "single_keys": caller.user.single_keys is not False,
    }
