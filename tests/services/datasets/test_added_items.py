"""Items that come into a dataset later: all or nothing, each id new, and nothing that was there moved."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, ImportState, Item, JournalEntry, Judgement, ReviewQueue, Rubric
from rubricweb.services.datasets import answers, splits
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews import queue_changes, queues, reviews
from tests import factories
from tests.factories import Cast
from tests.services.datasets.test_imported_runs import while_uncommitted

RUBRIC = [
    {"name": "capital", "weight": 10.0, "requirement": "Names Paris as the capital."},
    {"name": "concise", "weight": 5.0, "requirement": "Is at most two sentences long."},
]


def add(people: Cast, dataset: Dataset, content: Any, filename: str = "more.json") -> int:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return factories.add_items(dataset, by=people.ed, data=data, filename=filename)


def whole(people: Cast, **fields: Any) -> Dataset:
    content = {"name": "whole", "prompt": "Where?", "reference": "Paris", "rubric": RUBRIC, **fields}
    content.setdefault("items", [{"id": "a", "submission": "Paris.", "ground_truth": ["MET", "MET"]}])
    return factories.import_dataset(
        people.team, by=people.ed, data=json.dumps(content).encode(), filename="whole.json"
    )


def test_they_stand_behind_the_others_in_the_order_of_the_file(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    assert add(people, dataset, [{"id": "z", "submission": "Z."}, {"id": "y", "submission": "Y."}]) == 2
    assert add(people, dataset, b"id,answer\nx,X.\n", "more.csv") == 1
    found = list(Item.objects.filter(dataset=dataset).values_list("position", "key"))
    assert found == [(0, "good"), (1, "bad"), (2, "empty-ish"), (3, "z"), (4, "y"), (5, "x")]
    entry = JournalEntry.objects.filter(verb="added items to").first()
    assert entry is not None
    assert entry.detail == {"items": 1, "file": "more.csv"}


def test_ids_the_dataset_has_are_refused_each_by_its_place_and_nothing_is_stored(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    items = [{"id": "new", "submission": "N."}, {"id": "good", "submission": "G."}]
    with pytest.raises(Invalid, match=r"more.json: 1 fault, nothing was imported") as refused:
        add(people, dataset, items)
    [fault] = refused.value.faults
    assert (fault.place, fault.found) == ("items[1].id", "'good'")
    assert dataset.items.count() == 3


def test_a_file_with_faults_adds_nothing(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    with pytest.raises(Invalid) as refused:
        add(people, dataset, b'{"id": "a", "submission": "A."}\n{"id": "b"}\n', "more.jsonl")
    assert "line 2" in refused.value.faults[0].place
    assert dataset.items.count() == 3


def test_words_for_the_whole_file_become_those_of_its_items_where_the_dataset_has_others(
    people: Cast,
) -> None:
    dataset = whole(people)
    items = [{"id": "b", "submission": "Rome."}, {"id": "c", "submission": "Oslo.", "prompt": "And there?"}]
    add(people, dataset, {"prompt": "Which town?", "reference": "Paris", "items": items})
    b, c = (dataset.items.get(key=key) for key in "bc")
    assert (b.prompt, b.reference) == ("Which town?", None)  # the reference is the dataset's own
    assert (c.prompt, c.to_engine().query) == ("And there?", "And there?")
    assert b.to_engine().reference == "Paris"
    # A file that says nothing: the dataset speaks for its items.
    add(people, dataset, [{"id": "d", "submission": "Bern."}])
    assert dataset.items.get(key="d").to_engine().query == "Where?"


def test_the_datasets_own_rubric_may_come_again_and_no_other(people: Cast) -> None:
    dataset = whole(people)
    add(people, dataset, {"rubric": RUBRIC, "items": [{"id": "b", "submission": "Rome."}]})
    assert dataset.items.get(key="b").rubric_version is None
    other = [{**RUBRIC[0], "weight": 1.0}]
    with pytest.raises(Invalid) as refused:
        add(people, dataset, {"rubric": other, "items": [{"id": "c", "submission": "Oslo."}]})
    assert [fault.place for fault in refused.value.faults] == ["rubric"]
    add(people, dataset, [{"id": "c", "submission": "Oslo.", "rubric": other}])
    own = dataset.items.get(key="c").rubric_version
    assert own is not None
    assert own.to_engine().criteria[0].weight == 1.0


def test_ground_truth_comes_along_in_a_queue_of_its_own(people: Cast) -> None:
    dataset = whole(people)
    items = [{"id": "b", "submission": "Rome.", "ground_truth": ["UNMET", "MET"]}]
    add(people, dataset, items)
    add(people, dataset, [{"id": "c", "submission": "Oslo.", "ground_truth": ["UNMET", "UNMET"]}])
    names = list(ReviewQueue.objects.filter(dataset=dataset).order_by("pk").values_list("name", flat=True))
    assert names == ["Ground truth of whole", "Ground truth of whole (2)", "Ground truth of whole (3)"]
    said = Judgement.objects.filter(item__dataset=dataset, item__key="b").order_by("criterion__position")
    assert list(said.values_list("verdict", flat=True)) == ["UNMET", "MET"]


def test_a_label_for_a_criterion_too_many_is_a_fault_with_its_place(people: Cast) -> None:
    dataset = whole(people)
    with pytest.raises(Invalid) as refused:
        add(people, dataset, [{"id": "b", "submission": "Rome.", "ground_truth": ["MET", "MET", "MET"]}])
    assert "ground_truth" in refused.value.faults[0].place


def test_a_half_of_a_split_takes_nothing_in(people: Cast) -> None:
    items = [{"id": key, "submission": f"Paris, {key}.", "ground_truth": ["MET", "MET"]} for key in "abcd"]
    dataset = whole(people, items=items)
    halves = splits.split_dataset(dataset, n_dev=2, by=people.ed)
    for half in (halves.dev, halves.test):
        with pytest.raises(Conflict, match=f"sealed as the {half.sealed_as} split"):
            add(people, half, [{"id": "new", "submission": "N."}])
    assert add(people, dataset, [{"id": "new", "submission": "N."}]) == 1
    assert halves.test.items.count() == 2


def test_an_open_blind_queue_hands_new_items_out_after_the_others(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed, items=factories.ITEMS[:1])
    version = factories.version(people.team, people.ed)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    add(people, dataset, [{"id": "late", "submission": "Late."}])
    first = queues.next_review(queue, people.ann, now=timezone.now())
    assert first is not None
    assert first.item.key == "good"
    for criterion in version.criteria.all():
        reviews.save_verdict(first, criterion.pk, verdict="MET")
    reviews.submit(first, now=timezone.now())
    following = queues.next_review(queue, people.ann, now=timezone.now())
    assert following is not None
    assert following.item.key == "late"


def test_an_open_queue_without_a_rubric_takes_no_item_without_one(people: Cast) -> None:
    own = [{"name": "only", "weight": 1, "requirement": "Names Paris."}]
    dataset = factories.dataset(
        people.team, people.ed, items=[{"id": "own", "submission": "Paris.", "rubric": own}]
    )
    queue = factories.queue(people.team, people.ed, dataset=dataset, rubric_version=None, raters=[people.ann])
    bare = [{"id": "bare", "submission": "Bare."}]
    with pytest.raises(Conflict, match="First look reviews every item by its own rubric"):
        add(people, dataset, bare)
    assert add(people, dataset, [{"id": "too", "submission": "Paris!", "rubric": own}]) == 1
    # An answer is judged by the rubric of its case, whether or not its file says it again.
    answer = json.dumps({"case_id": "own", "submission": "Paris, I think."}).encode()
    answers.add_answers(dataset, by=people.ed, data=answer, filename="v2.jsonl", system="bot@v2")
    assert queue.queue_items.count() == 3
    # One that is paused takes items in as well, whoever stores them.
    queue_changes.pause_queue(queue, by=people.ed)
    data = json.dumps(bare).encode()
    found = factories.imported(people.team, people.ed, data, "more.json", dataset=dataset)
    assert found.message.startswith("The paused queue First look reviews every item by its own rubric")
    queues.close_queue(queue, by=people.ed)
    assert add(people, dataset, [{"id": "bare", "submission": "Bare."}]) == 1


@pytest.mark.parametrize("said", [{"ground_truth": ["MET"]}, {"labels": {"ann": ["MET"]}}])
def test_labelled_items_with_a_rubric_of_their_own_stand_beside_others_without_one(
    people: Cast, said: dict[str, Any]
) -> None:
    own = {"submission": "4", "rubric": [{"weight": 1, "requirement": "Says 4."}], **said}
    dataset = factories.dataset(people.team, people.ed)
    assert add(people, dataset, [{"id": "own", **own}]) == 1
    assert list(Judgement.objects.values_list("item__key", "verdict")) == [("own", "MET")]
    both = [{"id": "own", **own}, {"id": "bare", "submission": "5"}]
    mixed = factories.dataset(people.team, people.ed, name="mixed", items=both)
    assert Judgement.objects.get(item__dataset=mixed).item.key == "own"


def test_labels_of_a_file_are_of_the_version_the_dataset_is_in_when_they_are_stored(people: Cast) -> None:
    read = whole(people)
    add(people, Dataset.objects.get(pk=read.pk), [{"id": "z", "submission": "Z."}])
    data = b"item_id,criterion,rater,verdict\nz,concise,somebody,MET\n"
    queue = factories.import_labels(read, read.rubric_version, by=people.ed, data=data, filename="labels.csv")
    assert queue.dataset_version == 2


LABELLED = {"id": "new", "submission": "Lyon.", "ground_truth": ["MET", "UNMET"]}


def add_answers(people: Cast, dataset: Dataset) -> None:
    rows = json.dumps(LABELLED | {"case_id": "a"}).encode()
    answers.add_answers(dataset, by=people.ed, data=rows, filename="v2.jsonl", system="assistant@v2")


def add_in_background(people: Cast, dataset: Dataset) -> None:
    data = json.dumps([LABELLED]).encode()
    found = factories.imported(people.team, people.ed, data, "more.json", dataset=dataset)
    assert found.state == ImportState.DONE, found.message


@pytest.mark.parametrize("add_labelled", [lambda *to: add(*to, [LABELLED]), add_answers, add_in_background])
@pytest.mark.django_db(transaction=True)
def test_a_rubric_is_not_deleted_while_labels_by_it_are_stored(people: Cast, add_labelled) -> None:
    dataset = whole(people)
    ReviewQueue.objects.all().delete()
    assert dataset.rubric_version is not None
    rubric = Rubric.objects.get(pk=dataset.rubric_version.rubric_id)

    def delete() -> object:
        return deletions.delete(rubric, rubric.title, by=people.alice, now=timezone.now(), enqueue=None)

    deleted = while_uncommitted(lambda: add_labelled(people, dataset), delete)
    assert deleted.planned is not None
    # The queue was stored before the rubric went, and goes with it.
    [queue] = ReviewQueue.objects.all()
    assert queue.team == deleted.bin
    assert Dataset.objects.get(pk=dataset.pk).rubric_version is None


def test_items_by_a_rubric_that_was_deleted_since_the_dataset_was_read_are_refused_in_words(
    people: Cast,
) -> None:
    read = whole(people)
    assert read.rubric_version is not None
    rubric = Rubric.objects.get(pk=read.rubric_version.rubric_id)
    deletions.delete(rubric, rubric.title, by=people.alice, now=timezone.now(), enqueue=None)
    with pytest.raises(Conflict, match="The rubric of whole was deleted just now"):
        add(people, read, [LABELLED])
    assert add(people, Dataset.objects.get(pk=read.pk), [{"id": "z", "submission": "Z."}]) == 1
