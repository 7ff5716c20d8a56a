"""Correlations, errors and paired tests of scores against scipy, statsmodels and sums by hand."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.agreement import (
    Figure,
    cochran_q,
    cohen_d,
    compare_runs,
    compare_scores,
    holm,
    kendall,
    mcnemar,
    paired_t,
    pearson,
    spearman,
    wilcoxon,
)
from rubricweb.engine.agreement.distributions import (
    chi_square_tail,
    fair_coin_two_sided,
    normal_two_sided,
    t_two_sided,
)
from rubricweb.engine.agreement.intervals import unseen_failures
from rubricweb.engine.agreement.scores.scores import rmse
from tests.engine.agreement.oracles import scipy_stats, statsmodels_contingency, statsmodels_multitest

REFERENCE, JUDGED = [0.2, 0.4, 0.9], [0.3, 0.6, 0.7]


def columns(seed, *, step=None, n=None):
    generator = np.random.default_rng(seed)
    n = n or int(generator.integers(4, 40))
    one = generator.random(n)
    other = np.clip(one + generator.normal(0.05, 0.3, n), 0, 1)
    if step:
        one, other = np.round(one / step) * step, np.round(other / step) * step
    return one.tolist(), other.tolist()


def test_three_scores_worked_by_hand():
    found = compare_scores(REFERENCE, JUDGED)
    assert found.bias.value == pytest.approx(0.1 / 3)  # 0.1, 0.2, −0.2
    assert found.mae.value == pytest.approx(0.5 / 3)
    assert found.rmse.value == pytest.approx(math.sqrt(0.09 / 3))
    assert found.spearman.value == found.kendall.value == 1.0
    spread = math.sqrt((0.09 - 0.01 / 3) / 2)
    assert found.bias_t.t == pytest.approx(0.1 / 3 / (spread / math.sqrt(3)))
    runs = compare_runs(REFERENCE, JUDGED)
    assert (runs.mean_one.value, runs.mean_other.value) == (pytest.approx(0.5), pytest.approx(1.6 / 3))
    assert runs.difference.value == pytest.approx(0.1 / 3)
    assert runs.cohen_d.value == pytest.approx(0.1 / 3 / spread)


def test_no_interval_of_a_difference_reaches_beyond_what_is_possible():
    """−0.8 and −0.84 with −½ and ½ more: mean −0.41, SE √(1.1732/3/4) = 0.31268, t of 3 degrees 3.1824: half
    0.9951; no score is off another by more than 1.
    """
    runs = compare_runs([0.9, 1.0], [0.1, 0.16])
    assert runs.difference.value == pytest.approx(-0.82)
    assert (runs.difference.low, runs.difference.high) == (-1, pytest.approx(0.5851, abs=1e-4))
    bias = compare_scores([0.9, 1.0], [0.1, 0.16], resamples=0).bias
    assert (bias.low, bias.high) == (runs.difference.low, runs.difference.high)
    raw = compare_runs([0.9, 1.0], [0.1, 0.16], limits=None).difference  # nothing says where raw scores end
    assert raw.low == pytest.approx(-1.4051, abs=1e-4)
    stars = compare_runs([1.0, 5.0], [4.0, 4.0]).difference  # from 0 to 5, as was seen
    assert (stars.low, stars.high) == (-5, 5)


def test_new_failures_that_are_rare_are_allowed_for_in_a_difference():
    """None of 60 cases newly failed, which 3/60 = 5 % of such cases may."""
    before = [0.87, 0.9, 0.93] * 20
    found = compare_runs(before, before[1:] + before[:1]).difference
    # Differences 0.03, 0.03, −0.06: mean 0, Σx² = 20·0.0054 = 0.108; with ±½ 0.608, SE √(0.608/61/62) =
    # 0.01268, t of 61 degrees 1.9996: half 0.02535. Plain t has 2.0010·√(0.108/59/60) = 0.01105.
    assert (found.low, found.high) == pytest.approx((-0.02535, 0.02535), abs=1e-5)
    assert unseen_failures(60) == 0.05
    # From 120 on plain t: Σx² = 0.216, 1.9801·√(0.216/119/120).
    many = compare_runs(before * 2, (before[1:] + before[:1]) * 2).difference
    assert many.high == pytest.approx(0.0077, abs=1e-4)
    # Two hundred that are equal show no spread: ±½ all the same, 1.9719·√(0.5/201/202).
    equal = compare_runs([0.5] * 200, [0.5] * 200).difference
    assert equal.high == pytest.approx(0.00692, abs=1e-5)


def test_the_upper_end_of_rmse_is_told_on_the_logarithm_of_the_mean_square():
    """240 squares of 0.01 and ten of 0.09: mean 0.0132, s 0.015707, t of 249 degrees 1.96954."""
    found = rmse([0.0] * 250, [0.1] * 240 + [0.3] * 10)
    half = 1.96954 * 0.015707 / math.sqrt(250)
    assert found.value == pytest.approx(math.sqrt(0.0132))
    assert found.high is not None
    assert found.high >= math.sqrt(0.0132 * math.exp(half / 0.0132))
    # Of twenty a square of 0 and one of ½² are appended: mean 1.25/22, SE √(0.073477/21/22), t of 21
    # degrees 2.0796; t on the logarithm ends at √0.0734.
    few = rmse([0.0] * 20, [0.1, 0.3] * 10)
    assert few.low == pytest.approx(math.sqrt(0.056818 - 0.026226), abs=1e-4)
    assert few.high == pytest.approx(math.sqrt(0.056818 + 0.026226), abs=1e-4)


def test_rmse_never_reaches_beyond_the_scale_and_of_equal_scores_keeps_what_few_do_not_show():
    assert rmse([0.0, 0.0], [1.0, 0.1], confidence=0.9999).high == 1.0
    perfect = rmse([0.5] * 20, [0.5] * 20)
    assert perfect.value == perfect.low == 0
    assert perfect.high is not None
    assert perfect.high > 0
    assert rmse([0.5], [0.6]).high is None


@pytest.mark.parametrize("step", [None, 0.25])
@pytest.mark.parametrize("seed", range(15))
def test_every_figure_is_what_scipy_says(seed, step):
    one, other = columns(seed, step=step)
    found = compare_scores(one, other, resamples=20)
    assert found.pearson.value == pytest.approx(scipy_stats.pearsonr(one, other)[0], abs=1e-12)
    assert found.spearman.value == pytest.approx(scipy_stats.spearmanr(one, other)[0], abs=1e-12)
    assert found.kendall.value == pytest.approx(scipy_stats.kendalltau(one, other)[0], abs=1e-12)
    expected = scipy_stats.ttest_rel(other, one)
    assert found.bias_t.t == pytest.approx(expected.statistic, abs=1e-9)
    assert found.bias_t.p == pytest.approx(expected.pvalue, abs=1e-9)


@pytest.mark.parametrize("coefficient", [pearson, spearman, kendall])
def test_the_bootstrap_is_what_scipy_says_resample_by_resample(coefficient):
    """Ties made by drawing a unit twice count as ties; of 28 items drawn from, two were not seen."""
    one, other = columns(3, n=26, step=0.1)
    oracle = {
        pearson: scipy_stats.pearsonr,
        spearman: scipy_stats.spearmanr,
        kendall: scipy_stats.kendalltau,
    }[coefficient]
    found = coefficient(one, other, resamples=200, seed=4)
    generator = np.random.default_rng(4)
    drawn = generator.integers(0, 28, size=(200, 26))
    unseen = (drawn >= 26).sum(axis=1)
    corner = np.random.default_rng([4, 2])
    if coefficient is pearson:
        kinds = np.split(corner.integers(0, 4, size=unseen.sum()), np.cumsum(unseen)[:-1])
    else:
        kinds = [np.repeat(np.arange(4), row) for row in corner.multinomial(unseen, [1 / 4] * 4)]
    corners = [(x, y) for x in (min(one), max(one)) for y in (min(other), max(other))]
    values = []
    for items_drawn, kinds_drawn in zip(drawn, kinds, strict=True):
        pairs = [(one[unit], other[unit]) for unit in items_drawn if unit < 26]
        pairs += [corners[kind] for kind in kinds_drawn]
        values.append(oracle(*zip(*pairs, strict=True))[0])
    tail = scipy_stats.norm.cdf(-scipy_stats.t.ppf(0.975, 25) * (26 / 25) ** 0.5)
    low, high = np.quantile(values, [tail, 1 - tail])
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_kendall_of_many_scores_is_computed_in_blocks():
    one, other = columns(1, n=1200)
    assert kendall(one, other, resamples=3).value == pytest.approx(scipy_stats.kendalltau(one, other)[0])


@pytest.mark.parametrize("coefficient", [pearson, spearman, kendall, cohen_d])
@pytest.mark.parametrize(
    ("one", "other", "n"),
    [
        ([], [], 0),
        ([None, 0.5], [0.5, None], 0),
        ([0.5], [0.7], 1),
        ([0.3, 0.3, 0.3], [0.3, 0.3, 0.3], 3),
        ([0.1, 0.1, 0.1], [0.1 + 0.2, 0.3, 0.3], 3),  # equal but for rounding
    ],
)
def test_without_spread_there_is_no_coefficient(coefficient, one, other, n):
    assert coefficient(one, other) == Figure(None, None, None, n)


def test_a_constant_shift_has_no_effect_size_and_no_t_and_p_by_sign_flips():
    one = [0.1, 0.4, 0.7, 0.2]
    other = [score + 0.1 for score in one]
    assert cohen_d(one, other).value is None
    found = paired_t(one, other)
    # All four above 0 or all below: 2 of the 2⁴ patterns.
    assert (found.t, found.df, found.p, found.exact) == (None, None, 2 / 16, True)
    # Two answers each to two cases are two: 2 of 2².
    assert paired_t(one, other, ["a", "a", "b", "b"]).p == 2 / 4
    assert (paired_t(one, one).p, paired_t(one, one).exact) == (1.0, True)
    assert (paired_t([0.5], [0.5]).p, paired_t([], []).p) == (None, None)
    assert paired_t([0.0] * 2000, [0.2] * 2000).p == 0.0
    assert compare_scores(one, other).pearson.value == pytest.approx(1)


def test_scores_nobody_gave_are_counted_as_missing():
    found = compare_scores([0.1, None, 0.3, float("nan")], [0.2, 0.2, None, 0.1])
    assert (found.n, found.missing) == (1, 3)


def test_infinite_scores_and_unequal_columns_are_refused():
    with pytest.raises(ValueError, match=r"one\[1\] is inf; allowed are finite numbers and None"):
        pearson([0.0, float("inf")], [0.0, 1.0])
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        compare_scores([0.1], [0.1, 0.2])


def test_t_counts_items_and_not_their_copies():
    one, other = columns(2, n=12)
    alone = paired_t(one, other)
    copies = paired_t(one * 5, other * 5, list(range(12)) * 5)
    assert copies == alone
    assert alone.n == 12
    assert paired_t([0, 0, 0], [1, 2, 3]).t == pytest.approx(2 * math.sqrt(3))


@pytest.mark.parametrize("seed", range(15))
def test_effect_size_is_mean_over_spread(seed):
    one, other = columns(seed)
    differences = np.subtract(other, one)
    found = cohen_d(one, other)
    assert found.value == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [6, 30, 50, 51, 200])
def test_wilcoxon_without_ties_is_what_scipy_says(seed, n):
    one, other = np.random.default_rng(seed).normal(size=(2, n))
    found = wilcoxon(one.tolist(), other.tolist())
    expected = scipy_stats.wilcoxon(other, one, method="exact" if n <= 50 else "approx")
    assert found.exact == (n <= 50)
    assert (found.statistic, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_of_few_tied_differences_is_what_scipy_says_of_all_permutations(seed):
    generator = np.random.default_rng(seed)
    one, other = generator.integers(0, 5, size=(2, int(generator.integers(4, 13)))) / 10
    found = wilcoxon(one.tolist(), other.tolist())
    moved = np.round(other - one, 1)
    expected = scipy_stats.wilcoxon(
        moved[moved != 0], method=scipy_stats.PermutationMethod(n_resamples=np.inf)
    )
    assert found.exact
    assert found.zeros == (one == other).sum()
    assert (found.statistic, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_of_many_tied_differences_is_what_scipy_approximates(seed):
    one, other = np.random.default_rng(seed).integers(0, 5, size=(2, 90)).astype(float)
    found = wilcoxon(one.tolist(), other.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = scipy_stats.wilcoxon(other - one, zero_method="wilcox", method="approx", correction=False)
    assert not found.exact
    assert found.zeros == (one == other).sum()
    assert (found.statistic, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


def test_wilcoxon_worked_by_hand():
    found = wilcoxon([0] * 5, [1, 2, 3, -4, 5])
    assert (found.above, found.below, found.exact) == (11, 4, True)
    assert found.p == pytest.approx(2 * 7 / 32)  # {}, 1, 2, 3, 12, 4, 13
    assert wilcoxon([1, 2], [1, 2]).p is None
    assert wilcoxon([], []).statistic is None


def test_wilcoxon_with_ties_worked_by_hand():
    # All alike and above 0: of the 2ⁿ sign patterns only the empty one has a rank sum of 0.
    assert wilcoxon([0] * 5, [0.2] * 5).p == 2 * 1 / 32
    assert wilcoxon([0] * 4, [0.1] * 4).p == 2 * 1 / 16
    assert wilcoxon([0] * 5, [0.1, 0.1, 0.1, 0.2, 0.2]).p == 2 * 1 / 32
    # 0 is set aside. 1 and 1 share rank 1½, 2 has 3: below 1½; {}, 1½ and 1½ of the 8 patterns.
    found = wilcoxon([0] * 4, [0, -1, 1, 2])
    assert (found.n, found.zeros, found.below, found.p, found.exact) == (3, 1, 1.5, 2 * 3 / 8, True)
    # Doubled ranks 3 3 7 7 10 13 13 16, those below 0 sum to 16. Up to 16 come {}; 8 ranks alone;
    # 3+3, four of 3+7, 7+7, two of 3+10, four of 3+13; two of 3+3+7 and 3+3+10: 24 of 256.
    found = wilcoxon([0] * 8, [-0.4, -0.1, 0.6, 0.4, 0.3, 0.2, 0.2, 0.1])
    assert (found.below, found.p) == (8, 2 * 24 / 256)
    # 1 against 1: both patterns count, and twice that is more than certain.
    assert wilcoxon([0, 0], [1, -1]).p == 1


def test_differences_that_differ_by_rounding_are_ties():
    found = wilcoxon([0.1, 0.2, 0.0], [0.1 + 0.2, 0.4, 0.2])
    assert found.above == 6
    assert found.p == 2 * 1 / 8  # three differences of 0.2, all above 0
    assert wilcoxon([0.3], [0.1 + 0.2]).zeros == 1


@pytest.mark.parametrize(
    ("both", "only_one", "only_other", "neither"),
    [(3, 1, 4, 2), (10, 0, 0, 5), (0, 12, 12, 0), (0, 12, 13, 0), (50, 10, 30, 9), (5, 40, 2, 1)],
)
def test_mcnemar_is_what_statsmodels_says(both, only_one, only_other, neither):
    one = [True] * (both + only_one) + [False] * (only_other + neither)
    other = [True] * both + [False] * only_one + [True] * only_other + [False] * neither
    found = mcnemar(one, other)
    assert (found.both, found.only_one, found.only_other, found.neither) == (
        both,
        only_one,
        only_other,
        neither,
    )
    exact = only_one + only_other < 25
    table = [[both, only_one], [only_other, neither]]
    expected = statsmodels_contingency.mcnemar(table, exact=exact, correction=True)
    assert found.exact == exact
    assert found.p == pytest.approx(expected.pvalue)
    if not exact:
        assert found.statistic == pytest.approx(expected.statistic)
    assert found.difference.value == pytest.approx((only_other - only_one) / len(one))


def test_mcnemar_worked_by_hand():
    assert mcnemar([True] + [False] * 4, [False] + [True] * 4).p == pytest.approx(2 * (1 + 5) / 32)
    many = mcnemar([True] * 10 + [False] * 30, [False] * 10 + [True] * 30)
    assert many.statistic == pytest.approx(361 / 40)
    nothing = mcnemar([None, True], [True, None])
    assert (nothing.n, nothing.p, nothing.difference) == (0, None, Figure(None, None, None, 0))
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        mcnemar([True], [True, False])


@pytest.mark.parametrize("seed", range(10))
def test_cochran_q_is_what_statsmodels_says(seed):
    table = np.random.default_rng(seed).random((25, 4)) < [0.3, 0.5, 0.5, 0.7]
    found = cochran_q(table.T.tolist())
    expected = statsmodels_contingency.cochrans_q(table)
    assert (found.q, found.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


def test_cochran_q_worked_by_hand():
    found = cochran_q([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 0]])
    assert (found.q, found.df, found.p) == (pytest.approx(3), 2, pytest.approx(math.exp(-1.5)))
    assert cochran_q([[True, False], [True, False]]).p is None
    assert cochran_q([[True]]).p is None
    assert cochran_q([]).n == 0
    assert cochran_q([[True, None], [False, True]]).n == 1
    with pytest.raises(ValueError, match=r"found lengths \[1, 2\]"):
        cochran_q([[True], [True, False]])


def test_holm_worked_by_hand():
    assert holm([0.01, 0.04, 0.03, None]) == (
        pytest.approx(0.03),
        pytest.approx(0.06),
        pytest.approx(0.06),
        None,
    )
    assert holm([]) == ()
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    with pytest.raises(ValueError, match=r"p_values\[0\] is 1.5; allowed are 0 … 1 and None"):
        holm([1.5])


@pytest.mark.parametrize("seed", range(10))
def test_holm_is_what_statsmodels_says(seed):
    p_values = np.random.default_rng(seed).random(8).round(1) ** 3
    expected = statsmodels_multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values.tolist()) == pytest.approx(tuple(expected), abs=1e-12)


def test_tails_of_distributions_are_what_scipy_says():
    for t, df in [(0, 3), (0.1, 1), (2.2, 7), (30, 3), (1.5, 1000), (8, 400), (-2, 4)]:
        assert t_two_sided(t, df) == pytest.approx(2 * scipy_stats.t.sf(abs(t), df), rel=1e-9)
    for statistic, df in [(0, 1), (0.1, 1), (3, 1), (30, 1), (5, 4), (200, 100), (80, 100)]:
        assert chi_square_tail(statistic, df) == pytest.approx(scipy_stats.chi2.sf(statistic, df), rel=1e-9)
    assert normal_two_sided(-1.96) == pytest.approx(2 * scipy_stats.norm.sf(1.96))
    assert t_two_sided(1, 1) == pytest.approx(0.5)
    assert chi_square_tail(2 * math.log(2), 2) == pytest.approx(0.5)
    for heads, tosses in [(0, 0), (1, 5), (12, 24), (3, 20)]:
        expected = scipy_stats.binomtest(heads, tosses).pvalue if tosses else 1.0
        assert fair_coin_two_sided(heads, tosses) == pytest.approx(expected)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
def test_the_order_of_units_changes_no_coefficient(seed, order):
    one, other = columns(seed, step=0.1)
    places = list(range(len(one)))
    order.shuffle(places)
    turned = [one[place] for place in places], [other[place] for place in places]
    for coefficient in (pearson, spearman, kendall, cohen_d):
        before, after = coefficient(one, other).value, coefficient(*turned).value
        assert before == pytest.approx(after, abs=1e-12)
    assert wilcoxon(one, other).p == pytest.approx(wilcoxon(*turned).p, abs=1e-12)


def test_units_of_one_item_say_nothing_of_how_far_others_are_off():
    figure = rmse([0.2, 0.4], [0.3, 0.6], clusters=["a", "a"])
    assert figure.value == pytest.approx((0.05 / 2) ** 0.5)
    assert (figure.low, figure.high) == (None, None)
