"""`rubricweb judge`: at a terminal, with a judge that answers and one that is not there."""

import json
import os
import pty

from rubricweb.api.endpoints.schemas import Trial
from rubricweb.judges.offline.script import Say, Script
from rubricweb.judges.offline.server import running_server
from tests.commands.shapes import misfits
from tests.installation import COMMAND, ROOT, Installation


def test_a_judge_that_answers_is_listed_and_tested(installation: Installation) -> None:
    script = Script(Say('{"explanation": "It says so.", "criterion_status": "MET"}'))
    with running_server(script) as url:
        around = {
            "OPENAI_API_KEY": "sk-secret-of-the-operator",
            "OPENAI_BASE_URL": url,
            "OPENAI_MODEL": "m-1",
        }
        listed = installation.run("judge", "list", "--json", **around)
        tested = installation.run("judge", "test", "m-1", "--json", **around)
        told = installation.run("judge", "test", "environment", **around)
    [row] = map(json.loads, listed.stdout.splitlines())
    assert (row["id"], row["model"]) == ("environment", "m-1")
    assert misfits(Trial, tested.stdout) == []
    trial = json.loads(tested.stdout)
    assert (tested.returncode, trial["works"], trial["verdict"], trial["error"]) == (0, True, "MET", None)
    assert told.stdout.startswith("m-1 works.\n")
    assert "reply format: json_schema" in told.stdout
    assert script.count == 2
    assert script.requests[0].headers["Authorization"] == "Bearer sk-secret-of-the-operator"
    assert "sk-secret" not in listed.stdout + tested.stdout + told.stdout + told.stderr


def test_a_judge_that_is_not_there_ends_in_1_with_what_to_do(installation: Installation) -> None:
    around = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODEL": "m-1"}
    ended = installation.run("judge", "test", "environment", **around)
    assert ended.returncode == 1
    assert ended.stdout.startswith("m-1 could not be reached.\nconnection:")
    assert "Check host and port" in ended.stdout
    assert "asked: m-1" in ended.stdout
    assert "answered by" not in ended.stdout


def test_an_unknown_judge_is_refused_with_those_there_are(installation: Installation) -> None:
    ended = installation.run("judge", "test", "nobody")
    assert ended.returncode == 1
    assert "There is no judge 'nobody' here" in ended.stderr


def test_the_offline_judge_is_listed_and_tested_where_it_grades(installation: Installation) -> None:
    [row] = map(json.loads, installation.run("judge", "list", "--json").stdout.splitlines())
    assert row["id"] == "offline"
    assert installation.run("judge", "test", "offline").stdout.startswith("offline judge (not an LLM) ")


def test_a_key_is_asked_for_without_echo(installation: Installation) -> None:
    key = "sk-typed-by-an-owner"
    said = [
        "endpoints",
        "add",
        "typed",
        "--base-url",
        "https://8.8.8.8/v1",
        "--model",
        "m",
        "--key-from",
        "-",
    ]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.execvpe(COMMAND[0], [*COMMAND, *said], dict(installation.env))
    seen = b""
    while b"API key: " not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, f"{key}\n".encode())
    try:
        while more := os.read(terminal, 1000):
            seen += more
    except OSError:  # how Linux says that nobody writes to the terminal any more
        pass
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert (os.waitstatus_to_exitcode(status), key.encode() in seen) == (0, False), seen
    [row] = map(json.loads, installation.run("endpoints", "list", "--json").stdout.splitlines())
    assert (row["name"], row["has_key"]) == ("typed", True)
