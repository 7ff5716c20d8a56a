"""Members that a request names by their user names."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from rubricweb.engine.errors import Fault, shown
from rubricweb.errors import Invalid
from rubricweb.models import Team, User
from rubricweb.selectors.teams.members import members

Usernames = Annotated[list[str], Field(max_length=500, examples=[["ann", "rae"]])]


def people(team: Team, usernames: list[str], place: str, *, besides: Iterable[User] = ()) -> list[User]:
    """The members of these user names, and some `besides`. Raises Invalid for names that are nobody's."""
    known = [*besides, *(row.membership.user for row in members(team))]
    users = {user.username.casefold(): user for user in known}
    unknown = [
        Fault(f"{place}[{at}]", shown(name), "the user name of a member, see GET /team")
        for at, name in enumerate(usernames)
        if name.casefold() not in users
    ]
    if unknown:
        raise Invalid("Only members of the team can review.", unknown)
    return list({name.casefold(): users[name.casefold()] for name in usernames}.values())
