"""Evidence, reasons and times of a draft, and the item that is taken ahead."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.formats import verdicts_jsonl
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import Calibration, Criterion, Judgement, Review, ReviewQueue
from rubricweb.selectors.exports.exports import verdict_rows
from rubricweb.selectors.exports.label_lineage import counted_labels
from rubricweb.selectors.labels.reasons import labels_with_reason
from rubricweb.selectors.reviews.evidence import place_words, quotable_texts
from rubricweb.services.reviews import prefetch, queues, reviews
from rubricweb.services.reviews.evidence import Span
from rubricweb.services.reviews.reviews import SeenAnswer
from tests import factories
from tests.factories import Cast

TEXT = "🗼 Paris is the capital."
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Capital of France?"}, {"type": "image_url"}]},
]
ITEMS: list[dict[str, Any]] = [
    {"id": "one", "prompt": CHAT, "submission": TEXT, "reference": "Paris"},
    {"id": "two", "submission": '[{"role": "user", "content": "He said \\"yes\\""}]'},
    {"id": "three", "submission": "No."},
]
CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris."},
    {
        "name": "depth",
        "weight": 5,
        "requirement": "How deep?",
        "options": [
            {"label": "flat", "value": 0},
            {"label": "deep", "value": 1},
            {"label": "n/a", "na": True},
        ],
    },
]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice, items=ITEMS),
        rubric_version=factories.version(people.team, people.alice, criteria=CRITERIA),
        raters=[people.ann, people.rae],
    )


@pytest.fixture
def review(people: Cast, queue: ReviewQueue) -> Review:
    return queues.start_review(queue, queue.dataset.items.get(key="one"), people.ann)


def criterion(review: Review, name: str) -> int:
    return reviews.criteria_of(review).get(name=name).pk


def quote(review: Review, *spans: Span) -> Judgement | None:
    return reviews.save_verdict(review, criterion(review, "capital"), verdict="MET", evidence=spans)


PARIS = Span("submission", 2, 7, "Paris")  # the tower is one character, the blank another


def test_the_places_of_an_item_have_names(queue: ReviewQueue) -> None:
    one, two, _ = queue.dataset.items.order_by("position")
    assert quotable_texts(one) == {
        "prompt[0]": "Be brief.",
        "prompt[1][0]": "Capital of France?",
        "reference": "Paris",
        "submission": TEXT,
    }
    assert quotable_texts(two) == {"submission[0]": 'He said "yes"'}
    assert [place_words(name) for name in ("submission", "prompt[1][0]")] == ["Submission", "Prompt, turn 2"]


def test_evidence_is_kept_with_the_verdict_in_its_order_and_once(review: Review) -> None:
    turn = Span("prompt[1][0]", 0, 7, "Capital")
    quote(review, turn, PARIS, turn)
    stored = Judgement.objects.get(review=review).evidence
    assert [(one["field"], one["start"], one["end"], one["text"]) for one in stored] == [
        ("prompt[1][0]", 0, 7, "Capital"),
        ("submission", 2, 7, "Paris"),
    ]
    reviews.save_verdict(review, criterion(review, "capital"), verdict="UNMET")
    assert Judgement.objects.get(review=review).evidence == stored  # left out is left as it is
    quote(review)
    assert Judgement.objects.get(review=review).evidence is None


@pytest.mark.parametrize(
    ("span", "place"),
    [
        (Span("submission", 3, 8, "Paris"), "evidence[1].text"),
        (Span("submission", 2, 2, ""), "evidence[1].start"),
        (Span("submission", 20, 99, "x"), "evidence[1].start"),
        (Span("submission", -5, 7, "Paris"), "evidence[1].start"),
        (Span("metadata", 0, 1, "x"), "evidence[1].field"),
        (Span("prompt[9]", 0, 1, "x"), "evidence[1].field"),
        (Span("thinking", 0, 1, "x"), "evidence[1].field"),
        (Span("submission[0].__class__", 0, 1, "x"), "evidence[1].field"),
    ],
)
def test_evidence_that_does_not_stand_there_is_refused_by_its_place(
    review: Review, span: Span, place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        quote(review, PARIS, span)
    assert [fault.place for fault in refused.value.faults] == [place]
    assert not Judgement.objects.filter(review=review).exists()


def test_twenty_places_are_enough(review: Review) -> None:
    spans = [Span("submission", at, at + 1, TEXT[at]) for at in range(21)]
    quote(review, *spans[:20])
    with pytest.raises(Invalid, match="at most 20"):
        quote(review, *spans)


def test_a_time_never_goes_back(review: Review) -> None:
    pk = criterion(review, "capital")
    for seconds in (12.5, 4.0, -1.0, float("nan")):
        reviews.save_verdict(review, pk, verdict="MET", seconds=seconds)
    assert Judgement.objects.get(review=review).seconds == 12.5
    reviews.save_seconds(review, 30.0)
    reviews.save_seconds(review, 20.0)
    review.refresh_from_db()
    assert review.seconds == 30.0


def test_an_answer_from_elsewhere_is_a_conflict_only_for_who_has_not_seen_it(review: Review) -> None:
    pk = criterion(review, "capital")
    nothing, unmet = SeenAnswer(None), SeenAnswer("UNMET", "Paris\nis not there.")
    reviews.save_verdict(review, pk, verdict="UNMET", reason="Paris\r\nis not there.")
    with pytest.raises(Conflict, match="capital was answered elsewhere meanwhile: UNMET"):
        reviews.save_verdict(review, pk, verdict="MET", known=[nothing])
    with pytest.raises(Conflict, match="capital was answered elsewhere meanwhile: UNMET"):
        reviews.save_verdict(review, pk, verdict="UNMET", reason="", known=[nothing, SeenAnswer("UNMET")])
    reviews.save_verdict(review, pk, verdict="UNMET", known=[nothing])  # the same: sent twice
    reviews.save_verdict(review, pk, verdict="MET", known=[nothing, unmet])
    reviews.save_verdict(review, pk, verdict="CANNOT_ASSESS")  # who says nothing of it wins
    assert Judgement.objects.get(review=review).verdict == "CANNOT_ASSESS"


def test_a_penalty_needs_a_reason_where_the_error_is_present() -> None:
    penalty = Criterion(name="insults", weight=-2.0, requirement="Insults.", kind="binary", options=[])
    assert labels_with_reason(penalty, "unmet") == ["MET"]
    merit = Criterion(name="names", weight=0.0, requirement="Names.", kind="binary", options=[])
    assert labels_with_reason(merit, "unmet") == ["UNMET"]
    steps = [
        {"label": "none", "value": 0.0},
        {"label": "some", "value": 0.5},
        {"label": "much", "value": 1.0},
    ]
    graded = Criterion(
        name="waffle", weight=-1.0, requirement="Waffles?", kind="choice", options=steps, scale_type="ordinal"
    )
    assert labels_with_reason(graded, "unmet") == ["much"]


@pytest.mark.parametrize(
    ("rule", "capital", "depth", "without"),
    [
        ("never", "UNMET", "flat", []),
        ("unmet", "MET", "deep", []),
        ("unmet", "CANNOT_ASSESS", "n/a", []),
        ("unmet", "UNMET", "flat", ["capital", "depth"]),
        ("always", "MET", "n/a", ["capital", "depth"]),
    ],
)
def test_the_queue_says_which_labels_need_a_reason(
    review: Review, queue: ReviewQueue, rule: str, capital: str, depth: str, without: list[str]
) -> None:
    queue.rationale = rule
    queue.save()
    review.queue = queue
    reviews.save_verdict(review, criterion(review, "capital"), verdict=capital, reason=" ")
    reviews.save_verdict(review, criterion(review, "depth"), verdict=depth)
    if without:
        with pytest.raises(Invalid, match="2 criteria still need a reason") as refused:
            reviews.submit(review, now=timezone.now())
        assert [fault.place for fault in refused.value.faults] == without
        for name in without:
            reviews.save_reason(review, criterion(review, name), reason="Because.")
    reviews.submit(review, now=timezone.now())
    assert review.state == "submitted"


# ── Taking the next one ahead ────────────────────────────────────────────────────────────────────


def room(queue: ReviewQueue, key: str) -> int:
    return queue.queue_items.get(item__key=key).room


def test_one_item_is_taken_ahead_and_no_more(queue: ReviewQueue, review: Review) -> None:
    first = prefetch.prefetch_next(review, now=timezone.now())
    assert first is not None
    assert (first.item.key, room(queue, "two"), room(queue, "three")) == ("two", 0, 1)
    assert prefetch.prefetch_next(review, now=timezone.now()) == first
    assert Review.objects.filter(queue=queue).count() == 2


def test_what_was_taken_ahead_comes_next_and_is_given_back_untouched(
    people: Cast, queue: ReviewQueue, review: Review
) -> None:
    first = prefetch.prefetch_next(review, now=timezone.now())
    assert first is not None
    reviews.skip(review, reason="Not mine.")
    assert queues.next_review(queue, people.ann, now=timezone.now()) == first
    assert prefetch.give_back_untouched(first)
    assert room(queue, "two") == 1
    assert not Review.objects.filter(pk=first.pk).exists()
    assert not prefetch.give_back_untouched(first)  # sent twice


def test_a_draft_in_which_something_was_said_is_not_given_back(queue: ReviewQueue, review: Review) -> None:
    first = prefetch.prefetch_next(review, now=timezone.now())
    assert first is not None
    reviews.save_note(first, flagged=True)
    assert not prefetch.give_back_untouched(first)
    assert room(queue, "two") == 0


def test_a_draft_whose_sheet_was_opened_is_not_given_back(queue: ReviewQueue, review: Review) -> None:
    first = prefetch.prefetch_next(review, now=timezone.now())
    assert first is not None
    prefetch.mark_opened(first)
    assert not prefetch.give_back_untouched(first)
    assert room(queue, "two") == 0


def test_a_draft_that_was_just_given_back_is_not_opened(queue: ReviewQueue, review: Review) -> None:
    first = prefetch.prefetch_next(review, now=timezone.now())
    assert first is not None
    assert prefetch.give_back_untouched(Review.objects.get(pk=first.pk))
    with pytest.raises(NotFound):
        prefetch.mark_opened(first)


def test_nothing_is_taken_ahead_of_a_calibration_round(
    people: Cast, queue: ReviewQueue, review: Review
) -> None:
    queue.calibration_items = 1
    queue.save()
    review.queue = queue
    assert prefetch.prefetch_next(review, now=timezone.now()) is None
    Calibration.objects.create(queue=queue, rater=review.rater, passed=True)
    assert prefetch.prefetch_next(review, now=timezone.now()) is not None


def test_exports_of_verdicts_carry_the_places(people: Cast, queue: ReviewQueue, review: Review) -> None:
    quote(review, PARIS)
    reviews.save_verdict(review, criterion(review, "depth"), verdict="deep")
    reviews.submit(review, now=timezone.now())
    rows = verdict_rows(queue.dataset, [queue], None, counted_labels([queue], None))
    lines = [json.loads(line) for line in verdicts_jsonl(rows)]
    assert [(line["criterion"], line["evidence"]) for line in lines] == [
        ("capital", [{"field": "submission", "start": 2, "end": 7, "text": "Paris"}]),
        ("depth", []),
    ]
