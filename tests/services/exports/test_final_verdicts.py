"""What people said after the reveal, quoted and noted leaves the house with their first verdicts."""

import csv
import io
import json

import pytest
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.errors import Conflict
from rubricweb.models import Dataset, ReviewQueue, Revision, User
from rubricweb.selectors.labels.ground_truth import ground_truth, labels
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


def again(people: Cast, queue: ReviewQueue, dataset: Dataset, data: bytes, format: str) -> ReviewQueue:
    given = {"by": people.ed, "data": data, "filename": f"back.{format}"}
    return factories.import_labels(dataset, queue.rubric_version, **given)


def test_both_verdicts_are_told(people: Cast, queue: ReviewQueue) -> None:
    table = list(csv.DictReader(io.StringIO(exported(people, queue, "csv").decode())))
    assert list(table[0])[-5:-3] == ["final_verdict", "final_reason"]
    lines = [json.loads(line) for line in exported(people, queue, "jsonl").splitlines()]
    told = ("rater", "verdict", "final_verdict", "final_reason")
    for rows, nothing in ((table, ""), (lines, None)):
        assert [tuple(row[name] for name in told) for row in rows] == [
            ("Ann", "MET", "UNMET", "Not the capital."),
            ("Rae", "UNMET", nothing, nothing),
        ]


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_read_again_each_verdict_counts_as_it_did(people: Cast, queue: ReviewQueue, format: str) -> None:
    [truth] = ground_truth([queue]).values()
    assert (truth.verdict, truth.rule) == ("UNMET", "unanimous")
    # Elsewhere, where nobody has said it before.
    items = [{"id": "a", "submission": "In Paris."}]
    dataset = factories.dataset(people.team, people.ed, items=items, name="elsewhere")
    back = again(people, queue, dataset, exported(people, queue, format), format)
    [truth] = ground_truth([back]).values()
    assert (truth.verdict, truth.rule) == ("UNMET", "unanimous")
    # Agreement and comparisons are made of these: what ann said before the reveal.
    names = {rater.pk: rater.name for rater in back.raters.all()}
    [before] = labels([back]).values()
    assert {names[rater]: label for rater, label in before.items()} == {"Ann": "MET", "Rae": "UNMET"}
    said = ("verdict", "reason", "revision__choice", "revision__verdict", "revision__reason")
    given = back.reviews.values_list("rater__name", *(f"judgements__{name}" for name in said))
    assert set(given) == {
        ("Ann", "MET", "At first.", "change", "UNMET", "Not the capital."),
        ("Rae", "UNMET", "At first.", None, None, None),
    }
    with pytest.raises(Conflict, match="imported before"):
        again(people, queue, dataset, exported(people, queue, format), format)


def test_a_change_without_a_reason_is_read_and_known_the_next_time(people: Cast, queue: ReviewQueue) -> None:
    data = b"item_id,criterion,rater,verdict,final_verdict\na,capital,Ann,MET,UNMET\n"
    back = again(people, queue, queue.dataset, data, "csv")
    [revision] = Revision.objects.filter(judgement__review__queue=back)
    assert (revision.verdict, revision.reason) == ("UNMET", "No reason given.")
    # Beside her own blind label the newest one counts: it is blind as well.
    assert {label for by_rater in labels([queue, back]).values() for label in by_rater.values()} == {
        "MET",
        "UNMET",
    }
    with pytest.raises(Conflict, match="imported before"):
        again(people, queue, queue.dataset, data, "csv")


def test_a_bundle_holds_final_verdicts_places_and_notes(people: Cast, queue: ReviewQueue) -> None:
    bundle = read_bundle(exported(people, queue, "bundle"))
    [ann, rae] = bundle.judgements
    assert (ann.verdict, ann.final_verdict, ann.final_reason) == ("MET", "UNMET", "Not the capital.")
    assert (rae.verdict, rae.final_verdict, rae.evidence) == ("UNMET", None, ())
    assert ann.evidence == (PLACE,)
    [note] = bundle.notes
    assert (note.item_id, note.rater, note.queue) == ("a", "Ann", queue.name)
    assert (note.note, note.flagged) == ("An odd answer.", True)
