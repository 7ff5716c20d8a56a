"""Chance within criteria from few units: intervals of a jackknife, by hand."""

import numpy as np
import pytest

from rubricweb.engine.agreement import pair_kappa_within, seat_within
from rubricweb.engine.agreement.intervals import few_per_stratum, spread_over_strata
from rubricweb.engine.agreement.jackknife import jackknife_interval, jackknife_sums
from rubricweb.engine.agreement.ratings import Ratings

M, U = "MET", "UNMET"


def test_a_jackknife_of_a_share_is_t_over_items_and_two_that_were_not_seen():
    # Three of four items right, and two unseen ones of which one is: 4 of 6. Without a right one 3/5 (three
    # times), without the wrong one 4/5; one unseen more 5/7 or 4/7, so without one 4/3 − 9/14 on average.
    contributions = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    sums = jackknife_sums(contributions, np.array([[1.0, 1.0], [0.0, 1.0]]))
    shares = sums[:, 0] / sums[:, 1]
    assert shares == pytest.approx([4 / 6, 3 / 5, 3 / 5, 3 / 5, 4 / 5, 5 / 7, 4 / 7])
    # Mean (2.6 + 2·(4/3 − 9/14))/6 = 0.663492, centre 6·(4/6) − 5·0.663492 = 0.682540. Squares
    # 3·0.063492² + 0.136508² = 0.030729, and 2·((1/21)² + (2/21)²)/2 = 0.011338; t of 3 degrees 3.18245,
    # half 3.18245·√(5/6·0.042067) = 0.595857.
    low, high = jackknife_interval(shares, 4, 0.95)
    assert (low, high) == pytest.approx((0.682540 - 0.595857, 0.682540 + 0.595857), abs=1e-5)


def test_a_jackknife_of_one_item_or_of_what_is_undefined_has_no_interval():
    assert jackknife_interval(np.array([0.5, 0.5, 0.6, 0.4]), 1, 0.95) == (None, None)
    assert jackknife_interval(np.array([0.5, np.nan, 0.5, 0.6, 0.4]), 2, 0.95) == (None, None)


def test_strata_are_of_few_units_by_their_mean_size():
    assert few_per_stratum(np.array([19, 19]), clusters=19)
    assert not few_per_stratum(np.array([20, 20]), clusters=20)
    assert few_per_stratum(np.array([40, *[4] * 9]), clusters=40)  # 76 / 10
    assert not few_per_stratum(np.array([100, 2]), clusters=100)  # 51
    assert few_per_stratum(np.array([60, 60]), clusters=12)  # five answers to each of twelve cases
    assert not few_per_stratum(np.array([12, 0]), clusters=12)  # one stratum: the bootstrap of one table


def test_what_is_unseen_is_spread_over_strata_as_the_units_are():
    spread = spread_over_strata(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3, 1]))
    assert spread.tolist() == [[0.75, 0.0, 0.25, 0.0], [0.0, 1.5, 0.0, 0.5]]


def test_kappa_of_few_items_is_not_pulled_down_by_its_interval():
    """Ten criteria of eight items each: chance counted from eight units is too high."""
    items, criteria = np.repeat(np.arange(8), 10), np.tile(np.arange(10), 8)
    people = [M if (item + of) % 2 else U for item, of in zip(items, criteria, strict=True)]
    # Of each criterion the judge misses one item of eight: pₒ = 7/8, pₑ = ½, κ = 0.75. Of more items 1/8
    # would be the same and chance ½ of unlike pairs, κ (7/8 − (4 − 7/8)/7)/(1 − (4 − 7/8)/7) = 0.774.
    judge = [
        (U if said == M else M) if item == of % 8 else said
        for said, item, of in zip(people, items, criteria, strict=True)
    ]
    found = pair_kappa_within(people, judge, items.tolist(), criteria.tolist())
    assert found.value == pytest.approx(0.75)
    assert (found.low + found.high) / 2 == pytest.approx(0.774, abs=0.03)
    assert found.low < 0.75 < found.high <= 1


def test_perfect_agreement_of_few_items_is_not_certain():
    items, criteria = np.repeat(np.arange(6), 2), np.tile(np.arange(2), 6)
    people = [M if item % 2 else U for item in items]
    found = pair_kappa_within(people, people, items.tolist(), criteria.tolist())
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low < 0.7
    rows = [(unit, rater, label) for unit, label in enumerate(people) for rater in range(3)]
    ratings = Ratings.from_triples(rows, cluster_of=lambda unit: int(items[unit]))
    seat = seat_within(ratings, people, criteria.tolist())
    assert seat.kappa_difference.value == 0
    assert seat.kappa_difference.low < -0.1 < 0.1 < seat.kappa_difference.high
