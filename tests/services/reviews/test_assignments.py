"""Places: kept while somebody is heard of, freed by silence, taken again where there is room."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict
from rubricweb.models import QueueItem, QueueState, Review, ReviewQueue, ReviewState, User
from rubricweb.services.grading.workers import reaper
from rubricweb.services.reviews import assignments, queue_changes, queues, reviews
from tests import factories
from tests.factories import Cast, WakeUps


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """One item with a place for one person."""
    return factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=factories.ITEMS[:1]),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann, people.rae],
    )


def taken(queue: ReviewQueue, user: User, now: datetime) -> Review:
    review = queues.next_review(queue, user, now=now)
    assert review is not None
    return review


def room(queue: ReviewQueue) -> int:
    return QueueItem.objects.get(queue=queue).room


def test_a_place_is_kept_for_as_long_as_the_queue_says_from_the_last_sign(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    review = taken(queue, people.ann, now)
    assert review.held_until == now + timedelta(minutes=30)
    later = now + timedelta(minutes=29)
    assert assignments.hear_from(review, now=later)
    assert Review.objects.get(pk=review.pk).held_until == later + timedelta(minutes=30)
    assert queues.next_review(queue, people.rae, now=now + timedelta(minutes=58)) is None
    assert queues.next_review(queue, people.rae, now=now + timedelta(minutes=60)) is not None


def test_a_sweep_frees_the_places_of_silent_drafts_and_keeps_the_drafts(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    review = taken(queue, people.ann, now)
    criterion = reviews.criteria_of(review)[0]
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    Review.objects.update(held_until=now + timedelta(minutes=30))
    reaper.reap(enqueue=WakeUps(), now=now + timedelta(minutes=30))
    assert room(queue) == 0
    reaper.reap(enqueue=WakeUps(), now=now + timedelta(minutes=31))
    assert room(queue) == 1
    review.refresh_from_db()
    assert (review.state, review.holds_place, review.judgements.count()) == (ReviewState.DRAFT, False, 1)
    reaper.reap(enqueue=WakeUps(), now=now + timedelta(minutes=32))
    assert room(queue) == 1


def test_a_lost_place_is_taken_again_while_there_is_room_and_not_when_others_filled_it(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    mine = taken(queue, people.ann, now)
    away = now + timedelta(hours=1)
    assignments.release_silent([queue], now=away)
    assert assignments.hear_from(mine, now=away)
    assert room(queue) == 0
    away += timedelta(hours=1)
    theirs = taken(queue, people.rae, away)
    assert theirs.item_id == mine.item_id
    assert not assignments.hear_from(mine, now=away)
    assert room(queue) == 0
    for criterion in reviews.criteria_of(mine):
        reviews.save_verdict(mine, criterion.pk, verdict=Verdict.MET)
    with pytest.raises(Conflict, match="others reviewed"):
        reviews.submit(mine, now=away)
    assert Review.objects.get(pk=mine.pk).judgements.count() == 3


def test_a_heartbeat_of_a_submitted_review_changes_nothing(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    review = taken(queue, people.ann, now)
    late = Review.objects.get(pk=review.pk)  # as another tab of the same person has it
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    reviews.submit(review, now=now)
    assert assignments.hear_from(late, now=now)
    assert not assignments.take_again(Review.objects.get(pk=review.pk), now=now)
    stored = Review.objects.get(pk=review.pk)
    assert (stored.state, stored.held_until, room(queue)) == (ReviewState.SUBMITTED, None, 0)


def test_the_open_page_of_somebody_taken_out_of_the_queue_takes_no_place_again(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    review = taken(queue, people.ann, now)
    before = Review.objects.get(pk=review.pk)
    queue_changes.reassign_queue(queue, by=people.ed, remove=[people.ann])
    for page in (before, Review.objects.get(pk=review.pk)):
        assert not assignments.hear_from(page, now=now)
    assert room(queue) == 1
    assert taken(queue, people.rae, now).item_id == review.item_id


def test_a_note_and_a_flag_that_are_said_at_once_are_both_kept(
    people: Cast, queue: ReviewQueue, now: datetime
) -> None:
    review = taken(queue, people.ann, now)
    one, other = (Review.objects.get(pk=review.pk) for _ in range(2))
    reviews.save_note(one, flagged=True)
    reviews.save_note(other, note="typed")
    reviews.save_seconds(one, 60)
    reviews.save_seconds(other, 30)
    review.refresh_from_db()
    assert (review.flagged, review.note, review.seconds) == (True, "typed", 60)


def test_no_place_runs_out_while_the_queue_is_paused(people: Cast, queue: ReviewQueue, now: datetime) -> None:
    review = taken(queue, people.ann, now)
    ReviewQueue.objects.update(state=QueueState.PAUSED)
    later = now + timedelta(days=1)
    assert assignments.release_silent([queue], now=later) == 0
    assert assignments.hear_from(review, now=later)
    assert Review.objects.get(pk=review.pk).held_until == now + timedelta(minutes=30)
    ReviewQueue.objects.update(state=QueueState.OPEN)
    assignments.renew_all(queue, now=later)
    assert assignments.release_silent([queue], now=later + timedelta(minutes=29)) == 0
    assert assignments.release_silent([queue], now=later + timedelta(minutes=31)) == 1


# ── Over the page and the API ────────────────────────────────────────────────────────────────────


def test_the_page_says_that_its_reader_is_there(people: Cast, queue: ReviewQueue, sign_in) -> None:
    review = taken(queue, people.ann, timezone.now())
    Review.objects.update(held_until=timezone.now())
    url = f"/t/{people.team.slug}/reviews/{review.pk}/heartbeat/"
    said = sign_in(people.ann).post(url).json()
    assert said["holds_place"]
    assert datetime.fromisoformat(said["held_until"]) > timezone.now() + timedelta(minutes=29)
    assert sign_in(people.rae).post(url).status_code == 404
    assert sign_in(people.bob).post(url).status_code == 403
