"""Means of one column or several."""

import numpy as np
import pytest

from rubricweb.engine.agreement import mean_figure
from rubricweb.engine.agreement.scores.means import mean_columns
from tests.engine.agreement.oracles import scipy_stats


def test_each_column_has_its_own_mean() -> None:
    one, other = mean_columns([(1.0, 0.0), (0.0, 0.5)], [(-1, 1)] * 2)
    assert (one.value, one.n) == (0.5, 2)
    assert other.value == 0.25


def test_a_column_has_the_interval_it_would_have_alone() -> None:
    values = [0.1, 0.4, 0.4, 0.9, 0.2]
    figures = mean_columns([(value, -value) for value in values], [(-1, 1)] * 2)
    # Mean 0.4, Σe² = 0.38; one more at each end: s² = 2.38/6; t of 4 degrees 2.7764; half √(2.38/30)·t =
    # 0.782, and no mean of differences of scores is above 1.
    assert (figures[0].low, figures[0].high) == pytest.approx((0.4 - 0.782, 1), abs=1e-3)
    assert (figures[1].low, figures[1].high) == pytest.approx((-1, -0.4 + 0.782), abs=1e-3)
    alone = mean_figure(values)
    assert (alone.low, alone.high) == (0, 1)  # a score is no less than 0 and no more than 1


def test_what_a_light_criterion_adds_has_an_interval_of_its_own_size() -> None:
    """Weight 3 of 36 adds at most 3/36 to a difference: 30 items without a change, of each criterion."""
    heavy, light = mean_columns([(0.0, 0.0)] * 30, [(-1, 1), (-3 / 36, 3 / 36)])
    # s² = 2/31 of one at each end, t of 29 degrees 2.0452: half 2.0452·√(2/31/30) = 0.0948.
    assert heavy.high == pytest.approx(0.0948, abs=1e-4)
    assert light.high == pytest.approx(0.0948 * 3 / 36, abs=1e-5)
    [few] = mean_columns([(0.0,), (0.0,)], [(0, 3 / 36)])
    assert (few.low, few.high) == (0, 3 / 36)
    [none] = mean_columns([(0.0,), (0.0,)], [(0, 0)])
    assert (none.value, none.low, none.high) == (0, 0, 0)


def test_the_mean_of_many_different_scores_has_the_interval_of_the_textbooks() -> None:
    values = np.linspace(0.2, 0.8, 25)
    found = mean_figure(values.tolist())
    expected = scipy_stats.t.interval(0.95, 24, loc=0.5, scale=scipy_stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected)


def test_equal_scores_do_not_show_that_the_next_is_the_same() -> None:
    found = mean_figure([0.7] * 40)
    # s² = 2/41 of one at each end, t of 39 degrees 2.0227: half 2.0227·√(2/41/40) = 0.0706.
    assert (found.low, found.high) == pytest.approx((0.7 - 0.0706, 0.7 + 0.0706), abs=1e-4)
    assert mean_figure([1.0] * 40).low == pytest.approx(40 / (40 + 3.8415), abs=1e-4)  # Wilson of 40 in 40


@pytest.mark.parametrize("scores", [[1.0] * 3, [0.0] * 3, [0.7] * 3, [15.0] * 3, [-0.2] * 4, [1.0]])
def test_no_interval_of_equal_scores_is_without_width(scores: list[float]) -> None:
    found = mean_figure(scores)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.high


def test_without_items_nothing_is_known_and_with_one_there_is_no_interval() -> None:
    figures = mean_columns([], [(-1, 1)] * 2)
    assert [(figure.value, figure.reason) for figure in figures] == [(None, "nothing to measure")] * 2
    [figure] = mean_columns([(0.5,)], [(-1, 1)])
    assert (figure.value, figure.low, figure.n) == (0.5, None, 1)


def test_a_row_of_another_length_is_named() -> None:
    with pytest.raises(ValueError, match=r"rows\[1\] has 1 values; allowed: 2"):
        mean_columns([(1.0, 0.0), (1.0,)], [(-1, 1)] * 2)
