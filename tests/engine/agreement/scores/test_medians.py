"""Medians with their intervals, units one by one, and draws that are kept."""

import math

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure, Ratings, median_figure, raw_agreement, unit_agreement
from rubricweb.engine.agreement.intervals import resampled_times


def test_the_worked_median() -> None:
    # No head in six coins: 1/64 = 1.6 %; at most one: 7/64 = 10.9 %. So from the smallest to the largest.
    assert median_figure([6, 2, 4, 3, 5, 1]) == Figure(3.5, 1, 6, 6)


def test_nine_values_leave_out_one_at_either_end() -> None:
    # At most one head in nine coins: 10/512 = 1.95 %; at most two: 46/512 = 9.0 %. So k = 2.
    assert median_figure(list(range(1, 10))) == Figure(5, 2, 8, 9)


def test_five_values_are_too_few_for_an_interval() -> None:
    # No head in five coins: 1/32 = 3.1 %.
    assert median_figure([1, 2, 3, 4, 5]) == Figure(3, None, None, 5)
    assert median_figure([]) == Figure(None, None, None, 0)


def test_many_values_use_the_normal_limit() -> None:
    # 400 values: 200 − 1.96 · 10 = 180.4, so the 180th from either end.
    assert median_figure([float(one) for one in range(1, 401)]) == Figure(200.5, 180, 221, 400)


def test_each_unit_has_its_share_of_equal_pairs() -> None:
    columns = [["MET", "MET", "MET"], ["MET", "MET", None], ["MET", "UNMET", None]]
    ratings = Ratings.from_columns(columns)
    shares = unit_agreement(ratings)
    assert shares[0] == 1
    assert shares[1] == pytest.approx(1 / 3)
    assert math.isnan(shares[2])
    assert raw_agreement(ratings).value == pytest.approx((1 + 1 / 3) / 2)


def test_draws_are_the_same_whether_kept_or_not() -> None:
    def draws(clusters: int, resamples: int) -> np.ndarray:
        return np.concatenate([times for _, times in resampled_times(clusters, resamples=resamples, seed=3)])

    first, again = draws(40, 50), draws(40, 50)
    assert (first == again).all()
    assert (first.sum(axis=1) == 40).all()
    # Drawn as numpy does, one number after the other.
    drawn = np.random.default_rng(3).integers(0, 40, size=(50, 40))
    assert (first[0] == np.bincount(drawn[0], minlength=40)).all()
