"""What reward functions are given, and what happens when they ask for something else."""

import asyncio
import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rubricweb.engine.rewards as vf
from rubricweb.engine.rewards.functions import Signature, numbered
from rubricweb.engine.rewards.totals import reward_coverage, total_reward
from rubricweb.engine.scoring import FAILED

ROW = {"prompt": "2+2?", "answer": "4", "info": {"difficulty": 2}, "task": "sums", "source": "book"}


def state_of(completion="4", **row):
    (state,) = vf.states_from([{**ROW, "completion": completion, **row}])
    return state


def score(rubric, state):
    asyncio.run(rubric.score_rollout(state))
    return state


def test_every_standard_argument_and_column_arrives_under_its_name():
    seen = {}

    def look(prompt, completion, answer, info, state, task, parser, source):
        seen.update({name: value for name, value in locals().items() if name != "seen"})
        return 0.0

    parser, state = vf.Parser(), state_of()
    score(vf.Rubric([look], parser=parser), state)
    assert seen.pop("state") is state
    assert seen.pop("parser") is parser
    assert seen == {
        "prompt": [{"role": "user", "content": "2+2?"}],
        "completion": [{"role": "assistant", "content": "4"}],
        "answer": "4",
        "info": {"difficulty": 2},
        "task": "sums",
        "source": "book",
    }


def test_keywords_of_all_kinds_get_everything_there_is():
    seen = {}
    rubric = vf.Rubric([lambda **kwargs: seen.update(kwargs) or 0.0])
    rubric.add_class_object("lexicon", {"a"})
    score(rubric, state_of())
    assert set(seen) == {
        *("prompt", "completion", "answer", "info", "state", "task"),
        *("parser", "lexicon", "source", "example_id"),
    }


def test_a_rollout_without_metadata_has_an_empty_info_and_the_default_task():
    seen = []

    def look(info, task):
        seen.append((info, task))
        return 0.0

    score(vf.Rubric([look]), {"completion": "4"})
    assert seen == [({}, "default")]


def test_an_unknown_parameter_is_refused_by_name_before_anything_runs():
    ran = []

    def fine(completion):
        ran.append(completion)
        return 1.0

    def misspelt(complation, sauce):
        return 1.0

    with pytest.raises(vf.InvalidRewards) as refused:
        score(vf.Rubric([fine, misspelt]), state_of())
    assert [fault.place for fault in refused.value.faults] == ["misspelt(complation)", "misspelt(sauce)"]
    assert "did you mean completion?" in str(refused.value)
    assert "source" in refused.value.faults[1].allowed
    assert ran == []


def test_a_parameter_with_a_default_keeps_it_when_there_is_nothing_of_that_name():
    def lenient(completion, tolerance=0.25):
        return tolerance

    assert score(vf.Rubric([lenient]), state_of())["reward"] == 0.25
    assert score(vf.Rubric([lenient]), state_of(tolerance=0.5))["reward"] == 0.5


def test_an_answer_that_is_not_there_is_an_error_and_never_an_empty_text():
    def correct(completion, answer):  # "" would be found in every completion
        return 1.0 if answer in completion[-1]["content"] else 0.0

    state = score(vf.Rubric([correct]), state_of(answer=None))
    assert state["reward"] == 0.0
    assert state["coverage"] == 0.0
    (error,) = state["errors"]
    assert (error.criterion, error.kind) == ("correct", "missing_argument")
    assert "asks for answer" in error.message
    assert "completion" in error.message


def test_parameters_by_position_only_are_filled_too():
    def by_position(completion, answer, /):
        return float(completion[-1]["content"] == answer)

    assert score(vf.Rubric([by_position]), state_of())["reward"] == 1.0


def test_sync_and_async_functions_methods_partials_and_callable_objects_all_count():
    class Scorer:
        def __call__(self, completion) -> float:
            return 1.0

        async def method(self, completion) -> float:
            return 2.0

    def scaled(completion, factor):
        return float(factor)

    rubric = vf.Rubric([Scorer(), Scorer().method, functools.partial(scaled, factor=4)])
    state = score(rubric, state_of())
    assert state["reward"] == 7.0
    assert state["metrics"] == {"Scorer": 1.0, "method": 2.0, "scaled": 4.0}


def test_functions_of_one_name_are_numbered():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
    state = score(vf.Rubric([lambda: 1.0, lambda: 0.5], weights=[1.0, 2.0]), state_of())
    assert state["metrics"] == {"<lambda>": 1.0, "<lambda>#2": 0.5}
    assert state["reward"] == 2.0


def test_later_functions_see_the_reward_and_metrics_so_far():
    def seen(state):
        return len(state["metrics"]) * 10 + state["reward"]

    def third(state):
        return seen(state)

    rubric = vf.Rubric([lambda: 1.0, seen, third], weights=[0.5, 0.0, 1.0])
    state = score(rubric, state_of())
    # seen: one metric, 0.5·1 so far; third: two metrics, still 0.5; reward 0.5 + 20.5
    assert (state["metrics"]["seen"], state["metrics"]["third"], state["reward"]) == (10.5, 20.5, 21.0)


def test_a_plain_dict_can_be_scored_and_an_earlier_scoring_leaves_no_trace():
    state = {"completion": "4", "reward": 9.0, "advantage": 3.0, "metrics": {"old": 1.0}}
    score(vf.Rubric([lambda completion: 0.5]), state)
    assert state == {
        "completion": "4",
        "reward": 0.5,
        "metrics": {"<lambda>": 0.5},
        "errors": [],
        "coverage": 1.0,
    }


def test_a_state_answers_for_the_columns_of_its_row():
    state = vf.State(input={"answer": "4", "task": "sums"}, task="other")
    assert (state["answer"], state["task"], state.get("answer"), state.get("x", 1)) == ("4", "other", "4", 1)
    assert "answer" in state
    assert "x" not in state
    state["answer"] = "5"
    assert (state["answer"], state["input"]["answer"]) == ("5", "4")
    with pytest.raises(KeyError, match="x"):
        state["x"]


@pytest.mark.parametrize("name", ["completion", "states", "task"])
def test_class_objects_cannot_take_a_rollouts_own_names(name):
    with pytest.raises(ValueError, match=f"{name} is what rollouts bring along"):
        vf.Rubric().add_class_object(name, 1)


def test_bad_rubrics_are_refused():
    with pytest.raises(ValueError, match="2 weights for 1 functions"):
        vf.Rubric([len], weights=[1, 2])
    with pytest.raises(ValueError, match=r"the weight of <lambda> is nan; allowed: a finite number"):
        vf.Rubric([lambda: 1.0], weights=[math.nan])
    with pytest.raises(TypeError, match="a reward function is 'correctness'"):
        vf.Rubric(["correctness"])


def test_a_rubric_without_functions_gives_an_empty_sum():
    state = score(vf.Rubric(), state_of())
    assert (state["reward"], state["metrics"], state["coverage"]) == (0.0, {}, 0.0)


@pytest.mark.parametrize(
    "value", [True, 1, np.float64(1.0), np.array(1.0)], ids=["bool", "int", "float64", "array"]
)
def test_anything_that_is_one_number_counts(value):
    assert score(vf.Rubric([lambda: value]), state_of())["metrics"] == {"<lambda>": 1.0}


def test_rewards_beyond_0_to_1_are_neither_clipped_nor_rounded():
    assert total_reward([0.1], [-2.0]) == 0.1 * -2.0
    assert total_reward([1.0, 0.5, 0.1], [1.0, FAILED, -2.0]) == 0.8  # 1 + 0 − 0.2
    assert total_reward([], []) == 0.0
    assert reward_coverage([1.0, -0.5, 0.5], [3.0, FAILED, 0.0]) == 0.75  # 1.5 of 2
    assert reward_coverage([0.0, 0.0], [FAILED, 1.0]) == 0.5


finite = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(st.tuples(finite, finite), max_size=8))
def test_the_reward_is_the_weighted_sum_to_the_last_digit(terms):
    # oracle: each product as floats multiply it, all of them added without loss
    expected = math.fsum(weight * value for weight, value in terms)
    found = total_reward([weight for weight, _ in terms], [value for _, value in terms])
    assert found == pytest.approx(expected, rel=1e-15, abs=1e-290)


def test_what_a_function_is_called_by_is_read_once_from_its_signature():
    def func(completion, /, answer, scale=1.0, **rest) -> float:
        return 0.0

    signature = Signature.of(func)
    assert (signature.name, signature.required, signature.optional) == (
        "func",
        ("completion", "answer"),
        ("scale",),
    )
    assert (signature.positional, signature.takes_all, signature.is_group) == (("completion",), True, False)
