"""`rubricweb grade` from start to end, as somebody at a terminal sees it."""

import csv
import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from rubricweb.judges.offline.script import Fail, Lexical, Request, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import Run
from tests.factories import Cast
from tests.installation import COMMAND, ROOT, Installation
from tests.waiting import wait_for
from tests.worlds.systems import versions

RUBRIC = """\
title: Capitals
criteria:
  - {name: capital, weight: 10, requirement: Names Paris as the capital.}
  - {name: concise, weight: 5, requirement: Is at most two sentences long.}
"""
ITEMS = [
    {"id": "good", "prompt": "What is the capital of France?", "submission": "Paris is the capital."},
    {"id": "bad", "prompt": "What is the capital of France?", "submission": "Lyon, I believe."},
]


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    path = tmp_path / "rubric.yaml"
    path.write_text(RUBRIC)
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(item) for item in ITEMS))
    return path


def test_grading_needs_no_server_no_worker_and_no_key(
    installation: Installation, rubric: Path, dataset: Path, tmp_path: Path
) -> None:
    output = tmp_path / "verdicts.csv"
    ended = installation.run("grade", rubric, dataset, "--name", "first", "-o", output)
    assert ended.returncode == 0, ended.stderr
    assert "2 of 2 graded" in ended.stdout
    assert "offline judge (not an LLM)" in ended.stderr
    assert " ".join(ended.stderr.split()).count("It only compares words of the criterion") == 1
    rows = list(csv.DictReader(output.open()))
    assert sorted((row["item_id"], row["criterion"]) for row in rows) == [
        ("bad", "capital"),
        ("bad", "concise"),
        ("good", "capital"),
        ("good", "concise"),
    ]
    assert {row["verdict"] for row in rows} <= {"MET", "UNMET", "CANNOT_ASSESS"}
    # The run is stored like any other, so it shows in the browser.
    assert installation.query("SELECT state FROM rubricweb_run WHERE name = 'first'") == [("finished",)]


def test_the_same_files_again_use_what_is_stored(
    installation: Installation, rubric: Path, dataset: Path, tmp_path: Path
) -> None:
    def stored() -> tuple[int, int]:
        return (
            installation.number("SELECT count(*) FROM rubricweb_dataset"),
            installation.number("SELECT count(*) FROM rubricweb_rubricversion"),
        )

    assert installation.run("grade", rubric, dataset).returncode == 0
    before = stored()
    output = tmp_path / "again.jsonl"
    ended = installation.run("grade", rubric, dataset, "--autograder", "one_shot", "-o", output)
    assert ended.returncode == 0, ended.stderr
    assert stored() == before
    assert len([json.loads(line) for line in output.read_text().splitlines()]) == 4


def test_a_mean_below_the_minimum_exits_100(installation: Installation, rubric: Path, dataset: Path) -> None:
    with running_server(Script(lambda request: Lexical())) as url:
        # The lexical judge finds "concise" met twice and "capital" once at most: a mean below 1.
        ended = installation.run(
            *("grade", rubric, dataset, "--base-url", url, "--no-cap", "--model", "any", "--min-score", "1.0")
        )
    assert ended.returncode == 100, ended.stderr
    assert "below --min-score 1" in ended.stderr


def test_a_mean_at_the_minimum_exits_0(installation: Installation, rubric: Path, dataset: Path) -> None:
    ended = installation.run("grade", rubric, dataset, "--min-score", "0")
    assert ended.returncode == 0, ended.stderr
    # It says what it graded by and over: before it asks, and with its figures.
    assert re.search(r"Run \d+ has started: .+ v1 over .+\. If it is cut off", ended.stderr)
    assert re.search(r"rubric +.+ v1 \(id:\d+\)", ended.stdout)
    assert re.search(r"dataset +.+ \(id:\d+\)", ended.stdout)


def test_a_broken_rubric_is_refused_with_every_place_and_grades_nothing(
    installation: Installation, dataset: Path, tmp_path: Path
) -> None:
    runs = installation.number("SELECT count(*) FROM rubricweb_run")
    broken = tmp_path / "broken.json"
    broken.write_text('{"criteria": [{"weight": "x", "requirement": "a"}, {"weight": 1, "requirement": ""}]}')
    ended = installation.run("grade", broken, dataset)
    assert ended.returncode == 1
    assert 'criteria[0].weight: found the text "x"; allowed: a finite number' in ended.stderr
    assert "criteria[1].requirement: found an empty text" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert installation.number("SELECT count(*) FROM rubricweb_run") == runs


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["missing.yaml", "Big one"],
            "Big one cannot be read: no such file or directory. Stored ones are named like id:7",
        ),
        (["-", "id:999"], "no such dataset"),
        (["-", "id:one"], "'id:one' is not a stored id"),
        (["-", "id:1", "--base-url", "http://127.0.0.1:9/v1"], "--base-url needs --model"),
        (["-", "id:1", "-o", "verdicts.xlsx"], "must end in .csv or .jsonl"),
        (["-", "id:1", "-o", "nowhere/verdicts.csv"], "nowhere/verdicts.csv cannot be written: no such file"),
        ([], "Name a RUBRIC and a DATASET"),
        (["-", "id:1", "--team", "nowhere"], "There is no team 'nowhere'. Known: capitals"),
        (["-", "id:1", "--user", "nobody"], "There is nobody called 'nobody'. Known: alice"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(
    installation: Installation, arguments: list[str], said: str
) -> None:
    ended = installation.run("grade", *arguments)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_number_of_a_run_is_known_though_it_is_killed(
    installation: Installation, rubric: Path, dataset: Path
) -> None:
    script = Script(Lexical(delay_seconds=0.3))
    with running_server(script) as url:
        command = ["grade", str(rubric), str(dataset), "--base-url", url, "--model", "slow", "--no-cap"]
        started = subprocess.Popen(
            [*COMMAND, *command, "--name", "killed", "--no-cache"],
            cwd=ROOT,
            env=installation.env,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert started.stderr is not None
        while not (line := started.stderr.readline()).startswith("Run "):
            assert line, "it ended"
        started.kill()
        started.wait()
        run_id = installation.number("SELECT id FROM rubricweb_run WHERE name = 'killed'")
    assert line.endswith(f"go on with: rubricweb grade --resume {run_id}\n")


def test_a_judge_that_refuses_fails_the_run_and_resume_mends_it(
    installation: Installation, rubric: Path, tmp_path: Path
) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(json.dumps({"id": f"i{n}", "submission": f"Answer {n}."}) for n in range(12)))
    broken = True
    with running_server(Script(lambda request: Fail(401, "no such key") if broken else Lexical())) as url:
        ended = installation.run(
            "grade", rubric, many, "--base-url", url, "--no-cap", "--model", "m", "--name", "mended"
        )
        assert ended.returncode == 1
        assert "unauthorized" in ended.stderr
        [(run_id,)] = installation.query("SELECT id FROM rubricweb_run WHERE name = 'mended'")
        assert f"rubricweb grade --resume {run_id}" in ended.stderr
        broken = False
        ended = installation.run("grade", "--resume", str(run_id))
    assert ended.returncode == 0, ended.stderr
    assert "12 of 12 graded" in ended.stdout


def test_a_run_that_somebody_cancels_meanwhile_exits_1(
    installation: Installation, rubric: Path, dataset: Path
) -> None:
    def cancelled_at_the_first(request: Request) -> Lexical:
        if request.number == 1:
            [(run_id,)] = installation.query("SELECT id FROM rubricweb_run WHERE name = 'dropped'")
            cancel = [*COMMAND, "runs", "cancel", str(run_id)]
            subprocess.run(cancel, cwd=ROOT, env=installation.env, check=True, capture_output=True)
        return Lexical()

    with running_server(Script(cancelled_at_the_first)) as url:
        asked = ("--base-url", url, "--no-cap", "--model", "m", "--name", "dropped", "--min-score", "0")
        ended = installation.run("grade", rubric, dataset, *asked)
    assert ended.returncode == 1, ended.stderr
    assert "The run was cancelled." in ended.stderr
    assert "Go on with: rubricweb grade --resume" in ended.stderr


def test_the_endpoint_gets_the_key_of_the_environment_and_nobody_else_does(
    installation: Installation, rubric: Path, dataset: Path
) -> None:
    key = "sk-test-0123456789"
    script = Script(Lexical())
    with running_server(script) as url:
        ended = installation.run(
            *("grade", rubric, dataset, "--base-url", url, "--no-cap", "--model", "some-model"),
            OPENAI_API_KEY=key,
        )
    assert ended.returncode == 0, ended.stderr
    headers = [dict(request.headers) for request in script.requests]
    assert {name: value for name, value in headers[0].items() if name.lower() == "authorization"} == {
        "Authorization": f"Bearer {key}"
    }
    assert key not in ended.stdout + ended.stderr
    assert not [row for row in installation.query("SELECT judge FROM rubricweb_run") if key in str(row)]


@pytest.mark.parametrize(
    ("signal_number", "code", "again"), [(signal.SIGINT, 130, "Ctrl+C"), (signal.SIGTERM, 143, "SIGTERM")]
)
def test_a_signal_keeps_what_was_graded_and_resume_asks_only_for_the_rest(
    installation: Installation, rubric: Path, tmp_path: Path, signal_number: int, code: int, again: str
) -> None:
    name = f"cut by {code}"
    many = tmp_path / "many.jsonl"
    many.write_text("\n".join(json.dumps({"id": f"i{n}", "submission": f"Reply {n}."}) for n in range(40)))
    script = Script(Lexical(delay_seconds=0.3))
    with running_server(script) as url:
        started = subprocess.Popen(
            [
                *COMMAND,
                "grade",
                str(rubric),
                str(many),
                "--base-url",
                url,
                "--no-cap",
                "--model",
                "slow",
                "--name",
                name,
                "--no-cache",
            ],
            cwd=ROOT,
            env={**installation.env, "JUDGE_CONCURRENCY": "4"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(script.requests) >= 20)
        started.send_signal(signal_number)
        _, said = started.communicate()
        assert started.returncode == code, said
        assert "Paused after" in said
        assert f"{again} again breaks it off." in said
        [(run_id, state)] = installation.query(f"SELECT id, state FROM rubricweb_run WHERE name = '{name}'")
        assert state == "paused"
        stored = installation.number(f"SELECT count(*) FROM rubricweb_judgement WHERE run_id = {run_id}")
        assert 0 < stored < 80
        asked = len(script.requests)
        assert asked == stored  # what was in flight has been stored: it was paid for
        ended = installation.run("grade", "--resume", str(run_id), JUDGE_CONCURRENCY="40")
    assert ended.returncode == 0, ended.stderr
    assert len(script.requests) - asked == 80 - stored
    verdicts = "SELECT item_id, criterion_id FROM rubricweb_judgement WHERE verdict IS NOT NULL"
    found = installation.query(f"{verdicts} AND run_id = {run_id}")
    assert len(found) == len(set(found)) == 80


@pytest.mark.django_db
def test_a_minimum_is_a_score_as_the_run_gives_them(people: Cast, at_terminal) -> None:
    world, ed = versions(people), at_terminal(people.ed)
    normalised, raw = world.run_over("v4"), world.run_over("v4", normalize=False)
    refused = ed("grade", "--resume", normalised.pk, "--min-score", "1.2")
    assert (refused.code, "argument --min-score: 1.2 is not from 0 to 1" in refused.err) == (2, True)
    # Raw sums of weights 3 and 1: c1 and c3 have 1, c2 has 4, c4 and c6 have 0; 6 / 5 = 1.2.
    assert ed("grade", "--resume", raw.pk, "--min-score", "1.2").code == 0
    assert ed("grade", "--resume", raw.pk, "--min-score", "1.21").code == 100
    for nonsense in ("nan", "inf", "much"):
        assert ed("grade", "--resume", raw.pk, "--min-score", nonsense).code == 2
    for nonsense in ("-1", "0.05", "101%", "nan%", "some"):
        assert ed("grade", "--resume", raw.pk, f"--max-errors={nonsense}").code == 2
    new = ed("grade", "-", f"id:{world.dataset.pk}", "--min-score", "70")
    assert (new.code, Run.objects.count()) == (2, 2)
