"""`rubricweb compare RUN --with BASELINE` against stored verdicts."""

import json
import re
from pathlib import Path

import pytest

from rubricweb.engine.number_format import difference
from rubricweb.judges.base import JudgeError
from rubricweb.management.runs import diff
from rubricweb.management.terminal.actor import Actor
from rubricweb.models import Case, Run
from rubricweb.selectors.reviews.queue_sources import Source
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.installation import Installation
from tests.judging import InProcessJudge, grade
from tests.worlds.furnished import MADE
from tests.worlds.systems import Versions, answer, versions

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


def test_two_versions_are_compared_by_case(installation: Installation, tmp_path: Path) -> None:
    rubric, answers = tmp_path / "rubric.json", tmp_path / "versions.jsonl"
    rubric.write_text(json.dumps({"title": "versions", "criteria": CRITERIA}))
    rows = [
        {"case_id": case, "system": f"assistant@{version}", "submission": f"Paris is it, says {version}."}
        for version, cases in (("v3", "ab"), ("v4", "bc"))
        for case in cases
    ]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = installation.run("grade", rubric, answers)
    assert refused.returncode == 1
    assert "assistant@v3, assistant@v4" in refused.stderr
    assert "Name one with --system" in refused.stderr
    chosen = ("--system", "assistant@v3", "--system", "assistant@v4")
    ended = installation.run("grade", rubric, answers, "--name", "of", *chosen)
    assert ended.returncode == 0, ended.stderr
    runs = numbers(installation)
    pair = (runs["of · assistant@v4"], "--with", runs["of · assistant@v3"])
    by_name = installation.run("compare", "assistant@v4", "--with", "assistant@v3")
    assert f"Took of · assistant@v4 ({pair[0]}) and of · assistant@v3 ({pair[2]})" in by_name.stderr
    mixed = installation.run("compare", pair[0], "--with", "assistant@v3")
    assert "Name two runs by number, or two system versions" in mixed.stderr
    printed = installation.run("compare", *pair).stdout
    assert printed == by_name.stdout
    assert "Paired by case: assistant@v4 against assistant@v3" in printed
    assert "over 1 case:" in printed
    assert "No pair: 1 case answered only by assistant@v4: c" in printed
    assert "No pair: 1 case answered only by assistant@v3: a" in printed


@pytest.mark.django_db
@pytest.mark.parametrize("is_renamed", [True, False], ids=["names", "one name"])
def test_two_runs_over_one_version_are_told_apart(
    capsys: pytest.CaptureFixture[str], people: Cast, is_renamed: bool
) -> None:
    world = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    ids = {item.submission: item.pk for item in world.answers("v4")}
    baseline, run = (
        world.run_over(
            "v4",
            item_ids=[pk for words, pk in ids.items() if words != left_out],
            name=name if is_renamed else "again",
        )
        for left_out, name in (("v4 c6", "before"), ("v4 c2", "after"))
    )
    assert diff.show(Actor(people.team, people.bob), run, baseline, as_json=False) == 0
    printed = capsys.readouterr().out
    after, before = ("after", "before") if is_renamed else (f"again ({run.pk})", f"again ({baseline.pk})")
    assert f"Paired by case: {after} against {before}" in printed
    assert f"No pair: 1 case answered only by {after}: c6" in printed
    assert f"No pair: 1 case answered only by {before}: c2" in printed
    case = Case.objects.get(dataset=run.dataset, key="c6")
    Case.objects.filter(pk=case.pk).update(key=f"auto-{case.pk:016x}")
    assert diff.show(Actor(people.team, people.bob), run, baseline, as_json=False) == 0
    printed = capsys.readouterr().out
    assert f"No pair: 1 case answered only by {after}: “" in printed
    assert not MADE.search(printed)


@pytest.mark.django_db
def test_a_try_is_no_verdict_on_a_version_and_is_called_one(people: Cast, capsys) -> None:
    world = versions(people)
    world.run_over("v3")
    few = [one.pk for one in world.answers("v4")[1:3]]
    tried = world.run_over("v4", item_ids=few, name="dry run")
    compare = terminal_of(people.team, people.bob, capsys)
    asked = "compare", "assistant@v4", "--with", "assistant@v3"
    printed = " ".join(compare(*asked).out.split())
    assert re.search(r"Mean score \+0\.12 \[[^]]*\] over 2 cases", printed)
    assert f"dry run ({tried.pk}) is a try, over 2 items of the 5 there were" in printed
    world.run_over("v4")
    world.run_over("v4", item_ids=few)
    printed = " ".join(compare(*asked).out.split())
    assert re.search(r"Mean score −0\.17 \[[^]]*\] over 3 cases", printed)
    assert "1 regression, 1 fix" in printed
    assert "is a try" not in printed


def answers_of_two(people: Cast) -> Versions:
    """v3 and v4 both answer c1 to c3 and eleven more cases."""
    return versions(people, *(answer(v, f"d{n}") for n in range(11) for v in ("v3", "v4")))


def all_of(world: Versions, version: str, says: str | JudgeError, **options: object) -> Run:
    """A run over a version whose every question is answered with this."""
    return grade(world.planned(version, **options), InProcessJudge(lambda requirement, response: says))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("before", "after", "down", "unless_up"),
    [("MET", "UNMET", 100, 100), ("UNMET", "MET", 0, 0), ("MET", "MET", 0, 100)],
    ids=["down", "up", "open"],
)
def test_the_direction_of_a_difference_is_a_gate(
    people: Cast, capsys, before: str, after: str, down: int, unless_up: int
) -> None:
    world = answers_of_two(people)
    all_of(world, "v3", before)
    all_of(world, "v4", after)
    compare = terminal_of(people.team, people.bob, capsys)
    asked = "compare", "assistant@v4", "--with", "assistant@v3"
    assert [compare(*asked, *more).code for more in ([], ["--json"])] == [0, 0]
    ended = [compare(*asked, "--fail-on", at, "--json") for at in ("down", "open")]
    assert [one.code for one in ended] == [down, unless_up]
    word = {"UNMET": "The mean score went down: --fail-on", "MET": "may have gone either way: --fail-on"}
    assert (word[after] in ended[1].err) == (unless_up == 100)


@pytest.mark.django_db
def test_a_gate_is_decided_by_nobody_who_is_still_to_review_some_of_it(people: Cast, capsys) -> None:
    world = answers_of_two(people)
    baseline, run = all_of(world, "v3", "UNMET"), all_of(world, "v4", "MET")
    item = world.answers("v4")[0]
    world.queue(source=Source("items", item_ids=(item.pk,)))
    asked = "compare", run.pk, "--with", baseline.pk
    ann = terminal_of(people.team, people.ann, capsys)
    assert ann(*asked).code == 0
    ended = ann(*asked, "--fail-on", "open")
    assert ended.code == 1
    assert "You are still to review 1 case blind: the figures are without that" in ended.err
    bob = terminal_of(people.team, people.bob, capsys)
    assert bob(*asked, "--fail-on", "open").code == 0
    alone = bob("compare", run.pk, "--fail-on", "open")
    assert (alone.code, "name that --with" in alone.err) == (1, True)


@pytest.mark.django_db
def test_a_run_of_which_nothing_was_scored_is_compared_only_where_nothing_else_is(
    people: Cast, capsys
) -> None:
    world = versions(people)
    before = world.run_over("v3")
    broken = all_of(world, "v4", JudgeError("server_error", "HTTP 500"))
    compare = terminal_of(people.team, people.bob, capsys)
    asked = "compare", "assistant@v4", "--with", "assistant@v3"
    for as_json in ([], ["--json"]):
        ended = compare(*asked, *as_json)
        assert (ended.code, "Nothing to compare: no case has a score on both sides." in ended.err) == (
            1,
            True,
        )
    assert json.loads(ended.out)["run"]["id"] == broken.pk
    tried = world.run_over("v4", item_ids=[one.pk for one in world.answers("v4")[:3]], name="dry run")
    all_of(world, "v4", JudgeError("server_error", "HTTP 500"))
    # A try tells more than a run over everything of which nothing was scored.
    ended = compare(*asked)
    assert (ended.code, f"Took dry run ({tried.pk}) and {before} ({before.pk})" in ended.err) == (0, True)
