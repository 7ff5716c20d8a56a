"""Worked examples from the papers, with the numbers the papers print."""

import math

import pytest

from rubricweb.engine.agreement import (
    METRICS,
    Ratings,
    alpha_interval,
    alpha_nominal,
    alpha_ordinal,
    fleiss_kappa,
    gwet_ac1,
    raw_agreement,
)

# Krippendorff (2011), E: four observers, twelve units, "." is a gap.
OBSERVERS = ["1233214 12...", "12332241 25.3", ".3332342251.", "123324412 51."]
# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each, five diagnoses.
DIAGNOSES = [
    *("00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006"),
    *("10050", "11040", "03300", "10050", "02031", "00501", "30012", "51000", "02040", "10203"),
    *("00006", "01050", "02013", "20040", "10041", "05010", "40002", "02040", "10500", "00006"),
]


def observers():
    columns = [[None if cell == "." else cell for cell in row.replace(" ", "")] for row in OBSERVERS]
    return Ratings.from_columns(columns, levels="12345", values=[1, 2, 3, 4, 5])


def columns_of_counts(rows, labels):
    """One column per rater from (units of counts per label)."""
    units = [
        [label for label, count in zip(labels, row, strict=True) for _ in range(int(count))] for row in rows
    ]
    return list(map(list, zip(*units, strict=True)))


def test_krippendorffs_four_observers():
    assert alpha_nominal(observers()).value == pytest.approx(0.743, abs=5e-4)
    assert alpha_ordinal(observers()).value == pytest.approx(0.815, abs=5e-4)
    assert alpha_interval(observers()).value == pytest.approx(0.849, abs=5e-4)
    assert alpha_nominal(observers()).n == 11  # the unit with one value cannot be paired


def test_gwets_coefficients_of_the_same_four_observers():
    """Gwet's handbook prints these for the same table, the unit with one rating counting for prevalence."""
    assert raw_agreement(observers()).value == pytest.approx(0.81818, abs=5e-6)
    assert fleiss_kappa(observers()).value == pytest.approx(0.76117, abs=5e-6)
    assert gwet_ac1(observers()).value == pytest.approx(0.77544, abs=5e-6)


def test_fleiss_psychiatrists():
    found = Ratings.from_columns(columns_of_counts(DIAGNOSES, "abcde"), levels="abcde")
    assert raw_agreement(found).value == pytest.approx(0.556, abs=5e-4)
    assert fleiss_kappa(found).value == pytest.approx(0.430, abs=5e-4)
    assert found.label_counts().sum(axis=0).tolist() == [26, 26, 30, 55, 43]  # of 180


def test_gwets_paradox_of_high_agreement_and_low_kappa():
    """118 units both +, 5 and 2 split; chance (123·120 + 2·5)/125² for κ and 2·0.972·0.028 for AC1."""
    one = ["+"] * 118 + ["+"] * 5 + ["-"] * 2
    other = ["+"] * 118 + ["-"] * 5 + ["+"] * 2
    ratings = Ratings.from_columns([one, other])
    assert raw_agreement(ratings).value == pytest.approx(118 / 125)
    assert gwet_ac1(ratings).value == pytest.approx((0.944 - 0.054432) / (1 - 0.054432))
    kappa = METRICS["cohen_kappa"].function(ratings).value
    assert kappa == pytest.approx((0.944 - 0.94528) / (1 - 0.94528))


def test_the_sign_of_a_split_unit_decides_kappa_of_ten():
    ratings = Ratings.from_columns([["A"] * 10, ["A"] * 9 + ["B"]])
    assert gwet_ac1(ratings).value == pytest.approx(0.805 / 0.905)  # p_a 0.9, π 0.95 and 0.05, p_e 0.095
    assert fleiss_kappa(ratings).value == pytest.approx((0.9 - 0.905) / (1 - 0.905))  # p_e 0.95² + 0.05²


def test_the_two_by_two_table_of_every_textbook():
    one = ["MET"] * 50 + ["UNMET"] * 50
    other = ["MET"] * 40 + ["UNMET"] * 10 + ["MET"] * 5 + ["UNMET"] * 45
    ratings = Ratings.from_columns([one, other])
    by_hand = {
        "accuracy": 0.85,
        "balanced_accuracy": (40 / 50 + 45 / 50) / 2,
        "precision": 40 / 45,
        "recall": 40 / 50,
        "f1": 80 / 95,
        "macro_precision": (40 / 45 + 45 / 55) / 2,
        "macro_recall": (40 / 50 + 45 / 50) / 2,
        "macro_f1": (80 / 95 + 90 / 105) / 2,
        "cohen_kappa": 0.35 / 0.5,
        "mcc": 1750 / math.sqrt(50 * 50 * 45 * 55),
    }
    for name, expected in by_hand.items():
        assert METRICS[name].function(ratings).value == pytest.approx(expected), name
