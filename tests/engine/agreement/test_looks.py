"""How sure a claim must be at each look at the same data."""

import numpy as np
import pytest

from rubricweb.engine.agreement import effect_bias, leaning
from rubricweb.engine.agreement.intervals import confidence_of_look, simultaneous, widened


def test_the_first_look_leaves_half_of_the_errors_for_all_later_ones() -> None:
    """0.05/(1·2), 0.05/(2·3), 0.05/(3·4) and 0.05/(10·11)."""
    expected = {1: 0.975, 2: 1 - 0.05 / 6, 3: 1 - 0.05 / 12, 10: 1 - 0.05 / 110}
    assert {look: confidence_of_look(look) for look in expected} == pytest.approx(expected)


def test_over_many_looks_a_wrong_claim_is_made_once_in_twenty_at_most() -> None:
    """Twenty looks where nothing is to be found, each with a p of its own. At 95 % one claims something in
    1 − 0.95²⁰ = 64 % of all cases; here in 1 − Π(1 − 0.05/(k(k + 1))) = 4.7 %.
    """
    p = np.random.default_rng(1).uniform(size=(20_000, 20))
    levels = np.array([1 - confidence_of_look(look) for look in range(1, 21)])
    claimed = (p < levels).any(axis=1).mean()
    assert claimed == pytest.approx(1 - np.prod(1 - levels), abs=0.006)
    assert claimed < 0.05
    assert (p < 0.05).any(axis=1).mean() > 0.6


def test_an_equal_judge_of_few_items_is_called_lenient_or_strict_once_in_twenty_at_most() -> None:
    """Twelve items of six units, judge and people by the same rates, twenty looks at new ones. With intervals
    stretched as on a normal scale 8.5 % were called so at one look at least.
    """
    generator = np.random.default_rng(1)
    item, wrong, halves = np.repeat(np.arange(12), 6).tolist(), 0, 1000
    for _ in range(halves):
        rates = generator.beta(2, 2, size=(20, 12)).repeat(6, axis=1)
        judged, people = (generator.random((2, *rates.shape)) < rates).astype(float)
        wrong += any(
            leaning(widened(effect_bias(*said, [1.0] * len(item), item), confidence_of_look(look)))
            for look, said in enumerate(zip(judged, people, strict=True), start=1)
        )
    # 1 − Π(1 − 0.05/(k(k + 1))) = 4.7 %, ± 0.7 (one standard error of 1,000).
    assert wrong / halves < 0.065


def test_several_choices_share_what_a_look_leaves() -> None:
    """Second look, five choices: 1 − (0.05/6)/5."""
    assert simultaneous(5, confidence_of_look(2)) == pytest.approx(1 - 0.05 / 30)
