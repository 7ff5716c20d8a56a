"""What the judge of our benchmarks counts, on which their figures stand."""

import pytest

from benchmarks.judge_server import Behaviour, Limit


def asked(limit: Limit, *moments: float) -> int:
    """Requests at these seconds; how many were let through."""
    return sum(limit.admit(moment) is None for moment in moments)


def test_the_window_in_which_the_work_ended_counts_neither_as_used_nor_as_left() -> None:
    limit = Limit(Behaviour(per_minute=10, window="fixed"))
    # From second 100 on: the first minute takes 10 of 12, the second 8, and the work ends early in the third.
    assert asked(limit, *(100.0 + number for number in range(12))) == 10
    assert asked(limit, *(161.0 + number for number in range(8))) == 8
    assert asked(limit, 221.0, 222.0) == 2
    assert limit.use(222.0) == (18, 20)


def test_a_minute_that_nobody_used_is_a_minute_left_unused() -> None:
    limit = Limit(Behaviour(per_minute=10, window="fixed"))
    # Windows follow one another from the first request on: the second, from 160 to 220, saw nothing.
    assert asked(limit, *(100.0 + number for number in range(10)), 225.0) == 11
    assert limit.use(281.0) == (11, 30)


def test_a_window_says_how_long_it_still_is() -> None:
    limit = Limit(Behaviour(per_minute=1, window="fixed"))
    assert limit.admit(100.0) is None
    assert limit.admit(115.0) == 45.0  # until 160
    assert limit.admit(160.0) is None


def test_a_bucket_could_have_given_its_burst_and_what_flowed_in() -> None:
    limit = Limit(Behaviour(per_minute=60, burst=5))
    # Full at first; one more each second: at 100 five of six, at 102 the two that flowed in.
    assert asked(limit, *[100.0] * 6, *[102.0] * 3) == 7
    assert limit.use(102.0) == (7, pytest.approx(5 + 2))
