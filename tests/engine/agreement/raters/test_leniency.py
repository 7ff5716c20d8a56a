"""Lenient or strict, and how often people and a judge say MET: means of raters, by hand."""

import pytest

from rubricweb.engine.agreement import Figure, mean_rates
from rubricweb.engine.agreement.raters.unit_values import UnitValue, bias_of, rates_of


def test_people_s_rate_is_the_mean_of_the_means_of_units():
    found = mean_rates([1, 0, 1], [1 / 3, 2 / 3, 1], ["a", "b", "c"])
    assert found.people.value == pytest.approx(2 / 3)
    assert (found.judge.value, found.judge.n) == (pytest.approx(2 / 3), 3)


def test_where_all_is_yes_or_no_the_interval_is_wilsons():
    found = mean_rates([1] * 10, [1] * 8 + [0] * 2, range(10))
    # 8 of 10: (0.4902, 0.9433) as in Agresti & Coull (1998).
    assert (found.people.low, found.people.high) == (
        pytest.approx(0.4902, abs=1e-4),
        pytest.approx(0.9433, abs=1e-4),
    )


def test_rates_of_nothing_are_undefined_and_of_other_lengths_refused():
    nothing = Figure(None, None, None, 0)
    assert (mean_rates([], [], []).people, mean_rates([], [], []).judge) == (nothing, nothing)
    with pytest.raises(ValueError, match=r"found \[1, 2, 1\]"):
        mean_rates([1], [0, 1], ["a"])


def test_a_tie_is_a_half_and_more_raters_weigh_no_more():
    tie = UnitValue(1.0, {"x": 1.0, "y": 0.0}, 2.0, "a")
    three = UnitValue(0.0, {"x": 1.0, "y": 1.0, "z": 0.0}, 2.0, "b")
    assert rates_of([tie, three]).people.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    # (1 − ½ + 0 − ⅔) / 2, both of one weight.
    assert bias_of([tie, three]).value == pytest.approx(-1 / 12)


def test_an_error_the_judge_sees_more_often_than_people_makes_it_strict():
    merit = UnitValue(1.0, {"x": 1.0, "y": 0.0}, 3.0, "a")
    error = UnitValue(1.0, {"x": 1.0, "y": 0.0}, -5.0, "a")
    # (3 · ½ − 5 · ½) / 8
    assert bias_of([merit, error]).value == pytest.approx(-1 / 8)
