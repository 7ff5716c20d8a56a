"""Labels of files that share people are looked at as one: each queue holds only what was new in its file."""

import pytest

from rubricweb.models import Dataset, ReviewQueue, RubricVersion
from rubricweb.selectors.labels.queue_labels import files_together, queue_labels, scale_of
from rubricweb.services import label_files
from tests import factories
from tests.factories import Cast

CRITERIA = [{"name": "only", "weight": 1, "requirement": "Says it."}]


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    items = [{"id": key, "submission": f"Text {key}."} for key in "abcd"]
    return factories.dataset(people.team, people.ed, items=items)


def imported(dataset: Dataset, version: RubricVersion, name: str, *lines: str) -> ReviewQueue:
    """The queue of what is new in a file; lines are "a ann MET"."""
    rows = [line.split() for line in lines]
    data = "item_id,criterion,rater,verdict\n" + "".join(f"{a},only,{b},{c}\n" for a, b, c in rows)
    given = {"by": dataset.created_by, "data": data.encode(), "filename": f"{name}.csv"}
    return factories.import_labels(dataset, version, **given)


def said_in(*queues: ReviewQueue) -> list[str]:
    found = queue_labels(*queues)
    keys = dict(queues[0].dataset.items.values_list("pk", "key"))
    labels, _ = scale_of(found.criteria[0])
    rows = zip(found.item.tolist(), found.rater.tolist(), found.said.tolist(), strict=True)
    return sorted(
        f"{keys[item]} {found.raters[rater].name.lower()} {labels[said]}" for item, rater, said in rows
    )


def test_the_weeks_of_a_file_that_grew_are_one_and_corrected_labels_count_as_corrected(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    first = imported(dataset, version, "week 1", "a ann MET", "a ben MET", "b ann MET", "b ben UNMET")
    lines = ("a ann MET", "a ben UNMET", "b ann MET", "b ben UNMET", "c ann MET", "c ben MET")
    second = imported(dataset, version, "week 2", *lines)
    assert second.reviews.count() == 3, "one corrected, two new"
    for queue in (first, second):
        together = files_together(queue)
        assert together == [first, second]
        assert said_in(*together) == sorted(lines)
        # a, b and c by two people: who corrected a label reviewed its item once.
        assert len(queue_labels(*together).reviews) == 6


def test_who_joined_later_is_among_those_whose_files_grew(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    first = imported(dataset, version, "week 1", "a ann MET", "a ben MET")
    second = imported(dataset, version, "week 2", "a ann MET", "b ann MET", "a cat MET")
    third = imported(dataset, version, "week 3", "a cat MET", "b cat UNMET")
    # ben and cat are in no file together, but both are in one with ann.
    assert files_together(first) == files_together(third) == [first, second, third]


def test_files_of_other_people_other_words_and_what_was_said_here_stay_apart(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    experts = imported(dataset, version, "experts", "a ann MET", "a ben MET")
    crowd = imported(dataset, version, "crowd", "a zoe MET", "a yann UNMET")
    other = factories.version(people.team, people.ed, criteria=[{**CRITERIA[0], "requirement": "Is it."}])
    later = imported(dataset, other, "other words", "a ann MET")
    for name in ("settled", "settled too"):
        label_files.import_label_file(
            dataset,
            version,
            by=people.ed,
            data=f"item_id,criterion,rater,verdict\n{'ab'[name != 'settled']},only,truth,MET\n".encode(),
            filename=f"{name}.csv",
            choices=label_files.said_choices(rater_kind="settled"),
        )
    here = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    truth = list(ReviewQueue.objects.filter(name__startswith="settled"))
    for queue in (experts, crowd, later, here, *truth):
        assert files_together(queue) == [queue]
