"""`rubricweb grade` and money: the plan, the budget, unknown prices, earlier answers, a sample."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricweb.judges.offline.script import Lexical, PromptCache, Script
from rubricweb.judges.offline.server import running_server
from tests.installation import Installation

CRITERIA = [{"name": name, "weight": 1, "requirement": f"Names {name}."} for name in ("Paris", "Lyon")]


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    path = tmp_path / "towns.json"
    path.write_text(json.dumps({"title": "Towns", "criteria": CRITERIA}))
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "towns.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"i{n}", "submission": f"Paris, {n}."}) for n in range(9)))
    return path


@pytest.fixture
def judge() -> Iterator[tuple[Script, str]]:
    script = Script(lambda _: Lexical())
    with running_server(script) as url:
        yield script, url


def test_a_plan_prints_what_it_would_cost_and_keeps_nothing(
    installation: Installation, rubric: Path, dataset: Path, judge: tuple[Script, str]
) -> None:
    script, url = judge
    asked = ("grade", rubric, dataset, "--base-url", url, "--model", "gpt-5-mini", "--plan")
    ended = installation.run(*asked)
    assert ended.returncode == 0, ended.stderr
    assert "18: 18 new, 0 answered before" in ended.stdout
    # 18 answers of 40 to 400 tokens.
    assert "720 – 7,200 out" in ended.stdout
    assert "$" in ended.stdout
    assert "gpt-5-mini was never asked here" in ended.stderr
    assert script.count == 0
    for table in ("run", "dataset", "rubric"):
        assert installation.number(f"SELECT count(*) FROM rubricweb_{table}") == 0


def test_what_the_providers_cache_saved_is_printed(
    installation: Installation, rubric: Path, tmp_path: Path
) -> None:
    long = tmp_path / "long.jsonl"
    long.write_text(json.dumps({"id": "one", "submission": "Paris. " * 1_500}))
    cache = PromptCache()
    with running_server(Script(Lexical(delay_seconds=0.05), prompt_cache=cache)) as url:
        ended = installation.run("grade", rubric, long, "--base-url", url, "--model", "gpt-5-mini")
    assert ended.returncode == 0, ended.stderr
    first, second = cache.bills
    assert (first.cached, second.cached > 1_024) == (0, True)
    assert f"{second.cached / (first.tokens + second.tokens):.0%} of in cached" in ended.stdout
    assert "saved by cached prompts" in ended.stdout


def test_an_unknown_price_needs_no_cap(
    installation: Installation, rubric: Path, dataset: Path, judge: tuple[Script, str]
) -> None:
    script, url = judge
    refused = installation.run("grade", rubric, dataset, "--base-url", url, "--model", "tiny")
    assert refused.returncode == 1
    assert "no price for 'tiny'" in refused.stderr
    assert script.count == 0


def test_a_refused_start_keeps_neither_dataset_nor_rubric_and_announces_none(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "rivers.json").write_text(json.dumps({"title": "Rivers", "criteria": CRITERIA}))
    (tmp_path / "rivers.jsonl").write_text(json.dumps({"id": "one", "submission": "The Seine."}))

    def stored() -> list[int]:
        tables = ("run", "dataset", "item", "rubric", "rubricversion", "journalentry")
        return [installation.number(f"SELECT count(*) FROM rubricweb_{table}") for table in tables]

    before = stored()
    asked = (
        "grade",
        tmp_path / "rivers.json",
        tmp_path / "rivers.jsonl",
        "--base-url",
        "http://127.0.0.1:9/v1",
    )
    for wrong in (["--model", "tiny"], ["--model", "tiny", "--no-cap", "--examples", "nowhere"]):
        refused = installation.run(*asked, *wrong)
        assert refused.returncode == 1
        assert "Dataset:" not in refused.stderr
        assert stored() == before


def test_a_sample_grades_a_few_items_and_earlier_answers_are_used_unless_told(
    installation: Installation, rubric: Path, dataset: Path, judge: tuple[Script, str]
) -> None:
    script, url = judge
    asked = ("grade", rubric, dataset, "--base-url", url, "--model", "tiny", "--no-cap")
    ended = installation.run(*asked, "--sample", "3")
    assert ended.returncode == 0, ended.stderr
    assert "3 of 3 graded" in ended.stdout
    assert script.count == 6
    assert installation.run(*asked).returncode == 0
    assert script.count == 18
    assert installation.run(*asked, "--no-cache").returncode == 0
    assert script.count == 36


def test_a_run_that_reaches_its_budget_pauses_and_goes_on_with_more(
    installation: Installation, rubric: Path, dataset: Path, judge: tuple[Script, str]
) -> None:
    script, url = judge
    ended = installation.run(
        *("grade", rubric, dataset, "--base-url", url, "--model", "gpt-6-astra", "--budget", "0.03"),
        *("--name", "poor"),
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "The run is paused. The next call" in ended.stderr
    [(run_id,)] = installation.query("SELECT id FROM rubricweb_run WHERE name = 'poor'")
    assert f"--resume {run_id} --budget MORE" in ended.stderr
    paid = script.count
    assert paid < 18
    ended = installation.run("grade", "--resume", str(run_id), "--budget", "5")
    assert ended.returncode == 0, ended.stderr
    assert "9 of 9 graded" in ended.stdout
    assert script.count == 18


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--resume", "1", "--plan"], "--plan is for a run that is to be started"),
        (["--resume", "1", "--no-cache"], "are for a run that is to be started"),
        (["-", "id:1", "--budget", "-1"], "-1 is no amount of dollars"),
        (["-", "id:1", "--budget", "much"], "much is no amount of dollars"),
        (["-", "id:1", "--sample", "0"], "0 is not a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused(installation: Installation, arguments: list[str], said: str) -> None:
    ended = installation.run("grade", *arguments)
    assert ended.returncode != 0
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
