"""The sentence Compare leads with, on counts whose figures can be worked out by hand."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from rubricweb.engine.agreement import Figure, HumanCeiling, JudgeSeat
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.verdict import comparison_verdict, items_needed
from rubricweb.selectors.shared.unavailable import Unavailable
from tests.selectors.comparison.words.made import comparison

# Judge and people give credit alike: 50 of 100 each, so that no bias is in the way.
EVEN = {"MET MET": 40, "UNMET MET": 10, "MET UNMET": 10, "UNMET UNMET": 40}
NONE = Figure(None, None, None, 0)


def seat(value: float, low: float, high: float, items: int = 100) -> Comparison:
    """κ of one of three people 0.7; of the judge `value` more, with this interval, on so many items."""
    person, judge = Figure(0.7, 0.6, 0.8, 300), Figure(0.7 + value, 0.5, 0.9, 300)
    accuracy = Figure(0.85, 0.8, 0.9, 300)
    difference = Figure(value, low, high, 300)
    in_seat = JudgeSeat(accuracy, judge, Figure(0.0, -0.1, 0.1, 300), difference)
    ceiling = HumanCeiling(300, 3, accuracy, person, 0.0, accuracy, person, in_seat, items)
    return replace(comparison(EVEN), ceiling=ceiling, items=items)


def said(found: Comparison) -> tuple[str, str]:
    verdict = comparison_verdict(found)
    assert verdict is not None
    return verdict.state, verdict.sentence


def test_a_large_bias_leads_with_both_rates() -> None:
    # The judge passes 90 of 100, people 30: bias 0.6, far from 0.
    found = comparison({"MET MET": 30, "UNMET MET": 60, "UNMET UNMET": 10})
    assert said(found) == ("lenient", "This judge passes 90% where people pass 30%.")
    verdict = comparison_verdict(found)
    assert verdict is not None
    assert (verdict.leads, verdict.title) == ("bias", "Too lenient")
    # The other way round: 30 of 100 by the judge, 90 by people.
    strict = comparison({"MET MET": 30, "MET UNMET": 60, "UNMET UNMET": 10})
    assert said(strict) == ("strict", "This judge passes 30% where people pass 90%.")


def test_a_small_bias_that_is_certain_does_not_lead() -> None:
    # 20 of 1,000 more: bias 0.02, which 1,000 items tell from 0.
    found = comparison({"MET MET": 500, "UNMET MET": 20, "UNMET UNMET": 480})
    assert found.leaning == "lenient"
    verdict = comparison_verdict(found)
    assert verdict is not None
    assert verdict.leads == "agreement"
    assert verdict.why.endswith("It is slightly lenient: the judge passes 52% of labels, people 50%.")


@pytest.mark.parametrize(
    ("difference", "state", "sentence"),
    [
        ((0.1, 0.02, 0.18), "better", "This judge agrees with people better than one of them does."),
        ((-0.2, -0.3, -0.1), "below", "This judge agrees with people less than one of them does."),
        ((-0.02, -0.09, 0.05), "close", "This judge agrees with people as well as one of them does."),
        # The interval begins below −0.10 and holds 0.
        ((-0.06, -0.2, 0.08), "undecided", "This judge may be as good as a person. 100 items cannot tell."),
    ],
)
def test_the_interval_in_a_persons_seat_decides(difference, state, sentence) -> None:
    assert said(seat(*difference)) == (state, sentence)


def test_too_few_items_are_never_as_good() -> None:
    verdict = comparison_verdict(seat(-0.02, -0.09, 0.05, items=60))
    assert verdict is not None
    # It takes 100 items, so 40 more, however narrow the interval is.
    assert (verdict.state, verdict.more_items) == ("undecided", 40)
    assert verdict.why.startswith(
        "About 40 more labelled items would decide. No clear bias: the judge passes 50%"
    )


def test_items_that_one_person_labelled_say_nothing_of_a_person() -> None:
    # 500 items are labelled, 60 of them by two people or more: the interval is of these 60.
    verdict = comparison_verdict(replace(seat(-0.02, -0.09, 0.05, items=60), items=500))
    assert verdict is not None
    assert verdict.sentence == (
        "This judge may be as good as a person. 60 items with labels of two people cannot tell."
    )
    assert verdict.more_items == 40
    assert verdict.why.startswith("About 40 more items with labels of two people would decide.")


def test_how_many_items_more() -> None:
    # Half of 0.26 is 0.13; 0.15 · 1.96 / 2.8 = 0.105 is allowed: 20 · (0.13 / 0.105)² = 30.66 → 31, 11 more.
    assert items_needed(Figure(-0.15, -0.25, 0.01, 179), 20) == 11
    # −0.03 is nearer to as good: 0.07 · 0.7 = 0.049 allowed, 100 · (0.14 / 0.049)² = 816.3 → 817, 717 more.
    assert items_needed(Figure(-0.03, -0.17, 0.11, 300), 100) == 717
    # Below a pilot of 20 that is what is asked for first.
    assert items_needed(Figure(-0.03, -0.5, 0.5, 30), 12) == 8
    # −0.099: almost at the margin no number of labels that people can give decides.
    assert items_needed(Figure(-0.0499, -0.4, 0.3, 300), 400) is None


def test_without_two_people_there_is_no_person_to_stand_beside() -> None:
    # 80 of 100 agree, κ = (0.8 − 0.5) / 0.5 = 0.6.
    verdict = comparison_verdict(comparison(EVEN))
    assert verdict is not None
    assert (verdict.state, verdict.sentence) == (
        "measured",
        "The judge agrees with people on 80% of labels (κ 0.60).",
    )
    assert verdict.why.startswith("No item has labels of two people")


def test_a_guess_is_not_told_from_chance() -> None:
    # 6 of 12 agree: κ 0.
    verdict = comparison_verdict(comparison({"MET MET": 3, "UNMET MET": 3, "MET UNMET": 3, "UNMET UNMET": 3}))
    assert verdict is not None
    assert verdict.state == "undecided"
    assert verdict.sentence == "12 items cannot tell whether this judge beats chance."
    assert verdict.more_items == 8


def test_a_bias_on_items_own_rubrics_counts_no_criteria() -> None:
    verdict = comparison_verdict(comparison({"MET MET": 30, "UNMET MET": 60, "UNMET UNMET": 10}))
    assert verdict is not None
    # No criterion is shared, so none is counted, and nothing is known of people among themselves.
    assert verdict.why == ""


def test_options_that_are_items_own_have_no_count() -> None:
    verdict = comparison_verdict(replace(comparison(EVEN), n_binary=0))
    assert verdict is not None
    assert verdict.sentence == "Every item brings its own options, so that nothing is said over all of them."


def test_a_judge_that_says_the_opposite_agrees_less_than_by_chance() -> None:
    # 20 of 100 agree: κ (0.2 − 0.5) / 0.5 = −0.6.
    cells = {"MET MET": 10, "UNMET MET": 40, "MET UNMET": 40, "UNMET UNMET": 10}
    assert said(comparison(cells)) == (
        "measured",
        "The judge agrees with people on 20% of labels, fewer than by chance (κ −0.60).",
    )


def test_chance_is_ruled_out_at_the_confidence_of_the_look() -> None:
    # 64 of 100 agree, κ 0.28: its 95 % interval is about 0.09 to 0.46, at 99.9 % it reaches below 0.
    found = comparison({"MET MET": 32, "UNMET MET": 18, "MET UNMET": 18, "UNMET UNMET": 32})
    assert said(found)[0] == "measured"
    assert said(replace(found, look=SimpleNamespace(confidence=0.999)))[0] == "undecided"


def test_nothing_in_common_is_no_verdict() -> None:
    assert comparison_verdict(comparison({})) is None
    nothing = Unavailable("judge_silent", "It failed throughout.", "Look at the run.")
    assert comparison_verdict(replace(comparison(EVEN), unavailable=nothing)) is None
