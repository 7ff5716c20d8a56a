"""Gold items and calibration at the interface a browser uses, without its script."""

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Calibration, Review, ReviewQueue
from rubricweb.services.reviews import calibration, queues, reviews
from tests import factories
from tests.api.reviews.test_calibration import KNOWN
from tests.factories import Cast


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Three items for ann and rae; the labels of the first two are known, all MET."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    factories.import_labels(dataset, version, by=people.ed, data=KNOWN.encode(), filename="known.csv")
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )


@pytest.fixture
def asked(people: Cast, queue: ReviewQueue) -> ReviewQueue:
    calibration.mark_gold(queue, by=people.ed, at_random=2)
    calibration.set_rules(queue, by=people.ed, calibration_items=1, pass_mark=0.8, extra_rater_below=None)
    return queue


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def submit_next(people: Cast, client, queue: ReviewQueue, verdict: str):
    """ann's next item through its form, every criterion the same; the answer after all redirects."""
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    data = {f"verdict_{criterion.pk}": verdict for criterion in reviews.criteria_of(review)}
    return client.post(url("review_submit", people, review.pk), data | {"action": "submit"}, follow=True)


def test_an_editor_marks_gold_and_sets_the_rules(people: Cast, queue: ReviewQueue, sign_in) -> None:
    ed = sign_in(people.ed)
    page = ed.get(url("queue_gold", people, queue.pk))
    assert "2 more items could be gold" in page.content.decode()
    page = ed.post(url("queue_gold_mark", people, queue.pk), {"keys": "good\nbad\n"}, follow=True)
    assert "2 more items are gold." in page.content.decode()
    sent = {"calibration_items": "2", "pass_mark": "75", "extra_rater_below": "50"}
    ed.post(url("queue_gold_rules", people, queue.pk), sent)
    queue.refresh_from_db()
    assert (queue.calibration_items, queue.pass_mark, queue.extra_rater_below) == (2, 0.75, 0.5)
    # An older page, on which two came first and there were no marks, takes none away.
    shown = {"initial-calibration_items": "2", "initial-pass_mark": "", "initial-extra_rater_below": ""}
    older = shown | {"calibration_items": "1", "pass_mark": "", "extra_rater_below": ""}
    ed.post(url("queue_gold_rules", people, queue.pk), older)
    queue.refresh_from_db()
    assert (queue.calibration_items, queue.pass_mark, queue.extra_rater_below) == (1, 0.75, 0.5)
    form = ed.get(url("queue_gold", people, queue.pk)).context["rules"]
    assert form["pass_mark"].value() == "75"
    item = queue.dataset.items.get(key="bad")
    page = ed.post(url("queue_gold_unmark", people, queue.pk, item.pk), follow=True)
    assert "2 Paris lies in Belgium, I believe. is not gold any more" in page.content.decode()


@pytest.mark.parametrize(
    ("name", "sent", "words"),
    [
        ("queue_gold_mark", {"keys": "nowhere"}, "Not in First look: nowhere."),
        ("queue_gold_mark", {"keys": "empty-ish"}, "Gold items need a known label"),
        ("queue_gold_mark", {"at_random": "3"}, "3 cannot be drawn"),
        ("queue_gold_mark", {}, "Choose items"),
        ("queue_gold_rules", {"calibration_items": "1"}, "0 gold items; 1 cannot come first"),
        ("queue_gold_rules", {"calibration_items": "0", "pass_mark": "0"}, "more than 0"),
        ("queue_gold_rules", {"calibration_items": "0", "pass_mark": "101"}, "less than or equal to 100"),
    ],
)
def test_what_is_wrong_is_said_on_the_page(
    people: Cast, queue: ReviewQueue, sign_in, name: str, sent: dict[str, str], words: str
) -> None:
    page = sign_in(people.ed).post(url(name, people, queue.pk), sent)
    assert page.status_code == 422
    assert words in page.content.decode()


def test_who_is_below_the_mark_lands_where_it_is_said_and_goes_on_once_let(
    people: Cast, asked: ReviewQueue, sign_in
) -> None:
    ann, ed = sign_in(people.ann), sign_in(people.ed)
    page = submit_next(people, ann, asked, "UNMET").content.decode()
    assert Review.objects.get(rater__user=people.ann).state == "submitted"
    assert "0 of your 3 labels were right; the queue asks for 80%" in page
    assert page.count('aria-label="Wrong"') + page.count(">Wrong<") == 3
    row = Calibration.objects.get(queue=asked)
    assert "below the mark" in ed.get(url("queue_gold", people, asked.pk)).content.decode()
    ed.post(url("queue_try_again", people, asked.pk, row.rater_id))
    page = submit_next(people, ann, asked, "MET").content.decode()
    assert "I would rather not say." in page
    page = ann.get(url("my_calibration", people, asked.pk)).content.decode()
    assert "3 of your 3 labels were right" in page


def test_an_editor_lets_somebody_on_by_the_page(people: Cast, asked: ReviewQueue, sign_in) -> None:
    submit_next(people, sign_in(people.ann), asked, "UNMET")
    row = Calibration.objects.get(queue=asked)
    page = sign_in(people.ed).post(url("queue_let_on", people, asked.pk, row.rater_id), follow=True)
    assert "let on by Ed" in page.content.decode()
    assert submit_next(people, sign_in(people.ann), asked, "MET").status_code == 200


def test_no_page_tells_a_rater_which_items_are_gold(people: Cast, asked: ReviewQueue, sign_in) -> None:
    ann = sign_in(people.ann)
    review = queues.next_review(asked, people.ann, now=timezone.now())
    assert review is not None
    for name, ids in (
        ("queues", []),
        ("queue", [asked.pk]),
        ("review", [review.pk]),
        ("my_calibration", [asked.pk]),
        ("item", [review.item_id]),
    ):
        assert "gold" not in ann.get(url(name, people, *ids)).content.decode().lower(), name
    assert ann.get(url("queue_gold", people, asked.pk)).status_code == 403
    page = ann.get(url("my_calibration", people, asked.pk)).content.decode()
    assert "0 of 1" in page
    assert "Right and wrong" not in page


def test_a_mark_of_two_thirds_stays_one_when_other_rules_change(
    people: Cast, asked: ReviewQueue, sign_in
) -> None:
    calibration.set_rules(asked, by=people.ed, calibration_items=1, pass_mark=2 / 3, extra_rater_below=None)
    ed = sign_in(people.ed)
    form = ed.get(url("queue_gold", people, asked.pk)).context["rules"]
    shown = {name: form[name].value() for name in ("calibration_items", "pass_mark")}
    assert ed.post(url("queue_gold_rules", people, asked.pk), shown | {"extra_rater_below": "50"}).url
    asked.refresh_from_db()
    assert asked.extra_rater_below == 0.5
    # Two of the three labels of the round are right.
    review = queues.next_review(asked, people.ann, now=timezone.now())
    assert review is not None
    for place, criterion in enumerate(reviews.criteria_of(review)):
        reviews.save_verdict(review, criterion.pk, verdict="MET" if place else "UNMET")
    reviews.submit(review, now=timezone.now())
    row = Calibration.objects.get(queue=asked)
    assert (row.right, row.total, row.passed) == (2, 3, True)
