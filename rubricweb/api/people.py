"""Members that a request names by their user names."""

from typing import Annotated

from pydantic import Field

from rubricweb.engine.errors import Fault, shown
from rubricweb.errors import Invalid
from rubricweb.models import Team, User
from rubricweb.selectors.teams.members import members

Usernames = Annotated[list[str], Field(max_length=500, examples=[["ann", "rae"]])]


def people(team: Team, usernames: list[str], place: str) -> list[User]:
    """The members of these user names. Raises Invalid for names that are no member's."""
    users = {row.membership.user.username.casefold(): row.membership.user for row in members(team)}
    unknown = [
        Fault(f"{place}[{at}]", shown(name), "the user name of a member, see GET /team")
        for at, name in enumerate(usernames)
        if name.casefold() not in users
    ]
    if unknown:
        raise Invalid("Only members of the team can review.", unknown)
    return list({name.casefold(): users[name.casefold()] for name in usernames}.values())
