"""The low end of scores: the lowest one, what does not pass, and how two runs differ in that."""

from math import nan

import numpy as np
import pytest

from rubricweb.engine.agreement.scores.low_end import LowEnd, compare_below_bar, low_end


def test_the_lowest_score_and_what_does_not_pass_stand_side_by_side() -> None:
    # One of the two that the rule has a word on does not pass.
    assert low_end([0.9, 0.2, None, 0.8], [1, 0, None, None]) == LowEnd(0.2, 0.5)
    # Without a rule the lowest score stands alone; of nothing there is nothing to say.
    assert low_end([0.9, 0.2]) == LowEnd(0.2, None)
    assert low_end([nan, None], [nan, None]) == low_end([], []) == LowEnd()


def test_every_case_weighs_the_same_in_the_share_below_the_bar() -> None:
    # Case 7 passes by half and case 8 in full: 1 − 3/4. The lowest score is that of one answer.
    assert low_end([0.9, 0.2, 0.8], [1, 0, 1], [7, 7, 8]) == LowEnd(0.2, 0.25)
    assert low_end([0.9, 0.2, 0.8], cases=[7, 7, 8]) == LowEnd(0.2)


def test_the_difference_of_two_runs_is_paired() -> None:
    """Ten of 36 fell below the bar and two rose above it: Bonett & Price (2012) has 8/36, 0.028 … 0.416."""
    before = np.array([1.0] * 10 + [0.0] * 2 + [1.0] * 24)
    after = np.array([0.0] * 10 + [1.0] * 26)
    found = compare_below_bar(before, after)
    assert found is not None
    assert (found.one.value, found.other.value) == (pytest.approx(2 / 36), pytest.approx(10 / 36))
    difference = found.difference
    assert (difference.value, difference.n) == (pytest.approx(8 / 36), 36)
    assert (difference.low, difference.high) == pytest.approx((0.028, 0.416), abs=1e-3)
    # Wilson of 2 in 36: (2 + 1.9208 ± 1.96·√(2·34/36 + 0.9604)) / 39.8416.
    assert (found.one.low, found.one.high) == pytest.approx((0.0154, 0.1814), abs=1e-4)


def test_what_one_side_cannot_say_is_in_no_share() -> None:
    found = compare_below_bar([1, 1, 0, 1, None], [1, 0, 0, None, 0])
    assert found is not None
    assert {found.one.n, found.other.n, found.difference.n} == {3}
    assert [found.one.value, found.other.value] == pytest.approx([1 / 3, 2 / 3])
    assert found.difference.value == pytest.approx(1 / 3)
    assert compare_below_bar([1, None], [None, 0]) is None
