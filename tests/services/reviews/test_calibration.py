"""Gold items: who may be gold, the round that comes first, who goes on after it."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import Calibration, QueueItem, Review, ReviewQueue, RubricVersion, User
from rubricweb.selectors.reviews.calibration import (
    CalibrationStage,
    gold_accuracy,
    gold_overview,
    may_be_gold,
    my_calibration,
    round_of,
)
from rubricweb.services import adjudications
from rubricweb.services.reviews import calibration, prefetch, queues, reviews
from rubricweb.services.reviews.queue_changes import reassign_queue
from tests import factories
from tests.factories import Cast
from tests.worlds.remembered import remembered

ITEMS = [{"id": f"item-{n}", "submission": f"Answer {n}."} for n in range(8)]
NAMES = ("capital", "concise", "wrong_country")


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return remembered(
        ("calibration: version", people.team.pk), lambda: factories.version(people.team, people.ed)
    )


@pytest.fixture
def queue(people: Cast, version: RubricVersion) -> ReviewQueue:
    """Eight items for ann and rae, one rater each; the labels of the last four came settled, all MET."""
    return remembered(("calibration", version.pk), lambda: make_queue(people, version))


def make_queue(people: Cast, version: RubricVersion) -> ReviewQueue:
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    lines = [f"item-{n},{name},ground truth,MET," for n in range(4, 8) for name in NAMES]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="settled.csv")
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )


@pytest.fixture
def asked(people: Cast, queue: ReviewQueue) -> ReviewQueue:
    """The same with all four gold, two of them first, and two thirds of the labels to be right."""
    calibration.mark_gold(queue, by=people.ed, at_random=4)
    calibration.set_rules(queue, by=people.ed, calibration_items=2, pass_mark=0.66, extra_rater_below=None)
    return queue


def ids(queue: ReviewQueue, *keys: str) -> list[int]:
    return [queue.dataset.items.get(key=key).pk for key in keys]


def rater(queue: ReviewQueue, user: User):
    return queue.raters.get(user=user)


def next_one(queue: ReviewQueue, user: User) -> Review:
    review = queues.next_review(queue, user, now=timezone.now())
    assert review is not None
    return review


def do_next(queue: ReviewQueue, user: User, right: int = 3) -> str:
    """The next item answered with so many labels of three as they are known; its key."""
    review = next_one(queue, user)
    for place, criterion in enumerate(reviews.criteria_of(review).order_by("position")):
        reviews.save_verdict(review, criterion.pk, verdict="MET" if place < right else "UNMET")
    reviews.submit(review, now=timezone.now())
    return review.item.key


# ── Which items are gold ─────────────────────────────────────────────────────────────────────────


def test_an_item_may_be_gold_once_every_asked_criterion_is_settled_or_adjudicated(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    assert may_be_gold(queue) == ids(queue, "item-4", "item-5", "item-6", "item-7")
    [first] = ids(queue, "item-0")
    with pytest.raises(Invalid) as refusal:
        calibration.mark_gold(queue, by=people.ed, item_ids=[first])
    assert [fault.place for fault in refusal.value.faults] == ["item_ids[0]"]
    item = queue.dataset.items.get(pk=first)
    for criterion in version.criteria.all():
        adjudications.adjudicate(item, criterion, by=people.ed, verdict="UNMET", cause="judge_wrong")
    assert calibration.mark_gold(queue, by=people.ed, item_ids=[first]) == 1
    assert calibration.mark_gold(queue, by=people.ed, item_ids=[first]) == 0


def test_more_cannot_be_drawn_at_random_than_are_known(people: Cast, queue: ReviewQueue) -> None:
    with pytest.raises(Invalid, match="4 items have a known label"):
        calibration.mark_gold(queue, by=people.ed, at_random=5)
    assert calibration.mark_gold(queue, by=people.ed, at_random=3) == 3
    assert QueueItem.objects.filter(queue=queue, gold=True, position__gte=4).count() == 3


def test_gold_goes_to_everybody_also_to_who_comes_later(people: Cast, asked: ReviewQueue) -> None:
    gold = QueueItem.objects.filter(queue=asked, gold=True)
    assert set(gold.values_list("wanted", "room")) == {(2, 2)}
    do_next(asked, people.ann)
    reassign_queue(asked, by=people.ed, add=[people.alice])
    assert sorted(gold.values_list("wanted", "room")) == [(3, 2), (3, 3), (3, 3), (3, 3)]
    # What ann submitted stays; of the three she has not had, her places go.
    reassign_queue(asked, by=people.ed, remove=[people.ann])
    assert sorted(gold.values_list("wanted", "room")) == [(2, 2), (2, 2), (2, 2), (3, 2)]
    reassign_queue(asked, by=people.ed, add=[people.ann])
    assert sorted(gold.values_list("wanted", "room")) == [(3, 2), (3, 3), (3, 3), (3, 3)]


def test_what_is_gold_no_more_has_the_places_of_the_others(people: Cast, asked: ReviewQueue) -> None:
    assert do_next(asked, people.ann) == "item-4"
    [taken, free] = ids(asked, "item-4", "item-5")
    for item_id in (taken, free):
        calibration.unmark_gold(asked, item_id, by=people.ed)
    rows = QueueItem.objects.filter(queue=asked, item__in=[taken, free]).order_by("position")
    assert list(rows.values_list("gold", "wanted", "room")) == [(False, 1, 0), (False, 1, 1)]
    with pytest.raises(NotFound):
        calibration.unmark_gold(asked, free, by=people.ed)


# ── The round ────────────────────────────────────────────────────────────────────────────────────


def test_gold_comes_first_and_who_passes_goes_on_in_the_order_of_the_queue(
    people: Cast, asked: ReviewQueue
) -> None:
    # 3 + 1 of 6 labels right is 0.667, above 0.66.
    assert [do_next(asked, people.ann), do_next(asked, people.ann, right=1)] == ["item-4", "item-5"]
    row = Calibration.objects.get(queue=asked)
    assert (row.right, row.total, row.passed) == (4, 6, True)
    # The other two gold items stand where they stand in the queue.
    rest = [do_next(asked, people.ann) for _ in range(6)]
    assert rest == ["item-0", "item-1", "item-2", "item-3", "item-6", "item-7"]
    assert queues.next_review(asked, people.ann, now=timezone.now()) is None
    # Every gold item goes to rae as well, and nothing else is left.
    assert [do_next(asked, people.rae) for _ in range(4)] == ["item-4", "item-5", "item-6", "item-7"]


def test_who_is_below_the_mark_is_told_the_share_the_mark_and_whom_to_ask(
    people: Cast, asked: ReviewQueue
) -> None:
    do_next(asked, people.ann, right=2)
    do_next(asked, people.ann, right=1)
    with pytest.raises(Conflict, match=r"3 of your 6 labels .* \(50%\), and First look asks for 66%") as said:
        queues.next_review(asked, people.ann, now=timezone.now())
    assert "Ask Alice or Ed to let you go on" in str(said.value)
    with pytest.raises(Conflict, match="3 of your 6"):
        queues.start_review(asked, asked.dataset.items.get(key="item-0"), people.ann)
    assert do_next(asked, people.rae) == "item-4"  # others are not held up


def test_nobody_chooses_items_or_runs_ahead_before_the_round_is_over(
    people: Cast, asked: ReviewQueue
) -> None:
    for key in ("item-0", "item-6"):  # gold or not: the answer is the same
        with pytest.raises(Conflict, match="first 2 items of First look are the same for everybody"):
            queues.start_review(asked, asked.dataset.items.get(key=key), people.ann)
    do_next(asked, people.ann)
    last = next_one(asked, people.ann)
    assert queues.next_review(asked, people.ann, now=timezone.now(), besides=last) is None


def test_skipping_is_no_way_around_the_round(people: Cast, asked: ReviewQueue) -> None:
    for _ in range(2):
        reviews.skip(next_one(asked, people.ann), reason="Too hard.")
    # The other two gold items are not handed out in their place.
    with pytest.raises(Conflict, match="Take up the items you skipped"):
        queues.next_review(asked, people.ann, now=timezone.now())
    again = queues.start_review(asked, asked.dataset.items.get(key="item-5"), people.ann)
    assert next_one(asked, people.ann) == again


def test_without_a_mark_the_round_only_measures(people: Cast, queue: ReviewQueue) -> None:
    calibration.mark_gold(queue, by=people.ed, at_random=4)
    calibration.set_rules(queue, by=people.ed, calibration_items=1, pass_mark=None, extra_rater_below=None)
    do_next(queue, people.ann, right=0)
    row = Calibration.objects.get(queue=queue)
    assert (row.right, row.total, row.passed) == (0, 3, True)


@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ({"calibration_items": 5}, "calibration_items"),
        ({"pass_mark": 0.0}, "pass_mark"),
        ({"pass_mark": 1.01}, "pass_mark"),
        ({"extra_rater_below": 1.5}, "extra_rater_below"),
    ],
)
def test_rules_that_make_no_sense_are_refused(people: Cast, asked: ReviewQueue, rules, place) -> None:
    sent = {"calibration_items": 2, "pass_mark": None, "extra_rater_below": None} | rules
    with pytest.raises(Invalid) as refusal:
        calibration.set_rules(asked, by=people.ed, **sent)
    assert refusal.value.faults[0].place == place


# ── What an editor decides ───────────────────────────────────────────────────────────────────────


@pytest.fixture
def failed(people: Cast, asked: ReviewQueue) -> ReviewQueue:
    for _ in range(2):
        do_next(asked, people.ann, right=0)
    return asked


def test_an_editor_lets_somebody_on(people: Cast, failed: ReviewQueue) -> None:
    ann = rater(failed, people.ann)
    calibration.let_on(failed, ann, by=people.ed)
    row = Calibration.objects.get(queue=failed, rater=ann)
    assert (row.right, row.total, row.passed, row.passed_by) == (0, 6, True, people.ed)
    assert do_next(failed, people.ann) == "item-0"


def test_trying_again_is_with_other_gold_items(people: Cast, failed: ReviewQueue) -> None:
    ann = rater(failed, people.ann)
    calibration.try_again(failed, ann, by=people.ed)
    assert [do_next(failed, people.ann), do_next(failed, people.ann)] == ["item-6", "item-7"]
    row = Calibration.objects.get(queue=failed, rater=ann)
    assert (row.right, row.total, row.passed) == (6, 6, True)
    assert do_next(failed, people.ann) == "item-0"


def test_without_other_gold_items_nobody_tries_again(people: Cast, failed: ReviewQueue) -> None:
    ann = rater(failed, people.ann)
    for item_id in ids(failed, "item-6", "item-7"):
        calibration.unmark_gold(failed, item_id, by=people.ed)
    with pytest.raises(Conflict, match="has had every gold item"):
        calibration.try_again(failed, ann, by=people.ed)


def test_nobody_decides_about_themselves(people: Cast, failed: ReviewQueue) -> None:
    for decide in (calibration.let_on, calibration.try_again):
        with pytest.raises(Forbidden, match="Somebody else decides"):
            decide(failed, rater(failed, people.ann), by=people.ann)


# ── Who sees what ────────────────────────────────────────────────────────────────────────────────


def test_a_rater_sees_right_and_wrong_after_the_round_and_of_its_items_only(
    people: Cast, asked: ReviewQueue
) -> None:
    do_next(asked, people.ann)
    assert my_calibration(asked, people.ann).answers == ()
    do_next(asked, people.ann, right=2)
    for _ in range(6):
        do_next(asked, people.ann)
    mine = my_calibration(asked, people.ann)
    assert mine.round.stage == CalibrationStage.PASSED
    told = [(one.item.key, one.mine, one.truth, one.is_right) for one in mine.answers]
    assert told == [
        *[("item-4", "MET", "MET", True)] * 3,
        *[("item-5", "MET", "MET", True)] * 2,
        ("item-5", "UNMET", "MET", False),
    ]
    assert my_calibration(asked, people.rae).answers == ()


def test_editors_see_the_accuracy_of_each_rater_on_all_gold_items(
    people: Cast, asked: ReviewQueue, approx: Callable[[float], object]
) -> None:
    do_next(asked, people.ann)
    do_next(asked, people.ann, right=1)
    do_next(asked, people.rae, right=2)
    accuracy = gold_accuracy(asked, people.ed)
    ann, rae = accuracy[rater(asked, people.ann).pk], accuracy[rater(asked, people.rae).pk]
    assert (ann.right, ann.total, rae.right, rae.total) == (4, 6, 2, 3)
    # Three labels of a single item do not tell how items differ.
    assert (rae.share, rae.low, rae.high) == (approx(2 / 3), None, None)
    assert round_of(asked, rater(asked, people.rae)).submitted == 1


def test_more_raters_and_rubrics_of_items_ask_the_gold_page_no_more_queries(
    people: Cast, django_assert_max_num_queries
) -> None:
    """Three items, each with a rubric of its own, whose labels are known."""
    items = [
        {
            "id": f"{n}",
            "submission": f"Answer {n}.",
            "rubric": [{"name": "ok", "weight": 1, "requirement": f"Is {n}."}],
        }
        for n in range(3)
    ]
    dataset = factories.dataset(people.team, people.ed, items=items)
    lines = [f"{n},ok,ground truth,MET" for n in range(3)]
    data = "\n".join(["item_id,criterion,rater,verdict", *lines]).encode()
    factories.import_labels(dataset, None, by=people.ed, data=data, filename="settled.csv")
    raters = [people.ann, people.rae, people.ed]
    queue = factories.queue(people.team, people.ed, dataset=dataset, rubric_version=None, raters=raters)
    calibration.mark_gold(queue, by=people.ed, at_random=2)
    calibration.set_rules(queue, by=people.ed, calibration_items=1, pass_mark=None, extra_rater_below=None)
    with django_assert_max_num_queries(23):
        found = gold_overview(queue, people.alice)
    assert (found.gold, found.more, len(found.raters)) == (2, 1, 3)


def test_labels_of_one_gold_item_are_counted_together(
    people: Cast, queue: ReviewQueue, approx: Callable[[float], object]
) -> None:
    calibration.mark_gold(queue, by=people.ed, at_random=4)
    calibration.set_rules(queue, by=people.ed, calibration_items=4, pass_mark=None, extra_rater_below=None)
    for right in (3, 3, 3, 1):
        do_next(queue, people.ann, right=right)
    ann = gold_accuracy(queue, people.ed)[rater(queue, people.ann).pk]
    # 10 of 12; sᵢ − p·nᵢ = ½, ½, ½, −1½, so a label of an item says what (3/4 + 9/4) / (12 · 5/36) = 1.8 do:
    # 12 / 1.8 · 3/4 = 5 labels, times (1.960 / 3.182)² for t of 3 degrees 1.896. Wilson: centre (0.8333 +
    # 1.0128) / 3.0256 = 0.6102, half 1.960 · √(0.1389 / 1.896 + 3.8415 / 14.386) / 3.0256 = 0.3779.
    assert (ann.right, ann.total) == (10, 12)
    assert (ann.low, ann.high) == (approx(0.2323), approx(0.9880))


def test_labels_of_gold_answers_to_one_case_are_counted_together(
    people: Cast, version: RubricVersion, approx: Callable[[float], object]
) -> None:
    """Four gold items, two attempts at each of two cases."""
    items = [
        {"id": f"item-{n}", "case_id": f"case-{n % 2}", "attempt": n + 1, "submission": f"Answer {n}."}
        for n in range(4)
    ]
    dataset = factories.dataset(people.team, people.ed, items=items)
    lines = [f"item-{n},{name},ground truth,MET," for n in range(4) for name in NAMES]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="settled.csv")
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    calibration.mark_gold(queue, by=people.ed, at_random=4)
    calibration.set_rules(queue, by=people.ed, calibration_items=4, pass_mark=None, extra_rater_below=None)
    for _ in range(4):
        review = next_one(queue, people.ann)
        right = "MET" if review.item.case.key == "case-0" else "UNMET"
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict=right)
        reviews.submit(review, now=timezone.now())
    ann = gold_accuracy(queue, people.ed)[rater(queue, people.ann).pk]
    # 6 of 12: one case all right, one all wrong, sᵢ − p·nᵢ = ±3: a label says what (9 + 9) / (12 · ¼) = 6 do,
    # so 12/6 · ½ = 1 label is left, times (1.960 / 12.706)² for t of one degree 0.0238. Wilson of ½ of that:
    # half 1.960 · √(¼/0.0238 + 3.8415/(4 · 0.0238²)) / (1 + 3.8415/0.0238) = 0.4985.
    assert (ann.right, ann.total) == (6, 12)
    assert (ann.low, ann.high) == (approx(0.0015), approx(0.9985))


def test_an_editor_who_rates_learns_neither_the_gold_items_nor_what_others_made_of_them(
    people: Cast, asked: ReviewQueue
) -> None:
    reassign_queue(asked, by=people.alice, add=[people.ed])
    do_next(asked, people.ann)
    mine = gold_overview(asked, people.ed)
    assert (mine.gold, mine.items, mine.unnamed) == (4, (), 4)
    assert all(row.withheld and not row.accuracy.total for row in mine.raters)
    theirs = gold_overview(asked, people.alice)
    assert [item.key for item in theirs.items] == ["item-4", "item-5", "item-6", "item-7"]
    assert [(row.rater.name, row.accuracy.total) for row in theirs.raters] == [
        ("Ann", 3),
        ("Ed", 0),
        ("Rae", 0),
    ]


@pytest.fixture
def approx() -> Callable[[float], object]:
    return lambda value: pytest.approx(value, abs=2e-4)


def test_who_was_let_on_while_the_round_was_counted_goes_on(
    people: Cast, asked: ReviewQueue, monkeypatch
) -> None:
    do_next(asked, people.ann, right=0)
    gold_score = calibration.gold_score

    def meanwhile(*args, **kwargs):
        calibration.let_on(asked, rater(asked, people.ann), by=people.ed)
        return gold_score(*args, **kwargs)

    monkeypatch.setattr(calibration, "gold_score", meanwhile)
    do_next(asked, people.ann, right=0)
    row = Calibration.objects.get(queue=asked)
    assert (row.passed, row.passed_by) == (True, people.ed)
    assert next_one(asked, people.ann).item.key == "item-0"


@pytest.mark.parametrize("mark", [0.5, None])
def test_a_mark_that_is_lowered_or_taken_away_lets_those_on_who_reach_it(
    people: Cast, asked: ReviewQueue, mark: float | None
) -> None:
    do_next(asked, people.ann, right=2)
    do_next(asked, people.ann, right=1)
    with pytest.raises(Conflict, match="3 of your 6 labels"):
        next_one(asked, people.ann)
    calibration.set_rules(asked, by=people.ed, calibration_items=2, pass_mark=mark, extra_rater_below=None)
    assert next_one(asked, people.ann).item.key == "item-0"
    with pytest.raises(Conflict, match="is not below the mark"):
        calibration.try_again(asked, rater(asked, people.ann), by=people.ed)


def marked(queue: ReviewQueue, people: Cast, mark: float | None) -> None:
    calibration.set_rules(queue, by=people.ed, calibration_items=2, pass_mark=mark, extra_rater_below=None)


@pytest.mark.parametrize("mark", [0.5, None])
def test_who_reaches_a_lowered_mark_has_passed_everywhere_and_for_good(
    people: Cast, asked: ReviewQueue, mark: float | None
) -> None:
    for person, right in ((people.ann, 1), (people.rae, 0)):
        do_next(asked, person, right=2)
        do_next(asked, person, right=right)
    when = Calibration.objects.get(rater=rater(asked, people.ann)).decided_at
    marked(asked, people, mark)
    row = Calibration.objects.get(rater=rater(asked, people.ann))
    assert (row.passed, row.passed_by, row.decided_at) == (True, None, when)
    # 3 of 6 reach a half, 2 of 6 do not.
    assert Calibration.objects.get(rater=rater(asked, people.rae)).passed == (mark is None)
    assert prefetch.prefetch_next(next_one(asked, people.ann), now=timezone.now()) is not None
    marked(asked, people, 0.66)
    assert next_one(asked, people.ann).item.key == "item-0"
    assert round_of(asked, rater(asked, people.ann)).stage == CalibrationStage.PASSED


def test_who_was_counted_by_the_mark_that_was_lowered_in_the_same_moment_goes_on(
    people: Cast, asked: ReviewQueue, monkeypatch
) -> None:
    do_next(asked, people.ann, right=2)
    gold_score = calibration.gold_score

    def meanwhile(*args, **kwargs):
        marked(ReviewQueue.objects.get(pk=asked.pk), people, 0.5)
        return gold_score(*args, **kwargs)

    monkeypatch.setattr(calibration, "gold_score", meanwhile)
    do_next(asked, people.ann, right=1)
    assert not Calibration.objects.get(queue=asked).passed
    asked.refresh_from_db()
    assert next_one(asked, people.ann).item.key == "item-0"
    assert Calibration.objects.get(queue=asked).passed
