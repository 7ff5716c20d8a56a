"""Wilson and bootstrap intervals against statsmodels and hand-made data."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from rubricweb.engine.agreement import wilson
from rubricweb.engine.agreement.intervals import (
    cluster_figure,
    mean_of_sums,
    percentile_interval,
    resampled_sums,
)
from rubricweb.engine.agreement.kappa import cohen_kappa, label_table
from rubricweb.engine.agreement.shared_draws import SharedDraws


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (8, 10), (0, 25), (17, 1000), (1000, 1000)])
def test_wilson_is_what_statsmodels_says(successes, n):
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"))


def test_wilson_of_nothing_is_none():
    assert wilson(0, 0) is None


def test_percentiles_of_a_ladder_are_its_rungs():
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))


def test_an_interval_needs_half_its_resamples_defined():
    assert percentile_interval(np.array([0.1, np.nan, np.nan])) == (None, None)
    assert percentile_interval(np.array([])) == (None, None)


def test_resamples_draw_as_many_clusters_as_there_are():
    sums = resampled_sums(np.ones((37, 2)), resamples=25, seed=1)
    assert sums.shape == (25, 2)
    assert (sums == 37).all()


def test_kappa_of_many_labels_is_what_statsmodels_says():
    generator = np.random.default_rng(4)
    for _ in range(20):
        table = generator.integers(0, 9, size=(4, 4)) + np.eye(4)
        assert float(cohen_kappa(table)) == pytest.approx(cohens_kappa(table, return_results=False))


def test_label_table_counts_pairs_and_leaves_gaps_out():
    labels, table = label_table(["good", "bad", None, "good"], ["good", "good", "bad", None])
    assert labels == ("bad", "good")
    np.testing.assert_array_equal(table, [[0, 1], [0, 1]])


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


def test_figures_that_share_their_draws_are_those_drawn_alone() -> None:
    generator = np.random.default_rng(5)
    draws, asked = SharedDraws(resamples=200, seed=9), []
    for units, items in ((40, 40), (40, 40), (60, 40), (33, 33), (1, 1), (0, 0)):
        clusters = np.arange(units) % max(1, items)
        terms = np.stack([generator.random(units), np.ones(units)], axis=1)
        alone = cluster_figure(terms, clusters, mean_of_sums, resamples=200, seed=9)
        asked.append((draws.figure(terms, clusters, mean_of_sums), alone))
    for later, alone in reversed(asked):
        found = later()
        assert found.n == alone.n
        for name in ("value", "low", "high"):
            assert getattr(found, name) == pytest.approx(getattr(alone, name))
