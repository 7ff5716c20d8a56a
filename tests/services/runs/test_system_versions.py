"""Runs over one system version's answers, and launches of a run for each of several."""

from typing import Any

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Launch, Run, RunItem
from rubricweb.selectors.datasets.systems import counted_versions, versions_called
from rubricweb.selectors.shared.clock import database_now
from rubricweb.services.datasets.answers import add_answers
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast, WakeUps
from tests.worlds.systems import Versions, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


def launched(world: Versions, *names: str, **options: object) -> list[Run]:
    budget = options.pop("budget_usd", None)
    return launch_runs(
        world.people.team,
        by=world.people.ed,
        dataset=world.dataset,
        rubric_version=world.rubric_version,
        enqueue=WakeUps(),
        budget_usd=budget,  # type: ignore[arg-type]  # a number
        no_cap=budget is None,
        options=RunOptions(
            judge_id="offline",
            systems=versions_called(world.dataset, names),
            **options,  # type: ignore[arg-type]  # as the test gives them
        ),
    )


def test_the_versions_of_a_dataset_are_in_their_order_with_their_answers(
    world: Versions, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2) as asked:
        found = counted_versions(world.dataset)
    # Items are counted where the dataset is named: joined to versions they would be those of the whole team.
    assert not [one["sql"] for one in asked if 'JOIN "rubricweb_item"' in one["sql"]]
    assert [(str(version), version.item_count) for version in found] == [  # type: ignore[attr-defined]  # annotated
        ("assistant@v3", 5),
        ("assistant@v4", 5),
    ]


def test_a_version_without_answers_is_refused_and_the_others_named(world: Versions) -> None:
    with pytest.raises(Invalid, match=r"assistant@v9.*assistant@v3, assistant@v4") as refused:
        versions_called(world.dataset, ["assistant@v4", "assistant@v9"])
    assert refused.value.faults[0].place == "systems[1]"


def test_a_run_over_one_version_grades_its_answers_alone(world: Versions) -> None:
    [run] = launched(world, "assistant@v4")
    assert (run.system, run.launch_id) == ("assistant@v4", None)
    labels = RunItem.objects.filter(run=run).values_list("item__system_version__label", flat=True)
    assert list(labels) == ["v4"] * 5


def test_a_launch_starts_a_run_for_each_version_and_divides_the_budget(world: Versions) -> None:
    runs = launched(world, "assistant@v4", "assistant@v3", name="nightly", budget_usd=3.0)
    assert [(run.system, run.name, run.budget_usd) for run in runs] == [
        ("assistant@v4", "nightly · assistant@v4", 1.5),
        ("assistant@v3", "nightly · assistant@v3", 1.5),
    ]
    assert Launch.objects.get().budget_usd == 3.0
    assert runs[1].launched_with == runs


def test_all_of_a_launch_starts_or_nothing(world: Versions) -> None:
    chosen = [item.pk for item in world.answers("v4")]
    with pytest.raises(Invalid, match="assistant@v3"):
        launched(world, "assistant@v4", "assistant@v3", item_ids=chosen)
    assert (Run.objects.count(), Launch.objects.count()) == (0, 0)


def test_a_run_over_several_versions_is_refused_naming_them(world: Versions) -> None:
    with pytest.raises(Invalid, match=r"2 system versions \(assistant@v3, assistant@v4\).*one of them"):
        launched(world)


def test_a_dataset_of_one_version_needs_no_choice(people: Cast) -> None:
    rows = [{"case_id": "a", "system": "assistant@v3", "submission": "Paris."}]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="one version")
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert run.system == "assistant@v3"


def test_answers_of_no_named_system_are_of_no_version(people: Cast) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert (run.system_version, run.system) == (None, "")


@pytest.mark.parametrize(("system", "taken"), [("assistant@v4", 1), ("assistant@v5", 0)])
def test_a_run_takes_in_later_answers_of_its_own_version_alone(
    people: Cast, world: Versions, system: str, taken: int
) -> None:
    [run] = launched(world, "assistant@v4")
    answers = b'{"case_id": "c5", "submission": "v4 c5"}'
    add_answers(world.dataset, by=people.ed, data=answers, filename="later.jsonl", system=system)
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == taken


def test_a_run_without_a_version_takes_in_no_answers_of_a_named_one(people: Cast) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    answers = b'{"case_id": "good", "submission": "Paris it is."}'
    add_answers(dataset, by=people.ed, data=answers, filename="later.jsonl", system="assistant@v1")
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 0


def test_a_plan_counts_the_answers_of_the_chosen_versions(people: Cast, world: Versions) -> None:
    for names, calls in ((["assistant@v4"], 10), (["assistant@v3", "assistant@v4"], 20)):
        made = plan_run(
            people.team,
            dataset=world.dataset,
            rubric_version=world.rubric_version,
            viewer=people.ed,
            now=database_now(),
            options=RunOptions(judge_id="offline", systems=versions_called(world.dataset, names)),
        )
        # Two criteria of each answer.
        assert made.plan.calls == calls


def test_a_plan_without_a_version_is_refused_where_the_run_would_be(people: Cast, world: Versions) -> None:
    with pytest.raises(Invalid, match="answers of 2 system versions"):
        plan_run(
            people.team,
            dataset=world.dataset,
            rubric_version=world.rubric_version,
            viewer=people.ed,
            now=database_now(),
            options=RunOptions(judge_id="offline"),
        )
