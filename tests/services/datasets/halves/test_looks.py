"""Looks at the test split of a dataset are counted, and make claims surer."""

import json
from collections.abc import Callable

import pytest

from rubricweb.models import HalfLook, ReviewQueue, Run, User
from rubricweb.selectors.comparison.comparison import Comparison, compare
from rubricweb.selectors.comparison.findings import findings
from rubricweb.selectors.datasets.halves import halves as selected
from rubricweb.selectors.datasets.looks import looks, seal_of
from rubricweb.services.datasets.halves.looks import count_look
from rubricweb.services.datasets.splits import split_dataset
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews import queues
from tests import factories
from tests.factories import Cast, WakeUps
from tests.worlds import halves
from tests.worlds.halves import Halves

NONE = frozenset[int]()


@pytest.fixture
def world(people: Cast) -> Halves:
    return halves.halves(people)


def looked(run: Run, queue: ReviewQueue, viewer: User) -> Comparison:
    return count_look(compare(run, [queue], viewer=viewer, resamples=200), by=viewer)


def test_the_same_verdicts_and_labels_are_one_look_whoever_opens_them(world: Halves) -> None:
    people, run = world.people, world.judged()
    first, again = looked(run, world.first, people.ed), looked(run, world.first, people.bob)
    assert first.look is not None
    assert first.look == again.look
    assert (first.look.number, first.look.confidence) == (1, 0.975)
    assert (first.look.items, first.look.units, first.look.looked_by) == (30, 30, people.ed)
    assert looked(world.judged(), world.first, people.ed).look == first.look


def test_another_judge_and_other_labels_are_further_looks(world: Halves) -> None:
    ed, run = world.people.ed, world.judged()
    assert looked(run, world.first, ed).look.number == 1
    second = looked(world.judged(wrong=NONE), world.first, ed).look
    assert (second.number, second.confidence) == (2, pytest.approx(1 - 0.05 / 6))
    assert looked(run, world.first, ed).look.number == 1
    third = looked(run, world.label(range(20), "few"), ed).look
    test = world.dataset.items.filter(case__half="test")
    assert (third.number, third.items) == (3, test.filter(position__lt=20).count())
    found = looks(world.dataset)
    assert [look.number for look in found] == [3, 2, 1]
    assert {look.seal for look in found} == {seal_of(world.dataset)}
    # Another salt, another seal: the answers alone do not give it.
    world.dataset.refresh_from_db()
    assert len(world.dataset.seal_salt) == 32
    world.dataset.seal_salt = "0" * 32
    assert seal_of(world.dataset) not in {look.seal for look in found}


def test_who_is_to_review_an_item_blind_is_not_told_what_was_compared(world: Halves) -> None:
    people, run = world.people, world.judged()
    looked(run, world.first, people.ed)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=world.dataset,
        rubric_version=world.version,
        raters=[people.alice],
        name="Blind",
    )
    [look] = selected(world.dataset, viewer=people.alice).looks
    assert (look.number, look.units, look.items, look.seal) == (1, None, None, None)
    queues.close_queue(queue, by=people.ed)
    [look] = selected(world.dataset, viewer=people.alice).looks
    assert (look.units, look.items, look.seal) == (30, 30, seal_of(world.dataset))


def labelled_by(world: Halves, rater: str, numbers: range, says: Callable[[int], str]) -> ReviewQueue:
    return halves.label(world.people, world.dataset, world.version, numbers, rater, rater=rater, says=says)


def opposite(number: int) -> str:
    return halves.people_say(number + 1)


def test_labels_of_more_people_are_further_looks_also_where_no_majority_changes(world: Halves) -> None:
    """y says what x does, z the opposite: two to one throughout, while α among them falls."""
    run, ed, everything = world.judged(), world.people.ed, range(halves.N)
    alone = [world.first]
    agreeing = [*alone, labelled_by(world, "y", everything, halves.people_say)]
    differing = [*agreeing, labelled_by(world, "z", everything, opposite)]
    found = [
        count_look(compare(run, queues, viewer=ed, resamples=200), by=ed)
        for queues in (alone, agreeing, differing, agreeing[::-1])
    ]
    assert len({one.overall.accuracy.value for one in found}) == 1
    assert [one.human_alpha.value for one in found[:2]] == [None, 1]
    assert found[2].human_alpha.value < 0
    assert [one.look.number for one in found] == [1, 2, 3, 2]


def test_labels_of_units_on_which_people_are_tied_are_part_of_a_look(world: Halves) -> None:
    run, ed = world.judged(), world.people.ed
    [test, *_] = world.dataset.items.filter(case__half="test").values_list("position", flat=True)
    one = range(test, test + 1)
    tied = [world.first, labelled_by(world, "y", one, opposite)]
    still_tied = [
        *tied,
        labelled_by(world, "v", one, halves.people_say),
        labelled_by(world, "w", one, opposite),
    ]
    numbers = [
        count_look(compare(run, queues, viewer=ed, resamples=200), by=ed).look.number
        for queues in (tied, still_tied, tied)
    ]
    assert numbers == [1, 2, 1]


def test_a_judge_that_differs_on_ties_alone_is_another_look_since_bias_counts_ties(world: Halves) -> None:
    ed = world.people.ed
    [test, *_] = world.dataset.items.filter(case__half="test").values_list("position", flat=True)
    tied = [world.first, labelled_by(world, "y", range(test, test + 1), opposite)]
    found = [
        count_look(compare(run, tied, viewer=ed, resamples=200), by=ed)
        for run in (world.judged(wrong=NONE), world.judged(wrong=frozenset([test])))
    ]
    assert [one.look.number for one in found] == [1, 2]
    # No majority tells them apart; on one of thirty units people say ½, the judges 1 and 0, or 0 and 1.
    assert found[0].overall.confusion == found[1].overall.confusion
    assert abs(found[0].bias.value - found[1].bias.value) == pytest.approx(1 / 30)


def test_what_holds_no_test_case_is_no_look(world: Halves) -> None:
    assert looked(world.judged("dev"), world.first, world.people.ed).look is None
    assert not HalfLook.objects.exists()
    whole = looked(world.judged(""), world.first, world.people.ed).look
    assert (whole.number, whole.items) == (1, 30)


def test_a_sealed_copy_counts_its_looks(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed, items=[halves.row(number) for number in range(8)])
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}]
    )
    halves.label(people, dataset, version, range(8), "labels")
    half = split_dataset(dataset, n_dev=2, by=people.ed).test
    copied = ReviewQueue.objects.get(dataset=half)
    look = looked(halves.judged(people, half, version), copied, people.ed).look
    assert (look.number, look.items) == (1, 6)


def test_what_is_claimed_at_a_look_has_a_wider_interval(world: Halves) -> None:
    """At the first look t of 29 degrees is 2.3638 where 95 % have 2.0452: 1.1558 times as wide."""
    plain = compare(world.judged(), [world.first], viewer=world.people.ed, resamples=200)
    seen = count_look(plain, by=world.people.ed)
    kappa = plain.overall.kappa
    low, high = (kappa.value + 1.1558 * (end - kappa.value) for end in (kappa.low, kappa.high))
    said = {one.title: one.text for one in findings(seen)}
    [text] = [text for title, text in said.items() if title.startswith("The judge agrees with people")]
    assert f"{low:.2f}" in text
    assert f"{high:.2f}" in text
    assert seen.overall.kappa == kappa


def test_the_seal_changes_with_the_answers_and_not_with_labels(world: Halves) -> None:
    before = seal_of(world.dataset)
    world.label(range(10), "more")
    assert seal_of(world.dataset) == before
    for half, changes in (("dev", False), ("test", True)):
        case = world.dataset.cases.filter(half=half).first()
        asked = case.items.get().prompt
        answer = {"case_id": case.key, "system": "assistant@v2", "prompt": asked, "submission": "Another"}
        data = json.dumps(answer).encode()
        factories.add_items(world.dataset, by=world.people.ed, data=data, filename="more.jsonl")
        assert (seal_of(world.dataset) != before) is changes


def test_a_deleted_run_leaves_its_look(world: Halves) -> None:
    run, people = world.judged(), world.people
    looked(run, world.first, people.ed)
    deletions.delete(run, str(run), by=people.alice, now=run.created_at, enqueue=WakeUps())
    assert [look.run for look in looks(world.dataset)] == [None]
    assert looked(world.judged(wrong=NONE), world.first, people.ed).look.number == 2
