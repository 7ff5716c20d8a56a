"""The wheel on a machine with nothing but Python: the library alone, and the app from an empty folder."""

import json
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS, wait_for

SCRIPT = Path(__file__).resolve().parent / "script.py"
pytestmark = pytest.mark.timeout(400)  # a busy machine takes its time to start a dozen processes
NEEDS_APP = "needs the app, which is not installed. Install it with: pip install 'rubricweb[app]'\n"


def run(argv: Sequence[str | Path], folder: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(one) for one in argv],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_the_library_comes_without_the_app_and_knows_its_version(
    library: Path, empty: Path, env: dict[str, str]
) -> None:
    program = """
import importlib.metadata, importlib.util, rubricweb, rubricweb.engine, rubricweb.judges.client.openai
assert importlib.metadata.version("rubricweb") == rubricweb.__version__
print([name for name in ("django", "celery", "gunicorn", "psycopg") if importlib.util.find_spec(name)])
"""
    assert run([library / "python", "-c", program], empty, env).stdout == "[]\n"
    assert re.fullmatch(
        r"rubricweb \d+\.\d+\.\d+\n", run([library / "rubricweb", "--version"], empty, env).stdout
    )


def test_a_command_that_needs_the_app_says_what_to_type(
    library: Path, empty: Path, env: dict[str, str]
) -> None:
    for arguments, what in (
        (["serve", "--demo"], "`rubricweb serve`"),
        (["runs", "list"], "`rubricweb runs`"),
        (["manage", "migrate"], "`rubricweb manage`"),
        (["lint", "id:7"], "A stored rubric"),
    ):
        refused = run([library / "rubricweb", *arguments], empty, env)
        assert (refused.returncode, refused.stdout, refused.stderr) == (1, "", f"{what} {NEEDS_APP}")


def test_the_docs_come_along(library: Path, empty: Path, env: dict[str, str]) -> None:
    script = "import os, rubricweb; print(*os.listdir(os.path.dirname(rubricweb.__file__) + '/docs/guides'))"
    assert "read-compare.md" in run([library / "python", "-c", script], empty, env).stdout


def test_the_library_lints_a_file(library: Path, empty: Path, env: dict[str, str]) -> None:
    (empty / "rubric.yaml").write_text("- {name: wrong, weight: 5, requirement: Contains a factual error.}\n")
    found = run([library / "rubricweb", "lint", "rubric.yaml", "--json", "--fail-on", "warning"], empty, env)
    assert found.returncode == 100, found.stderr
    assert [one["rule"] for one in json.loads(found.stdout)["findings"]] == ["weight_sign_mismatch"]


def test_the_library_grades_files_by_the_offline_judge(
    library: Path, empty: Path, env: dict[str, str]
) -> None:
    (empty / "rubric.yaml").write_text("- {name: capital, requirement: Names Paris as the capital.}\n")
    (empty / "answers.jsonl").write_text(json.dumps({"id": "a1", "submission": "Paris is the capital."}))
    graded = run(
        [library / "rubricweb", "grade", "rubric.yaml", "answers.jsonl", "-o", "v.jsonl"], empty, env
    )
    assert graded.returncode == 0, graded.stderr
    assert "The app is not installed, so nothing is stored (pip install 'rubricweb[app]')." in graded.stderr
    assert json.loads((empty / "v.jsonl").read_text())["verdict"] == "MET"


def test_a_script_runs_and_passes_a_strict_type_checker(
    library: Path, empty: Path, env: dict[str, str]
) -> None:
    script = shutil.copy(SCRIPT, empty)  # away from this repository, whose sources would be checked instead
    assert run([library / "python", script], empty, env).stdout == "1.0 MET 1 1.0 True\n"
    installed = ("--config-file=", "--python-executable", library / "python")
    checked = run([sys.executable, "-m", "mypy", "--strict", *installed, script], empty, env)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_app_serves_a_graded_demo_from_an_empty_folder_and_keeps_its_data_where_it_is_told(
    app: Path, empty: Path, env: dict[str, str], tmp_path: Path
) -> None:
    before = _files(app.parent)
    data = tmp_path / "data"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    said = tmp_path / "said.txt"
    with said.open("w") as output:
        serve = subprocess.Popen(
            [app / "rubricweb", "serve", "--demo", "--data", data, "--port", str(port)],
            cwd=empty,
            env=env,
            stdout=output,
            stderr=output,
        )
    try:
        wait_for(lambda: "Ctrl+C stops everything" in said.read_text() or serve.poll() is not None)
        assert serve.poll() is None, said.read_text()
        assert f"sign-in-link alice --data {data})" in said.read_text()
        page = _get(f"{address}/accounts/login/")
        [style] = re.findall(r'href="(/static/[^"]+\.css)"', page)[:1]
        assert "--" in _get(address + style)  # the tokens of the one style sheet

        def running() -> int:
            with closing(sqlite3.connect(data / "rubricweb.sqlite3", timeout=30)) as connection:
                [[number]] = connection.execute("SELECT count(*) FROM rubricweb_run WHERE state = 'running'")
            return int(number)

        wait_for(lambda: running() == 0)
        shown = run([app / "rubricweb", "runs", "list", "--json", "--data", data], empty, env)
        states = {json.loads(line)["state"] for line in shown.stdout.splitlines()}
        assert states == {"finished"}
    finally:
        if serve.poll() is None:
            serve.send_signal(signal.SIGINT)
        code = serve.wait(timeout=PATIENCE_SECONDS)
    assert code == 0, said.read_text()
    assert (data / "rubricweb.sqlite3").exists()
    assert list(empty.iterdir()) == []
    assert _files(app.parent) == before
    assert not (Path(env["HOME"]) / ".local").exists()


def test_without_data_the_app_keeps_it_in_the_users_own_folder(
    app: Path, empty: Path, env: dict[str, str], tmp_path: Path
) -> None:
    made = run(
        [app / "rubricweb", "manage", "migrate", "contenttypes"],  # the fewest tables there are
        empty,
        {**env, "XDG_DATA_HOME": str(tmp_path / "share")},
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "share" / "rubricweb" / "rubricweb.sqlite3").exists()
    assert list(empty.iterdir()) == []


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read().decode())


def _files(folder: Path) -> set[Path]:
    """Everything installed, without what Python compiles of it."""
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}
