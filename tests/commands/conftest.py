"""Two ways to run commands: as processes of a scratch installation, and here, as any member of a team."""

from collections.abc import Callable, Iterator

import pytest

from rubricweb.models import User
from tests.commands.terminal import Terminal, terminal_of
from tests.factories import Cast
from tests.installation import Installation, scratch_installation


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with scratch_installation(JUDGE_MAX_ATTEMPTS="1") as one:
        ended = one.run("create-team", "Capital quality", "--owner", "alice", "--slug", "capitals")
        assert ended.returncode == 0, ended.stderr
        yield one


@pytest.fixture
def at_terminal(people: Cast, capsys: pytest.CaptureFixture[str]) -> Callable[[User], Terminal]:
    """`at_terminal(alice)("queues", "list")`: without the seconds that a process takes to start."""
    return lambda user: terminal_of(people.team, user, capsys)
