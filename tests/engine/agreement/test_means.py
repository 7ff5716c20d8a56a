"""Several means over the same items share their resamples."""

import pytest

from rubricweb.engine.agreement import mean_figure
from rubricweb.engine.agreement.means import mean_columns


def test_each_column_has_its_own_mean() -> None:
    one, other = mean_columns([(1.0, 0.0), (0.0, 0.5)], 2)
    assert (one.value, one.n) == (0.5, 2)
    assert other.value == 0.25


def test_a_column_has_the_interval_it_would_have_alone() -> None:
    values = [0.1, 0.4, 0.4, 0.9, 0.2]
    figures = mean_columns([(value, -value) for value in values], 2)
    alone = mean_figure(values)
    assert (figures[0].low, figures[0].high) == pytest.approx((alone.low, alone.high))
    assert (figures[1].low, figures[1].high) == pytest.approx((-alone.high, -alone.low))


def test_without_items_nothing_is_known_and_with_one_there_is_no_interval() -> None:
    assert [figure.value for figure in mean_columns([], 2)] == [None, None]
    [figure] = mean_columns([(0.5,)], 1)
    assert (figure.value, figure.low, figure.n) == (0.5, None, 1)


def test_a_row_of_another_length_is_named() -> None:
    with pytest.raises(ValueError, match=r"rows\[1\] has 1 values; allowed: 2"):
        mean_columns([(1.0, 0.0), (1.0,)], 2)
