"""compare_options against scikit-learn, worked examples and degenerate data."""

import warnings

import numpy as np
import pytest

from rubricweb.engine.agreement import METRICS, Figure, OptionScale, Ratings, compare_options
from tests.engine.agreement.oracles import sklearn_metrics

LEVELS = ("low", "mid", "high")
VALUES = (0.0, 0.4, 1.0)


def compare(reference, judged, clusters=None, *, levels=LEVELS, scale_type="ordinal", **options):
    scale = OptionScale(
        levels, scale_type, **{name: options.pop(name) for name in ("values", "gaps") if name in options}
    )
    return compare_options(reference, judged, clusters or range(len(reference)), scale, **options)


def test_four_units_worked_by_hand():
    found = compare(["low", "low", "mid", "high"], ["low", "mid", "mid", "high"], values=VALUES)
    assert found.confusion == ((1, 1, 0), (0, 1, 0), (0, 0, 1))
    assert found.n == 4
    assert found.accuracy.value == pytest.approx(3 / 4)
    assert found.adjacent_accuracy.value == 1.0
    assert found.figures["steps_apart"].value == pytest.approx(1 / 4)
    assert found.figures["value_error"].value == pytest.approx(0.4 / 4)
    assert found.figures["macro_recall"].value == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert found.figures["macro_precision"].value == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert found.figures["macro_f1"].value == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert found.kappa.value == pytest.approx((0.75 - 0.3125) / 0.6875)  # margins 2, 1, 1 and 1, 2, 1
    assert found.quadratic_kappa.value == pytest.approx(1 - 4 * 1 / 20)
    assert found.figures["linear_kappa"].value == pytest.approx(1 - 4 * 1 / 14)
    # pₐ (1 + 3/4 + 1 + 1)/4, π 3/8, 3/8, 1/4: pₑ = 6/6 · (2 · 15/64 + 3/16) = 21/32; of AC1 pₐ 3/4, pₑ 21/64.
    assert found.figures["judge_ac2"].value == pytest.approx((15 / 16 - 21 / 32) / (11 / 32))
    assert found.figures["judge_ac1"].value == pytest.approx((3 / 4 - 21 / 64) / (43 / 64))
    # c·s − Σ p·t = 3·4 − (2·1 + 1·2 + 1·1) = 7; (16 − 6)(16 − 6)
    assert found.figures["mcc"].value == pytest.approx(7 / 10)
    low, _, high = found.options
    assert (low.label, low.reference, low.judged) == ("low", 2, 1)
    assert (low.precision.value, low.recall.value) == (1.0, 0.5)
    assert high.f1.value == 1.0


@pytest.mark.parametrize("seed", range(25))
def test_every_figure_is_what_scikit_learn_says(seed):
    generator = np.random.default_rng(seed)
    one = generator.integers(0, 4, size=30)
    other = np.where(generator.random(30) < 0.6, one, generator.integers(0, 4, size=30))
    levels = ("a", "b", "c", "d", "e")  # nobody uses e
    found = compare(
        [levels[code] for code in one], [levels[code] for code in other], levels=levels, resamples=20
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        macro = {"average": "macro", "zero_division": np.nan}
        expected = {
            "accuracy": sklearn_metrics.accuracy_score(one, other),
            "balanced_accuracy": sklearn_metrics.balanced_accuracy_score(one, other),
            "macro_precision": sklearn_metrics.precision_score(one, other, **macro),
            "macro_recall": sklearn_metrics.recall_score(one, other, **macro),
            "macro_f1": sklearn_metrics.f1_score(one, other, **macro),
            "mcc": sklearn_metrics.matthews_corrcoef(one, other),
            "cohen_kappa": sklearn_metrics.cohen_kappa_score(one, other),
            "quadratic_kappa": sklearn_metrics.cohen_kappa_score(
                one, other, weights="quadratic", labels=range(5)
            ),
            "adjacent_accuracy": (abs(one - other) <= 1).mean(),
            "steps_apart": abs(one - other).mean(),
        }
    for name, value in expected.items():
        assert found.figures[name].value == pytest.approx(value, abs=1e-12), name
    np.testing.assert_array_equal(
        found.confusion, sklearn_metrics.confusion_matrix(one, other, labels=range(5))
    )
    ratings = Ratings.from_columns(
        [[levels[code] for code in one], [levels[code] for code in other]], levels=levels
    )
    for name in expected:
        assert METRICS[name].function(ratings, resamples=20) == found.figures[name], name
    # Of two raters without gaps those of people are the same, draws and all.
    for name in ("ac1", "ac2"):
        of_people = METRICS[f"gwet_{name}"].function(ratings, resamples=20)
        for end in ("value", "low", "high"):
            expected_end = pytest.approx(getattr(found.figures[f"judge_{name}"], end), abs=1e-12)
            assert getattr(of_people, end) == expected_end, name


def test_a_nominal_scale_has_no_neighbours():
    found = compare(["low", "high"], ["low", "mid"], scale_type="nominal", values=VALUES)
    assert found.adjacent_accuracy is found.quadratic_kappa is None
    assert not {"linear_kappa", "steps_apart", "value_error", "judge_ac2"} & found.figures.keys()


def test_two_options_are_always_neighbours_so_adjacent_accuracy_is_undefined():
    found = compare(["no", "yes"], ["no", "no"], levels=("no", "yes"))
    assert found.adjacent_accuracy == Figure(None, None, None, 2)
    assert found.figures["steps_apart"].value == 0.5


def test_abstaining_options_are_counted_and_set_aside():
    found = compare(["low", "n/a", None, "high"], ["low", "mid", "n/a", None], gaps=("N/A",))
    assert (found.n, found.abstained, found.missing) == (1, 1, 2)


def test_labels_match_after_strip_and_casefold():
    found = compare([" LOW", "mid"], ["low", "Mid "])
    assert found.accuracy.value == 1.0


def test_a_strange_label_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"judged\[1\] is 'huge'; allowed are 'low', 'mid', 'high' and None"):
        compare(["low", "mid"], ["low", "huge"])


def test_unequal_columns_are_refused():
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        compare_options(["low"], ["low", "mid"], [0], OptionScale(LEVELS))


@pytest.mark.parametrize("columns", [([], []), ([None, "low"], ["low", None])])
def test_no_units_means_no_figures(columns):
    found = compare(*columns, values=VALUES)
    assert found.n == 0
    assert found.confusion == ((0, 0, 0), (0, 0, 0), (0, 0, 0))
    nothing = Figure(None, None, None, 0)
    assert (
        found.accuracy
        == found.kappa
        == found.figures["mcc"]
        == found.figures["macro_f1"]
        == found.figures["value_error"]
        == nothing
    )
    assert found.adjacent_accuracy == nothing


def test_one_label_throughout_leaves_kappa_and_mcc_undefined():
    found = compare(["mid"] * 5, ["mid"] * 5)
    assert found.accuracy.value == 1.0
    assert found.kappa.value is found.figures["mcc"].value is found.figures["balanced_accuracy"].value is None
    assert found.quadratic_kappa.value is None
    assert found.options[0].recall.value is found.options[0].f1.value is None


def test_what_a_figure_of_few_or_no_units_lacks_is_said_in_words():
    few = compare(["low", "low", "high"], ["low", "high", "high"], levels=("low", "high"))
    assert (few.kappa.small, few.kappa.reason) == (True, "only 1 unit of an option: too few to tell much")
    none = compare([None], ["low"]).kappa
    assert none.reason == "there is no unit on which both sides gave an option"


def test_options_of_verdicts_are_the_figures_of_verdicts():
    ratings = Ratings.from_columns([["MET", "MET", "UNMET", "UNMET"], ["MET", "UNMET", "UNMET", "UNMET"]])
    by_hand = {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "balanced_accuracy": 0.75, "cohen_kappa": 0.5}
    for name, value in by_hand.items():
        assert METRICS[name].function(ratings).value == pytest.approx(value)
    turned = Ratings.from_columns(
        [["MET", "MET", "UNMET", "UNMET"], ["MET", "UNMET", "UNMET", "UNMET"]], levels=("MET", "UNMET")
    )
    assert METRICS["recall"].function(turned).value == pytest.approx(0.5)


def test_measures_of_met_refuse_other_labels():
    with pytest.raises(ValueError, match="of MET against UNMET; found 'low', 'high'"):
        METRICS["recall"].function(Ratings.from_columns([["low", "high"], ["low", "low"]]))


def test_measures_against_a_reference_need_two_raters():
    with pytest.raises(ValueError, match="2 raters; found 3"):
        METRICS["accuracy"].function(Ratings.from_columns([["MET"], ["MET"], ["MET"]]))


def test_units_of_one_item_are_resampled_together():
    reference, judged = ["low", "mid", "high", "low"] * 6, ["low", "mid", "mid", "high"] * 6
    alone = compare(reference, judged, resamples=500)
    copies = compare(
        [label for label in reference for _ in range(10)],
        [label for label in judged for _ in range(10)],
        [item for item in range(24) for _ in range(10)],
        resamples=500,
    )
    for name in ("cohen_kappa", "quadratic_kappa", "mcc", "macro_f1", "steps_apart"):
        one, other = alone.figures[name], copies.figures[name]
        assert (one.low, one.high) == (pytest.approx(other.low), pytest.approx(other.high)), name
