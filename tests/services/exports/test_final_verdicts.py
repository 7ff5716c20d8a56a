"""What people said after the reveal, quoted and noted leaves the house with their first verdicts."""

import csv
import io
import json

import pytest
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.models import ReviewQueue, User
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.services import exports
from rubricweb.services.reviews import queues, reviews, revisions
from rubricweb.services.reviews.evidence import Span
from tests import factories
from tests.factories import Cast

PLACE = {"field": "submission", "start": 3, "end": 8, "text": "Paris"}


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """rae said UNMET; ann quoted, said MET at first, and after the reveal UNMET."""
    items = [{"id": "a", "submission": "In Paris."}, {"id": "b", "submission": "In Lyon."}]
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=items),
        rubric_version=factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1]),
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    said(queue, people.rae, "UNMET")
    review = said(queue, people.ann, "MET")
    criterion = reviews.criteria_of(review).get()
    revisions.revise(review, criterion.pk, choice="change", verdict="UNMET", reason="Not the capital.")
    return queue


def said(queue: ReviewQueue, rater: User, verdict: str):
    review = queues.start_review(queue, queue.dataset.items.get(key="a"), rater)
    evidence = [Span(**PLACE)] if verdict == "MET" else None
    criterion = reviews.criteria_of(review).get()
    reviews.save_verdict(review, criterion.pk, verdict=verdict, reason="At first.", evidence=evidence)
    if verdict == "MET":
        reviews.save_note(review, note="An odd answer.", flagged=True)
    reviews.submit(review, now=timezone.now())
    return review


def exported(people: Cast, queue: ReviewQueue, format: str) -> bytes:
    made = exports.export(
        people.team, viewer=people.bob, what="verdicts", format=format, dataset=queue.dataset, queues=[queue]
    )
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in made.chunks)


def test_both_verdicts_are_told(people: Cast, queue: ReviewQueue) -> None:
    table = list(csv.DictReader(io.StringIO(exported(people, queue, "csv").decode())))
    assert list(table[0])[-2:] == ["final_verdict", "final_reason"]
    lines = [json.loads(line) for line in exported(people, queue, "jsonl").splitlines()]
    told = ("rater", "verdict", "final_verdict", "final_reason")
    for rows, nothing in ((table, ""), (lines, None)):
        assert [tuple(row[name] for name in told) for row in rows] == [
            ("Ann", "MET", "UNMET", "Not the capital."),
            ("Rae", "UNMET", nothing, nothing),
        ]


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_read_again_the_final_verdict_counts_as_in_ground_truth(
    people: Cast, queue: ReviewQueue, format: str
) -> None:
    [truth] = ground_truth([queue]).values()
    assert (truth.verdict, truth.rule) == ("UNMET", "unanimous")
    # Elsewhere, where nobody has said it before.
    items = [{"id": "a", "submission": "In Paris."}]
    dataset = factories.dataset(people.team, people.ed, items=items, name="elsewhere")
    back = reviews.import_labels(
        dataset,
        queue.rubric_version,
        by=people.ed,
        data=exported(people, queue, format),
        filename=f"back.{format}",
    )
    [truth] = ground_truth([back]).values()
    assert (truth.verdict, truth.rule) == ("UNMET", "unanimous")
    given = back.reviews.values_list("rater__name", "judgements__verdict", "judgements__reason")
    assert set(given) == {("Ann", "UNMET", "Not the capital."), ("Rae", "UNMET", "At first.")}


def test_a_bundle_holds_final_verdicts_places_and_notes(people: Cast, queue: ReviewQueue) -> None:
    bundle = read_bundle(exported(people, queue, "bundle"))
    [ann, rae] = bundle.judgements
    assert (ann.verdict, ann.final_verdict, ann.final_reason) == ("MET", "UNMET", "Not the capital.")
    assert (rae.verdict, rae.final_verdict, rae.evidence) == ("UNMET", None, ())
    assert ann.evidence == (PLACE,)
    [note] = bundle.notes
    assert (note.item_id, note.rater, note.queue) == ("a", "Ann", queue.name)
    assert (note.note, note.flagged) == ("An odd answer.", True)
