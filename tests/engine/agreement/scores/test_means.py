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
    # With −½ and ½ more: mean 2/7, Σ(x − m)² = 1.68 − 4/7 = 1.10857, SE √(1.10857/6/7) = 0.16247, t of 6
    # degrees 2.4469, half 0.3975.
    assert (figures[0].low, figures[0].high) == pytest.approx((-0.1118, 0.6832), abs=1e-4)
    assert (figures[1].low, figures[1].high) == pytest.approx((-0.6832, 0.1118), abs=1e-4)
    # As scores: with a 0 and a 1 more half 2.4469·0.1459 = 0.357; plain t is wider, 2.7764·√(0.38/20).
    alone = mean_figure(values)
    assert (alone.low, alone.high) == pytest.approx((0.0173, 0.7827), abs=1e-4)


def test_what_a_light_criterion_adds_has_an_interval_of_its_own_size() -> None:
    """Weight 3 of 36 adds at most 3/36 to a difference: 30 items without a change, of each criterion."""
    heavy, light = mean_columns([(0.0, 0.0)] * 30, [(-1, 1), (-3 / 36, 3 / 36)])
    # s² = 0.5/31 of −½ and ½, t of 31 degrees 2.0395: half 2.0395·√(0.5/31/32) = 0.0458.
    assert heavy.high == pytest.approx(0.0458, abs=1e-4)
    assert light.high == pytest.approx(0.0458 * 3 / 36, abs=1e-5)
    # Of two t of 3 degrees 3.1824·√(0.5/3/4) = 0.6496 of the scale, and the criterion can only add.
    [few] = mean_columns([(0.0,), (0.0,)], [(0, 3 / 36)])
    assert (few.low, few.high) == (0, pytest.approx(0.6496 * 3 / 36, abs=1e-5))
    [none] = mean_columns([(0.0,), (0.0,)], [(0, 0)])
    assert (none.value, none.low, none.high) == (0, 0, 0)


def t_interval(values: np.ndarray) -> tuple[float, float]:
    return scipy_stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=scipy_stats.sem(values))


def test_the_mean_of_scores_has_the_interval_of_the_textbooks_with_a_0_and_a_1_more() -> None:
    values = np.linspace(0.2, 0.9, 25)
    found = mean_figure(values.tolist())
    assert found.value == pytest.approx(0.55)
    assert (found.low, found.high) == pytest.approx(t_interval(np.append(values, [0, 1])))


def test_scores_that_vary_more_than_the_ends_add_have_the_interval_of_the_textbooks() -> None:
    values = np.array([0.05, 0.95] * 10)
    found = mean_figure(values.tolist())
    assert (found.low, found.high) == pytest.approx(t_interval(values))


def test_a_failure_that_is_rare_is_allowed_for() -> None:
    """A case in 25 fails outright and was not among thirty: the mean of such cases is 0.864."""
    found = mean_figure([0.87, 0.9, 0.93] * 10)
    # With a 0 and a 1 more: mean 28/32 = 0.875, Σ(x − m)² = 25.318 − 24.5 = 0.818, SE 0.02872,
    # t of 31 degrees 2.0395: half 0.0586. Plain t ends at 0.9 − 2.0452·0.0249/√30 = 0.891.
    assert (found.value, found.low) == pytest.approx((0.9, 0.8164), abs=1e-4)
    assert found.high == pytest.approx(0.9336, abs=1e-4)


def test_equal_scores_do_not_show_that_the_next_is_the_same() -> None:
    found = mean_figure([0.7] * 40)
    # With a 0 and a 1 more: mean 29/42, Σ(x − m)² = 0.57619, SE √(0.57619/41/42) = 0.018292, t of 41 degrees
    # 2.0195: 0.69048 ± 0.03694.
    assert (found.low, found.high) == pytest.approx((0.6535, 0.7274), abs=1e-4)
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
