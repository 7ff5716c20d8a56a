"""Tests of the wheel, in environments that `make wheel-test` fills; without those none is collected."""

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("RUBRICWEB_WHEEL", "")
collect_ignore_glob = [] if FOLDER else ["test_*.py"]


@pytest.fixture(scope="session")
def library() -> Path:
    """The `bin` folder of an environment with the wheel alone."""
    return Path(FOLDER).resolve() / "library" / "bin"


@pytest.fixture(scope="session")
def app() -> Path:
    """The `bin` folder of an environment with the wheel and its extra `app`."""
    return Path(FOLDER).resolve() / "app" / "bin"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder with nothing in it, to stand in."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment that tells nothing of this repository."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
