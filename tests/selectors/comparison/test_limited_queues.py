"""Figures over labels of queues that asked about some criteria: what they do not tell is not made up."""

import pytest

from rubricweb.models import Run
from rubricweb.selectors import dashboard
from rubricweb.selectors.comparison.comparison import Comparison, compare
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.sampled import graded, label, numbered, opened


@pytest.fixture
def run(people: Cast) -> Run:
    """Twelve items, kind and brief, the judge MET of all."""
    return graded(people, numbered(12), lambda requirement, text: "MET")


def compared(people: Cast, run: Run, *queues) -> Comparison:
    return compare(run, queues, viewer=people.bob, resamples=200)


def test_an_item_labelled_by_some_criteria_has_no_score_of_people(people: Cast, run: Run) -> None:
    queue = opened(people, run, Source(), criteria=["kind"])
    label(queue, people.ann, 12, lambda item, name: "UNMET")
    found = compared(people, run, queue)
    # MET is the judge's word and UNMET people's on twelve units of one criterion; no item has both.
    assert (found.units, found.overall.accuracy.value) == (12, 0.0)
    assert found.scores.agreement.n == 0
    assert (found.scores.estimate.labelled.n, found.scores.estimate.these) == (0, None)
    unavailable = found.scores.estimate.unavailable
    assert unavailable is not None
    assert unavailable.why == "People have not answered all criteria of any item yet."
    # Of the criterion that was asked every item is labelled, and that is what the figures describe.
    assert found.describes is not None
    assert found.describes.code == "every_item"


def test_another_queue_completes_the_items(people: Cast, run: Run) -> None:
    kind = opened(people, run, Source(), criteria=["kind"])
    brief = opened(people, run, Source(), criteria=["brief"], name="Brief", raters=[people.rae])
    label(kind, people.ann, 12, lambda item, name: "UNMET")
    label(brief, people.rae, 11, lambda item, name: "MET")
    almost = compared(people, run, kind, brief).scores.estimate
    # Eleven of twelve have both, ½ each; the twelfth was asked about one criterion and is no answer.
    assert (almost.labelled.value, almost.labelled.n, almost.these) == (0.5, 11, None)
    label(brief, people.rae, 1, lambda item, name: "MET")
    whole = compared(people, run, kind, brief).scores.estimate
    assert whole.is_census
    assert whole.these is not None
    assert whole.these.value == 0.5


def test_a_sample_of_some_criteria_speaks_for_these_alone(people: Cast, run: Run) -> None:
    queue = opened(people, run, Source("sample", size=6, seed=3), criteria=["kind"])
    label(queue, people.ann, 6, lambda item, name: "UNMET")
    board = dashboard.dashboard(people.team, people.bob)
    rates = {str(row.criterion.name): row.people for row in board.pass_rates}
    assert (rates["kind"].value, rates["kind"].n) == (0.0, 6)
    assert rates["kind"].high is not None  # it was drawn, so it tells of the others
    assert (rates["brief"].value, rates["brief"].n) == (None, 0)
    found = compared(people, run, queue)
    assert found.describes is not None
    assert found.describes.code == "random_draw"
    unavailable = found.scores.estimate.unavailable
    # To go on with it would never give a score: another sample is proposed.
    assert unavailable is not None
    assert unavailable.queue_id is None
    assert unavailable.sample is not None


def test_a_queue_about_some_criteria_does_not_thin_a_sample_about_all(people: Cast, run: Run) -> None:
    """Six of twelve drawn and done whole, all six a half: people's mean is ½, of six labels and none missing.
    What is drawn besides about one criterion is no item somebody was asked about as a whole.
    """
    whole = opened(people, run, Source("sample", size=6, seed=3))
    label(whole, people.ann, 6, lambda item, name: "MET" if name == "kind" else "UNMET")
    alone = compared(people, run, whole).scores.estimate
    limited = opened(
        people,
        run,
        Source("sample", size=10, seed=9),
        criteria=["kind"],
        name="Kind",
        raters=[people.rae],
    )
    label(limited, people.rae, 10, lambda item, name: "MET")
    both = compared(people, run, whole, limited).scores.estimate
    assert both.these is not None
    assert alone.these is not None
    assert (both.these.value, both.these.low, both.these.high) == (
        alone.these.value,
        alone.these.low,
        alone.these.high,
    )
    rates = {str(row.criterion.name): row for row in dashboard.dashboard(people.team, people.bob).pass_rates}
    # Kind was asked in both draws, brief in the first alone.
    assert rates["brief"].people.n == 6
    assert rates["kind"].people.n > 9


def test_a_queue_about_some_criteria_counts_for_a_newer_version_that_asks_the_same(
    people: Cast, run: Run
) -> None:
    queue = opened(people, run, Source("sample", size=6, seed=3), criteria=["kind"])
    label(queue, people.ann, 6, lambda item, name: "UNMET")
    assert run.rubric_version is not None
    rubric = run.rubric_version.rubric
    assert rubric is not None
    heavier = [{**one, "weight": 3.0} for one in rubric.draft["criteria"]]
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": heavier}, revision=rubric.draft_revision)
    newer = factories.run(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=rubrics.publish(rubric, by=people.ed),
        name="Newer",
    )
    found = compared(people, grade(newer, InProcessJudge(lambda requirement, text: "UNMET")), queue)
    assert (found.units, found.overall.accuracy.value) == (6, 1.0)
    assert found.describes is not None
    assert found.describes.code == "random_draw"
