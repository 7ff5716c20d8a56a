"""Copies of labelled items, in halves and in combined datasets, say who said what, when and how."""

import json
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.models import Adjudication, Dataset, Judgement, Review, ReviewQueue, Revision, RubricVersion
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.services import adjudications, exports
from rubricweb.services.combinations import combinations, plans
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.datasets import splits
from rubricweb.services.reviews import queues, reviews, revisions
from tests import factories
from tests.factories import Cast

KEYS = ("q0", "q1", "q2", "q3")
LAST_YEAR = timedelta(days=365)


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:2])


@pytest.fixture
def original(people: Cast, version: RubricVersion) -> Dataset:
    """A year ago ann answered the first criterion of every item here and noted one, and the second in a
    file; one verdict of hers was changed after the reveal, and one decided by rae.
    """
    items = [{"id": key, "prompt": f"{key}?", "submission": f"{key}."} for key in KEYS]
    dataset = factories.dataset(people.team, people.ed, items=items)
    first, _ = version.criteria.order_by("position")
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        criteria=["capital"],
    )
    for item in dataset.items.order_by("position"):
        review = queues.start_review(queue, item, people.ann)
        reviews.save_verdict(review, first.pk, verdict="MET")
        if item.key == "q1":
            reviews.save_note(review, note="Odd.", flagged=True)
        reviews.submit(review, now=timezone.now())
        if item.key == "q2":
            revisions.revise(review, first.pk, choice="change", verdict="UNMET", reason="Read again.")
    queues.close_queue(queue, by=people.ed)
    rows = [f"{key},concise,ann,UNMET" for key in KEYS]
    data = "\n".join(["item_id,criterion,rater,verdict", *rows]).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    item = dataset.items.get(key="q3")
    for verdict in ("CANNOT_ASSESS", "UNMET"):
        adjudications.adjudicate(
            item, first, by=people.rae, verdict=verdict, cause="human_wrong", reason="It is not."
        )
    then = timezone.now() - LAST_YEAR
    Review.objects.update(started_at=then, submitted_at=then)
    Judgement.objects.update(created_at=then)
    Revision.objects.update(revised_at=then)
    Adjudication.objects.update(decided_at=then)
    return dataset


def halves(people: Cast, dataset: Dataset) -> list[Dataset]:
    made = splits.split_dataset(dataset, n_dev=2, by=people.ed)
    return [made.dev, made.test]


def parts_of(people: Cast, dataset: Dataset) -> tuple[AskedPart, ...]:
    """The dataset, and another that has one item and no labels."""
    other = factories.dataset(
        people.team, people.ed, items=[{"id": "x", "prompt": "x?", "submission": "x."}], name="other"
    )
    return AskedPart(dataset, "a@1"), AskedPart(other, "a@2")


def combined(people: Cast, dataset: Dataset) -> list[Dataset]:
    request = plans.CombinationRequest(name="Both", parts=parts_of(people, dataset))
    found = combinations.start(people.team, request, by=people.ed, enqueue=None)
    found = combinations.work(found.pk, worker="w", now=timezone.now)
    assert found.dataset is not None, found.message
    return [found.dataset]


def said(people: Cast, *datasets: Dataset) -> dict[str, Counter[tuple[object, ...]]]:
    """What exports of these datasets say, of whichever item."""
    found: dict[str, Counter[tuple[object, ...]]] = {}
    for dataset in datasets:
        several: list[ReviewQueue] = list(labelled_queues(dataset.pk, team=dataset.team))
        made = {
            format: exports.export(
                people.team,
                viewer=people.bob,
                what="verdicts",
                format=format,
                dataset=dataset,
                queues=several,
            ).chunks
            for format in ("jsonl", "bundle")
        }
        rows = [json.loads(line) for line in "".join(map(str, made["jsonl"])).splitlines()]
        bundle = read_bundle(b"".join(piece for piece in made["bundle"] if isinstance(piece, bytes)))
        told = ("rater", "criterion", "verdict", "final_verdict", "origin", "recorded_at")
        both = {
            "labels": [tuple(row[name] for name in told) for row in rows],
            "decided": [(one.adjudicator, one.verdict, one.recorded_at) for one in bundle.adjudications],
            "notes": [(one.rater, one.note, one.flagged, one.recorded_at) for one in bundle.notes],
            "behind": [
                (label["rater"], label["verdict"], label["origin"])
                for item in bundle.dataset.items
                for one in item.ground_truth_provenance or ()
                for label in (one.labels if one else ())
            ],
        }
        for name, several_rows in both.items():
            found.setdefault(name, Counter()).update(several_rows)
    return found


@pytest.mark.parametrize("copied", [halves, combined])
def test_copies_say_the_same_as_the_original(people: Cast, original: Dataset, copied) -> None:
    before = said(people, original)
    # Four items by two criteria.
    assert before["labels"].total() == 8
    assert (before["decided"].total(), before["notes"].total()) == (1, 1)
    assert said(people, *copied(people, original)) == before
    decided = Adjudication.objects.exclude(item__dataset=original).get()
    before_it = adjudications.withdraw(decided.item, decided.criterion, by=people.rae)
    assert before_it is not None
    assert (before_it.verdict, before_it.queue) == ("CANNOT_ASSESS", None)
    [queue] = labelled_queues(original.pk, team=original.team).filter(imported=False)
    assert {row.revised_at for row in Revision.objects.all()} == {queue.reviews.all()[0].submitted_at}


def test_of_two_labels_of_one_rater_the_last_comes_along_with_the_notes_of_both(
    people: Cast, version: RubricVersion
) -> None:
    items = [{"id": key, "prompt": f"{key}?", "submission": f"{key}."} for key in ("q0", "q1")]
    dataset = factories.dataset(people.team, people.ed, items=items)
    item, first = dataset.items.get(key="q0"), version.criteria.order_by("position")[0]
    for verdict, note in (("MET", "Odd."), ("UNMET", "Clear.")):
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            criteria=["capital"],
            name=f"queue {verdict}",
        )
        review = queues.start_review(queue, item, people.ann)
        reviews.save_verdict(review, first.pk, verdict=verdict)
        reviews.save_note(review, note=note, flagged=verdict == "MET")
        reviews.submit(review, now=timezone.now())
        revisions.revise(review, first.pk, choice="keep")
        queues.close_queue(queue, by=people.ed)
    # Two more by ann, from files: the last of them is a review of its own.
    for number, verdict in enumerate(("MET", "UNMET")):
        data = f"item_id,criterion,rater,verdict\nq0,concise,ann,{verdict}\n".encode()
        factories.import_labels(dataset, version, by=people.ed, data=data, filename=f"{number}.csv")
    request = plans.CombinationRequest(name="Both", parts=parts_of(people, dataset))
    plan = plans.plan(people.team, request, viewer=people.ed)
    # Of two labels on each of two criteria one comes along.
    assert (plan.labels, plan.reviews, plan.revisions) == (2, 2, 1)
    assert plan.stays == ("2 earlier labels where a rater gave several",)
    found = combinations.start(people.team, request, by=people.ed, enqueue=None)
    copy = combinations.work(found.pk, worker="w", now=timezone.now).dataset
    stored = Judgement.objects.filter(review__queue__dataset=copy)
    assert set(stored.values_list("criterion__name", "verdict")) == {
        ("capital", "UNMET"),
        ("concise", "UNMET"),
    }
    assert (stored.count(), Revision.objects.filter(judgement__in=stored).count()) == (2, 1)
    copied = Review.objects.filter(queue__dataset=copy).order_by("imported")
    assert list(copied.values_list("note", "flagged")) == [("Odd.\n\nClear.", True), ("", False)]
