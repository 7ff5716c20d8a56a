"""`rubricweb runs` as somebody at a terminal sees it."""

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rubricweb.judges.offline.script import Action, Fail, Lexical, Request, Script
from rubricweb.judges.offline.server import running_server
from tests.installation import COMMAND, ROOT, Installation
from tests.waiting import PATIENCE_SECONDS

RUBRIC = """\
title: Capitals
criteria:
  - {name: capital, weight: 10, requirement: Names Paris as the capital.}
  - {name: concise, weight: 5, requirement: Is at most two sentences long.}
"""
ITEMS = [{"id": f"item-{number}", "submission": f"Paris is the capital, {number}."} for number in range(4)]


@dataclass
class Trial:
    """A run of four items at a judge that declines questions about `concise` while `declines`."""

    run: int = 0
    declines: bool = True

    def answer(self, request: Request) -> Action:
        return Fail(400) if self.declines and "two sentences" in request.requirement else Lexical()


@pytest.fixture(scope="module")
def trial(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    folder, one = tmp_path_factory.mktemp("runs"), Trial()
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, ITEMS)))
    with running_server(Script(one.answer)) as url:
        ended = installation.run(
            *("grade", folder / "rubric.yaml", folder / "answers.jsonl", "--name", "Trial"),
            *("--base-url", url, "--model", "scripted", "--no-cap"),
        )
        assert "4 of 4 graded" in ended.stdout, ended.stderr
        one.run = installation.number("SELECT id FROM rubricweb_run WHERE name = 'Trial'")
        yield one


def test_runs_are_listed_a_line_each(installation: Installation, trial: Trial) -> None:
    listed = installation.run("runs", "list")
    assert listed.returncode == 0, listed.stderr
    [line] = [line for line in listed.stdout.splitlines() if "Trial" in line]
    assert "finished" in line
    assert line.split()[0] == str(trial.run)
    [row] = map(json.loads, installation.run("runs", "list", "--json").stdout.splitlines())
    # Every item had two questions, one of which failed.
    assert (row["id"], row["state"], row["withheld"]) == (trial.run, "finished", False)
    assert row["summary"]["errors"] == 4


def test_one_run_is_shown_with_its_errors_and_its_log(installation: Installation, trial: Trial) -> None:
    shown = installation.run("runs", "show", str(trial.run))
    assert shown.returncode == 0, shown.stderr
    assert "4 of 4 graded, 100%" in shown.stdout
    assert "bad_request" in shown.stdout
    assert f"{trial.run}, Trial, finished, 4 with errors" in shown.stdout
    assert "Every item is graded, 4 of them with errors." in shown.stdout
    answer = json.loads(installation.run("runs", "show", str(trial.run), "--json").stdout)
    progress = answer["progress"]
    assert (answer["id"], answer["state"], progress["graded"]) == (trial.run, "finished", 4)
    assert (progress["verdicts"], progress["errors"]) == (4, 4)
    [error] = answer["error_classes"]
    assert (error["kind"], error["count"]) == ("bad_request", 4)
    logged = installation.run("runs", "log", str(trial.run), "--json").stdout
    assert {"started", "finished"} <= {json.loads(line)["kind"] for line in logged.splitlines()}
    short = installation.run("runs", "log", str(trial.run), "--limit", "1")
    assert (len(short.stdout.splitlines()), "--limit says" in short.stderr) == (1, True)


def test_watching_an_ended_run_of_which_nothing_was_scored_ends_with_1(
    installation: Installation, trial: Trial
) -> None:
    watched = installation.run("runs", "watch", str(trial.run), "--json")
    # Of every item one of its two questions was declined.
    assert (watched.returncode, watched.stderr) == (1, "No item could be fully judged.\n")
    [line] = map(json.loads, watched.stdout.splitlines())
    assert (line["state"], line["graded"], line["stop_reason"]) == ("finished", 4, "")


def test_a_run_is_retried_paused_and_cancelled_while_somebody_watches(
    installation: Installation, trial: Trial
) -> None:
    retried = installation.run("runs", "retry", str(trial.run), "--item", "item-1", "--kind", "bad_request")
    assert retried.returncode == 0, retried.stderr
    assert f"1 item of run {trial.run} to do" in retried.stdout
    assert "No worker is running. Start one: " in retried.stderr
    watching = subprocess.Popen(
        [*COMMAND, "runs", "watch", str(trial.run), "--json", "--every", "0.1"],
        cwd=ROOT,
        env=installation.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    try:
        seen = json.loads(watching.stdout.readline())
        assert (seen["state"], seen["graded"], seen["errors"]) == ("running", 3, 3)
        assert installation.run("runs", "pause", str(trial.run)).stdout == f"Run {trial.run} is paused.\n"
        assert json.loads(watching.stdout.readline())["state"] == "paused"
        assert "Somebody has to resume it." in installation.run("runs", "show", str(trial.run)).stdout
        again = installation.run("runs", "pause", str(trial.run))
        assert again.stdout == f"Run {trial.run} is paused already.\n"
        _ctrl_c_at_a_watcher(installation, trial)
        cancelled = installation.run("runs", "cancel", str(trial.run), "--break-off")
        assert cancelled.stdout == f"Run {trial.run} is cancelled.\n"
        assert json.loads(watching.stdout.readline())["state"] == "cancelled"
        assert watching.wait(timeout=PATIENCE_SECONDS) == 1
    finally:
        watching.kill()
        watching.wait()
    trial.declines = False
    mended = installation.run("grade", "--resume", str(trial.run))
    assert mended.returncode == 0, mended.stderr
    # The question that was taken back was asked again; `grade --resume` also retries the other three.
    assert installation.number(f"SELECT sum(errors) FROM rubricweb_runitem WHERE run_id = {trial.run}") == 0
    watched = installation.run("runs", "watch", str(trial.run))
    assert (watched.returncode, watched.stderr) == (0, "")


def _ctrl_c_at_a_watcher(installation: Installation, trial: Trial) -> None:
    watching = subprocess.Popen(
        [*COMMAND, "runs", "watch", str(trial.run), "--every", "0.1"],
        cwd=ROOT,
        env=installation.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    while not (line := watching.stdout.readline()).startswith("paused: 3 of 4 items graded"):
        assert line, "the watcher ended"
    watching.send_signal(signal.SIGINT)
    _, said = watching.communicate(timeout=PATIENCE_SECONDS)
    assert watching.returncode == 130
    assert "Watching has stopped; the run goes on." in said
    assert installation.query(f"SELECT state FROM rubricweb_run WHERE id = {trial.run}") == [("paused",)]


def test_what_a_run_may_cost_is_changed(installation: Installation, trial: Trial) -> None:
    command = ("runs", "budget", str(trial.run))
    lifted = installation.run(*command, "none")
    assert (lifted.returncode, lifted.stdout.strip()) == (0, f"Run {trial.run} has no cap of its own.")
    refused = installation.run(*command, "5")  # nobody knows what this judge costs
    assert refused.returncode == 1
    assert "price" in refused.stderr
    assert "Traceback" not in refused.stderr
    for nonsense in ("-1", "nan", "inf", "five"):
        wrong = installation.run(*command, nonsense)
        assert wrong.returncode == 2
        assert f"{nonsense} is no amount of dollars" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--state", "asleep"], "Allowed: running, paused"),
        (["show", "999999"], "no such run"),
        (["retry", "RUN", "--kind", "bad_luck"], "'bad_luck' is not a kind of error"),
        (["retry", "RUN", "--item", "nobody"], "There is no item 'nobody'"),
        (["pause", "RUN", "--user", "nobody"], "There is nobody called 'nobody'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    installation: Installation, trial: Trial, arguments: list[str], said: str
) -> None:
    ended = installation.run("runs", *(str(trial.run) if one == "RUN" else one for one in arguments))
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
