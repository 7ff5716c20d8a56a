"""What people would say of all items: from random samples alone, each label as heavy as its draw says."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Item, ReviewQueue, Run, User
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.people_means import PeopleEstimate
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.sampling import NotSampled, Sampled, Samples
from rubricweb.services.reviews import queue_changes, queues, reviews
from tests.factories import Cast
from tests.worlds.sampled import graded, label, numbered, opened, three_worst
from tests.worlds.systems import versions


def estimate(people: Cast, run: Run, *chosen: ReviewQueue) -> PeopleEstimate:
    return comparison.compare(run, chosen, viewer=people.bob).scores.estimate


def test_three_worst_items_labelled_as_the_judge_did_are_refused_to_speak_for_all(people: Cast) -> None:
    run, queue = three_worst(people)
    found = estimate(people, run, queue)
    assert (found.these, found.like_these) == (None, None)
    # What is true of the three is said of the three: people and judge 0.5. All 24: (3 · ½ + 21) / 24.
    assert (found.labelled.value, found.labelled.n, found.labelled.low) == (0.5, 3, None)
    assert (found.judged_labelled.value, found.judged.value) == (0.5, 0.9375)
    assert found.unavailable is not None
    assert found.unavailable.code == "not_a_random_sample"
    assert found.unavailable.why == (
        "3 of 24 items are labelled, and they are no random sample: the items of “First look” were not "
        "drawn at random. Such labels describe their own items only."
    )
    assert found.unavailable.sample is not None
    assert found.unavailable.sample.size == 20
    assert "size=20" in found.unavailable.sample.query


def test_the_queue_asked_for_allows_the_estimate(people: Cast) -> None:
    run = graded(people, numbered(24), lambda requirement, response: "MET")
    picked = opened(people, run, Source("filter", search="Text 0"), name="Picked")
    label(picked, people.ann, 3, lambda item, name: "UNMET")
    unavailable = estimate(people, run, picked).unavailable
    assert unavailable is not None
    assert unavailable.sample is not None
    asked = Source("sample", size=unavailable.sample.size, seed=4)
    drawn = opened(people, run, asked, name=unavailable.sample.name)
    # Open and not begun: go on there instead of opening another.
    begun = estimate(people, run, picked).unavailable
    assert begun is not None
    assert (begun.code, begun.queue_id) == ("sample_has_begun", drawn.pk)
    label(drawn, people.ann, 20, lambda item, name: "MET" if name == "kind" else "UNMET")
    found = estimate(people, run, drawn)
    assert found.unavailable is None
    assert found.these is not None
    assert (found.these.value, found.these.n, found.these.population_size) == (0.5, 20, 24)
    assert found.population == "the 24 items of capital answers"


def test_the_queue_asked_for_is_about_the_answers_the_run_graded(people: Cast) -> None:
    world = versions(people)
    run = world.run_over("v3")
    newer, older = world.answers("v4")[0].system_version, run.system_version
    # A sample of v4's answers would say nothing of a run over v3's.
    opened(people, run, Source("sample", size=5), name="Of v4", systems=[newer])
    unavailable = estimate(people, run).unavailable
    assert unavailable is not None
    sample = unavailable.sample
    assert sample is not None
    assert (sample.systems, sample.half) == (["assistant@v3"], "")
    assert f"&systems={older.pk}" in sample.query
    assert "--system assistant@v3 --sample 5" in unavailable.command
    Run.objects.filter(pk=run.pk).update(half="dev")
    of_half = estimate(people, Run.objects.get(pk=run.pk)).unavailable
    assert of_half is not None
    assert "--split dev" in of_half.command
    drawn = opened(people, run, Source("sample", size=5), name=sample.name, systems=[older])
    begun = estimate(people, run).unavailable
    assert begun is not None
    assert begun.queue_id == drawn.pk


@pytest.mark.parametrize("done", [3, 5, 8])
def test_a_half_done_stratified_queue_is_unbiased(people: Cast, done: int) -> None:
    """Strata of 12 and 4 items, 4 drawn of each. People give the 12 a half and the 4 a 1: (12 · ½ + 4) / 16
    = 0.625. The judge says 1 of all, so the estimate is Hájek's mean of people: with i of the 12 and j of the
    4 done, (i · 12/i · ½ + j · 4/j · 1) / (12 + 4) = 0.625, whatever i and j are. Their plain mean is
    (½ i + j) / (i + j): 0.75 when all are done.
    """
    run = graded(
        people, numbered(16, lambda at: {"kind": "b" if at >= 12 else "a"}), lambda requirement, text: "MET"
    )
    queue = opened(people, run, Source("sample", size=8, strata_metadata="kind", seed=2))
    keys = label(
        queue,
        people.ann,
        done,
        lambda item, name: "UNMET" if item.metadata["kind"] == "a" and name == "brief" else "MET",
    )
    of_b = sum(key >= "12" for key in keys)
    assert 0 < of_b < done  # both strata have begun
    found = estimate(people, run, queue)
    assert found.these is not None
    assert found.these.value == pytest.approx(0.625)
    assert found.labelled.value == pytest.approx(((done - of_b) / 2 + of_b) / done)


def test_an_item_that_could_come_by_two_draws_has_the_chance_of_either(people: Cast) -> None:
    """Strata of 6 and 2, 3 and 1 drawn: ½ each. 2 of all 8 besides: 1 − ½ · ¾ = 0.625."""
    run = graded(
        people, numbered(8, lambda at: {"kind": "b" if at >= 6 else "a"}), lambda requirement, text: "MET"
    )
    items = list(run.dataset.items.order_by("pk").values_list("pk", flat=True))
    one = opened(people, run, Source("sample", size=2, strata_metadata="kind", seed=1), name="One")
    queue_changes.extend_queue(one, by=people.ed, source=Source("sample", size=2, seed=8))
    other = opened(people, run, Source("sample", size=2, seed=5), name="Other")
    label(other, people.ann, 2, lambda item, name: "MET")
    alone = Samples([other], items, version=None).of(())
    assert isinstance(alone, Sampled)
    assert set(alone.probability.values()) == {0.25}
    # Of the first queue nothing is done: alone it says nothing, and it adds nothing to anybody's chance.
    assert isinstance(Samples([one], items, version=None).of(()), NotSampled)
    assert Samples([one, other], items, version=None).of(()) == alone
    while (review := queues.next_review(one, people.ann, now=timezone.now())) is not None:
        reviews.skip(review, reason="not now")
    # 1 of 6 and 1 of 2, then 2 of 8, and 2 of 8 of the other queue: 1 − 5/6 · ¾ · ¾ and 1 − ½ · ¾ · ¾.
    both = Samples([one, other], items, version=None).of(())
    assert isinstance(both, Sampled)
    assert sorted({round(one, 12) for one in both.probability.values()}) == [
        pytest.approx(1 - 5 / 6 * 9 / 16),
        pytest.approx(1 - 1 / 2 * 9 / 16),
    ]


def test_a_sample_in_the_order_of_the_dataset_speaks_for_all_once_it_is_done(people: Cast) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=10, seed=1), order="dataset")
    label(queue, people.ann, 9, lambda item, name: "MET")
    unavailable = estimate(people, run, queue).unavailable
    assert unavailable is not None
    assert "not handed out as it was drawn but as in the dataset" in unavailable.why
    label(queue, people.ann, 1, lambda item, name: "MET")
    assert estimate(people, run, queue).these is not None


def test_every_item_labelled_is_a_census_however_they_were_chosen(people: Cast) -> None:
    run = graded(people, numbered(6), lambda requirement, text: "MET")
    queue = opened(people, run, Source(), order="informative")
    label(queue, people.ann, 5, lambda item, name: "MET")
    assert estimate(people, run, queue).these is None
    label(queue, people.ann, 1, lambda item, name: "UNMET")
    found = estimate(people, run, queue)
    assert found.is_census
    assert found.these is not None
    assert found.these.value == pytest.approx(5 / 6)


def test_a_tie_of_two_raters_counts_one_half_and_is_not_dropped(people: Cast) -> None:
    """ann says MET of everything, rae of kind alone: each item is (1 + ½) / 2."""
    run = graded(people, numbered(4), lambda requirement, text: "MET")
    queue = opened(people, run, Source(), raters=[people.ann, people.rae], raters_per_item=2)
    label(queue, people.ann, 4, lambda item, name: "MET")
    label(queue, people.rae, 4, lambda item, name: "MET" if name == "kind" else "UNMET")
    found = comparison.compare(run, [queue], viewer=people.bob)
    assert found.undecided == 4
    # Scores item by item count ties too: the judge's 1 less ¾. Accuracy and κ have the other four units only.
    assert (found.scores.agreement.n, found.scores.agreement.bias.value) == (4, pytest.approx(0.25))
    assert (found.overall.n, found.tied_share) == (4, 0.5)
    assert (found.rates.people.value, found.rates.judge.value, found.rates.people.n) == (0.75, 1, 8)
    assert found.bias.value == pytest.approx(0.25)
    these = found.scores.estimate.these
    assert these is not None
    assert these.value == pytest.approx(0.75)
    # Everything is labelled, and ann and rae rated all of it: two people tell nothing of how others differ.
    assert (these.low, these.high) == (None, None)
    assert these.reason.endswith("it takes three people or more who rated about as many items each.")


def test_three_who_rated_everything_tell_how_far_others_would_differ(people: Cast) -> None:
    """ann says MET of both criteria, rae of kind alone, ed of none but on 00, where he agrees with rae."""
    run = graded(people, numbered(4), lambda requirement, text: "MET")
    raters = [people.ann, people.rae, people.ed]
    queue = opened(people, run, Source(), raters=raters, raters_per_item=3)
    label(queue, people.ann, 4, lambda item, name: "MET")
    label(queue, people.rae, 4, lambda item, name: "MET" if name == "kind" else "UNMET")
    label(queue, people.ed, 4, lambda item, name: "MET" if (name, item.key) == ("kind", "00") else "UNMET")
    these = estimate(people, run, queue).these
    assert these is not None
    # Their means are 1, ½ and 1/8: 13/24 on average, s² = 0.19271; t of 2 degrees 4.3027 · √(s²/3) = 1.0905.
    assert these.value == pytest.approx(13 / 24)
    assert these.rater_error == pytest.approx(0.25345, abs=1e-5)
    assert (these.low, these.high, these.reason) == (0, 1, "")


def test_skips_and_abstentions_are_no_random_loss_and_bounds_are_given(people: Cast) -> None:
    """Of 20 drawn of 40 two are skipped and one answered CANNOT_ASSESS: 3 of 20, above a tenth."""
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=20, seed=3))
    for _ in range(2):
        review = queues.next_review(queue, people.ann, now=timezone.now())
        assert review is not None
        reviews.skip(review, reason="no idea")
    label(queue, people.ann, 1, lambda item, name: "CANNOT_ASSESS")
    label(queue, people.ann, 17, lambda item, name: "MET" if name == "kind" else "UNMET")
    these = estimate(people, run, queue).these
    assert these is not None
    assert (these.value, these.n, these.missing) == (pytest.approx(0.5), 17, 3)
    assert these.worst is not None
    assert these.best is not None
    assert these.low is not None
    assert these.high is not None
    assert these.worst < these.low
    assert these.best > these.high


def test_a_sample_of_some_items_speaks_for_those_and_says_so(people: Cast) -> None:
    run = graded(people, numbered(30), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=5, search="Text 1", seed=3))
    label(queue, people.ann, 5, lambda item, name: "MET")
    found = estimate(people, run, queue)
    assert found.these is not None
    assert found.these.population_size == 10
    assert found.population == (
        "10 of the 30 items of capital answers: those the random sample was drawn from"
    )


def test_an_item_picked_ahead_of_its_turn_does_not_count(people: Cast) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=10, seed=3))
    handed_out = list(queue.queue_items.values_list("item_id", flat=True))
    items = list(run.dataset.items.values_list("pk", flat=True))
    label(queue, people.ann, 3, lambda item, name: "MET")
    last = reviews_of(queue, people.ann, handed_out[9])
    assert last.state == "submitted"
    found = Samples([queue], items, version=None).of(())
    assert isinstance(found, Sampled)
    assert found.asked == set(handed_out[:3])
    assert {round(one, 9) for one in found.probability.values()} == {0.15}  # 3 of 20


def reviews_of(queue: ReviewQueue, user: User, item_id: int) -> Any:
    review = queues.start_review(queue, Item.objects.get(pk=item_id), user)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    return review
