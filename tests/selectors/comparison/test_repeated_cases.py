"""Labels of several answers to one case fall together: eight cases of three attempts, alike in everything.

People say MET of all; the judge says UNMET of every attempt at two of the cases.
"""

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.intervals import difference_interval, share_figure
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.labels.queue_labels import queue_labels
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs import results
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered
from tests.worlds.sampled import graded, label, opened

CASES, ATTEMPTS, WRONG = 8, 3, 2


@pytest.fixture
def labelled(people: Cast) -> tuple[Run, ReviewQueue]:
    return remembered(("repeated cases", people.team.pk), lambda: grade_and_label(people))


def grade_and_label(people: Cast) -> tuple[Run, ReviewQueue]:
    items = [
        {
            "case_id": f"c{case:02}",
            "attempt": attempt,
            "prompt": f"Question {case:02}",
            "submission": f"{case:02} answered, {attempt}",
        }
        for case in range(CASES)
        for attempt in range(1, ATTEMPTS + 1)
    ]
    run = graded(people, items, lambda _, text: "UNMET" if int(text[:2]) < WRONG else "MET")
    queue = opened(people, run, Source())
    label(queue, people.ann, CASES * ATTEMPTS, lambda item, name: "MET")
    return run, queue


def bounds(figure: Figure) -> tuple[object, ...]:
    return figure.value, figure.low, figure.high, figure.n


def test_intervals_of_a_judge_against_people_are_over_cases(
    people: Cast, labelled: tuple[Run, ReviewQueue]
) -> None:
    found = comparison.compare(labelled[0], [labelled[1]], viewer=people.bob)
    right = np.repeat([0.0, ATTEMPTS], [WRONG, CASES - WRONG])
    alike = share_figure(right, np.full(CASES, float(ATTEMPTS)))
    assert alike.n == CASES * ATTEMPTS
    for row in found.criteria:
        assert bounds(row.pair.accuracy) == pytest.approx(bounds(alike))
    # Two criteria of each attempt: six units a case.
    both = share_figure(2 * right, np.full(CASES, 2.0 * ATTEMPTS))
    assert bounds(found.overall.accuracy) == pytest.approx(bounds(both))
    # The judge's score is 1 below people's where it is wrong; differences of one case fall together.
    apart = np.repeat([-1.0, 0.0], [WRONG * ATTEMPTS, (CASES - WRONG) * ATTEMPTS])
    of_case = np.repeat(np.arange(CASES), ATTEMPTS)
    bias = difference_interval(apart, of_case)
    assert bounds(found.scores.agreement.bias) == pytest.approx(bounds(bias))


def test_what_people_say_of_cases_like_these_rests_on_the_cases(
    people: Cast, labelled: tuple[Run, ReviewQueue]
) -> None:
    found = comparison.compare(labelled[0], [labelled[1]], viewer=people.bob).scores.estimate
    assert found.is_census
    assert found.like_these is not None
    assert (found.like_these.n, found.like_these.cases) == (CASES * ATTEMPTS, CASES)
    # All 8 of 8 cases are good: Wilson's lower end is 8 / (8 + 3.8415).
    assert found.like_these.low == pytest.approx(8 / 11.8415, abs=1e-4)
    assert found.judged.value == pytest.approx(0.75)
    by_case = share_figure(np.repeat([0.0, 1.0], [WRONG, CASES - WRONG]), np.ones(CASES))
    assert bounds(found.judged)[:3] == pytest.approx(bounds(by_case)[:3])
    # One table: every n in it counts items.
    assert {found.judged.n, found.labelled.n, found.judged_labelled.n} == {CASES * ATTEMPTS}
    rates = comparison.overview(labelled[0], [labelled[1]], viewer=people.bob).rates
    assert {round(one.rate.low or 0, 4) for one in rates.values()} == {round(8 / 11.8415, 4)}


def test_ratings_of_a_queue_are_resampled_by_case(labelled: tuple[Run, ReviewQueue]) -> None:
    ratings = queue_labels(labelled[1]).of_binary
    assert (len(ratings.units), len(np.unique(ratings.clusters))) == (2 * CASES * ATTEMPTS, CASES)


def test_the_mean_of_a_check_is_over_cases_whoever_was_reviewed(people: Cast) -> None:
    """Case a has three short answers, b and c one long one each; people reviewed two answers to a."""
    version = factories.version(
        people.team,
        people.ed,
        criteria=[
            {"name": "kind", "weight": 1.0, "requirement": "Is kind."},
            {"name": "short", "weight": 1.0, "check": "length_between", "params": {"max": 10}},
        ],
    )
    said = [("a", "Yes."), ("a", "No."), ("a", "Why."), ("b", "A long answer."), ("c", "A longer answer.")]
    items = [
        {"case_id": case, "attempt": place, "prompt": case, "submission": words}
        for place, (case, words) in enumerate(said, 1)
    ]
    dataset = factories.dataset(people.team, people.ed, items=items)
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        InProcessJudge(lambda *_: "MET"),
    )
    queue = opened(people, run, Source())
    label(queue, people.ann, 2, lambda item, name: "MET")
    [_, short] = comparison.compare(run, [queue], viewer=people.bob).criteria
    assert short.mean_value is not None
    # Over cases, and from five items that were measured.
    assert (short.mean_value.value, short.mean_value.n) == (pytest.approx(1 / 3), 5)
    of_run = results.result(run, viewer=people.bob).rates[1].rate
    assert bounds(short.mean_value)[:3] == pytest.approx(bounds(of_run)[:3])


def test_the_agreement_board_counts_items_and_not_their_criteria(
    people: Cast, labelled: tuple[Run, ReviewQueue]
) -> None:
    board = agreement_board(labelled[1], viewer=people.bob)
    assert board.overall is not None
    assert {row.items for row in (board.overall, *board.criteria)} == {CASES * ATTEMPTS}
