"""`rubricweb grade` with several judges, examples, options and checks."""

import json
from pathlib import Path

import pytest

from tests.installation import Installation

RUBRIC = """\
title: Kinds
pass_rule: {min_score: 0.5}
criteria:
  - {name: capital, weight: 10, requirement: Names Paris as the capital.}
  - name: quality
    weight: 5
    requirement: How well does it name Paris?
    options: [{label: Poor, value: 0}, {label: Good, value: 1}]
  - {name: short, weight: 2, check: length_between, params: {max: 30}}
"""
CHECKS = "criteria:\n  - {name: short, weight: 2, check: length_between, params: {max: 30}}\n"
ITEMS = [
    {"id": "good", "submission": "Paris is the capital."},
    {"id": "bad", "submission": "Lyon, I believe, but I would have to look it up."},
]
LABELLED = [{"id": "dev", "submission": "It is Rome."}]


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    path = tmp_path / "kinds.yaml"
    path.write_text(RUBRIC)
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "kinds.jsonl"
    path.write_text("\n".join(json.dumps(item) for item in ITEMS))
    return path


def run_row(installation: Installation, name: str) -> dict:
    [row] = installation.query(
        f"SELECT id, state, judge, panel, few_shot FROM rubricweb_run WHERE name = '{name}'"
    )
    state, judge, panel, few_shot = (
        row[1],
        *(json.loads(part) if isinstance(part, str) else part for part in row[2:]),
    )
    return {"id": row[0], "state": state, "judge": judge, "panel": panel, "few_shot": few_shot}


def test_several_judges_vote(installation: Installation, rubric: Path, dataset: Path) -> None:
    judges = ("--judge", "offline", "--judge", "offline judge (not an LLM)", "--repeats", "2")
    ended = installation.run("grade", rubric, dataset, *judges, "--vote", "unanimous", "--name", "voted")
    assert ended.returncode == 0, ended.stderr
    assert "per_criterion by panel of 2" in ended.stdout
    # 2 items × 2 criteria × 2 judges × 2 repeats; the check is nobody's to vote on.
    assert "16, 0 of them failed; 100% [" in ended.stdout
    # good: all of 17; bad: nothing of 17.
    assert "50% [9%, 91%] of 2 items, by the rubric's rule" in ended.stdout
    stored = run_row(installation, "voted")
    assert (stored["state"], stored["panel"]["rule"], stored["panel"]["repeats"]) == (
        "finished",
        "unanimous",
        2,
    )
    votes = f"SELECT count(*) FROM rubricweb_vote WHERE run_id = {stored['id']}"
    assert installation.number(votes) == 16


def test_a_cascade_asks_the_second_judge_where_the_first_abstains(
    installation: Installation, rubric: Path, dataset: Path
) -> None:
    judges = ("--judge", "offline", "--judge", "offline", "--cascade", "--repeats", "2,1")
    ended = installation.run("grade", rubric, dataset, *judges, "--name", "in turn")
    assert ended.returncode == 0, ended.stderr
    stored = run_row(installation, "in turn")
    # Both judges are one that abstains from nothing: no stage but the first was asked.
    assert "0 of 4 criteria of items, past the first stage" in ended.stdout
    assert stored["judge"]["name"] == "cascade of 2 stages"
    assert stored["panel"]["cascade"]["repeats"] == [2, 1]


def test_checks_alone_start_no_judge(installation: Installation, tmp_path: Path, dataset: Path) -> None:
    rubric = tmp_path / "checks.yaml"
    rubric.write_text(CHECKS)
    ended = installation.run("grade", rubric, dataset, "--name", "checks only", "--min-score", "0.5")
    assert ended.returncode == 0, ended.stderr
    assert "offline judge" not in ended.stderr
    assert run_row(installation, "checks only")["judge"]["id"] == "none"


def test_examples_come_from_a_labelled_dataset(
    installation: Installation, rubric: Path, dataset: Path, tmp_path: Path
) -> None:
    labelled, labels = tmp_path / "labelled.jsonl", tmp_path / "labels.csv"
    labelled.write_text("\n".join(json.dumps(item) for item in LABELLED))
    labels.write_text("item_id,criterion,rater,verdict,reason\ndev,capital,ann,UNMET,It names Rome.\n")
    assert installation.run("import-dataset", labelled, "--name", "dev set").returncode == 0
    imported = installation.run("import-labels", labels, "--dataset", "dev set", "--rubric", rubric)
    assert imported.returncode == 0, imported.stderr
    examples = ("--examples", "dev set", "--n-examples", "2", "--name", "shown")
    ended = installation.run("grade", rubric, dataset, "--judge", "offline", *examples)
    assert ended.returncode == 0, ended.stderr
    few_shot = run_row(installation, "shown")["few_shot"]
    assert (few_shot["n"], len(few_shot["item_ids"])) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--judge", "offline", "--cascade"], "--cascade needs two --judge"),
        (["--vote", "majority"], "--vote settles several votes"),
        (["--judge", "offline", "--repeats", "2", "--vote", "loudest"], "rule is 'loudest'; allowed: any"),
        (["--judge", "offline", "--judge", "nobody"], "There is no judge 'nobody'"),
        (["--judge", "offline", "--repeats", "2,1"], "--repeats takes one number"),
        (["--judge", "offline", "--judge", "offline", "--model", "x"], "--model names one judge's model"),
        (["--examples", "no such data"], "There is no dataset 'no such data'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    installation: Installation, rubric: Path, dataset: Path, arguments: list[str], said: str
) -> None:
    ended = installation.run("grade", rubric, dataset, *arguments)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
