"""Commands in this process: what somebody at a terminal gives, sees and is left with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from rubricweb.management import console
from rubricweb.models import Team, User


@dataclass(frozen=True)
class Ended:
    """The exit code of a command and what it wrote."""

    code: int
    out: str
    err: str


Terminal = Callable[..., Ended]


def terminal_of(team: Team, user: User, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """`terminal("queues", "list")` runs the command for this team in the person's name."""

    def run(*arguments: Any) -> Ended:
        said = [str(one) for one in arguments]
        try:
            code = console.main([*said, "--team", team.slug, "--user", user.username])
        except SystemExit as ended:  # argparse's own way to refuse
            code = int(ended.code or 0)
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return run
