"""A function that fails costs its own points and its own points only, by name."""

import asyncio
import math

import pytest

import rubricweb.engine.rewards as vf
from rubricweb.engine.report import GradingError


def crash(completion):
    raise ValueError("no tokenizer")


def half(completion):
    return 0.5


def test_a_crash_is_recorded_by_name_and_worth_0_with_its_weight_kept():
    state = {"completion": "x"}
    asyncio.run(vf.Rubric([half, crash, half], weights=[1.0, 3.0, 0.0]).score_rollout(state))
    assert state["reward"] == 0.5  # 1·0.5 + 3·0 + 0·0.5
    assert state["coverage"] == 0.25  # 1 of 4
    assert state["errors"] == [
        GradingError(criterion="crash", kind="reward_crashed", message="ValueError: no tokenizer")
    ]
    assert state["metrics"] == {"half": 0.5, "half#2": 0.5}  # no number, no metric


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "returned NoneType None"),
        ("0.5", "returned str '0.5'"),
        (math.nan, "returned nan"),
        (-math.inf, "returned -inf"),
        ([1.0], "returned list [1.0]"),
        (1e200, "returned 1e+200"),
    ],
)
def test_what_is_not_a_finite_number_is_an_error(value, found):
    state = {}
    asyncio.run(vf.Rubric([lambda: value]).score_rollout(state))
    (error,) = state["errors"]
    assert error.kind == "not_a_number"
    assert error.message == f"{found}; allowed: a finite number"
    assert state["reward"] == 0.0


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("group", [False, True], ids=["one rollout", "a group"])
def test_interruptions_pass_through_and_leave_no_half_scored_rollout(interruption, group):
    def interrupted(completion):
        raise interruption

    state = {"completion": "x", "reward": 1.0}
    rubric = vf.Rubric([half, interrupted])
    with pytest.raises(interruption):
        asyncio.run(rubric.score_group([state]) if group else rubric.score_rollout(state))
    assert state == {"completion": "x"}


def test_one_rollouts_crash_leaves_the_others_of_its_group_alone():
    def sensitive(completion):
        if completion == "bad":
            raise RuntimeError("bad one")
        return 1.0

    states = [{"completion": "good"}, {"completion": "bad"}]
    asyncio.run(vf.Rubric([sensitive]).score_group(states))
    assert [state["reward"] for state in states] == [1.0, 0.0]
    assert [state["advantage"] for state in states] == [0.5, -0.5]
    assert [len(state["errors"]) for state in states] == [0, 1]


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ([1.0], "1 values"),
        ([], "0 values"),
        (1.0, "float"),
        ("ab", "str"),
        ({0.5, 1.0}, "set"),
        (None, "NoneType"),
    ],
)
def test_a_group_function_with_another_number_of_values_fails_for_every_rollout(result, found):
    def group(completions):
        return result

    states = [{"completion": "a"}, {"completion": "b"}]
    asyncio.run(vf.Rubric([half, group]).score_group(states))
    for state in states:
        assert state["reward"] == 0.5
        assert state["errors"] == [
            GradingError(
                criterion="group",
                kind="wrong_length",
                message=f"returned {found}; allowed: a list of 2 numbers",
            )
        ]


def test_a_group_function_may_fail_for_single_rollouts():
    def group(completions):
        return [1.0, None]

    states = [{"completion": "a"}, {"completion": "b"}]
    asyncio.run(vf.Rubric([group]).score_group(states))
    assert [state["metrics"] for state in states] == [{"group": 1.0}, {}]
    assert [[error.kind for error in state["errors"]] for state in states] == [[], ["not_a_number"]]


def test_a_crashed_group_function_is_every_rollouts_error():
    def group(states):
        raise KeyError("similarity")

    states = [{"completion": "a"}, {"completion": "b"}]
    asyncio.run(vf.Rubric([half, group]).score_group(states))
    assert [state["errors"][0].message for state in states] == ["KeyError: 'similarity'"] * 2
    assert [state["coverage"] for state in states] == [0.5, 0.5]
