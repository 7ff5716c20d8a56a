"""Who a command acts for: the team, and the member whose rights and eyes it uses."""

import argparse
from dataclasses import dataclass

from django.conf import settings

from rubricweb import access
from rubricweb.management.terminal import prepare
from rubricweb.management.terminal.remarks import remark
from rubricweb.models import Role, Team, User
from rubricweb.selectors.teams import lookup


@dataclass(frozen=True)
class Actor:
    team: Team
    user: User


def resolve_actor(options: argparse.Namespace, role: Role, *, archived_too: bool = False) -> Actor:
    """The `--team` and `--user` of a command; the person must be a member with at least `role`.

    A command that needs more than a viewer's is refused in an archived team, unless it is for those too.

    In the embedded form tables, a first team and its owner are made when they are missing.
    """
    prepare.require_tables(note)
    if settings.LOCAL:
        prepare.somebody(note)
    team = lookup.team_called(options.team)
    user = lookup.person_called(options.user) if options.user else lookup.first_owner(team)
    access.access_membership(user, team.slug, role)
    if role > Role.VIEWER and not archived_too:
        access.require_changeable(team)
    return Actor(team, user)


def note(line: str) -> None:
    """A remark for people; standard output is kept for results."""
    remark(line)
