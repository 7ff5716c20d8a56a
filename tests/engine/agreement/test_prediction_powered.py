"""Prediction-powered means against the formula by hand, its limits, and simulated coverage."""

import math

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure, prediction_powered_mean

LABELS = [1, 1, 0, 0] + [None] * 8
JUDGED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0]


def test_twelve_units_worked_by_hand():
    found = prediction_powered_mean(LABELS, JUDGED)
    trust = (1 / 6) / (1.5 * 3 / 11)  # Cov = (2·½·¼ − ½·¼ + ½·¾)/3; Var of six 1s and six 0s = 3/11
    assert found.trust == pytest.approx(trust)
    assert found.estimate.value == pytest.approx(0.5 + trust * (3 / 8 - 3 / 4))
    residuals = [1 - trust, 1 - trust, -trust, 0]
    mean = sum(residuals) / 4
    of_labels = sum((value - mean) ** 2 for value in residuals) / 3 / 4
    of_judge = trust**2 * (15 / 56) / 8  # three 1s and five 0s: 8·(3/8)(5/8)/7
    half = 1.959963985 * math.sqrt(of_labels + of_judge)
    assert found.estimate.low == pytest.approx(found.estimate.value - half)
    assert found.estimate.high == pytest.approx(found.estimate.value + half)
    assert (found.labelled, found.unlabelled, found.estimate.n) == (4, 8, 12)
    assert found.labelled_only.value == found.judged_only.value == 0.5


def test_full_trust_is_the_judges_mean_corrected_by_its_error():
    found = prediction_powered_mean(LABELS, JUDGED, trust=1)
    assert found.estimate.value == pytest.approx(3 / 8 + (0.5 - 0.75))


def test_no_trust_is_the_plain_mean_of_the_labels():
    found = prediction_powered_mean(LABELS, JUDGED, trust=0)
    assert (found.estimate.value, found.estimate.low, found.estimate.high) == (
        found.labelled_only.value,
        found.labelled_only.low,
        found.labelled_only.high,
    )
    # variance 1/3 of 1, 1, 0, 0 over 4
    assert found.labelled_only.high == pytest.approx(0.5 + 1.959963985 * math.sqrt(1 / 12))


def test_a_judge_that_contradicts_people_is_not_trusted():
    found = prediction_powered_mean([1, 0, 1, 0, None, None], [0, 1, 0, 1, 0, 1])
    assert found.trust == 0
    assert found.estimate.value == 0.5


def test_a_judge_that_never_varies_is_not_trusted():
    assert prediction_powered_mean(LABELS, [1] * 12).trust == 0


def test_with_every_unit_labelled_the_judge_adds_nothing():
    found = prediction_powered_mean([1, 0, 1], [1, 0, 0], trust=0.5)
    assert (found.trust, found.unlabelled) == (0, 0)
    assert found.estimate == found.labelled_only


@pytest.mark.parametrize(
    ("labels", "judged", "expected"),
    [
        ([], [], Figure(None, None, None, 0)),
        ([None, None], [1, 0], Figure(None, None, None, 2)),
        ([1, None], [None, 0], Figure(None, None, None, 1)),
        ([1, None, None], [1, 0, 1], Figure(1.0, None, None, 3)),  # one label has no spread
        ([1, 1, None, None], [1, 1, 1, 1], Figure(1.0, None, None, 4)),  # nor have two equal ones
    ],
)
def test_too_few_labels_give_no_interval_or_no_value(labels, judged, expected):
    assert prediction_powered_mean(labels, judged).estimate == expected


def test_labels_of_one_item_only_give_no_interval():
    found = prediction_powered_mean([1, 0, None, None], [1, 0, 1, 0], ["a", "a", "b", "c"])
    assert found.estimate.value is not None
    assert found.estimate.low is None


def test_copies_within_an_item_carry_no_more_evidence():
    generator = np.random.default_rng(0)
    labels = [float(value) if place < 40 else None for place, value in enumerate(generator.random(120) < 0.4)]
    judged = (generator.random(120) < 0.5).astype(float).tolist()
    alone = prediction_powered_mean(labels, judged, trust=0.5).estimate
    copies = prediction_powered_mean(
        [label for label in labels for _ in range(9)],
        [value for value in judged for _ in range(9)],
        [item for item in range(120) for _ in range(9)],
        trust=0.5,
    ).estimate
    assert (copies.value, copies.low, copies.high) == (
        pytest.approx(alone.value),
        pytest.approx(alone.low),
        pytest.approx(alone.high),
    )


def test_strange_input_is_refused():
    with pytest.raises(ValueError, match=r"trust is 1\.5; allowed are 0 … 1"):
        prediction_powered_mean([1], [1], trust=1.5)
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        prediction_powered_mean([1], [1, 0])
    with pytest.raises(ValueError, match=r"judged\[0\] is inf"):
        prediction_powered_mean([1], [float("inf")])


@pytest.mark.parametrize("per_item", [1, 4])
def test_the_interval_holds_the_truth_and_is_narrower_than_that_of_labels_alone(per_item):
    """600 simulated studies: 60 of 300 items labelled, the judge biased by +0.2 but close to people."""
    generator = np.random.default_rng(7)
    held, widths, plain_widths = 0, [], []
    for _ in range(600):
        item = np.repeat(generator.normal(0, 0.3, 300), per_item)
        truth = 0.5 + item + generator.normal(0, 0.2, len(item))
        judged = truth + 0.2 + generator.normal(0, 0.15, len(item))
        labels = [value if unit < 60 * per_item else None for unit, value in enumerate(truth.tolist())]
        clusters = [unit // per_item for unit in range(len(item))]
        found = prediction_powered_mean(labels, judged.tolist(), clusters)
        held += found.estimate.low <= 0.5 <= found.estimate.high
        widths.append(found.estimate.high - found.estimate.low)
        plain_widths.append(found.labelled_only.high - found.labelled_only.low)
    # 95 % of 600 is 570 with a standard deviation of √(600·0.95·0.05) = 5.3; four of them either way.
    assert 545 <= held <= 592
    assert np.mean(widths) < 0.75 * np.mean(plain_widths)
