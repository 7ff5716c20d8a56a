"""Chance-corrected agreement against other people's libraries and against sums written out in loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.agreement import (
    METRICS,
    Figure,
    Ratings,
    alpha_interval,
    alpha_nominal,
    alpha_ordinal,
    alpha_scores,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    mean_pair_kappa,
    rater_matrix,
    raw_agreement,
)
from rubricweb.engine.agreement.judge.kappa import agreement_weights, weighted_kappa
from tests.engine.agreement.oracles import krippendorff, sklearn_metrics, statsmodels_inter_rater

FEW = {"resamples": 20}
LEVELS = ("a", "b", "c", "d", "e")
VALUES = (0.0, 0.1, 0.4, 0.7, 1.0)
AMONG_RATERS = [
    name for name, metric in METRICS.items() if metric.between == "raters" and metric.gives == "figure"
]


def table_of(seed, *, gaps=0.3):
    generator = np.random.default_rng(seed)
    raters, units = generator.integers(2, 6), generator.integers(3, 40)
    table = generator.integers(0, len(LEVELS), size=(raters, units)).astype(float)
    table[generator.random(table.shape) < gaps] = np.nan
    return table


def ratings_of(table, **options):
    columns = [[None if np.isnan(cell) else LEVELS[int(cell)] for cell in row] for row in table]
    return Ratings.from_columns(columns, levels=LEVELS, values=VALUES, **options)


@pytest.mark.parametrize("seed", range(30))
def test_alpha_of_tables_with_gaps_is_what_the_krippendorff_package_says(seed):
    table = table_of(seed)
    ratings = ratings_of(table)
    if (~np.isnan(table)).sum(axis=0).max() < 2:
        pytest.fail("a table of this size has pairs")
    numbers = np.where(np.isnan(table), np.nan, np.array([*VALUES, 0])[np.nan_to_num(table).astype(int)])

    def oracle(data, level):
        return pytest.approx(krippendorff.alpha(data, level_of_measurement=level), abs=1e-12)

    assert alpha_nominal(ratings, **FEW).value == oracle(table, "nominal")
    assert alpha_ordinal(ratings, **FEW).value == oracle(table, "ordinal")
    assert alpha_interval(ratings, **FEW).value == oracle(numbers, "interval")
    scores = [[None if np.isnan(cell) else cell for cell in row] for row in numbers]
    assert alpha_scores(scores, **FEW).value == oracle(numbers, "interval")


def test_alpha_of_scores_survives_a_large_offset():
    scores = [[1e9 + 1, 1e9 + 2, 1e9 + 3], [1e9 + 1, 1e9 + 3, 1e9 + 3]]
    # Squared differences 0, 1, 0 in six values 1 1 2 3 3 3: D_o = 1/3, D_e = 2·(6·33 − 13²)/30.
    assert alpha_scores(scores).value == pytest.approx(1 - (1 / 3) / (58 / 30))


def test_ordinal_alpha_worked_by_hand():
    ratings = Ratings.from_columns(
        [["low", "low", "high"], ["low", "mid", "high"]], levels=["low", "mid", "high"]
    )
    assert alpha_ordinal(ratings).value == pytest.approx(1 - 8 / 36)  # midranks 2, 4 and 5.5


def test_ordinal_alpha_of_many_labels_is_computed_in_blocks():
    """Thirty labels make 435 pairs of labels: more than one block."""
    generator = np.random.default_rng(5)
    table = generator.integers(0, 30, size=(4, 60))
    levels = [str(level) for level in range(30)]
    ratings = Ratings.from_columns([[str(cell) for cell in row] for row in table], levels=levels)
    expected = krippendorff.alpha(table.astype(float), level_of_measurement="ordinal")
    figure = alpha_ordinal(ratings)
    assert figure.value == pytest.approx(expected, abs=1e-12)
    assert figure.low < figure.value < figure.high


def test_the_bootstrap_of_ordinal_alpha_is_what_the_package_says_resample_by_resample():
    generator = np.random.default_rng(8)
    truth = generator.integers(0, 5, size=600)
    table = np.clip(truth + generator.integers(-1, 2, size=(3, 600)), 0, 4).astype(float)
    figure = alpha_ordinal(ratings_of(table), resamples=2000)
    values = [
        krippendorff.alpha(table[:, generator.integers(0, 600, 600)], level_of_measurement="ordinal")
        for _ in range(300)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    # The two units that were not seen are 2 of 602: they lower α by some hundredths of 0.6 at most.
    assert figure.low == pytest.approx(low, abs=0.02)
    assert figure.high == pytest.approx(high, abs=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_kappas_of_two_raters_are_what_scikit_learn_says(seed):
    one, other = np.random.default_rng(seed).integers(0, 4, size=(2, 25))  # the fifth level is never used
    ratings = ratings_of(np.array([one, other], dtype=float))
    for name, weights in (
        ("cohen_kappa", None),
        ("linear_kappa", "linear"),
        ("quadratic_kappa", "quadratic"),
    ):
        expected = sklearn_metrics.cohen_kappa_score(one, other, weights=weights, labels=range(5))
        assert METRICS[name].function(ratings, **FEW).value == pytest.approx(expected, abs=1e-12), name


def test_an_unused_level_in_the_middle_keeps_its_place():
    """Of good/fair/poor only the ends were used: a difference is two steps, not one."""
    columns = [["good", "poor", "good"], ["good", "poor", "poor"]]
    found = Ratings.from_columns(columns, levels=["good", "fair", "poor"])
    assert METRICS["steps_apart"].function(found).value == pytest.approx(2 / 3)
    with_neighbour = Ratings.from_columns(
        [[*column, extra] for column, extra in zip(columns, ["good", "fair"], strict=True)],
        levels=["good", "fair", "poor"],
    )
    # Σ v·o = 4 + 1; margins 3, 0, 1 and 1, 1, 2: Σ v·e = (3·1·1 + 3·2·4 + 1·1·4 + 1·1·1) / 4 = 8.
    assert METRICS["quadratic_kappa"].function(with_neighbour).value == pytest.approx(1 - 5 / 8)


def test_weighted_kappa_worked_by_hand():
    assert float(weighted_kappa(np.array([[2.0, 1, 0], [0, 1, 0], [0, 0, 2]]))) == pytest.approx(1 - 1 / 9)


def test_weights_of_three_levels():
    np.testing.assert_allclose(agreement_weights(3, "linear")[0], [1, 0.5, 0])
    np.testing.assert_allclose(agreement_weights(3, "quadratic")[0], [1, 0.75, 0])
    np.testing.assert_allclose(agreement_weights(3, "identity")[0], [1, 0, 0])
    with pytest.raises(ValueError, match="weighting is 'cubic'; allowed are identity, linear and quadratic"):
        agreement_weights(3, "cubic")


@pytest.mark.parametrize("seed", range(20))
def test_fleiss_kappa_without_gaps_is_what_statsmodels_says(seed):
    table = table_of(seed, gaps=0)
    counts, _ = statsmodels_inter_rater.aggregate_raters(table.T.astype(int))
    found = fleiss_kappa(ratings_of(table), **FEW).value
    assert found == pytest.approx(statsmodels_inter_rater.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic"])
def test_gwets_coefficients_are_their_definition_written_out(seed, weighting):
    table = table_of(seed)
    weights = agreement_weights(len(LEVELS), weighting)
    agreements, prevalences = [], []
    for unit in table.T:
        given = [int(cell) for cell in unit if not np.isnan(cell)]
        if given:
            prevalences.append([given.count(level) / len(given) for level in range(len(LEVELS))])
        if len(given) > 1:
            agreements.append(np.mean([weights[a, b] for a, b in itertools.permutations(given, 2)]))
    observed, shares = np.mean(agreements), np.mean(prevalences, axis=0)
    chance = weights.sum() / (5 * 4) * (shares * (1 - shares)).sum()
    ratings = ratings_of(table)
    found = gwet_ac2(ratings, weighting=weighting, **FEW)
    assert found.value == pytest.approx((observed - chance) / (1 - chance), abs=1e-12)
    assert found.n == len(agreements)
    if weighting == "identity":
        assert gwet_ac1(ratings, **FEW).value == found.value
        assert raw_agreement(ratings).value == pytest.approx(observed, abs=1e-12)


def test_gwets_ac2_worked_by_hand():
    ratings = Ratings.from_columns([["low", "low"], ["low", "mid"]], levels=["low", "mid", "high"])
    assert gwet_ac2(ratings).value == pytest.approx(0.5 / 0.625)  # p_a 0.875, p_e 0.375


@pytest.mark.parametrize("seed", range(10))
def test_every_pair_of_raters_is_what_scikit_learn_says(seed):
    table = table_of(seed)
    board = rater_matrix(ratings_of(table), **FEW)
    total = weight = 0.0
    for one, other in itertools.combinations(range(len(table)), 2):
        both = ~np.isnan(table[one]) & ~np.isnan(table[other])
        assert board.n[one][other] == board.n[other][one] == both.sum()
        assert board.kappa[one][other] is board.kappa[other][one]
        if not both.any():
            assert board.raw[one][other].value is None
            continue
        equal = (table[one, both] == table[other, both]).mean()
        assert board.raw[one][other].value == pytest.approx(equal)
        labels = set(table[one, both]) | set(table[other, both])
        if len(labels) == 1:
            assert board.kappa[one][other].value is None
            continue
        kappa = sklearn_metrics.cohen_kappa_score(table[one, both], table[other, both])
        assert board.kappa[one][other].value == pytest.approx(kappa, abs=1e-12)
        total, weight = total + kappa * both.sum(), weight + both.sum()
    assert mean_pair_kappa(ratings_of(table), **FEW).value == pytest.approx(total / weight, abs=1e-12)
    assert all(board.kappa[rater][rater] is None for rater in range(len(table)))


def test_a_pair_worked_by_hand():
    board = rater_matrix(
        Ratings.from_columns([["MET", "MET", "UNMET", None], ["MET", "UNMET", "UNMET", "MET"]])
    )
    assert board.n == ((3, 3), (3, 4))
    assert board.raw[0][1].value == pytest.approx(2 / 3)
    assert board.kappa[0][1].value == pytest.approx(0.4)  # (2/3 − 4/9) / (5/9)


DEGENERATE = {
    "nothing": [[], []],
    "one rater": [["a", "b", "c"]],
    "no overlap": [["a", None], [None, "b"]],
    "gaps everywhere": [[None, None], [None, None]],
    "one unit": [["a"], ["b"]],
    "all the same": [["a", "a", "a"], ["a", "a", "a"]],
    "a constant rater": [["a", "b", "a"], ["a", "a", "a"]],
}
# Which measures have a value at all; AC1 and AC2 know of the options that nobody used.
DEFINED = {
    "nothing": set(),
    "one rater": set(),
    "no overlap": set(),
    "gaps everywhere": set(),
    "one unit": set(AMONG_RATERS),
    "all the same": {"raw_agreement", "gwet_ac1", "gwet_ac2", "human_ceiling"},
    "a constant rater": set(AMONG_RATERS),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("name", AMONG_RATERS)
def test_a_measure_is_none_exactly_where_it_is_undefined(name, case):
    ratings = Ratings.from_columns(DEGENERATE[case], levels=LEVELS, values=VALUES)
    figure = METRICS[name].function(ratings, **FEW)
    assert (figure.value is not None) == (name in DEFINED[case])
    if figure.value is None:
        assert (figure.low, figure.high) == (None, None)
    if case == "one unit" and name not in ("raw_agreement", "human_ceiling"):
        assert (figure.low, figure.high) == (None, None)  # nothing to resample


def test_one_unit_on_which_two_raters_differ():
    # Two values, one of each: observed and expected disagreement are both 1. For κ both p_o and p_e are 0.
    ratings = Ratings.from_columns([["a"], ["b"]], levels=LEVELS)
    assert alpha_nominal(ratings) == Figure(0.0, None, None, 1)
    assert METRICS["cohen_kappa"].function(ratings) == Figure(0.0, None, None, 1)


@pytest.mark.parametrize("name", ["fleiss_kappa", "gwet_ac1", "gwet_ac2"])
def test_two_labels_on_one_item_alone_tell_nothing_of_how_items_differ(name):
    """Only one unit has two labels; the single ones tell how often each label is used, not of agreement."""
    columns = [["MET", "MET", "MET", None], ["MET", None, None, "UNMET"]]
    assert METRICS[name].function(Ratings.from_columns(columns)) == Figure(1.0, None, None, 1)
    # Two such units of one item are no better, a second item is.
    more = [[*columns[0], "UNMET", "MET"], [*columns[1], "UNMET", "UNMET"]]
    same, apart = (Ratings.from_columns(more, clusters=[*range(4), 0, last]) for last in (0, 4))
    assert METRICS[name].function(same).low is None
    found = METRICS[name].function(apart)
    assert found.low < found.value < found.high


def test_measures_that_count_single_labels_may_fall_below_minus_1():
    # A B and three units A: P̄ 0, π = (3.5 / 4, 0.5 / 4), P̄ₑ = 0.78125, κ = −0.78125 / 0.21875. AC1 is
    # −0.21875 / 0.78125.
    gaps = Ratings.from_columns([["a", "a", "a", "a"], ["b", None, None, None]], levels=["a", "b"])
    assert fleiss_kappa(gaps).value == pytest.approx(-3.5714, abs=1e-4)
    assert gwet_ac1(gaps).value == pytest.approx(-0.28)
    # low high and a unit mid: pₐ 0, π = (1/4, 1/2, 1/4), pₑ = 6 / 6 · 0.625, AC2 = −0.625 / 0.375.
    three = Ratings.from_columns([["low", "mid"], ["high", None]], levels=["low", "mid", "high"])
    assert gwet_ac2(three).value == pytest.approx(-5 / 3)
    assert METRICS["gwet_ac1"].low == -1
    assert (METRICS["fleiss_kappa"].low, METRICS["gwet_ac2"].low) == (-np.inf, -np.inf)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
def test_the_order_of_raters_and_units_changes_no_measure(seed, order):
    table = table_of(seed)
    raters, units = list(range(table.shape[0])), list(range(table.shape[1]))
    order.shuffle(raters)
    order.shuffle(units)
    clusters = np.arange(table.shape[1]) // 3
    before = ratings_of(table, clusters=clusters.tolist())
    after = ratings_of(table[np.ix_(raters, units)], clusters=clusters[units].tolist())
    for name in AMONG_RATERS:
        one = METRICS[name].function(before, resamples=2)
        other = METRICS[name].function(after, resamples=2)
        assert one.n == other.n
        assert one.value == pytest.approx(other.value, abs=1e-12), name


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_reversing_an_ordered_scale_changes_nothing(seed):
    table = table_of(seed)
    for name in ("alpha_ordinal", "gwet_ac2", "alpha_nominal"):
        one = METRICS[name].function(ratings_of(table), resamples=2).value
        other = METRICS[name].function(ratings_of(4 - table), resamples=2).value
        assert one == pytest.approx(other, abs=1e-12)
