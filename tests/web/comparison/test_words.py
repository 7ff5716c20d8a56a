"""What Compare says in words of the bias of scores and of the estimate, on figures that are plain to see."""

import pytest

from rubricweb.engine.agreement import compare_scores
from rubricweb.web.comparison.words import bias_words


def said(judged: list[float], people: list[float], confidence: float = 0.95) -> str:
    return bias_words(compare_scores(people, judged, resamples=0), confidence)


def test_a_bias_whose_interval_holds_0_could_be_chance() -> None:
    # Six of thirty items 0.3 lower, the others equal: fewer than ten differ, so one residual at each end is
    # added: (0.432 + 2) / 31 = 0.0785, half 2.0452 · √(0.0785 / 30) = 0.1046 about −0.06. It holds 0:
    # z = 1.95996 · 0.06 / 0.1046 = 1.124, p = 0.261. A paired t test alone would say p = 0.012.
    assert said([0.2] * 6 + [0.5] * 24, [0.5] * 30) == "The bias could be chance: p = 0.261."


def test_a_bias_whose_interval_leaves_out_0_is_unlikely_to_be_chance() -> None:
    # Fifteen of thirty items 0.3 lower: mean −0.15, s² = 30 · 0.0225 / 29 = 0.02328, half
    # 2.0452 · √(0.02328 / 30) = 0.0570, z = 1.95996 · 0.15 / 0.0570 = 5.16.
    assert said([0.2, 0.5] * 15, [0.5] * 30) == "The bias is unlikely to be chance: p < 0.001."
    # All 0.3 lower: 2 / 31 = 0.0645, half 2.0452 · √(0.0645 / 30) = 0.0948, z = 6.2; t has no value here.
    assert said([0.2] * 30, [0.5] * 30) == "The bias is unlikely to be chance: p < 0.001."


def test_at_a_look_the_claim_holds_at_the_confidence_of_the_look() -> None:
    # Eleven of thirty items 0.3 lower, three higher: mean −0.08, s² = (14 · 0.09 − 30 · 0.0064) / 29 =
    # 0.03683, half 0.0717, z = 2.188, p = 0.029: below 0.05, not below the 0.025 of a first look.
    judged, people = [0.2] * 11 + [0.8] * 3 + [0.5] * 16, [0.5] * 30
    assert said(judged, people) == "The bias is unlikely to be chance: p = 0.029."
    assert said(judged, people, confidence=0.975) == (
        "The bias could be chance: p = 0.029, and at this look a claim takes less than 0.025."
    )


@pytest.mark.parametrize("items", [0, 1])
def test_a_bias_of_fewer_than_two_items_says_nothing_of_chance(items: int) -> None:
    undefined = "Whether the bias could be chance is undefined: it takes two items."
    assert said([0.2] * items, [0.5] * items) == undefined
