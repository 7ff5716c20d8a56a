"""The newest version of a dataset is undone, while nothing stands on it."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict
from rubricweb.models import (
    Case,
    Dataset,
    Item,
    JournalEntry,
    QueueItem,
    RubricVersion,
    System,
    SystemVersion,
)
from rubricweb.selectors.datasets.versions import changes
from rubricweb.services import exports
from rubricweb.services.datasets import answers
from rubricweb.services.datasets.changes import corrections, retirement, undoing
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.datasets.previews import ImportChoices
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast

MEANT = ImportChoices(new_names=True)


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def add(people: Cast, dataset: Dataset, *rows: dict[str, Any], **given: Any) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl", **given)


def state(dataset: Dataset) -> tuple[int, list[str], list[str]]:
    """Its version, the keys of its current items, and of its cases."""
    dataset.refresh_from_db()
    current = dataset.items.current().order_by("position").values_list("key", flat=True)
    return dataset.version, list(current), list(dataset.cases.values_list("key", flat=True))


def test_added_items_are_gone_with_what_came_with_them_alone(people: Cast, dataset: Dataset) -> None:
    before = state(dataset)
    rubric = {"criteria": [{"name": "short", "requirement": "It is short."}]}
    add(people, dataset, {"id": "n1", "submission": "N.", "system": "asistant@v1", "rubric": rubric})
    assert RubricVersion.objects.filter(rubric=None).exists()
    plan = undoing.plan_undoing(dataset, people.ed)
    assert (plan.version, plan.change, plan.items) == (2, "append", 1)
    assert (plan.system_versions, plan.stands) == (("asistant@v1",), ())
    assert undoing.undo(dataset, by=people.ed, seen=2) == plan
    assert state(dataset) == before
    assert not System.objects.exclude(name="").exists()
    assert not RubricVersion.objects.filter(rubric=None).exists()
    assert [one.version for one in changes(dataset, viewer=people.ed)] == [1]
    entry = JournalEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.verb, entry.detail["version"], entry.detail["items"]) == ("undid a version of", 2, 1)
    # The same id, case and place can be taken again.
    add(people, dataset, {"id": "n1", "submission": "N."})
    assert state(dataset)[1] == [*before[1], "n1"]


def test_a_forgotten_version_of_answers_is_taken_back(people: Cast, dataset: Dataset) -> None:
    rows = b'{"id": "good", "submission": "Paris!"}\n{"id": "bad", "submission": "Rome!"}'
    given: dict[str, Any] = {"data": rows, "filename": "v2.jsonl"}
    answers.add_answers(dataset, by=people.ed, system="assistant@v1", **given)
    answers.add_answers(dataset, by=people.ed, system="assistant", choices=MEANT, **given)
    undoing.undo(dataset, by=people.ed, seen=3)
    # Of the system the version from before is left.
    assert [str(one) for one in SystemVersion.objects.exclude(system__name="")] == ["assistant@v1"]
    assert state(dataset)[0] == 2


def test_open_queues_lose_the_items_and_name_the_version_before(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    add(people, dataset, {"id": "n1", "submission": "N."})
    assert QueueItem.objects.filter(queue=queue).count() == 4
    undoing.undo(dataset, by=people.ed, seen=2)
    queue.refresh_from_db()
    assert (QueueItem.objects.filter(queue=queue).count(), queue.dataset_version) == (3, 1)


def test_what_was_retired_is_current_again_and_asked_about(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    before = state(dataset)
    retirement.retire(dataset, [dataset.items.get(key="bad").pk], by=people.ed)
    undoing.undo(dataset, by=people.ed, seen=2)
    assert state(dataset) == before
    assert QueueItem.objects.get(queue=queue, item__key="bad").room == 1


def test_what_was_restored_is_retired_again(people: Cast, dataset: Dataset) -> None:
    bad = dataset.items.get(key="bad")
    retirement.retire(dataset, [bad.pk], by=people.ed)
    retired = state(dataset)
    retirement.restore(dataset, [bad.pk], by=people.ed)
    undoing.undo(dataset, by=people.ed, seen=3)
    bad.refresh_from_db()
    assert (state(dataset), bad.retired_in) == (retired, 2)


def test_corrected_words_are_those_of_before(people: Cast, dataset: Dataset) -> None:
    item = dataset.items.get(key="bad")
    words, before = (item.submission, item.prompt), state(dataset)
    both = Correction(submission="It is Paris.", prompt="Capital of France?")
    corrections.correct_item(item, both, by=people.ed)
    undoing.undo(dataset, by=people.ed, seen=2)
    item.refresh_from_db()
    assert ((item.submission, item.prompt), item.case.wording, state(dataset)) == (words, 1, before)
    case = Case.objects.get(dataset=dataset, key="bad")
    corrections.correct_case(case, Correction(prompt="Capital?"), by=people.ed)
    undoing.undo(dataset, by=people.ed, seen=2)
    case.refresh_from_db()
    assert (case.wording, case.texts.count(), state(dataset)) == (1, 0, before)


def test_the_first_version_and_one_nobody_looked_at_are_not_undone(people: Cast, dataset: Dataset) -> None:
    with pytest.raises(Conflict, match="first version"):
        undoing.undo(dataset, by=people.ed, seen=1)
    add(people, dataset, {"id": "n1", "submission": "N."})
    add(people, dataset, {"id": "n2", "submission": "M."})
    with pytest.raises(Conflict, match="in version 3 by now, not 2"):
        undoing.undo(dataset, by=people.ed, seen=2)
    assert Item.objects.filter(key__in=["n1", "n2"]).count() == 2


def test_reviews_runs_queues_and_exports_of_the_version_keep_it(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    add(people, dataset, {"id": "n1", "submission": "N."})
    review = queues.start_review(queue, dataset.items.get(key="n1"), people.ann)
    assert undoing.plan_undoing(dataset, people.ed).stands == ("1 review on items it added.",)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    given: dict[str, Any] = {"dataset": dataset, "rubric_version": version}
    factories.queue(people.team, people.ed, name="later", raters=[people.ann], **given)
    factories.run(people.team, people.ed, **given)
    asked = {"what": "verdicts", "format": "csv", "dataset": dataset, "queues": [queue]}
    exports.export(people.team, viewer=people.ed, **asked)
    stands = undoing.plan_undoing(dataset, people.ed).stands
    assert [sentence.split(" ", 2)[:2] for sentence in stands[:2]] == [["The", "run"], ["The", "review"]]
    assert stands[2:] == (
        "1 review on items it added.",
        "1 result of a run on items it added.",
        "It was exported.",
    )
    with pytest.raises(Conflict, match=r"Version 2 of .* cannot be undone. The run"):
        undoing.undo(dataset, by=people.ed, seen=2)
    assert state(dataset)[0] == 2
