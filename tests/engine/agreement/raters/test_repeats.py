"""Flips between repeats of a judge, and votes of a panel."""

import math

import pytest

from rubricweb.engine.agreement import Figure, Ratings, panel_agreement, steadiness, vote_entropy

MET, UNMET = "MET", "UNMET"


def test_flips_worked_by_hand():
    found = steadiness(Ratings.from_columns([[MET, MET], [MET, MET], [UNMET, MET]]))
    assert found.n == 2
    assert found.flip_rate.value == pytest.approx(
        (2 / 3 + 0) / 2
    )  # two of three pairs differ in the first unit
    assert found.unsteady.value == pytest.approx(1 / 2)


def test_a_steady_judge_still_has_a_width():
    found = steadiness(Ratings.from_columns([[MET] * 10, [MET] * 10]))
    assert (found.flip_rate.value, found.flip_rate.low) == (0, 0)
    assert found.flip_rate.high == pytest.approx(1 - 10 / (10 + 1.959964**2))  # Wilson, 10 of 10
    assert found.unsteady.high == pytest.approx(found.flip_rate.high)


def test_one_repeat_says_nothing():
    nothing = Figure(None, None, None, 0)
    found = steadiness(Ratings.from_columns([[MET, UNMET], [None, None]]))
    assert found.flip_rate == found.unsteady == nothing


def test_a_single_unit_has_a_rate_without_interval():
    found = steadiness(Ratings.from_columns([[MET], [MET], [UNMET]]))
    assert found.flip_rate == Figure(pytest.approx(2 / 3), None, None, 1)


def test_votes_for_the_verdict_worked_by_hand():
    found = panel_agreement([[MET, MET, UNMET], [MET, None, MET]], [MET, MET])
    assert found.value == pytest.approx((2 / 3 + 1) / 2)
    assert found.n == 2


def test_units_without_a_verdict_or_a_vote_are_left_out():
    found = panel_agreement([[MET, UNMET], [None, None], [UNMET]], [None, MET, UNMET])
    assert (found.value, found.n) == (1.0, 1)
    assert panel_agreement([], []) == Figure(None, None, None, 0)
    with pytest.raises(ValueError, match="found 1, 2 and 1"):
        panel_agreement([[MET]], [MET, MET])


def test_entropy_worked_by_hand():
    found = vote_entropy([[MET, MET, UNMET, UNMET], [MET, MET]], 2)
    assert found.value == pytest.approx((1 + 0) / 2)
    third = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)) / math.log(4)
    assert vote_entropy([["a", "a", "b"]], 4).value == pytest.approx(third)


def test_entropy_of_one_option_is_undefined_and_too_many_labels_are_refused():
    assert vote_entropy([["a"]], 1) == Figure(None, None, None, 1)
    assert vote_entropy([[None]], 2) == Figure(None, None, None, 0)
    with pytest.raises(
        ValueError, match=r"votes\[0\] hold 3 different labels; allowed are at most 2 options"
    ):
        vote_entropy([["a", "b", "c"]], 2)
