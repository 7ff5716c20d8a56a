"""Queues about some criteria of a rubric: what is asked, counted and shown in them is about these alone."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import (
    Adjudication,
    Criterion,
    Dataset,
    Item,
    Judgement,
    QueueItem,
    Review,
    ReviewQueue,
    RubricVersion,
    User,
)
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.selectors.reviews.calibration import may_be_gold
from rubricweb.selectors.reviews.queue_plans import queue_plan
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.reveals import agreement_with_others, reveal, will_reveal
from rubricweb.selectors.reviews.reviews import sheet
from rubricweb.services import adjudications
from rubricweb.services.datasets import splits
from rubricweb.services.reviews import calibration, queue_changes, queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10.0, "requirement": "Names Paris.", "group": "Facts"},
    {"name": "concise", "weight": 5.0, "requirement": "Is short.", "group": "Style"},
    {"name": "wrong", "weight": -15.0, "requirement": "Places Paris outside France.", "group": "Facts"},
    {"name": "polite", "weight": 1.0, "requirement": "Is polite.", "group": "Style"},
    {"name": "river", "weight": 1.0, "requirement": "Names the Seine.", "group": "Facts"},
    {
        "name": "words",
        "weight": 1.0,
        "requirement": "Ten words.",
        "check": "contains_keywords",
        "params": {"keywords": ["a"]},
    },
]
TWO = ("concise", "river")


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, version: RubricVersion) -> ReviewQueue:
    return opened(people, dataset, version)


def opened(people: Cast, dataset: Dataset, version: RubricVersion | None, **more: Any) -> ReviewQueue:
    more.setdefault("raters", [people.ann, people.rae])
    more.setdefault("raters_per_item", len(more["raters"]))
    more.setdefault("criteria", TWO)
    return factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, **more)


def do(queue: ReviewQueue, key: str, user: User, **said: str) -> Review:
    review = queues.start_review(queue, queue.dataset.items.get(key=key), user)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=said[criterion.name])
    reviews.submit(review, now=timezone.now())
    return review


def criterion(version: RubricVersion, name: str) -> Criterion:
    return version.criteria.get(name=name)


# ── Which criteria ───────────────────────────────────────────────────────────────────────────────


def test_criteria_are_kept_in_the_order_of_the_rubric_whether_named_or_numbered(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, criteria=["river", criterion(version, "concise").pk])
    assert [one.name for one in queue.criteria.all()] == ["concise", "river"]


def test_who_names_all_criteria_people_answer_limits_nothing(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, criteria=[one["name"] for one in CRITERIA[:5]])
    assert not queue.criteria.exists()
    # So the check is on the sheet too.
    review = queues.start_review(queue, dataset.items.get(key="good"), people.ann)
    assert len(sheet(review).questions) == 6


@pytest.mark.parametrize(
    ("named", "place"),
    [
        (["river", "speed"], "criteria[1]"),
        (["words"], "criteria[0]"),
        (["river", "concise", "river"], "criteria[2]"),
        ([0], "criteria[0]"),
        ([2**70], "criteria[0]"),
    ],
)
def test_what_is_no_criterion_to_answer_is_refused_by_its_place(
    people: Cast, dataset: Dataset, version: RubricVersion, named: list[int | str], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        opened(people, dataset, version, criteria=named)
    assert [fault.place for fault in refused.value.faults] == [place]
    assert not ReviewQueue.objects.exists()


def test_a_criterion_of_another_version_is_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    other = factories.version(people.team, people.ed, title="Another")
    with pytest.raises(Invalid, match="not criteria of Capitals v1"):
        opened(people, dataset, version, criteria=[criterion(other, "concise").pk])


def test_of_the_items_own_rubrics_nothing_can_be_chosen(people: Cast, version: RubricVersion) -> None:
    items = [{**factories.ITEMS[0], "rubric": [{"weight": 1, "requirement": "Own.", "name": "own"}]}]
    own = factories.dataset(people.team, people.ed, name="own", items=items)
    with pytest.raises(Invalid, match="each item brings a rubric of its own"):
        opened(people, own, None)
    # Nor where a version stands beside them: the item's own rubric would win.
    with pytest.raises(Invalid, match="1 item of own brought a rubric along") as refused:
        opened(people, own, version)
    assert [fault.place for fault in refused.value.faults] == ["criteria"]


def test_items_with_a_rubric_of_their_own_that_come_later_stay_out(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    limited = opened(people, dataset, version)
    full = opened(people, dataset, version, name="Everything", criteria=())
    own = {"id": "own", "submission": "Paris.", "rubric": [{"weight": 1, "requirement": "Own."}]}
    more = "\n".join(json.dumps(item) for item in ({"id": "later", "submission": "Paris."}, own))
    factories.add_items(dataset, by=people.ed, data=more.encode(), filename="more.jsonl")
    keys = list(limited.queue_items.order_by("position").values_list("item__key", flat=True))
    assert keys == ["good", "bad", "empty-ish", "later"]
    assert full.queue_items.count() == 5
    queues.close_queue(limited, by=people.ed)
    queue_changes.reopen_queue(limited, by=people.ed)
    assert limited.queue_items.count() == 4
    this = Source("items", item_ids=(dataset.items.get(key="own").pk,))
    with pytest.raises(Invalid, match="brought a rubric along"):
        queue_changes.extend_queue(limited, by=people.ed, source=this)


# ── What a review asks and reveals ───────────────────────────────────────────────────────────────


def test_a_review_asks_about_these_alone_and_is_complete_with_them(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    review = queues.start_review(queue, queue.dataset.items.get(key="good"), people.ann)
    assert [one.criterion.name for one in sheet(review).questions] == ["concise", "river"]
    reviews.save_verdict(review, criterion(version, "concise").pk, verdict="MET")
    with pytest.raises(Invalid) as refused:
        reviews.submit(review, now=timezone.now())
    assert list(refused.value.faults) == [Fault("river", "nothing", "MET, UNMET or CANNOT_ASSESS")]
    with pytest.raises(NotFound):
        reviews.save_verdict(review, criterion(version, "capital").pk, verdict="MET")
    reviews.save_verdict(review, criterion(version, "river").pk, verdict="UNMET")
    reviews.submit(review, now=timezone.now())
    assert set(Judgement.objects.filter(review=review).values_list("criterion__name", flat=True)) == set(TWO)


def test_the_reveal_shows_these_alone(people: Cast, dataset: Dataset, version: RubricVersion) -> None:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = opened(people, dataset, version, run=run)
    do(queue, "good", people.rae, concise="MET", river="MET")
    review = do(queue, "good", people.ann, concise="MET", river="UNMET")
    rows = reveal(review)
    assert [row.criterion.name for row in rows] == ["concise", "river"]
    # The judge said MET of all five criteria: one of these two as ann did.
    assert [(one.is_judge, one.same, one.both) for one in agreement_with_others(rows)] == [
        (True, 1, 2),
        (False, 1, 2),
    ]


def test_a_run_that_judged_none_of_these_reveals_nothing(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    other = factories.version(people.team, people.ed, title="Another")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=other)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = opened(people, dataset, version, run=run)
    assert not will_reveal(queues.start_review(queue, dataset.items.get(key="good"), people.ann))


# ── Gold, agreement, decisions ───────────────────────────────────────────────────────────────────


def test_a_gold_item_needs_known_labels_of_these_alone(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    full = opened(people, queue.dataset, version, name="Everything", criteria=())
    lines = ["item_id,criterion,rater,verdict", *(f"good,{name},ground truth,MET" for name in TWO)]
    lines += ["bad,river,ground truth,MET", "bad,capital,ground truth,MET"]
    settled = "\n".join(lines).encode()
    factories.import_labels(queue.dataset, version, by=people.ed, data=settled, filename="settled.csv")
    good = queue.dataset.items.get(key="good").pk
    assert may_be_gold(queue) == [good]
    assert may_be_gold(full) == []
    calibration.mark_gold(queue, by=people.ed, item_ids=[good])
    calibration.set_rules(queue, by=people.ed, calibration_items=1, pass_mark=0.5, extra_rater_below=None)
    do_first = queues.next_review(queue, people.ann, now=timezone.now())
    assert do_first is not None
    assert do_first.item_id == good
    for name, verdict in zip(TWO, ("MET", "UNMET"), strict=True):
        reviews.save_verdict(do_first, criterion(version, name).pk, verdict=verdict)
    reviews.submit(do_first, now=timezone.now())
    found = queue.calibrations.get(rater__user=people.ann)
    assert (found.right, found.total, found.passed) == (1, 2, True)


def test_too_little_agreement_is_counted_over_these(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    three = [people.ann, people.rae, people.alice]
    queue = opened(people, dataset, version, raters=three, raters_per_item=2)
    calibration.set_rules(queue, by=people.ed, calibration_items=0, pass_mark=None, extra_rater_below=0.5)
    do(queue, "good", people.ann, concise="MET", river="MET")
    # Alike on one of two is 0.5, which is not below; of five criteria it would be 0.2.
    do(queue, "good", people.rae, concise="MET", river="UNMET")
    assert not QueueItem.objects.get(queue=queue, item__key="good").extra


def test_agreement_and_decisions_are_about_these(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    for key in ("good", "bad"):
        do(queue, key, people.ann, concise="MET", river="UNMET")
        do(queue, key, people.rae, concise="MET", river="MET" if key == "good" else "UNMET")
    queues.close_queue(queue, by=people.ed)
    board = agreement_board(queue, people.alice, resamples=200)
    assert {str(row.name) for row in board.criteria} == set(TWO)
    river = next(row for row in board.criteria if row.name == "river")
    # Alike on one of two items.
    assert (river.raw.value, river.raw.n) == (0.5, 2)
    assert adjudications.accept_agreed(queue, by=people.alice) == 3
    decided = set(Adjudication.objects.values_list("item__key", "criterion__name"))
    assert decided == {("good", "concise"), ("bad", "concise"), ("bad", "river")}
    assert {unit[1] for unit in ground_truth([queue])} == {criterion(version, name).pk for name in TWO}


def test_a_half_of_a_split_has_the_labels_there_are(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    for item in Item.objects.filter(dataset=queue.dataset):
        for user in (people.ann, people.rae):
            do(queue, item.key, user, concise="MET", river="UNMET")
    queues.close_queue(queue, by=people.ed)
    done = splits.split_dataset(queue.dataset, queues=[queue], by=people.ed, n_dev=1, seed=1)
    copied = Judgement.objects.in_reviews(queue__dataset__in=[done.dev, done.test])
    assert copied.count() == 3 * 2 * 2
    assert set(copied.values_list("criterion__name", flat=True)) == set(TWO)


# ── Which items, and how much work ───────────────────────────────────────────────────────────────


def test_doubts_about_other_criteria_choose_and_rank_nothing(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    def said(requirement: str, response: str) -> str:
        """Not sure of the river in `bad`, and of another criterion in `good`."""
        doubtful = "Seine" in requirement if "Belgium" in response else "Names Paris" in requirement
        return "CANNOT_ASSESS" if doubtful and "Paris" in response else "MET"

    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(said))
    source = Source("run", run=run, reasons=("cannot_assess",))
    plan = queue_plan(dataset, source, viewer=people.ed, rubric_version=version, criteria=TWO)
    assert (plan.items, [one.items for one in plan.reasons]) == (1, [1])
    of_run = opened(people, dataset, version, source=source)
    assert list(of_run.queue_items.values_list("item__key", flat=True)) == ["bad"]
    ranked = opened(people, dataset, version, run=run, order="informative", name="Ranked")
    # Cannot assess weighs 4; it holds for one of the two criteria: 4 + ½ · ½.
    assert dict(ranked.queue_items.values_list("item__key", "priority")) == {
        "good": 0.0,
        "bad": 4.25,
        "empty-ish": 0.0,
    }


def test_the_workload_counts_criteria_and_scales_the_pace(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    full = opened(people, dataset, version, name="Everything", criteria=(), raters=[people.ann])
    for key in ("good", "bad", "empty-ish"):
        review = queues.start_review(full, dataset.items.get(key=key), people.ann)
        for one in reviews.criteria_of(review).exclude(kind="check"):
            reviews.save_verdict(review, one.pk, verdict="MET")
        reviews.save_seconds(review, 100.0)
        reviews.submit(review, now=timezone.now())

    def planned(*criteria: str) -> tuple[int | None, int | None, float | None]:
        plan = queue_plan(
            dataset,
            Source(),
            viewer=people.ed,
            rubric_version=version,
            criteria=criteria,
            raters_per_item=2,
        )
        return (plan.criteria, plan.answers, plan.seconds)

    # Six reviews of 100 seconds for five criteria; of two they take 40 each.
    assert planned() == (5, 30, 600.0)
    assert planned(*TWO) == (2, 12, 240.0)
    # What was measured in a limited queue counts for a full one in the same proportion.
    Review.objects.filter(queue=full).delete()
    limited = opened(people, dataset, version, raters=[people.ann])
    for key in ("good", "bad", "empty-ish"):
        review = queues.start_review(limited, dataset.items.get(key=key), people.ann)
        for one in reviews.criteria_of(review):
            reviews.save_verdict(review, one.pk, verdict="MET")
        reviews.save_seconds(review, 30.0)
        reviews.submit(review, now=timezone.now())
    assert planned() == (5, 30, 6 * 75.0)
