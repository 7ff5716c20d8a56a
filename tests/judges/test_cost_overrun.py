"""When what waits is to be priced anew: replies that cost more than was set aside for them."""

from dataclasses import replace

from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.outputs import PerCriterionOutput
from rubricweb.judges.base import Question, Reply
from rubricweb.judges.cost_overrun import CostOverruns

QUESTION = Question(1, Prompt("", "", PerCriterionOutput, ()), lambda _: Reading({}), 0, set_aside_usd=0.01)


def passes(
    overruns: CostOverruns,
    cost_usd: float | None,
    question: Question = QUESTION,
    *,
    unanswered: int = 0,
    unmetered: int = 0,
) -> bool:
    reply = Reply(
        1,
        None,
        None,
        "",
        "m",
        "",
        1,
        None,
        None,
        cost_usd,
        0.0,
        unanswered=unanswered,
        unmetered=unmetered,
    )
    return overruns.passes("queue", question, reply, in_flight=4)


def test_an_overrun_passes_what_is_set_aside_for_calls_in_flight() -> None:
    overruns = CostOverruns()
    # 0.01 more than was set aside each: 0.01, 0.02, 0.03, 0.04 and 0.05 against 4 × 0.01; then from 0 again.
    assert [passes(overruns, 0.02) for _ in range(6)] == [False, False, False, False, True, False]


def test_one_reply_far_too_expensive_is_enough() -> None:
    assert passes(CostOverruns(), 1.0)


def test_requests_that_nobody_answered_count_as_what_was_set_aside() -> None:
    # 5 × 0.01 is 0.04 over, which is not more than 4 × 0.01; with 0.02 for the answer that came it is.
    assert not passes(CostOverruns(), None, unanswered=5)
    assert passes(CostOverruns(), 0.02, unanswered=5)


def test_answers_that_do_not_say_what_they_used_count_alike() -> None:
    assert not passes(CostOverruns(), None, unmetered=5)
    assert passes(CostOverruns(), 0.02, unmetered=2, unanswered=3)


def test_replies_that_vary_around_what_was_set_aside_withdraw_nothing() -> None:
    overruns = CostOverruns()
    assert not any(passes(overruns, cost) for cost in (0.02, 0.0, 0.018, 0.002) * 100)


def test_what_was_saved_before_is_spent_by_now() -> None:
    overruns = CostOverruns()
    assert not any(passes(overruns, 0.0) for _ in range(100))
    assert passes(overruns, 0.06)  # 0.05 over


def test_without_a_cap_or_a_price_nothing_overruns() -> None:
    assert not passes(CostOverruns(), 1.0, replace(QUESTION, set_aside_usd=None))
    assert not passes(CostOverruns(), None)
