"""Wilson and bootstrap intervals against statsmodels and hand-made data."""

import numpy as np
import pytest

from rubricweb.engine.agreement import (
    Ratings,
    compare_labels,
    effect_bias,
    human_ceiling,
    mcnemar,
    wilson,
)
from rubricweb.engine.agreement.intervals import (
    Figure,
    difference_interval,
    mean_interval,
    p_against,
    paired_share_difference,
    percentile_interval,
    resampled_sums,
    share_figure,
    units_together,
    widened,
)
from rubricweb.engine.agreement.judge.kappa import cohen_kappa
from tests.engine.agreement.oracles import statsmodels_inter_rater, statsmodels_proportion


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (8, 10), (0, 25), (17, 1000), (1000, 1000)])
def test_wilson_is_what_statsmodels_says(successes, n):
    assert wilson(successes, n) == pytest.approx(
        statsmodels_proportion.proportion_confint(successes, n, method="wilson")
    )


def test_wilson_of_nothing_is_none():
    assert wilson(0, 0) is None


def test_percentiles_of_a_ladder_are_its_rungs():
    assert percentile_interval(np.arange(101.0), 10**9) == pytest.approx((2.5, 97.5), rel=1e-5)
    # Twenty clusters: t of 19 degrees 2.0930·√(20/19) = 2.1474, Φ(−2.1474) = 1.588 %.
    assert percentile_interval(np.arange(101.0), 20) == pytest.approx((1.588, 98.412), abs=1e-3)
    assert percentile_interval(np.arange(101.0), 1) == (None, None)


def test_an_interval_needs_half_its_resamples_defined():
    assert percentile_interval(np.array([0.1, np.nan, np.nan]), 50) == (None, None)
    assert percentile_interval(np.array([]), 50) == (None, None)


def test_resamples_draw_as_many_clusters_as_there_are():
    sums = resampled_sums(np.ones((37, 2)), resamples=25, seed=1)
    assert sums.shape == (25, 2)
    assert (sums == 37).all()


def test_kappa_of_many_labels_is_what_statsmodels_says():
    generator = np.random.default_rng(4)
    for _ in range(20):
        table = generator.integers(0, 9, size=(4, 4)) + np.eye(4)
        assert float(cohen_kappa(table)) == pytest.approx(
            statsmodels_inter_rater.cohens_kappa(table, return_results=False)
        )


@pytest.mark.parametrize("terms", [1, 5])
def test_sums_over_very_many_clusters_are_those_of_the_draws(terms: int) -> None:
    # Too many draws to be kept; one term is looked up draw by draw, five are counted first.
    clusters, resamples = 200_003, 60
    contributions = np.random.default_rng(3).random((clusters, terms))
    generator = np.random.default_rng(7)
    expected = [
        contributions[generator.integers(0, clusters, size=clusters)].sum(axis=0) for _ in range(resamples)
    ]
    np.testing.assert_allclose(resampled_sums(contributions, resamples=resamples, seed=7), expected)


@pytest.mark.parametrize("clusters", [30, 200_003])
def test_what_was_not_seen_is_drawn_as_often_as_two_clusters(clusters: int) -> None:
    resamples = 4000 if clusters == 30 else 60
    sums = resampled_sums(
        np.ones((clusters, 1)) @ [[1.0, 0.0, 0.0]],
        resamples=resamples,
        seed=7,
        unseen=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    )
    assert (sums.sum(axis=1) == clusters).all()  # as many are drawn as there are
    # Each of n draws is unseen with probability 2 / (n + 2), one of either kind with half of that.
    expected = clusters / (clusters + 2)
    error = 4 * (expected / resamples) ** 0.5
    assert sums[:, 1:].mean(axis=0) == pytest.approx([expected, expected], abs=error)


def test_an_interval_without_width_is_none():
    assert percentile_interval(np.full(100, 0.4), 50) == (None, None)


def test_a_share_of_grouped_units_rests_on_what_the_grouping_leaves():
    # Ten items of four units, five all right and five all wrong: p = ½, Σ(s − 2)² = 40, V = 10/9·40/1600 =
    # 1/36, so 0.25·36 = 9 of the 40 are left, times (1.95996/2.26216)² of 9 degrees = 6.756.
    found = share_figure(np.repeat([4.0, 0.0], 5), np.full(10, 4.0))
    assert (found.low, found.high) == pytest.approx(wilson(0.5 * 6.756, 6.756), abs=1e-3)
    assert found.n == 40
    # All right: the ten items.
    assert share_figure(np.full(10, 4.0), np.full(10, 4.0)).low == pytest.approx(10 / 13.8415, abs=1e-4)


def test_units_fall_together_as_far_as_agreement_shows():
    halves = np.full(10, 4.0)
    # Items wholly right or wholly wrong: p = ½, Σ(s − 2)² = 40 over 40·¼; each says what one unit would.
    assert units_together(np.repeat([4.0, 0.0], 5), halves) == pytest.approx(4)
    assert units_together(np.full(10, 2.0), halves) == 1  # items alike, units of each differ
    assert units_together(halves, halves) == 4  # all agree: nothing shows that units differ
    assert units_together(np.array([1.0, 0.0]), np.ones(2)) == 1


def test_a_mean_over_grouped_units_counts_its_items():
    values, items = np.tile([0.1, 0.3], 12).repeat(5), np.arange(24).repeat(5)
    found = mean_interval(values, items, limits=(0.0, 1.0))
    alone = mean_interval(np.tile([0.1, 0.3], 12), np.arange(24), limits=(0.0, 1.0))
    assert (found.value, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert found.n == 120


def test_few_items_of_many_units_tell_by_what_each_of_them_shows():
    """Five cases of 20 units, each with one −1 and two or three 1s."""
    ups = (2, 2, 3, 2, 3)
    values = np.concatenate([np.repeat([-1.0, 1.0, 0.0], [1, up, 19 - up]) for up in ups])
    found = difference_interval(values, np.repeat(np.arange(5), 20))
    # Sums 1, 1, 2, 1, 2 about 1.4: Σe² = 1.2 gives 1.2/4 = 0.3. Of units alone s² = (17 − 100·0.07²)/99 =
    # 0.16677, which is 20·0.16677 = 3.335 for a case: more. t of 4 degrees is 2.7764, so 2.7764·√0.16677/10.
    assert found.value == pytest.approx(0.07)
    assert found.high - found.value == pytest.approx(0.11338, abs=1e-5)
    # Nothing in the last: units differ within cases and cases do not, so a unit more is a unit and no case.
    # s² = (13 − 100·0.05²)/99 = 0.12879: 2.7764·√0.12879/10; −½ and ½ with t of 6 degrees are narrower.
    values[80:] = 0.0
    wide = difference_interval(values, np.repeat(np.arange(5), 20))
    assert wide.high - wide.value == pytest.approx(0.09964, abs=1e-5)
    # Cases that are wholly one or the other stand and fall together: s² of six case means is 1.2.
    whole = difference_interval(np.repeat([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 20), np.repeat(np.arange(6), 20))
    assert whole.high == pytest.approx(2.5706 * (1.2 / 6) ** 0.5, abs=1e-4)  # which plain t passes


def test_twins_differ_by_nothing_but_not_for_certain():
    found = difference_interval(np.zeros(50), np.arange(50))
    # −½ and ½: SE √(0.5/51/52) = 0.01373, t of 51 degrees 2.0076.
    assert (found.low, found.value, found.high) == pytest.approx((-0.02757, 0, 0.02757), abs=1e-5)


def test_twins_of_yes_and_no_differ_by_nothing_but_not_for_certain():
    found = paired_share_difference(np.zeros(50), np.arange(50))
    # One +1 and one −1: s² = 2/51, t of 50 degrees 2.0086, half 2.0086·√(2/51/50) = 0.0563.
    assert (found.low, found.value, found.high) == pytest.approx((-0.0563, 0, 0.0563), abs=1e-4)


def test_one_pair_is_added_to_paired_differences_whatever_signs_occur():
    # 10 of 36 one way, 2 the other: Σe² = 12 − 36·(8/36)² = 10.2222, with +1 and −1 12.2222; t of 36 degrees
    # 2.0281, half 2.0281·√(12.2222/(36·37)) = 0.1943.
    both_ways = np.repeat([1.0, -1.0, 0.0], [10, 2, 24])
    found = paired_share_difference(both_ways, np.arange(36))
    assert (found.low, found.value, found.high) == pytest.approx((0.0280, 8 / 36, 0.4165), abs=1e-4)
    # One way only: Σe² = 8 − 64/36 = 6.2222, with the pair 8.2222, half 2.0281·√(8.2222/1332) = 0.1593.
    one_way = paired_share_difference(np.repeat([1.0, 0.0], [8, 28]), np.arange(36))
    assert one_way.high - one_way.value == pytest.approx(0.1593, abs=1e-4)


def test_the_pair_added_to_items_of_many_units_is_two_units_and_no_two_items():
    """Twelve items of 14 units; where they differ each has one unit one way and one the other."""
    items = np.repeat(np.arange(12), 14)
    spread = np.tile(np.repeat([1.0, -1.0, 0.0], [1, 1, 12]), 12)
    # Every item sums to 0, so units do not fall together, Σe² = 0: t of 12 degrees 2.1788, two residuals of
    # one unit, 2.1788·√(12·2/13)/168 = 0.01762. Two whole items would make it 14 times that.
    assert paired_share_difference(spread, items).high == pytest.approx(0.01762, abs=1e-5)
    # Nothing differs: the same pair.
    assert paired_share_difference(np.zeros(168), items).high == pytest.approx(0.01762, abs=1e-5)
    # Six items wholly one way, six the other: a unit says what all 14 of its item do. Σe² = 12·14², size 14,
    # 2.1788·√(12·(12 + 2)·14²/13)/168 = 0.6527.
    together = np.repeat(np.repeat([1.0, -1.0], 6), 14)
    assert paired_share_difference(together, items).high == pytest.approx(0.6527, abs=1e-4)
    assert paired_share_difference(np.ones(14), np.zeros(14)).low is None


def test_p_is_the_confidence_at_which_an_interval_ends_there():
    figure = Figure(0.5, 0.3, 0.6, 20)
    p = p_against(figure, 0.25)
    assert p == pytest.approx(0.01429, abs=1e-5)  # z = 1.95996 · 0.25 / 0.2 = 2.44995
    assert widened(figure, 1 - p).low == pytest.approx(0.25)
    assert p_against(figure, 0.3) == pytest.approx(0.05)
    assert p_against(figure, 0.6) == pytest.approx(0.05)  # above it is the other side that tells
    assert p_against(figure, 0.5) == 1
    assert p_against(Figure(0.5, None, None, 1)) is None


def test_an_interval_is_stretched_as_it_was_made():
    """t of 11 degrees is 2.2010 at 95 % and 3.1058 at 99 %; on a normal scale p of that end would be 0.0057,
    of z 2.7657.
    """
    values, items = np.array([-1.0, 1.0] * 6), np.arange(12)
    found, surer = (difference_interval(values, items, confidence=level) for level in (0.95, 0.99))
    stretched = widened(found, 0.99)
    assert (stretched.low, stretched.high) == pytest.approx((surer.low, surer.high))
    assert p_against(found, surer.low) == pytest.approx(0.01)
    # With the two residuals of paired yes and no: t of 12 degrees.
    found, surer = (paired_share_difference(values, items, level) for level in (0.95, 0.99))
    assert widened(found, 0.99).low == pytest.approx(surer.low)
    # A bootstrap of twelve items: its percentiles are widened as t is. Shares stay on a normal scale.
    one, other = ["MET", "UNMET"] * 6, ["MET", "UNMET"] * 3 + ["UNMET", "MET", "MET", "UNMET", "MET", "MET"]
    pair = compare_labels(one, other, range(12))
    for figure, by in ((pair.kappa, 3.1058 / 2.2010), (pair.accuracy, 2.5758 / 1.95996)):
        low = figure.value + by * (figure.low - figure.value)
        assert widened(figure, 0.99).low == pytest.approx(low, abs=1e-4)


def test_differences_of_shares_stay_within_what_is_possible():
    # Two equal units with ±½ added: t of three degrees 3.1824·√(0.5/3/4) = 0.6496; with ±1 it passes 1.
    bias = effect_bias([1, 0], [1, 0], [1, 1], [0, 1])
    assert (bias.value, bias.low, bias.high) == pytest.approx((0, -0.6496, 0.6496), abs=1e-4)
    difference = mcnemar([True, False], [True, False]).difference
    assert (difference.low, difference.high) == (-1, 1)
    judge = human_ceiling(Ratings.from_columns([["MET", "UNMET"]] * 2), ["MET", "UNMET"]).judge
    assert judge is not None
    assert (judge.accuracy_difference.low, judge.accuracy_difference.high) == (-1, 1)
