"""Failed items at the terminal: in no mean and no --min-score until they are retried, unless asked for."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from rubricweb.judges.offline.script import Action, Fail, Request, Say, Script
from rubricweb.judges.offline.server import running_server
from tests.factories import Cast
from tests.installation import Installation
from tests.worlds.failing import CRITERIA, ITEMS, by_the_table, failing_run

# The means of tests/worlds/failing.py: 20/33 = 0.6061 without the failed item, 0.7045 with it,
# 21/44 once retried.


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    rubric, dataset = tmp_path / "rubric.yaml", tmp_path / "answers.jsonl"
    rubric.write_text(yaml.safe_dump({"title": "Failing", "criteria": CRITERIA}))
    dataset.write_text("\n".join(map(json.dumps, ITEMS)))
    return [rubric, dataset]


class Endpoint:
    """Answers 400 to every question about `four` while `refuses`."""

    refuses = True

    def answer(self, request: Request) -> Action:
        if self.refuses and "four" in request.submission:
            return Fail(400, "content policy")
        verdict = by_the_table(request.requirement, request.submission)
        return Say(json.dumps({"explanation": "It says so.", "criterion_status": verdict}))


@pytest.fixture
def endpoint() -> Iterator[tuple[Endpoint, list[str]]]:
    one = Endpoint()
    with running_server(Script(one.answer)) as url:
        yield one, ["--base-url", url, "--model", "scripted", "--no-cap"]


def test_a_failed_item_lifts_no_mean_and_passes_no_minimum(
    installation: Installation, files: list[Path], endpoint: tuple[Endpoint, list[str]]
) -> None:
    judge, at = endpoint
    ended = installation.run("grade", *files, *at, "--name", "gate", "--min-score", "0.65")
    # The endpoint refused one item for good: 0.6061 is below 0.65, though 0.7045 is not.
    assert ended.returncode == 100, ended.stderr
    said = " ".join(ended.stdout.split())
    assert "mean score 0.61 [" in said
    assert "fully judged 3 of 4 items" in said
    assert "Facts 0.67 [" in said
    assert "The mean score 0.6061 is below --min-score 0.65." in ended.stderr
    run_id = installation.number("SELECT id FROM rubricweb_run WHERE name = 'gate'")
    assert f"Retry with: rubricweb grade --resume {run_id}" in ended.stderr
    shown = installation.run("runs", "show", str(run_id))
    assert "3 of 4 items; retry the others with: rubricweb runs retry" in " ".join(shown.stdout.split())
    judge.refuses = False
    mended = installation.run("grade", "--resume", str(run_id))
    assert "0.48 [" in mended.stdout
    assert "fully judged" not in mended.stdout


@pytest.mark.parametrize(("most", "code"), [("0", 100), ("1", 0), ("24%", 100), ("25%", 0)])
def test_more_failed_items_than_are_allowed_exit_100(
    installation: Installation, files: list[Path], endpoint: tuple[Endpoint, list[str]], most: str, code: int
) -> None:
    # One of four items fails.
    ended = installation.run("grade", *files, *endpoint[1], "--max-errors", most, "--min-score", "0.6")
    assert ended.returncode == code, ended.stderr
    assert (f"1 of 4 items with errors are more than --max-errors {most}." in ended.stderr) == (code == 100)
    assert "below --min-score" not in ended.stderr


def test_a_minimum_that_fewer_items_decide_is_said_with_the_gate_for_them(
    installation: Installation, files: list[Path], endpoint: tuple[Endpoint, list[str]]
) -> None:
    ended = installation.run("grade", *files, *endpoint[1], "--min-score", "0.6")
    assert ended.returncode == 0
    assert "--min-score is decided by the other 3 items; --max-errors says how many may have" in ended.stderr


def test_grade_prints_what_showing_the_run_prints_as_json(
    installation: Installation, files: list[Path], endpoint: tuple[Endpoint, list[str]]
) -> None:
    ended = installation.run("grade", *files, *endpoint[1], "--max-errors", "0", "--json")
    assert ended.returncode == 100
    answer = json.loads(ended.stdout)
    assert (answer["score"]["value"], answer["errored"]) == (pytest.approx(20 / 33), 1)
    assert json.loads(installation.run("runs", "show", str(answer["id"]), "--json").stdout) == answer
    both = installation.run("grade", *files, "--plan", "--json")
    assert both.returncode == 2
    assert "not allowed with argument" in both.stderr


def test_who_wants_failed_items_in_the_mean_says_so(
    installation: Installation, files: list[Path], endpoint: tuple[Endpoint, list[str]]
) -> None:
    ended = installation.run(
        "grade", *files, *endpoint[1], "--min-score", "0.65", "--failed-items", "include"
    )
    assert ended.returncode == 0, ended.stderr
    assert "0.70 [" in ended.stdout
    assert "counted all the same: --failed-items include" in ended.stderr


@pytest.mark.django_db
def test_the_list_of_runs_says_how_many_items_are_fully_judged(people: Cast, at_terminal) -> None:
    run = failing_run(people)
    terminal = at_terminal(people.bob)
    [row] = [json.loads(line) for line in terminal("runs", "list", "--json").out.splitlines()]
    summary = row["summary"]
    assert summary["score"]["value"] == pytest.approx(20 / 33)
    assert (summary["items"], summary["scored"], summary["fully_judged"], summary["errors"]) == (4, 3, 3, 4)
    assert "3 of 4" in terminal("runs", "list").out
    assert run.pk == row["id"]


@pytest.mark.django_db
def test_showing_a_run_prints_the_mean_of_every_group(people: Cast, at_terminal) -> None:
    run, terminal = failing_run(people), at_terminal(people.bob)
    said = " ".join(terminal("runs", "show", run.pk).out.split())
    # (1 + 4/7 + 3/7)/3 = 0.667
    assert "Facts 0.67 [" in said
    assert "of 3 items" in said
    answer = json.loads(terminal("runs", "show", run.pk, "--json").out)
    assert [one["name"] for one in answer["groups"]] == ["Facts", "Tone", None]
    assert (answer["fully_judged"], answer["errored"], answer["score"]["n"]) == (3, 1, 3)
