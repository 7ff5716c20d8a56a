"""What Compare says in words of the bias of scores and of the estimate, on figures that are plain to see."""

import numpy as np
import pytest

from rubricweb.engine.agreement import compare_scores
from rubricweb.web.comparison.words import bias_words


def said(
    judged: list[float], people: list[float], confidence: float = 0.95, cases: list[int] | None = None
) -> str:
    return bias_words(compare_scores(people, judged, cases, resamples=0), confidence)


def test_a_bias_whose_interval_holds_0_could_be_chance() -> None:
    # Six of thirty items 0.3 lower, the others equal; −½ and ½ are appended: mean −1.8 / 32, Σ(x − m)² =
    # 0.93875, half 2.0395 · √(0.93875 / 31 / 32) = 0.0627: −0.119 … 0.0065 holds 0. A paired t test alone
    # would say p = 0.012.
    few = "The bias could be chance: so few items would not have shown rare large differences."
    assert said([0.2] * 6 + [0.5] * 24, [0.5] * 30) == few
    # Six of six 0.3 higher, but for 0.01: t is 165, and the interval knows that these are six.
    assert said([0.8, 0.8, 0.8, 0.8, 0.8, 0.79], [0.5] * 6) == few
    # Nine of a thousand: t = 3.01 of 999 degrees, p = 0.003; with ±½ more it ends at −2.7/1002 + 1.9624 ·
    # √(1.30273 / 1001 / 1002) = −0.00046, t = 1.9624 · 0.0027 / 0.00224 = 2.363.
    assert said([0.2] * 9 + [0.5] * 991, [0.5] * 1000) == "The bias is unlikely to be chance: p = 0.018."


def test_a_bias_over_cases_of_unequal_size_is_not_laid_to_few_items() -> None:
    # One case with nine answers 0.5 lower, twelve with one 0.2 higher, all apart from each other by 0.001:
    # the case means, 1.9/13 = 0.146 with s 0.194, have t = 2.7; the items' mean, −2.1/21, is the other way.
    apart = [at / 1000 for at in range(21)]
    judged = [*[0.0] * 9, *[0.7] * 12]
    words = said(
        [one + by for one, by in zip(judged, apart, strict=True)], [0.5] * 21, cases=[0] * 9 + [*range(1, 13)]
    )
    assert words.startswith("The bias could be chance: p = ")


def test_a_bias_that_neither_claims_could_be_chance_with_its_p() -> None:
    # Half of twelve 0.3 lower, half 0.2 higher: mean −0.05; with ±½ −0.6 / 14 and Σ(x − m)² = 1.2543, upper
    # end −0.0429 + 2.1604 · √(1.2543 / 13 / 14) = 0.1365, t = 2.1604 · 0.05 / 0.1865 = 0.579 of 13 degrees.
    assert said([0.2, 0.7] * 6, [0.5] * 12) == "The bias could be chance: p = 0.572."


def test_a_later_look_asks_more_of_a_few_items() -> None:
    # Differences 0.2 ± 0.12 spread evenly over twelve items: t = 8.8 of 11 degrees by the test; with ±½ more
    # the lower end is 0.0437, t = 2.1604 · 0.2 / 0.1563 = 2.764 of 13 degrees. The tenth look takes less than
    # 0.05 / 110.
    judged = (0.7 + 0.12 * np.linspace(-1, 1, 12)).tolist()
    level = 0.05 / (10 * 11)
    assert said(judged, [0.5] * 12, confidence=1 - level) == (
        "The bias could be chance: so few items would not have shown rare large differences."
    )
    assert said(judged, [0.5] * 12) == "The bias is unlikely to be chance: p = 0.016."


def test_a_bias_whose_interval_leaves_out_0_is_unlikely_to_be_chance() -> None:
    # Fifteen of thirty items 0.3 lower: mean −0.15, with ±½ more the upper end is −0.0692, t = 2.0395 ·
    # 0.15 / 0.0808 = 3.785 of 31 degrees.
    assert said([0.2, 0.5] * 15, [0.5] * 30) == "The bias is unlikely to be chance: p < 0.001."
    # All 0.3 lower: with ±½ more the upper end is −0.2283, t = 2.0395 · 0.3 / 0.0717 = 8.5.
    assert said([0.2] * 30, [0.5] * 30) == "The bias is unlikely to be chance: p < 0.001."


def test_at_a_look_the_claim_holds_at_the_confidence_of_the_look() -> None:
    # 31 of 150 items 0.3 lower, 17 higher: mean −0.028, s² = (48 · 0.09 − 150 · 0.000784) / 149 = 0.028204,
    # t = 0.028 / √(0.028204 / 150) = 2.042, p = 0.043: below 0.05, not below the 0.025 of a first look.
    judged, people = [0.2] * 31 + [0.8] * 17 + [0.5] * 102, [0.5] * 150
    assert said(judged, people) == "The bias is unlikely to be chance: p = 0.043."
    assert said(judged, people, confidence=0.975) == (
        "The bias could be chance: p = 0.043, and at this look a claim takes less than 0.025."
    )


@pytest.mark.parametrize("items", [0, 1])
def test_a_bias_of_fewer_than_two_items_says_nothing_of_chance(items: int) -> None:
    undefined = "Whether the bias could be chance is undefined: it takes two items."
    assert said([0.2] * items, [0.5] * items) == undefined


def test_a_bias_of_several_answers_to_one_case_says_nothing_of_chance() -> None:
    undefined = "Whether the bias could be chance is undefined: it takes two cases."
    assert said([0.2, 0.3, 0.1], [0.5] * 3, cases=[7, 7, 7]) == undefined
