"""Label again and probe: review queues that a decision about labels opens in one step."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import (
    Blind,
    Dataset,
    JournalEntry,
    QueueItem,
    QueueState,
    ReviewQueue,
    RubricVersion,
    User,
)
from rubricweb.selectors.probes import changes_with_probes, label_decisions
from rubricweb.selectors.reviews.queues import own_progress
from rubricweb.selectors.reviews.reviews import review_for
from rubricweb.selectors.rubrics.label_changes import (
    GUIDELINES,
    LabelChange,
)
from rubricweb.services.label_queues import QueueWish, decide, open_queues, publish
from rubricweb.services.reviews import calibration, queue_changes, queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast
from tests.worlds.remembered import remembered
from tests.worlds.versions import CRITERIA, changed, said

REWORDED = "Names Paris as the capital of France."


def answer(queue: ReviewQueue, user: User, labels: dict[str, str] | None = None) -> int:
    """Reviews everything the queue has for this person: MET and plain, or the first criterion by item key.
    How many.
    """
    done = 0
    while (review := queues.next_review(queue, user, now=timezone.now())) is not None:
        for place, criterion in enumerate(reviews.criteria_of(review).order_by("position")):
            verdict = "plain" if criterion.kind == "choice" else "MET"
            if labels and place == 0:
                verdict = labels.get(review.item.key, verdict)
            reviews.save_verdict(review, criterion.pk, verdict=verdict)
        reviews.submit(review, now=timezone.now())
        done += 1
    return done


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return remembered(
        ("label queues: version", people.team.pk),
        lambda: factories.version(people.team, people.ed, criteria=CRITERIA),
    )


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return remembered(
        ("label queues: dataset", people.team.pk), lambda: factories.dataset(people.team, people.ed)
    )


@pytest.fixture
def labelled(people: Cast, first: RubricVersion, dataset: Dataset) -> ReviewQueue:
    """ann says MET of all three items, rae of all but `bad`."""
    return remembered(("label queues", first.pk, dataset.pk), lambda: label(people, first, dataset))


def label(people: Cast, first: RubricVersion, dataset: Dataset) -> ReviewQueue:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=first,
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    assert answer(queue, people.ann) == 3
    assert answer(queue, people.rae, {"bad": "UNMET"}) == 3
    return queue


def second_of(first: RubricVersion) -> RubricVersion:
    assert first.rubric is not None
    return changed(first.rubric, said(requirement=REWORDED))


def about(version: RubricVersion, viewer: User | None = None, uid: str = "") -> LabelChange:
    fresh = RubricVersion.objects.prefetch_related("criteria").get(pk=version.pk)
    found = changes_with_probes(fresh, viewer=viewer)
    change = found.about(uid) if uid else found.changes[0]
    assert change is not None
    return change


def decided(version: RubricVersion, by: User, kind: str, wish: QueueWish | None = None) -> LabelChange:
    change = about(version)
    seen = change.decision.pk if change.decision is not None else None
    return decide(version, change.uid, NewLabelDecision(kind), by=by, seen=seen, opening=wish)


def test_label_again_asks_the_same_people_about_every_item_once(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    change = decided(second, people.ed, "label_again", QueueWish())
    [opened] = change.queues
    # 3 items × the 2 people who labelled each.
    assert (opened.items, opened.wanted, opened.submitted) == (3, 6, 0)
    queue = opened.queue
    assert [one.name for one in queue.criteria.all()] == ["capital"]
    assert set(queue.raters.values_list("user", flat=True)) == {people.ann.pk, people.rae.pk}
    assert (queue.blind, queue.raters_per_item) == (Blind.BOTH, 2)
    assert change.decision is not None
    again = open_queues(second, change.uid, QueueWish(), by=people.ed, seen=change.decision.pk)
    assert [one.queue.pk for one in again.queues] == [queue.pk]
    assert ReviewQueue.objects.count() == 2
    assert answer(queue, people.ann) == 3
    [opened] = about(second).queues
    assert (opened.submitted, opened.is_done) == (3, False)


def test_an_item_with_fewer_labels_is_asked_of_as_many_people_as_before(
    people: Cast, first: RubricVersion, dataset: Dataset
) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=first,
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    answer(queue, people.ann)
    review = queues.start_review(queue, dataset.items.get(key="bad"), people.rae)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="plain" if criterion.kind == "choice" else "MET")
    reviews.submit(review, now=timezone.now())
    second = second_of(first)
    [opened] = decided(second, people.ed, "label_again", QueueWish()).queues
    # ann labelled all three, rae one of them: 2 + 1 + 1.
    assert (opened.items, opened.wanted) == (3, 4)
    places = dict(QueueItem.objects.filter(queue=opened.queue).values_list("item__key", "wanted"))
    assert places == {"good": 1, "bad": 2, "empty-ish": 1}


def test_raters_who_left_are_said_and_others_can_be_chosen(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    teams.remove_member(people.team.memberships.get(user=people.ann), by=people.alice)
    second = second_of(first)
    with pytest.raises(Invalid) as refused:
        decided(second, people.ed, "label_again", QueueWish())
    [fault] = refused.value.faults
    assert fault.place.endswith(".queue.raters")
    assert "1 of the 2 people who gave the labels may review here (Rae)" in fault.found
    # Nothing half-done: without its queue the decision is not there either.
    assert about(second).decision is None
    # A viewer may not review, and two raters per item need two people.
    for raters in ([people.bob, people.alice], [people.alice]):
        with pytest.raises(Invalid):
            decided(second, people.ed, "label_again", QueueWish(raters=raters))
    change = decided(second, people.ed, "label_again", QueueWish(raters=[people.rae, people.alice]))
    assert change.queues[0].wanted == 6


def test_a_probe_asks_the_same_rater_and_reports_their_agreement(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    change = decided(second, people.ed, "probe", QueueWish(size=3, seed=7))
    [opened] = change.queues
    assert change.probe is not None
    assert (opened.items, opened.wanted, change.probe.asked, change.probe.answered) == (3, 3, 3, 0)
    assert change.probe.seed == 7
    queue = opened.queue
    assert queue.blind == Blind.SELF
    assert queue.draws.get().seed == 7
    kept = dict(QueueItem.objects.filter(queue=queue).values_list("item__key", "rater__user__username"))
    assert sorted(kept.values()) in (["ann", "ann", "rae"], ["ann", "rae", "rae"])
    shares = {user: sum(name == user.username for name in kept.values()) for user in (people.ann, people.rae)}
    assert {user: own_progress(queue, user).mine_left for user in shares} == shares
    # ann says UNMET of whatever she is asked about; she said MET before.
    assert answer(queue, people.ann, dict.fromkeys(kept, "UNMET")) == shares[people.ann]
    running = about(second).probe
    assert running is not None
    assert (running.answered, running.agreement.value) == (shares[people.ann], 0.0)
    # rae says what she said: MET, and UNMET of `bad`.
    assert answer(queue, people.rae, {"bad": "UNMET"}) == shares[people.rae]
    found = about(second).probe
    assert found is not None
    assert (found.answered, found.same_rater, found.is_done) == (3, 3, True)
    assert found.agreement.value == pytest.approx(shares[people.rae] / 3)
    assert found.agreement.n == 3
    assert found.agreement.low is not None
    # ann and rae agree on two of three items under the words before.
    assert (found.usual.value, found.usual.n) == (pytest.approx(2 / 3), 3)
    assert found.repeated.value is None
    assert found.repeated.reason == "no rater labelled a unit twice"
    assert sum(one.units for one in found.answers) == 3


def test_what_a_probe_found_is_kept_with_the_decision_it_led_to(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    [opened] = decided(second, people.ed, "probe", QueueWish(size=3, seed=1)).queues
    for user in (people.ann, people.rae):
        answer(opened.queue, user)
    found = about(second).probe
    assert found is not None
    change = decided(second, people.ed, "carry")
    assert change.decision is not None
    kept = change.decision.evidence["probe"]
    assert kept["agreement"]["value"] == found.agreement.value
    assert (kept["asked"], kept["seed"], kept["queues"]) == (3, 1, [opened.queue.pk])
    assert change.probe is None  # it is decided: the labels are one question now
    [carried, probed] = label_decisions(second.rubric, viewer=people.bob)
    assert carried.probe == found
    assert (probed.probe, [one.queue for one in probed.queues]) == (None, [opened.queue])
    entry = JournalEntry.objects.filter(verb="decided about labels of").first()
    assert entry is not None
    assert entry.detail["probe"] == "3 of 3 labelled again"
    # Taken back, the probe is there again, and no second one is opened.
    change = decided(second, people.ed, "probe", QueueWish())
    assert [one.queue for one in change.queues] == [opened.queue]
    assert change.probe is not None
    assert change.probe.agreement == found.agreement


def test_somebody_else_is_asked_where_the_rater_left_or_skips(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    teams.remove_member(people.team.memberships.get(user=people.ann), by=people.alice)
    wish = QueueWish(size=3, raters=[people.alice, people.rae])
    [opened] = decided(second, people.ed, "probe", wish).queues
    queue = opened.queue
    assert set(queue.raters.values_list("user", flat=True)) == {people.rae.pk}
    queue_changes.reassign_queue(queue, by=people.ed, add=[people.alice])
    review = queues.next_review(queue, people.rae, now=timezone.now())
    assert review is not None
    assert queues.next_review(queue, people.alice, now=timezone.now()) is None
    with pytest.raises(Conflict):
        queues.start_review(queue, review.item, people.alice)
    reviews.skip(review, reason="I wrote it.")
    assert answer(queue, people.alice, {"bad": "UNMET"}) == 1
    assert answer(queue, people.rae, {"bad": "UNMET"}) == 2
    found = about(second).probe
    assert found is not None
    assert (found.answered, found.same_rater) == (3, 2)


def test_a_probe_of_more_items_than_have_labels_is_refused_with_their_number(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    with pytest.raises(Invalid) as refused:
        decided(second, people.ed, "probe", QueueWish())
    assert refused.value.faults[0].found == "a probe of 12 items"
    assert refused.value.faults[0].allowed == "1 to 3: so many have labels under the words before"
    for size in (0, -1, 4):
        with pytest.raises(Invalid):
            decided(second, people.ed, "probe", QueueWish(size=size))
    with pytest.raises(Invalid):
        decided(second, people.ed, "probe", QueueWish(size=1, seed=-1))
    assert about(second).decision is None


def test_a_queue_of_a_decision_somebody_changed_meanwhile_is_a_conflict(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    change = decided(second, people.ed, "probe")
    assert change.decision is not None
    decided(second, people.alice, "label_again")
    for seen in (change.decision.pk, None):
        with pytest.raises(Conflict):
            open_queues(second, change.uid, QueueWish(size=2), by=people.ed, seen=seen)
    now = decided(second, people.alice, "carry")
    assert now.decision is not None
    with pytest.raises(Conflict):
        open_queues(second, change.uid, QueueWish(), by=people.ed, seen=now.decision.pk)
    assert ReviewQueue.objects.count() == 1


def test_nothing_to_label_again_is_a_conflict(people: Cast, first: RubricVersion) -> None:
    second = second_of(first)
    for kind in ("label_again", "probe"):
        with pytest.raises(Conflict, match="nothing to label again"):
            decided(second, people.ed, kind, QueueWish(raters=[people.ann]))


def test_a_probe_stays_as_it_was_drawn(people: Cast, first: RubricVersion, labelled: ReviewQueue) -> None:
    second = second_of(first)
    [opened] = decided(second, people.ed, "probe", QueueWish(size=2)).queues
    with pytest.raises(Conflict, match="stay as they were drawn"):
        queue_changes.extend_queue(opened.queue, by=people.ed, source=queues.WHOLE_DATASET)
    with pytest.raises(Conflict, match="each item is for one rater"):
        calibration.mark_gold(opened.queue, by=people.ed, at_random=1)
    with pytest.raises(Conflict, match="each item is for one rater"):
        calibration.set_rules(
            opened.queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=0.5
        )


def test_labels_of_two_datasets_are_probed_together(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    other = factories.dataset(
        people.team,
        people.ed,
        name="more",
        items=[{"id": f"m{number}", "submission": f"Lyon, number {number}."} for number in range(3)],
    )
    more = factories.queue(
        people.team, people.ed, dataset=other, rubric_version=first, raters=[people.ann], name="More"
    )
    answer(more, people.ann)
    second = second_of(first)
    change = decided(second, people.ed, "probe", QueueWish(size=6, seed=3))
    assert {(one.queue.dataset, one.items) for one in change.queues} == {(labelled.dataset, 3), (other, 3)}
    assert change.probe is not None
    assert change.probe.asked == 6
    assert len({one.queue.name for one in change.queues}) == 2


def test_several_probes_opened_at_publication_read_the_earlier_labels_once_each(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = [
        {**entry, "requirement": f"{entry['requirement']} Look twice."} for entry in rubric.draft["criteria"]
    ]
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": criteria}, revision=rubric.draft_revision)
    uids = [entry["id"] for entry in criteria]
    with CaptureQueriesContext(connection) as queries:
        second = publish(
            rubric,
            by=people.ed,
            decisions=dict.fromkeys(uids, NewLabelDecision("probe")),
            opening=dict.fromkeys(uids, QueueWish(size=3)),
        )
    assert len(changes_with_probes(second, viewer=None).changes) == 4
    assert sum("COALESCE" in one["sql"] and "revision" in one["sql"] for one in queries) == 4


def test_new_guidelines_are_probed_over_all_criteria_that_stand_under_them(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    draft = {**rubric.draft, "guidelines": "Read the whole answer."}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    second = publish(
        rubric,
        by=people.ed,
        decisions={GUIDELINES: NewLabelDecision("probe")},
        opening={GUIDELINES: QueueWish(size=3)},
    )
    change = about(second, uid=GUIDELINES)
    [opened] = change.queues
    assert opened.queue.criteria_asked().count() == 4
    for user in (people.ann, people.rae):
        answer(opened.queue, user)
    found = about(second, uid=GUIDELINES).probe
    assert found is not None
    assert found.agreement.n == 12
    assert found.alpha.reason == "α is not pooled over criteria that ask different things"


def test_other_options_have_no_share_of_equal_labels_but_are_shown_side_by_side(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    options = [{"label": name, "value": value} for name, value in (("bad", 0), ("fair", 0.5), ("kind", 1))]
    assert first.rubric is not None
    second = changed(first.rubric, said(options=options), position=3)
    [opened] = decided(second, people.ed, "probe", QueueWish(size=3)).queues
    keys = dict.fromkeys(("good", "bad", "empty-ish"), "fair")
    for user in (people.ann, people.rae):
        answer(opened.queue, user, keys)
    found = about(second).probe
    assert found is not None
    assert found.agreement.value is None
    assert "the options changed" in found.agreement.reason
    assert [(one.before, one.now, one.units) for one in found.answers] == [("plain", "fair", 3)]
    assert found.usual.value == 1.0


def test_who_is_still_to_answer_the_probe_sees_neither_figures_nor_their_own_review(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    [opened] = decided(second, people.ed, "probe", QueueWish(size=3, seed=5)).queues
    queue = opened.queue
    answer(queue, people.rae)
    found = about(second, people.ann).probe
    assert found is not None
    assert (found.withheld, found.agreement.value, found.answers) == (True, None, ())
    assert found.answered == opened.wanted - own_progress(queue, people.ann).mine_left
    asked = QueueItem.objects.filter(queue=queue, rater__user=people.ann).values("item")
    earlier = labelled.reviews.filter(rater__user=people.ann)
    for review in earlier.filter(item__in=asked):
        with pytest.raises(Withheld):
            review_for(people.team, review.pk, people.ann)
    for review in earlier.exclude(item__in=asked):
        assert review_for(people.team, review.pk, people.ann) == review
    answer(queue, people.ann)
    for review in earlier:
        assert review_for(people.team, review.pk, people.ann) == review
    found = about(second, people.ann).probe
    assert found is not None
    assert found.agreement.n == 3


def test_a_decision_of_another_kind_closes_the_queue_of_the_one_it_replaces(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    [probe] = decided(second, people.ed, "probe", QueueWish(size=3, seed=7)).queues
    change = decided(second, people.ed, "carry")
    assert [(one.queue.pk, one.submitted, one.wanted) for one in change.closed] == [(probe.queue.pk, 0, 3)]
    assert ReviewQueue.objects.get(pk=probe.queue.pk).state == QueueState.CLOSED
    closed = JournalEntry.objects.filter(verb="closed").values_list("target_label", flat=True)
    assert list(closed) == [probe.queue.name]
    # Decided as before, the queue is wanted again, and there is no second one.
    again = decided(second, people.ed, "probe", QueueWish(size=3, seed=7))
    assert [(one.queue.pk, one.queue.state) for one in again.queues] == [(probe.queue.pk, QueueState.OPEN)]
    assert again.closed == ()
    # Taken back, nothing waits for a probe either.
    assert [one.queue.pk for one in decided(second, people.ed, "later").closed] == [probe.queue.pk]


def test_another_reason_for_the_same_decision_leaves_its_queue_open(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    [opened] = decided(second, people.ed, "label_again", QueueWish()).queues
    assert decided(second, people.ed, "label_again").closed == ()
    assert ReviewQueue.objects.get(pk=opened.queue.pk).state == QueueState.OPEN


def test_label_again_asks_as_many_people_as_are_wished(
    people: Cast, first: RubricVersion, labelled: ReviewQueue
) -> None:
    second = second_of(first)
    with pytest.raises(Invalid) as refused:
        decided(second, people.ed, "label_again", QueueWish(raters_per_item=3))
    assert "each item is for 3" in refused.value.faults[0].allowed
    with pytest.raises(Invalid, match="each of its items is for one person"):
        decided(second, people.ed, "probe", QueueWish(raters_per_item=2))
    [opened] = decided(second, people.ed, "label_again", QueueWish(raters_per_item=1)).queues
    # 3 items for one person each, where two labelled each of them before.
    assert (opened.items, opened.wanted, opened.queue.raters_per_item) == (3, 3, 1)
