"""`rubricweb datasets combine`: a plan first, then one dataset."""

import json

from rubricweb.api.datasets.combination_schemas import Combination, CombinationPlan, Rerun, StartedRuns
from rubricweb.models import Dataset, Run
from rubricweb.services.combinations import combinations
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.combinations.plans import CombinationRequest
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


def test_a_plan_stores_nothing_and_the_command_combines(people: Cast, at_terminal) -> None:
    for version in ("v1", "v2"):
        items = [{"id": key, "prompt": f"{key}?", "submission": f"{version} {key}"} for key in "abc"]
        factories.dataset(people.team, people.ed, name=f"replies {version}", items=items)
    ed = at_terminal(people.ed)
    both = ("datasets", "combine", "replies v1", "replies v2", "--name", "all")
    said = ed(*both, "--plan").err
    assert "replies v1: 3 items as replies@v1" in said
    assert "6 items of 3 cases in all." in said
    assert "3 cases in 2 datasets." in said
    printed = ed(*both, "--plan", "--json").out
    assert misfits(CombinationPlan, printed) == []
    assert Dataset.objects.count() == 2
    same = ed(*both, "--versions", "v1,v1")
    assert same.code == 1
    assert "a second answer of replies@v1 to case 'a'" in same.err
    wrong = ed(*both, "--versions", "v1")
    assert (wrong.code, "one for each dataset" in wrong.err) == (1, True)
    printed = ed(*both, "--system", "assistant", "--versions", "v1,bot@2", "--json").out
    assert misfits(Combination, printed) == []
    assert json.loads(printed)["items_copied"] == 6
    combined = Dataset.objects.get(name="all")
    assert list(combined.items.order_by("position").values_list("key", flat=True)) == [
        *("a@assistant@v1", "b@assistant@v1", "c@assistant@v1"),
        *("a@bot@2", "b@bot@2", "c@bot@2"),
    ]


def test_combinations_are_listed_their_runs_started_again_and_one_is_cancelled(
    people: Cast, at_terminal
) -> None:
    ed = at_terminal(people.ed)
    assert "Nothing was combined." in ed("datasets", "combinations").err
    version = factories.version(people.team, people.ed)
    items = [{"id": key, "prompt": f"{key}?", "submission": f"It is {key}."} for key in "abc"]
    for name in ("replies v1", "replies v2"):
        factories.dataset(people.team, people.ed, name=name, items=items)
    run = factories.run(
        people.team, people.ed, dataset=Dataset.objects.get(name="replies v1"), rubric_version=version
    )
    grade(run, InProcessJudge(lambda *_: "MET"))
    assert ed("datasets", "combine", "replies v1", "replies v2", "--name", "all").code == 0

    # Three items of each; one run finished, which judged each by three criteria.
    listed = ed("datasets", "combinations").out
    for part in ("all", "done", "replies v1, replies v2", "6 of 6", "ed"):
        assert part in listed
    printed = ed("datasets", "combinations", "--json").out
    assert misfits(Combination, printed) == []
    assert json.loads(printed)["datasets"][1]["name"] == "replies v2"
    runs = ("datasets", "combination-runs", "all")
    assert f"Run {run.pk}, as replies@v1: 9 of 9 calls are answered already" in ed(*runs).err
    assert misfits(Rerun, ed(*runs, "--json").out) == []
    nowhere = ed(*runs, "--budget", "1")
    assert (nowhere.code, "--run" in nowhere.err) == (1, True)
    started = ed(*runs, "--run", str(run.pk), "--no-cap", "--json").out
    assert misfits(StartedRuns, started) == []
    again = Run.objects.order_by("-pk")[0]
    assert json.loads(started) == {"run_ids": [again.pk]}
    assert f"as replies@v1: started as run {again.pk}" in ed(*runs).err
    twice = ed(*runs, "--run", str(run.pk), "--no-cap")
    assert (twice.code, "was started again before" in twice.err) == (1, True)

    ended = ed("datasets", "cancel-combination", "all")
    assert (ended.code, "has ended already: done" in ended.err) == (1, True)
    unknown = ed("datasets", "cancel-combination", "none")
    assert (unknown.code, f"Known: {people.team.combinations.get().pk} (all)" in unknown.err) == (1, True)


def test_a_combination_under_way_is_cancelled(people: Cast, at_terminal) -> None:
    made = [factories.dataset(people.team, people.ed, name=name) for name in ("a", "b")]
    parts = tuple(AskedPart(dataset, f"bot@{dataset}") for dataset in made)
    combinations.start(people.team, CombinationRequest("both", parts), by=people.ed, enqueue=None)
    cancelled = at_terminal(people.ed)("datasets", "cancel-combination", "both", "--json").out
    assert misfits(Combination, cancelled) == []
    assert json.loads(cancelled)["state"] == "cancelled"
