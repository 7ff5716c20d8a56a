"""`rubricweb compare RUN --with BASELINE` against stored verdicts."""

import json
from pathlib import Path

import pytest

from rubricweb.engine.number_format import difference
from tests.installation import Installation

CRITERIA = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris as the capital of France."},
    {"name": "concise", "weight": 5, "requirement": "Is at most two sentences long."},
]
ITEMS = [
    {"id": "a", "submission": "Paris is the capital of France."},
    {"id": "b", "submission": "Lyon, I believe."},
    {"id": "c", "submission": "I would rather not say."},
]


@pytest.fixture(scope="module")
def graded(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Two runs over one dataset: by both criteria, and by the first alone."""
    folder = tmp_path_factory.mktemp("graded")
    items = folder / "answers.jsonl"
    items.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    for name, criteria in (("both", CRITERIA), ("one", CRITERIA[:1])):
        rubric = folder / f"{name}.json"
        rubric.write_text(json.dumps({"title": name, "criteria": criteria}))
        ended = installation.run("grade", rubric, items, "--name", name)
        assert ended.returncode == 0, ended.stderr
    return installation


def numbers(graded: Installation) -> dict[str, str]:
    return {name: str(pk) for pk, name in graded.query("SELECT id, name FROM rubricweb_run")}


def test_compare_with_a_run_prints_the_difference_of_the_stored_scores(graded: Installation) -> None:
    scores: dict[str, list[float]] = {"both": [], "one": []}
    for name, score in graded.query(
        "SELECT r.name, i.score FROM rubricweb_runitem i JOIN rubricweb_run r ON r.id = i.run_id"
    ):
        scores[name].append(score)
    mean = (sum(scores["one"]) - sum(scores["both"])) / len(ITEMS)

    runs = numbers(graded)
    ended = graded.run("compare", runs["one"], "--with", runs["both"], "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["run"]["name"], found["baseline"]["name"]) == ("one", "both")
    assert found["n"] == len(ITEMS)
    assert found["difference"]["value"] == pytest.approx(mean)
    assert [row["criterion"]["name"] for row in found["criteria"]] == ["capital"]
    assert [row["criterion"]["name"] for row in found["only_baseline"]] == ["concise"]
    assert len(found["items"]) == len(ITEMS)
    assert {"name": "Rubric", "run": "one v1", "baseline": "both v1"} in found["settings"]

    printed = graded.run("compare", runs["one"], "--with", runs["both"]).stdout
    assert f"Mean score {difference(mean, 2)}" in printed
    for words in (
        "one against both",
        "Wilcoxon",
        "Cohen's d",
        "regressions",
        "coverage",
        "worse",
        "concise",
    ):
        assert words in printed


def test_what_cannot_be_compared_is_said_in_a_sentence(graded: Installation, tmp_path: Path) -> None:
    runs = numbers(graded)
    itself = graded.run("compare", runs["one"], "--with", runs["one"])
    assert itself.returncode == 1
    assert "cannot be held against itself" in itself.stderr
    both = graded.run("compare", runs["one"], "--with", runs["both"], "--queue", "people")
    assert both.returncode == 1
    assert "use one of them" in both.stderr
    assert graded.run("compare", runs["one"], "--with", "999").returncode == 1
