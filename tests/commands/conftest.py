"""One scratch installation, with its first team, for all commands of a module."""

from collections.abc import Iterator

import pytest

from tests.installation import Installation, scratch_installation


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with scratch_installation(JUDGE_MAX_ATTEMPTS="1") as one:
        ended = one.run("manage", "migrate", "--verbosity", "0")
        assert ended.returncode == 0, ended.stderr
        ended = one.run("create-team", "Capital quality", "--owner", "alice", "--slug", "capitals")
        assert ended.returncode == 0, ended.stderr
        yield one
