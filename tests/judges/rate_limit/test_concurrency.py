"""How many requests at once: what each knob does, on a clock of our own."""

import pytest

from rubricweb.judges.rate_limit.concurrency import Concurrency
from rubricweb.judges.rate_limit.knobs import Knobs


def test_it_begins_with_start_and_grows_with_every_answer_to_the_ceiling():
    limit = Concurrency(16, Knobs(start=4))
    seen = []
    for _ in range(20):
        seen.append(limit.now)
        limit.answered(0.1)
    assert seen[:3] == [4, 5, 6]
    assert limit.now == 16


def test_by_time_alone_it_grows_by_increase_each_second_in_which_all_were_in_use():
    limit = Concurrency(64, Knobs(start=4, increase=2.0))
    for second in range(1, 6):
        limit.all_in_use(1000.0 + second)
    assert limit.now == 4 + 5 * 2


def test_a_decrease_is_by_the_factor_once_per_cooldown_and_never_below_least():
    limit = Concurrency(100, Knobs(start=100, decrease_factor=0.5, cooldown_seconds=5.0, least=20))
    assert limit.decrease(1000.0)
    assert limit.now == 50
    assert not limit.decrease(1004.9)
    assert limit.now == 50
    assert limit.decrease(1005.0)
    assert limit.now == 25
    limit.decrease(1010.0)
    assert limit.now == 20


def test_after_a_decrease_answers_alone_raise_it_no_more():
    limit = Concurrency(100, Knobs(start=100, decrease_factor=0.5))
    limit.decrease(1000.0)
    for _ in range(50):
        limit.answered(0.1)
    assert limit.now == 50
    limit.all_in_use(1001.0)
    assert limit.now == 51


@pytest.mark.parametrize(("ceiling", "most", "at_once"), [(16, 1000, 16), (64, 10, 10), (1, 1000, 1)])
def test_neither_the_judges_own_limit_nor_most_is_exceeded(ceiling, most, at_once):
    limit = Concurrency(ceiling, Knobs(start=8, most=most))
    for _ in range(100):
        limit.answered(0.1)
    assert limit.now == at_once


def test_a_restarted_worker_begins_where_the_one_before_was():
    limit = Concurrency(64, Knobs(start=8))
    limit.begin_at(48)
    assert limit.now == 48
    limit.begin_at(200)
    assert limit.now == 64


def test_requests_leave_spread_over_a_round_trip():
    limit = Concurrency(10, Knobs(start=9))
    limit.answered(0.1)  # ten at once at 0.1 s to an answer: 10 ms apart
    at, left = 1000.0, []
    while len(left) < 20:
        if limit.may_leave(at):
            left.append(at)
        at += 0.001
    # Four may make up for the time in which none left.
    assert left[-1] - left[4] == pytest.approx(15 * 0.01, abs=0.005)
