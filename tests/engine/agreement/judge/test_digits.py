"""Every digit of the figures of two tables is what it was when each figure was computed by itself."""

import numpy as np
import pytest

from rubricweb.engine.agreement import OptionScale, compare_labels, compare_options

LEVELS, VALUES = ("low", "mid", "high"), (0, 0.4, 1)
ITEMS = [unit // 3 for unit in range(60)]
VERDICTS = {
    "accuracy": (0.7666666666666667, 0.611226570680115, 0.8728833938852951),
    "balanced_accuracy": (0.7643097643097643, 0.6046447712589207, 0.8883884202660708),
    "cohen_kappa": (0.5286195286195288, 0.20686542357045273, 0.7772681370603137),
    "mcc": (0.5286195286195285, 0.211195132202627, 0.7784117898654418),
    "precision": (0.7407407407407407, 0.5302438421458706, 0.8785234132106474),
    "recall": (0.7407407407407407, 0.5322735015530295, 0.8776509041559448),
    "f1": (0.7407407407407407, 0.559724496534473, 0.8765712615975855),
}
OPTIONS = {
    "accuracy": (0.6833333333333333, 0.5452892260889095, 0.7952084072042653),
    "balanced_accuracy": (0.6831511145012289, 0.5651466062823675, 0.7895192151933917),
    "cohen_kappa": (0.5212095758084839, 0.34542193388612236, 0.6750182805271192),
    "mcc": (0.5214302284017768, 0.34921703033600104, 0.6761146860740845),
    "macro_precision": (0.6876504987960096, 0.5616430531753286, 0.7859227765856002),
    "macro_recall": (0.6831511145012289, 0.5651466062823675, 0.7895192151933917),
    "macro_f1": (0.6850957180184504, 0.5559984378343166, 0.7836843015873276),
    "linear_kappa": (0.468540012217471, 0.2701982303113907, 0.6463152358889771),
    "quadratic_kappa": (0.4189723320158103, 0.18389778000735432, 0.6374520589423658),
    "adjacent_accuracy": (0.8333333333333334, 0.7071788649059988, 0.9119077410815918),
    "steps_apart": (0.48333333333333334, 0.30894774921124485, 0.6607142857142857),
    "value_error": (0.24333333333333332, 0.15651661010046702, 0.3297835338000909),
}


def columns(seed, levels):
    """What people and a judge that often says the same gave sixty units."""
    generator = np.random.default_rng(seed)
    people = generator.integers(0, len(levels), 60)
    judge = np.where(generator.random(60) < 0.6, people, generator.integers(0, len(levels), 60))
    return [[levels[code] for code in side] for side in (people, judge)]


def test_values_and_intervals_are_those_of_before():
    of_verdicts = compare_labels(*columns(1, ("UNMET", "MET")), ITEMS)
    of_options = compare_options(*columns(2, LEVELS), ITEMS, OptionScale(LEVELS, "ordinal", VALUES))
    for found, expected in ((of_verdicts, VERDICTS), (of_options, OPTIONS)):
        for name, ends in expected.items():
            figure = found.figures[name]
            assert (figure.value, figure.low, figure.high) == pytest.approx(ends, abs=1e-15), name
