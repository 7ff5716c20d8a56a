"""What may happen to a queue after it was opened, and that nothing of anybody's work is lost by it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import (
    Dataset,
    JournalEntry,
    Judgement,
    QueueItem,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    RubricVersion,
    User,
)
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.queues import queue_pace, queue_progress, rater_progress
from rubricweb.services.reviews import assignments, calibration, queue_changes, queues, reviews
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, version: RubricVersion) -> ReviewQueue:
    """good, bad and empty-ish, one person each, for ann and rae."""
    return factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
    )


def taken(queue: ReviewQueue, user: User) -> Review:
    review = queues.next_review(queue, user, now=timezone.now())
    assert review is not None
    return review


def answered(review: Review) -> Review:
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    return review


def submitted(queue: ReviewQueue, user: User) -> Review:
    review = answered(taken(queue, user))
    reviews.submit(review, now=timezone.now())
    return review


def rooms(queue: ReviewQueue) -> dict[str, tuple[int, int]]:
    """Item → (wanted, room)."""
    return {
        key: (wanted, room)
        for key, wanted, room in queue.queue_items.order_by("position").values_list(
            "item__key", "wanted", "room"
        )
    }


def said(queue: ReviewQueue) -> list[str]:
    entries = JournalEntry.objects.filter(target_kind="reviewqueue", target_id=queue.pk)
    return list(entries.order_by("pk").values_list("verb", flat=True))


# ── Pauses ───────────────────────────────────────────────────────────────────────────────────────


def test_a_paused_queue_takes_nothing_in_and_loses_nothing(people: Cast, queue: ReviewQueue) -> None:
    review = answered(taken(queue, people.ann))
    assert queue_changes.pause_queue(queue, by=people.ed)
    assert not queue_changes.pause_queue(queue, by=people.ed)
    assert queue.state == QueueState.PAUSED
    review = Review.objects.get(pk=review.pk)
    for refused in (
        lambda: answered(review),
        lambda: reviews.submit(review, now=timezone.now()),
        lambda: taken(queue, people.rae),
    ):
        with pytest.raises(Conflict, match="paused"):
            refused()
    later = timezone.now() + timedelta(days=2)
    assert assignments.release_silent([queue], now=later) == 0  # nobody can be heard of meanwhile
    assert queue_changes.resume_queue(queue, by=people.ed)
    review = Review.objects.get(pk=review.pk)
    assert (review.state, review.holds_place, review.judgements.count()) == (ReviewState.DRAFT, True, 3)
    reviews.submit(review, now=timezone.now())
    assert said(queue) == ["opened", "paused", "resumed"]


def test_a_closed_queue_opens_again_with_what_came_into_the_dataset(
    people: Cast, queue: ReviewQueue, dataset: Dataset
) -> None:
    review = answered(taken(queue, people.ann))
    queues.close_queue(queue, by=people.ed)
    assert not hidden_items(people.ann, people.team).exists()
    line = b'{"id": "late", "submission": "Paris, at last."}'
    factories.add_items(dataset, by=people.ed, data=line, filename="late.jsonl")
    assert "late" not in rooms(queue)
    assert queue_changes.reopen_queue(queue, by=people.ed)
    assert not queue_changes.reopen_queue(queue, by=people.ed)
    assert hidden_items(people.ann, people.team).count() == 4
    assert rooms(queue)["late"] == (1, 1)
    reviews.submit(Review.objects.get(pk=review.pk), now=timezone.now())


def test_a_queue_opens_again_for_those_who_may_review_by_then(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    everybody, chosen = (
        factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[] if everyone else [people.ann, people.rae],
            everyone=everyone,
            raters_per_item=1 if everyone else 2,
            name=f"Everyone: {everyone}",
        )
        for everyone in (True, False)
    )
    for queue in (everybody, chosen):
        taken(queue, people.rae)
        queues.close_queue(queue, by=people.ed)
    teams.add_member(people.team, factories.person("zoe"), Role.ANNOTATOR, by=people.alice)
    teams.change_role(people.team.memberships.get(user=people.rae), Role.VIEWER, by=people.alice)
    for queue, names, missing in ((everybody, {"Alice", "Ed", "Ann", "Zoe"}, 0), (chosen, {"Ann"}, 1)):
        assert queue_changes.reopen_queue(queue, by=people.ed)
        assert queue.people_missing() == missing
        assert {one.name for one in rater_progress(queue) if one.rates} == names
        # What rae had begun is others' to review.
        assert rooms(queue)["good"] == (queue.raters_per_item, queue.raters_per_item)
        with pytest.raises(Forbidden):
            taken(queue, people.rae)
    assert not hidden_items(people.rae, people.team).exists()
    entry = JournalEntry.objects.get(verb="reopened", target_id=everybody.pk)
    assert (entry.detail["added"], entry.detail["removed"]) == (["Zoe"], ["Rae"])


def test_labels_of_a_file_are_no_queue_to_open(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    data = b"item_id,criterion,rater,verdict,reason\ngood,capital,x,MET,\n"
    imported = factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    with pytest.raises(Conflict, match="came in a file"):
        queue_changes.reopen_queue(imported, by=people.ed)
    imported.refresh_from_db()
    assert imported.state == QueueState.CLOSED


# ── More items and more raters ───────────────────────────────────────────────────────────────────


def test_more_items_come_behind_the_others_and_only_once(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("filter", search="bad"),
    )
    submitted(queue, people.ann)
    more = Source("filter", search="o")  # good, and "I would rather not say."
    assert queue_changes.extend_queue(queue, by=people.ed, source=more) == 3 - 1
    assert rooms(queue) == {"bad": (1, 0), "good": (1, 1), "empty-ish": (1, 1)}
    with pytest.raises(Conflict, match="nothing was added"):
        queue_changes.extend_queue(queue, by=people.ed, source=more)
    assert taken(queue, people.ann).item.key == "good"


def test_a_queue_extended_by_all_items_is_about_the_whole_dataset(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("filter", search="bad"),
    )
    queue_changes.extend_queue(queue, by=people.ed, source=Source())
    line = b'{"id": "late", "submission": "Paris, at last."}'
    factories.add_items(dataset, by=people.ed, data=line, filename="late.jsonl")
    assert list(rooms(queue)) == ["bad", "good", "empty-ish", "late"]


def test_more_raters_per_item_make_room(people: Cast, queue: ReviewQueue) -> None:
    submitted(queue, people.ann)
    queue_changes.extend_queue(queue, by=people.ed, raters_per_item=2)
    assert rooms(queue) == {"good": (2, 1), "bad": (2, 2), "empty-ish": (2, 2)}
    assert taken(queue, people.rae).item.key == "good"
    with pytest.raises(Invalid, match="only become more"):
        queue_changes.extend_queue(queue, by=people.ed, raters_per_item=1)
    with pytest.raises(Invalid, match="2 were chosen"):
        queue_changes.extend_queue(queue, by=people.ed, raters_per_item=3)


def test_no_item_asks_for_more_people_than_there_are(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae, people.ed],
        raters_per_item=2,
    )
    calibration.set_rules(queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=1)
    for user, verdict in ((people.ann, Verdict.MET), (people.rae, Verdict.UNMET)):
        review = taken(queue, user)
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict=verdict)
        reviews.submit(review, now=timezone.now())
    # They differ: good gets one more rater.
    assert rooms(queue) == {"good": (3, 1), "bad": (2, 2), "empty-ish": (2, 2)}
    queue_changes.extend_queue(queue, by=people.ed, raters_per_item=3)
    assert rooms(queue) == {"good": (3, 1), "bad": (3, 3), "empty-ish": (3, 3)}
    for user in (people.ann, people.rae, people.ed):
        while queue_progress(queue, user).mine_left:
            submitted(queue, user)
    assert queue_progress(queue, people.ed).left == 0


def test_people_who_had_an_item_and_left_keep_their_places_in_it(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae, people.ed, people.alice],
        raters_per_item=1,
    )
    reviewers = (people.ann, people.rae, people.ed)
    QueueItem.objects.filter(queue=queue, item__key="good").update(wanted=3, room=3)
    for user in reviewers:
        submitted(queue, user)
    queue_changes.reassign_queue(queue, by=people.alice, remove=[people.rae, people.ed])
    queue_changes.extend_queue(queue, by=people.alice, raters_per_item=2)
    # Three had good already; two are left.
    assert rooms(queue) == {"good": (3, 0), "bad": (2, 2), "empty-ish": (2, 2)}


def test_a_closed_queue_is_not_extended(people: Cast, queue: ReviewQueue) -> None:
    queues.close_queue(queue, by=people.ed)
    with pytest.raises(Conflict, match="reopen"):
        queue_changes.extend_queue(queue, by=people.ed, raters_per_item=2)


# ── Other people ─────────────────────────────────────────────────────────────────────────────────


def test_who_is_taken_out_gives_places_back_and_keeps_drafts_to_read(
    people: Cast, queue: ReviewQueue
) -> None:
    done = submitted(queue, people.ann)
    draft = taken(queue, people.ann)
    queue_changes.reassign_queue(queue, by=people.alice, add=[people.ed], remove=[people.ann])
    assert rooms(queue) == {"good": (1, 0), "bad": (1, 1), "empty-ish": (1, 1)}
    draft.refresh_from_db()
    assert (draft.state, draft.holds_place) == (ReviewState.DRAFT, False)
    assert Judgement.objects.filter(review=done).count() == 3
    with pytest.raises(Conflict, match="no longer a rater"):
        answered(draft)
    with pytest.raises(Forbidden):
        taken(queue, people.ann)
    assert taken(queue, people.ed).item.key == "bad"
    assert [(one.name, one.submitted, one.expired, one.rates) for one in rater_progress(queue)] == [
        ("Ann", 1, 1, False),
        ("Ed", 0, 0, True),
        ("Rae", 0, 0, True),
    ]
    assert said(queue)[-1] == "changed the people of"


def test_too_few_people_are_never_left(people: Cast, queue: ReviewQueue) -> None:
    queue_changes.extend_queue(queue, by=people.ed, raters_per_item=2)
    with pytest.raises(Invalid, match="1 would be left"):
        queue_changes.reassign_queue(queue, by=people.ed, remove=[people.ann])
    assert {one.name for one in rater_progress(queue) if one.rates} == {"Ann", "Rae"}
    with pytest.raises(Invalid, match="Bob cannot"):
        queue_changes.reassign_queue(queue, by=people.ed, add=[people.bob])


def test_a_queue_of_everyone_takes_in_who_joins_and_who_may_review_from_now_on(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[], everyone=True
    )
    assert {one.name for one in rater_progress(queue)} == {"Alice", "Ed", "Rae", "Ann"}
    teams.add_member(people.team, factories.person("zoe"), Role.ANNOTATOR, by=people.alice)
    teams.add_member(people.team, factories.person("vic"), Role.VIEWER, by=people.alice)
    teams.change_role(people.team.memberships.get(user=people.bob), Role.ANNOTATOR, by=people.alice)
    assert {one.name for one in rater_progress(queue)} == {"Alice", "Ed", "Rae", "Ann", "Zoe", "Bob"}
    queues.close_queue(queue, by=people.ed)
    teams.add_member(people.team, factories.person("late"), Role.ANNOTATOR, by=people.alice)
    assert "Late" not in {one.name for one in rater_progress(queue)}


def test_words_change_and_names_stay_unique(people: Cast, queue: ReviewQueue, dataset, version) -> None:
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Taken"
    )
    queue_changes.edit_queue(queue, by=people.ed, name=" Second look ", hold_minutes=5)
    assert (queue.name, queue.hold_minutes) == ("Second look", 5)
    with pytest.raises(Conflict, match="'Taken'"):
        queue_changes.edit_queue(queue, by=people.ed, name="Taken")
    with pytest.raises(Invalid, match="1 to 10080 minutes"):
        queue_changes.edit_queue(queue, by=people.ed, hold_minutes=0)
    assert said(queue) == ["opened", "changed"]


# ── How far it is ────────────────────────────────────────────────────────────────────────────────


def test_pace_is_the_median_of_the_newest_reviews(people: Cast, queue: ReviewQueue) -> None:
    queue_changes.extend_queue(queue, by=people.ed, raters_per_item=2)
    for seconds in (60, 120, 600):
        review = submitted(queue, people.ann)
        Review.objects.filter(pk=review.pk).update(seconds=seconds)
    progress = queue_progress(queue, people.rae)
    assert (progress.wanted, progress.submitted, progress.left, progress.mine_left) == (6, 3, 3, 3)
    [ann, rae] = rater_progress(queue)
    assert (ann.seconds, rae.seconds) == (120, None)
    pace = queue_pace(queue, progress, people.rae)
    assert (pace.left, pace.mine_left) == (3 * 120, None)


def test_what_a_program_submits_at_once_is_nobodys_pace(people: Cast, queue: ReviewQueue) -> None:
    """Three without a time, submitted as they were started; then one second each."""
    mine = [submitted(queue, people.ann) for _ in range(3)]
    assert rater_progress(queue)[0].seconds is None
    for review in mine:
        later = review.started_at + timedelta(seconds=1)
        Review.objects.filter(pk=review.pk).update(submitted_at=later)
    assert rater_progress(queue)[0].seconds == 1


def test_a_silent_draft_is_said_to_have_lost_its_place(people: Cast, queue: ReviewQueue) -> None:
    review = taken(queue, people.ann)
    assert queue_progress(queue, people.ann).expired == 0
    Review.objects.filter(pk=review.pk).update(held_until=timezone.now() - timedelta(seconds=1))
    progress = queue_progress(queue, people.ann)
    assert (progress.drafts, progress.expired, progress.mine_left) == (1, 1, 3)


def test_no_draft_is_said_to_have_lost_its_place_while_nothing_is_released(
    people: Cast, queue: ReviewQueue
) -> None:
    review = taken(queue, people.ann)
    Review.objects.filter(pk=review.pk).update(held_until=timezone.now() - timedelta(days=1))
    for change in (queue_changes.pause_queue, queues.close_queue):
        change(queue, by=people.ed)
        assert queue_progress(queue, people.ann).expired == 0
        assert [one.expired for one in rater_progress(queue)] == [0, 0]


def test_left_for_me_leaves_out_what_i_had_and_what_is_full(people: Cast, queue: ReviewQueue) -> None:
    submitted(queue, people.rae)
    reviews.skip(taken(queue, people.ann), reason="Mine.")
    # good is full, bad was skipped and has room for others, empty-ish is left.
    assert queue_progress(queue, people.ann).mine_left == 1
    assert queue_progress(queue, people.rae).mine_left == 2


@pytest.mark.parametrize("removed", [True, False])
def test_nothing_waits_for_who_leaves_the_team_or_may_review_no_more(
    people: Cast, dataset: Dataset, version: RubricVersion, removed: bool
) -> None:
    queue, closed = (
        factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann, people.rae],
            name=name,
        )
        for name in ("Open", "Closed")
    )
    queues.close_queue(closed, by=people.ed)
    held = taken(queue, people.rae)
    membership = people.team.memberships.get(user=people.rae)
    if removed:
        teams.remove_member(membership, by=people.alice)
    else:
        teams.change_role(membership, Role.VIEWER, by=people.alice)
    assert {one.name for one in rater_progress(queue) if one.rates} == {"Ann"}
    assert {one.name for one in rater_progress(closed) if one.rates} == {"Ann", "Rae"}
    # Rae's draft gives its place back: ann is handed every item.
    assert held.item_id in {answered(taken(queue, people.ann)).item_id for _ in range(3)}
