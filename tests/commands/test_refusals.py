"""What the command line says no to, and how."""

import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricweb.management import console
from tests.installation import ROOT, Installation, scratch_installation
from tests.waiting import PATIENCE_SECONDS


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        console.parser().parse_args(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for name in (
        *("serve", "grade", "import-rubric", "import-dataset", "import-labels", "export", "compare"),
        *("sign-in-link", "create-team", "load-demo", "manage"),
    ):
        assert f"    {name} " in shown


@pytest.mark.parametrize("command", [[], ["grade"], ["compare"], ["lint"], ["runs", "watch"]], ids=" ".join)
def test_help_says_what_every_exit_code_means(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    with pytest.raises(SystemExit):
        console.parser().parse_args([*command, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    told = set(re.findall(r"(?:^|, )(\d+) ", shown.partition("xit codes: ")[2]))
    table = (ROOT / "docs/runs.md").read_text().partition("### Exit codes")[2]
    assert told <= set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))
    assert {"0", "1", "2"} <= told
    assert ("100" in told) == (command != ["runs", "watch"])


def test_unknown_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        console.parser().parse_args(["serve", "--colour", "red"])
    assert ended.value.code == 2
    assert "--colour" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["-m", "rubricweb.management.console", "serve"], ["manage.py", "check"]],
    ids=["rubricweb", "manage.py"],
)
def test_a_server_without_a_key_does_not_start(command: list[str], tmp_path: Path) -> None:
    env = {
        "PATH": "",
        "PYTHONPATH": str(ROOT),
        "RUBRICWEB_VAR_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/server.sqlite3",
    }
    ended = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode == 1
    assert "SECRET_KEY is not set" in ended.stderr
    assert not (tmp_path / "secret_key").exists()


@pytest.fixture
def empty_installation() -> Iterator[Installation]:
    with scratch_installation(empty=True) as one:
        yield one


@pytest.mark.parametrize("command", [["serve"], ["datasets", "list"], ["manage", "check"]], ids=" ".join)
def test_a_data_folder_that_cannot_be_written_is_named(
    command: list[str], empty_installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()  # root may write in any folder, and make none inside a file
    folder = tmp_path / "file" / "data"
    refused = empty_installation.run(*command, RUBRICWEB_VAR_DIR=str(folder), SECRET_KEY="")
    assert refused.returncode == 1
    assert f"The data folder {folder} cannot be used: Not a directory" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_short_key_is_refused_by_its_length(empty_installation: Installation) -> None:
    ended = empty_installation.run("compare", "1", SECRET_KEY="changeme")
    assert ended.returncode == 1
    assert "SECRET_KEY has 8 characters; use at least 32" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_embedded_form_keeps_its_key_to_itself(empty_installation: Installation) -> None:
    ended = empty_installation.run("manage", "check", RUBRICWEB_LOCAL="1", SECRET_KEY="")
    assert ended.returncode == 0, ended.stderr
    key = empty_installation.folder / "secret_key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_text()) >= 50
    assert key.read_text() not in ended.stdout + ended.stderr
