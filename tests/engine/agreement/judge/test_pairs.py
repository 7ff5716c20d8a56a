"""compare_labels against worked examples, scikit-learn and degenerate data."""

import math
import warnings

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure, compare_labels
from tests.engine.agreement.oracles import sklearn_metrics

MET, UNMET, ABSTAIN = "MET", "UNMET", "CANNOT_ASSESS"


def columns_of(met_met, met_unmet, unmet_met, unmet_unmet):
    reference = [MET] * (met_met + met_unmet) + [UNMET] * (unmet_met + unmet_unmet)
    judged = [MET] * met_met + [UNMET] * met_unmet + [MET] * unmet_met + [UNMET] * unmet_unmet
    return reference, judged


def compare(reference, judged, clusters=None, **options):
    return compare_labels(reference, judged, clusters or range(len(reference)), **options)


def test_a_table_worked_by_hand():
    found = compare(*columns_of(40, 10, 5, 45))
    assert found.n == 100
    assert found.confusion == ((40, 10), (5, 45))
    assert found.accuracy.value == pytest.approx(0.85)  # 85 / 100
    assert found.figures["balanced_accuracy"].value == pytest.approx(0.85)  # (40/50 + 45/50) / 2
    assert found.kappa.value == pytest.approx(0.7)  # (0.85 - 0.5) / (1 - 0.5)
    assert found.figures["mcc"].value == pytest.approx(
        1750 / math.sqrt(50 * 50 * 45 * 55)
    )  # (40*45 - 10*5) / margins
    assert found.figures["precision"].value == pytest.approx(40 / 45)
    assert found.figures["recall"].value == pytest.approx(40 / 50)
    assert found.figures["f1"].value == pytest.approx(80 / 95)  # 2*40 / (2*40 + 10 + 5)


def test_every_figure_is_what_scikit_learn_says():
    generator = np.random.default_rng(7)
    for _ in range(40):
        n, rate, error = generator.integers(4, 60), generator.uniform(0.1, 0.9), generator.uniform(0, 0.6)
        truth = generator.random(n) < rate
        flipped = truth ^ (generator.random(n) < error)
        if truth.all() or not truth.any() or flipped.all() or not flipped.any():
            continue
        found = compare(np.where(truth, MET, UNMET).tolist(), np.where(flipped, MET, UNMET).tolist())
        assert found.accuracy.value == pytest.approx(sklearn_metrics.accuracy_score(truth, flipped))
        assert found.figures["balanced_accuracy"].value == pytest.approx(
            sklearn_metrics.balanced_accuracy_score(truth, flipped)
        )
        assert found.kappa.value == pytest.approx(sklearn_metrics.cohen_kappa_score(truth, flipped))
        assert found.figures["mcc"].value == pytest.approx(sklearn_metrics.matthews_corrcoef(truth, flipped))
        assert found.figures["precision"].value == pytest.approx(
            sklearn_metrics.precision_score(truth, flipped)
        )
        assert found.figures["recall"].value == pytest.approx(sklearn_metrics.recall_score(truth, flipped))
        assert found.figures["f1"].value == pytest.approx(sklearn_metrics.f1_score(truth, flipped))


def test_gwets_table_of_high_agreement_has_no_kappa_to_speak_of():
    """Gwet (2008): of 125 units 118 both one label, 5 and 2 split."""
    found = compare(*columns_of(118, 5, 2, 0))
    assert found.figures["judge_ac1"].value == pytest.approx(0.9408, abs=5e-5)
    assert found.kappa.value == pytest.approx(-0.0234, abs=5e-5)
    # Two units of UNMET tell little of κ, and all there is to tell of AC1.
    assert (found.kappa.small, found.figures["judge_ac1"].small) == (True, False)


def test_kappa_is_undefined_when_both_sides_always_say_the_same():
    found = compare([MET] * 6, [MET] * 6)
    assert found.kappa == Figure(None, None, None, 6)
    assert found.figures["mcc"] == Figure(None, None, None, 6)
    assert found.figures["balanced_accuracy"].value is None
    assert found.accuracy.value == 1.0


def test_kappa_is_a_real_zero_when_only_one_side_is_constant():
    reference, judged = [MET, MET, UNMET, UNMET], [MET] * 4
    found = compare(reference, judged)
    assert found.kappa.value == 0.0  # p_o = p_e = 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sklearn_metrics.cohen_kappa_score(reference, judged) == 0.0
    assert found.figures["mcc"].value is None  # one margin is empty
    assert found.figures["balanced_accuracy"].value == 0.5


def test_precision_and_recall_are_undefined_without_any_met():
    found = compare([UNMET] * 3, [UNMET] * 3)
    assert (found.figures["precision"].value, found.figures["recall"].value, found.figures["f1"].value) == (
        None,
        None,
        None,
    )
    assert compare([MET, MET], [UNMET, UNMET]).figures["precision"].value is None
    assert compare([MET, MET], [UNMET, UNMET]).figures["recall"].value == 0.0


def test_no_units_means_no_figures():
    found = compare([], [])
    assert (found.n, found.missing, found.abstained) == (0, 0, 0)
    assert found.accuracy == found.kappa == Figure(None, None, None, 0)


def test_abstained_and_missing_units_are_counted_and_set_aside():
    reference = [MET, MET, ABSTAIN, None, None, ABSTAIN, UNMET]
    judged = [MET, ABSTAIN, ABSTAIN, MET, ABSTAIN, UNMET, UNMET]
    found = compare(reference, judged)
    assert found.n == 2  # the first and the last unit
    assert found.missing == 2  # the two without a reference, abstained or not
    assert found.abstained == 3
    assert (found.abstained_reference, found.abstained_judged) == (2, 2)
    assert found.n + found.missing + found.abstained == len(reference)
    assert found.accuracy.value == 1.0


def test_a_strange_label_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"judged\[1\] is 'met'; allowed are MET, UNMET, CANNOT_ASSESS"):
        compare([MET, MET], [MET, "met"])


def test_unequal_columns_are_refused():
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        compare_labels([MET], [MET, MET], [0])


def test_the_interval_of_a_share_with_one_unit_per_item_is_wilsons():
    found = compare(*columns_of(5, 1, 1, 3))  # 8 of 10 agree
    assert found.accuracy.low == pytest.approx(0.4902, abs=5e-5)
    assert found.accuracy.high == pytest.approx(0.9433, abs=5e-5)


def test_units_of_one_item_are_resampled_together():
    """Twenty copies of each item carry no more evidence than one: the interval must not shrink."""
    reference, judged = columns_of(12, 4, 3, 11)
    alone = compare(reference, judged, resamples=4000)
    copies = compare(
        [label for label in reference for _ in range(20)],
        [label for label in judged for _ in range(20)],
        [item for item in range(30) for _ in range(20)],
        resamples=4000,
    )
    for name in ("cohen_kappa", "mcc", "balanced_accuracy"):
        one, other = alone.figures[name], copies.figures[name]
        assert (one.low, one.high) == (pytest.approx(other.low), pytest.approx(other.high))
    width = copies.accuracy.high - copies.accuracy.low
    assert width == pytest.approx(alone.accuracy.high - alone.accuracy.low, rel=0.15)


def test_the_bootstrap_agrees_with_resampling_the_units_one_by_one():
    generator = np.random.default_rng(3)
    truth = generator.random(900) < 0.5
    judged = truth ^ (generator.random(900) < 0.25)
    items = np.repeat(np.arange(300), 3)
    found = compare(
        np.where(truth, MET, UNMET).tolist(),
        np.where(judged, MET, UNMET).tolist(),
        items.tolist(),
        resamples=4000,
    )
    values = []
    for _ in range(800):
        units = np.concatenate([np.arange(3) + 3 * item for item in generator.integers(0, 300, 300)])
        values.append(sklearn_metrics.cohen_kappa_score(truth[units], judged[units]))
    low, high = np.quantile(values, [0.025, 0.975])
    # Two items of 302 were not seen: half of what they say differs.
    assert found.kappa.low == pytest.approx(low, abs=0.02)
    assert found.kappa.high == pytest.approx(high, abs=0.02)


def test_a_faultless_judge_of_thirty_is_not_shown_without_doubt():
    found = compare(*columns_of(15, 0, 0, 15))
    for figure in (
        found.kappa,
        found.figures["balanced_accuracy"],
        found.figures["mcc"],
        found.figures["f1"],
    ):
        assert figure.value == pytest.approx(1)
        assert figure.high == pytest.approx(1)
        assert 0.6 < figure.low < 0.95
    # 15 of 15: Wilson from 15 / (15 + 3.8415).
    assert (
        found.figures["precision"].low == found.figures["recall"].low == pytest.approx(15 / 18.8415, abs=1e-4)
    )
    assert (found.figures["precision"].n, found.accuracy.n) == (15, 30)


def test_units_of_one_item_count_for_less_in_a_share():
    reference, judged = columns_of(12, 4, 3, 11)
    found = compare(reference, judged, [unit // 2 for unit in range(30)])
    # 23 of 30 agree. The seven that do not fall into four of fifteen items, so 23/30 rests on fewer than 30.
    assert found.accuracy.value == pytest.approx(23 / 30)
    alone = compare(reference, judged)
    assert found.accuracy.low < alone.accuracy.low
    assert found.accuracy.high > alone.accuracy.high


def test_the_same_seed_gives_the_same_interval_and_another_seed_does_not():
    reference, judged = columns_of(12, 4, 3, 11)
    one = compare(reference, judged, seed=5)
    assert one == compare(reference, judged, seed=5)
    assert one.kappa != compare(reference, judged, seed=6).kappa


def test_one_item_gives_a_value_without_an_interval():
    found = compare(*columns_of(3, 1, 1, 3), clusters=["story"] * 8)
    assert found.kappa == Figure(0.5, None, None, 8)  # p_o 0.75, p_e 0.5
    assert found.accuracy == Figure(0.75, None, None, 8)


def test_unanimous_agreement_over_clusters_still_has_a_width():
    found = compare([MET, UNMET] * 10, [MET, UNMET] * 10, [item for item in range(10) for _ in range(2)])
    assert found.accuracy.value == found.accuracy.high == 1.0
    assert found.accuracy.low == pytest.approx(0.7225, abs=5e-5)  # Wilson, 10 of 10 items: 10 / (10 + 3.8415)
