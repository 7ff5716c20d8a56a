"""Who a command acts for: the team, and the member whose rights and eyes it uses."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management import prepare
from rubricweb.management.remarks import remark
from rubricweb.models import Role, Team, User
from rubricweb.selectors import operators


@dataclass(frozen=True)
class Who:
    team: Team
    user: User


def acting(options: argparse.Namespace, role: Role) -> Who:
    """The `--team` and `--user` of a command; the person must be a member with at least `role`.

    In the embedded form tables, a first team and its owner are made when they are missing.
    """
    prepare.require_tables(note)
    if settings.LOCAL:
        prepare.somebody(note)
    team = operators.team_called(options.team)
    user = operators.person_called(options.user) if options.user else operators.first_owner(team)
    access.membership_for(user, team.slug, role)
    return Who(team, user)


def note(line: str) -> None:
    """A remark for people; standard output is kept for results."""
    remark(line)


def read_file(path: Path) -> bytes:
    """The bytes of a file named on the command line. Raises Invalid."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
