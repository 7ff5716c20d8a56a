"""Of which items labels tell after a rubric was changed: nobody was asked in words that came later."""

from typing import Any

import pytest

from rubricweb.models import Item, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.comparison.comparison import Overview, compare, overview
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.rubrics.label_changes import changes_in_version
from rubricweb.services import label_queues
from rubricweb.services.label_queues import QueueWish
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.sampled import HALVES, graded, label, numbered, opened
from tests.worlds.versions import changed, said

TONE: dict[str, Any] = {
    "name": "tone",
    "weight": 1.0,
    "requirement": "Which tone?",
    "options": [
        {"label": "rude", "value": 0},
        {"label": "fair", "value": 0.5},
        {"label": "warm", "value": 1},
    ],
}
FEWER = [{"label": "bad", "value": 0}, {"label": "good", "value": 1}]


@pytest.fixture
def run(people: Cast) -> Run:
    """Twelve items, kind and brief, the judge MET of all."""
    return graded(people, numbered(12), lambda requirement, text: "MET")


def reworded(run: Run) -> RubricVersion:
    assert run.rubric_version is not None
    assert run.rubric_version.rubric is not None
    return changed(run.rubric_version.rubric, said(requirement="Is brief: two sentences."), position=1)


def again(people: Cast, run: Run, version: RubricVersion) -> Run:
    """The items of a run graded by another version, MET of all."""
    newer = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=version, name="Newer")
    return grade(newer, InProcessJudge(lambda requirement, text: "MET"))


def label_again(people: Cast, version: RubricVersion) -> ReviewQueue:
    [change] = changes_in_version(version, viewer=people.ed).changes
    decision = NewLabelDecision("label_again")
    label_queues.decide(version, change.uid, decision, by=people.ed, seen=None, opening=QueueWish())
    return ReviewQueue.objects.get(label_decision__isnull=False)


def told(people: Cast, run: Run, *queues: ReviewQueue) -> Overview:
    return overview(run, queues, viewer=people.bob, resamples=50)


def by_name(run: Run, found: Overview) -> dict[str, Any]:
    assert run.rubric_version is not None
    return {one.name: found.rates[one.pk] for one in run.rubric_version.criteria.all()}


def test_picked_labels_of_a_reworded_criterion_speak_for_themselves_alone(people: Cast, run: Run) -> None:
    everything = opened(people, run, Source())
    label(everything, people.ann, 12, lambda item, name: "MET")
    newer = again(people, run, reworded(run))
    alone = told(people, newer, everything)
    # Nobody was asked about brief in these words: nothing is missing, and kind is known of all.
    assert (by_name(newer, alone)["brief"].rate.n, by_name(newer, alone)["brief"].missing) == (0, 0)
    assert (by_name(newer, alone)["kind"].rate.n, alone.estimate.is_census) == (12, False)
    assert newer.rubric_version is not None
    worst = tuple(run.dataset.items.order_by("position").values_list("pk", flat=True))[:3]
    picked = opened(
        people,
        newer,
        Source("items", item_ids=worst),
        name="Worst",
        criteria=[newer.rubric_version.criteria.get(name="brief").pk],
    )
    label(picked, people.ann, 3, lambda item, name: "UNMET")
    found = told(people, newer, everything, picked)
    # The three are (MET + UNMET) / 2 = ½; of the nine others half is unknown.
    assert (found.estimate.labelled.value, found.estimate.labelled.n) == (0.5, 3)
    assert (found.estimate.these, found.estimate.like_these, found.estimate.is_census) == (None, None, False)
    assert found.estimate.unavailable is not None
    assert found.estimate.unavailable.why == (
        "3 of 12 items are labelled, and they are no random sample: “First look” does not ask about all of "
        "these criteria in the same words; “Worst” does not ask about all of these criteria in the same "
        "words. Such labels describe their own items only."
    )
    assert found.rates_describe is not None
    assert found.rates_describe.code == "labelled_items"
    rates = by_name(newer, found)
    assert (rates["kind"].rate.n, rates["kind"].rate.value) == (12, 1.0)
    assert rates["kind"].rate.low is not None  # every item was asked about it, in words that stayed
    assert (rates["brief"].rate.value, rates["brief"].rate.low, rates["brief"].rate.n) == (0.0, None, 3)
    described = compare(newer, [everything, picked], viewer=people.bob, resamples=50).describes
    assert described is not None
    assert described.code == "labelled_items"


def test_labelled_again_on_every_item_it_is_a_census_again(people: Cast, run: Run) -> None:
    everything = opened(people, run, Source())
    label(everything, people.ann, 12, lambda item, name: "MET")
    newer = again(people, run, reworded(run))
    assert newer.rubric_version is not None
    anew = label_again(people, newer.rubric_version)
    label(anew, people.ann, 11, lambda item, name: "UNMET")
    assert told(people, newer, everything, anew).estimate.these is None
    label(anew, people.ann, 1, lambda item, name: "UNMET")
    found = told(people, newer, everything, anew).estimate
    assert found.is_census
    assert found.these is not None
    assert found.these.value == 0.5  # MET by the earlier version, UNMET by the newer


@pytest.mark.parametrize("done", [4, 6])
def test_a_sample_speaks_for_all_as_soon_as_what_is_done_of_it_is_labelled_again(
    people: Cast, run: Run, done: int
) -> None:
    sample = opened(people, run, Source("sample", size=6, seed=3))
    label(sample, people.ann, done, lambda item, name: "MET")
    newer = again(people, run, reworded(run))
    assert newer.rubric_version is not None
    anew = label_again(people, newer.rubric_version)
    # In the order of the dataset, so that a part of it is no sample.
    label(anew, people.ann, done - 1, lambda item, name: "UNMET")
    assert told(people, newer, sample, anew).estimate.these is None
    label(anew, people.ann, 1, lambda item, name: "UNMET")
    found = told(people, newer, sample, anew)
    assert found.estimate.these is not None
    assert (found.estimate.these.value, found.estimate.these.n) == (pytest.approx(0.5), done)
    assert (found.estimate.these.population_size, found.estimate.is_census) == (12, False)
    assert by_name(newer, found)["brief"].rate.n == done


def test_a_criterion_that_was_added_was_asked_by_no_earlier_sample(people: Cast, run: Run) -> None:
    sample = opened(people, run, Source("sample", size=6, seed=3))
    label(sample, people.ann, 6, lambda item, name: "MET")
    assert run.rubric_version is not None
    rubric = run.rubric_version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    added = [*rubric.draft["criteria"], {"name": "safe", "weight": 2.0, "requirement": "Is safe."}]
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": added}, revision=rubric.draft_revision)
    newer = again(people, run, rubrics.publish(rubric, by=people.ed))
    assert newer.rubric_version is not None
    picked = opened(
        people,
        newer,
        Source("items", item_ids=tuple(sorted(sample.queue_items.values_list("item_id", flat=True))[:2])),
        name="Worst",
        criteria=[newer.rubric_version.criteria.get(name="safe").pk],
    )
    label(picked, people.ann, 2, lambda item, name: "UNMET")
    found = told(people, newer, sample, picked)
    assert (found.estimate.these, found.estimate.labelled.n, found.estimate.labelled.value) == (None, 2, 0.5)
    rates = by_name(newer, found)
    assert (rates["safe"].rate.n, rates["safe"].rate.low) == (2, None)
    # The others stand where they stood.
    assert [(rates[name].rate.n, rates[name].rate.low is None) for name in ("kind", "brief")] == [
        (6, False),
        (6, False),
    ]


@pytest.mark.parametrize("criteria", [(), ("tone",)])
def test_a_sample_speaks_for_options_its_labels_were_carried_to(people: Cast, criteria: tuple[str]) -> None:
    first = factories.version(people.team, people.ed, criteria=[*HALVES, TONE])
    dataset = factories.dataset(people.team, people.ed, items=numbered(12))
    sample = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=first,
        raters=[people.ann],
        source=Source("sample", size=6, seed=3),
        criteria=list(criteria),
    )
    label(sample, people.ann, 6, lambda item, name: "fair" if name == "tone" else "MET")
    assert first.rubric is not None
    second = changed(first.rubric, said(options=FEWER), position=2)
    [change] = changes_in_version(second, viewer=people.ed).changes
    options = {"rude": "bad", "fair": "good", "warm": "good"}
    decide(second, change.uid, NewLabelDecision("carry", options=options), by=people.ed)
    newer = factories.run(people.team, people.ed, dataset=dataset, rubric_version=second)
    grade(newer, InProcessJudge(lambda requirement, text: "MET"))
    rate = by_name(newer, told(people, newer, sample))["tone"].rate
    assert (rate.value, rate.n) == (1.0, 6)
    assert rate.low is not None


def test_items_with_rubrics_of_their_own_are_asked_about_in_every_queue(people: Cast) -> None:
    own = {"criteria": [{"name": "own", "weight": 1, "requirement": "Is its own."}]}
    items = [*numbered(3), {"id": "own", "submission": "Its own.", "rubric": own}]
    run = graded(people, items, lambda requirement, text: "MET")
    everything = opened(people, run, Source())
    label(everything, people.ann, 4, lambda item, name: "MET")
    assert run.rubric_version is not None
    assert run.rubric_version.rubric is not None
    newer = again(people, run, changed(run.rubric_version.rubric, said(weight=3.0)))
    found = compare(newer, [everything], viewer=people.bob, resamples=50)
    assert found.units == 7  # three items by two criteria, and one by its own
    assert found.describes is not None
    assert (found.describes.code, found.scores.estimate.is_census) == ("every_item", True)
    assert Item.objects.filter(dataset=run.dataset, rubric_version__isnull=False).count() == 1
