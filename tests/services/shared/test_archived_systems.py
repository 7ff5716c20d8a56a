"""Archiving a system: its versions leave choosers, no answers of it are added, and what there is stays."""

import json

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Item, JournalEntry, Run, System, SystemVersion
from rubricweb.selectors import dashboard
from rubricweb.selectors.datasets import systems as selected
from rubricweb.selectors.labels.comparable import comparable_runs
from rubricweb.selectors.runs.planning.samples import sample_ids
from rubricweb.services.datasets import answers, systems
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.reviews import queues
from rubricweb.services.runs import lifecycle
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast
from tests.worlds.systems import Versions, answer, versions

pytestmark = pytest.mark.django_db


def other(case: str) -> dict[str, str]:
    """An answer of another system to the same case."""
    return answer("v3", case) | {"system": "rival@r1", "submission": f"rival {case}"}


@pytest.fixture
def world(people: Cast) -> Versions:
    """Answers of assistant@v3 and @v4, and two of rival@r1."""
    return versions(people, other("c1"), other("c2"))


@pytest.fixture
def assistant(world: Versions) -> System:
    return System.objects.get(name="assistant")


def archive(people: Cast, system: System) -> None:
    archiving.archive(system, by=people.ed, now=timezone.now())


def label(world: Versions) -> None:
    """One answer is labelled in a file, so that runs over the dataset can be held against people."""
    lines = f"item_id,criterion,rater,verdict\n{world.answers('v3')[0].key},fact,ann,MET\n"
    factories.import_labels(
        world.dataset,
        world.rubric_version,
        by=world.people.ed,
        data=lines.encode(),
        filename="labels.csv",
        queue_name="Labels",
    )


def version(label: str) -> SystemVersion:
    return SystemVersion.objects.select_related("system").get(label=label)


def test_it_leaves_lists_charts_and_comparisons_with_its_versions_and_comes_back(
    people: Cast, world: Versions, assistant: System
) -> None:
    run = world.run_over("v3")
    label(world)

    def listed() -> tuple[list[str], int]:
        names = [system.name for system in selected.systems(people.team)]
        return names, len(dashboard.score_series(people.team, people.ed))

    assert listed() == (["assistant", "rival"], 1)
    assert run in comparable_runs(people.team)
    archive(people, assistant)
    assert listed() == (["rival"], 0)
    assert [system.name for system in selected.systems(people.team, archived=True)] == ["assistant"]
    assert run not in comparable_runs(people.team)
    # What there is stays: the versions that answered, the run, and its score.
    names = [str(one) for one in selected.counted_versions(world.dataset)]
    assert names == ["assistant@v3", "assistant@v4", "rival@r1"]
    assert Run.objects.get(pk=run.pk).summary.scored == 5
    archiving.restore(assistant, by=people.ed)
    assert listed() == (["assistant", "rival"], 1)
    lines = JournalEntry.objects.filter(target_kind="system").order_by("pk")
    assert [(line.verb, line.target_label) for line in lines] == [
        ("archived", "assistant"),
        ("restored", "assistant"),
    ]


def test_a_run_or_queue_about_one_of_its_versions_keeps_it_from_being_archived(
    people: Cast, world: Versions, assistant: System
) -> None:
    run = world.planned("v4")
    with pytest.raises(Conflict, match="run of v4 is running: cancel it first"):
        archive(people, assistant)
    archive(people, System.objects.get(name="rival"))
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    about = {"dataset": world.dataset, "rubric_version": world.rubric_version}
    queue = factories.queue(people.team, people.ed, raters=[people.ann], systems=[version("v3")], **about)
    with pytest.raises(Conflict, match="First look is open: close it first"):
        archive(people, assistant)
    queues.close_queue(queue, by=people.ed)
    archive(people, assistant)
    assert assistant.archived_at is not None


def test_a_sample_is_drawn_from_what_a_run_would_grade(
    people: Cast, world: Versions, assistant: System
) -> None:
    archive(people, assistant)
    about = {"dataset": world.dataset, "rubric_version": world.rubric_version}
    run = factories.run(
        people.team, people.ed, item_ids=sample_ids(world.dataset, 3, viewer=people.ed), **about
    )
    assert (run.system, run.run_items.count()) == ("rival@r1", 2)
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    archive(people, System.objects.get(name="rival"))
    with pytest.raises(Conflict, match="is archived: restore it first"):
        factories.run(
            people.team, people.ed, item_ids=sample_ids(world.dataset, 3, viewer=people.ed), **about
        )


def test_new_runs_and_queues_over_its_answers_are_refused(
    people: Cast, world: Versions, assistant: System
) -> None:
    archive(people, assistant)
    about = {"dataset": world.dataset, "rubric_version": world.rubric_version}
    refused = "The system assistant is archived: restore it first, or choose another."
    with pytest.raises(Conflict, match=refused):
        factories.run(people.team, people.ed, systems=[version("v3")], **about)
    with pytest.raises(Conflict, match=refused):
        factories.run(people.team, people.ed, item_ids=[world.answers("v3")[0].pk], **about)
    with pytest.raises(Conflict, match=refused):
        factories.queue(people.team, people.ed, raters=[people.ann], systems=[version("v4")], **about)
    assert not Run.objects.exists()


def test_a_run_that_names_nobody_leaves_its_answers_out(
    people: Cast, world: Versions, assistant: System
) -> None:
    about = {"dataset": world.dataset, "rubric_version": world.rubric_version}
    with pytest.raises(Invalid, match="answers of 3 system versions"):
        factories.run(people.team, people.ed, **about)
    archive(people, assistant)
    run = factories.run(people.team, people.ed, **about)
    assert (str(run.system_version), run.run_items.count()) == ("rival@r1", 2)


def test_where_nothing_else_is_left_runs_and_queues_say_what_to_restore(
    people: Cast, assistant: System, world: Versions
) -> None:
    alone = factories.dataset(people.team, people.ed, name="alone", items=[answer("v3", "c9")])
    archive(people, assistant)
    about = {"dataset": alone, "rubric_version": world.rubric_version}
    with pytest.raises(Conflict, match="The system assistant is archived: restore it first"):
        factories.run(people.team, people.ed, **about)
    with pytest.raises(Conflict, match="The system assistant is archived: restore it first"):
        factories.queue(people.team, people.ed, raters=[people.ann], **about)


def test_answers_of_it_are_refused_before_anything_is_stored(
    people: Cast, world: Versions, assistant: System
) -> None:
    archive(people, assistant)
    before = Item.objects.count()
    refused = "The system assistant is archived: restore it first"
    row = json.dumps({"case_id": "c6", "submission": "v5 c6"}).encode()
    given = {"data": row, "filename": "v5.jsonl", "system": "assistant@v5"}
    with pytest.raises(Conflict, match=refused):
        answers.plan_answers(world.dataset, **given)
    with pytest.raises(Conflict, match=refused):
        answers.add_answers(world.dataset, by=people.ed, **given)
    with pytest.raises(Conflict, match=refused):
        factories.dataset(people.team, people.ed, name="new", items=[answer("v5", "c1")])
    # As background work the same is why the import was refused.
    data = json.dumps(answer("v5", "c1")).encode()
    found = factories.imported(people.team, people.ed, data)
    assert (found.state, found.dataset) == ("refused", None)
    assert refused in found.message
    assert Item.objects.count() == before
    assert not Dataset.objects.filter(name="new").exists()
    assert not SystemVersion.objects.filter(label="v5").exists()
    answers.add_answers(world.dataset, by=people.ed, **given | {"system": "rival@r1"})
    archiving.restore(assistant, by=people.ed)
    assert answers.add_answers(world.dataset, by=people.ed, **given).answers == 1


def test_its_name_stays_taken_and_it_can_be_renamed(people: Cast, assistant: System) -> None:
    archive(people, assistant)
    with pytest.raises(Conflict, match="already has a system called 'assistant'"):
        systems.rename_system(System.objects.get(name="rival"), "assistant", by=people.ed)
    systems.change_system(assistant, by=people.ed, name="helper", archived=False, now=timezone.now())
    assert (str(assistant), assistant.archived_at) == ("helper", None)


def test_the_list_of_systems_asks_three_queries(
    people: Cast, assistant: System, django_assert_num_queries
) -> None:
    with django_assert_num_queries(3):
        selected.systems(people.team)
    archive(people, assistant)
    with django_assert_num_queries(3):
        selected.systems(people.team, archived=True)


def test_its_answers_are_still_corrected(people: Cast, world: Versions, assistant: System) -> None:
    archive(people, assistant)
    before = world.answers("v3")[0]
    plan = corrections.correct_item(before, Correction(submission="v3 c1, mended"), by=people.ed)
    assert Item.objects.get(pk=plan.replacement).system_version == before.system_version
