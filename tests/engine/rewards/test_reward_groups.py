"""Groups of rollouts: functions that see all of them, advantages, rubrics side by side."""

from __future__ import annotations  # annotations are texts here, as in most code that is written today

import asyncio
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rubricweb.engine.rewards as vf
from rubricweb.engine.rewards.functions import Signature
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from elsewhere import Thing

Scores = list[float]


def states_of(*completions, **values):
    return [{"completion": completion, **values} for completion in completions]


def lengths_listed(**kwargs) -> list[float]:
    return [float(len(completion)) for completion in kwargs["completions"]]


def lengths_by_alias(**kwargs) -> Scores:
    return lengths_listed(**kwargs)


def lengths_beside_an_unknown_type(thing: Thing = None, **kwargs) -> list[float]:
    return lengths_listed(**kwargs)


def lengths_of_unknown_type(**kwargs) -> list[Thing]:
    return lengths_listed(**kwargs)


def lengths_in_sequence(**kwargs) -> Sequence[float]:
    return lengths_listed(**kwargs)


class Lengths:
    def __call__(self, **kwargs) -> list[float]:
        return lengths_listed(**kwargs)

    async def method(self, **kwargs) -> list[float]:
        return lengths_listed(**kwargs)


@pytest.mark.parametrize(
    "func",
    [
        lengths_listed,
        lengths_by_alias,
        lengths_beside_an_unknown_type,
        lengths_of_unknown_type,
        lengths_in_sequence,
        Lengths(),
        Lengths().method,
        functools.partial(lengths_listed, unused=1),
    ],
)
def test_a_list_as_return_annotation_makes_a_group_function(func):
    states = states_of("a", "abc")
    asyncio.run(vf.Rubric([func]).score_group(states))
    assert [state["reward"] for state in states] == [1.0, 3.0]


@pytest.mark.parametrize("plural", ["prompts", "completions", "answers", "states", "tasks", "infos"])
def test_a_plural_name_makes_a_group_function(plural):
    namespace: dict = {}
    exec(f"def func({plural}): return {plural}", namespace)
    assert Signature.of(namespace["func"]).is_group


def single(completion) -> float:
    return 1.0


def unannotated(completion):
    return 1.0


def by_number(completion) -> Listing:  # noqa: F821 - a name that begins like list and is not there
    return 1.0


@pytest.mark.parametrize("func", [single, unannotated, by_number])
def test_everything_else_is_a_function_of_one_rollout(func):
    assert not Signature.of(func).is_group


def test_group_functions_get_lists_of_everything_their_rollouts_have():
    seen = {}

    def look(prompts, completions, answers, states, tasks, infos, parser, source):
        seen.update({name: value for name, value in locals().items() if name != "seen"})
        return [0.0] * len(states)

    rows = [
        {"prompt": "p", "completion": text, "answer": text.upper(), "source": f"s{text}", "info": {"n": 1}}
        for text in "ab"
    ]
    states = vf.states_from(rows)
    rubric = vf.Rubric([look])
    asyncio.run(rubric.score_group(states))
    assert seen.pop("states") == states
    assert seen.pop("parser") is rubric.parser
    assert [message[0]["content"] for message in seen.pop("completions")] == ["a", "b"]
    assert [message[0]["content"] for message in seen.pop("prompts")] == ["p", "p"]
    assert seen == {
        "answers": ["A", "B"],
        "tasks": ["default", "default"],
        "infos": [{"n": 1}, {"n": 1}],
        "source": ["sa", "sb"],
    }


def test_a_gap_in_what_a_group_function_asks_for_is_every_rollouts_error():
    def ranked(answers):
        return [1.0, 1.0]

    states = [{"answer": "4"}, {"answer": None}]
    asyncio.run(vf.Rubric([ranked]).score_group(states))
    assert [state["errors"][0].kind for state in states] == ["missing_argument"] * 2


def test_a_group_function_that_asks_for_a_singular_is_refused_with_a_guess():
    def confused(completion) -> list[float]:
        return []

    with pytest.raises(vf.InvalidRewards, match=r"confused\(completion\).*did you mean completions\?"):
        asyncio.run(vf.Rubric([confused]).score_group(states_of("a")))


def test_score_rollout_refuses_group_functions():
    with pytest.raises(
        vf.InvalidRewards, match=r"lengths_listed: found a function of a whole group; allowed: score_group"
    ):
        asyncio.run(vf.Rubric([single, lengths_listed]).score_rollout({"completion": "a"}))


def test_functions_run_in_declared_order_whether_of_one_rollout_or_of_a_group():
    order = []

    def first(completion):
        order.append(f"first {completion}")
        return 1.0

    def whole(completions):
        order.append("whole")
        return [2.0] * len(completions)

    def last(completion, state):
        order.append(f"last {completion} {state['reward']:g}")
        return 0.0

    asyncio.run(vf.Rubric([first, whole, last], weights=[1.0, 0.5, 1.0]).score_group(states_of("a", "b")))
    # so far: 1·1 + 0.5·2 = 2
    assert order == ["first a", "first b", "whole", "last a 2", "last b 2"]


def test_rollouts_of_a_group_are_scored_at_the_same_time():
    async def main():
        arrived = []
        everyone = asyncio.Event()

        async def meet(completion) -> float:
            arrived.append(completion)
            if len(arrived) == 3:
                everyone.set()
            await everyone.wait()  # never, if one waited for the other
            return 1.0

        states = states_of("a", "b", "c")
        await asyncio.wait_for(vf.Rubric([meet]).score_group(states), PATIENCE_SECONDS)
        return states

    assert [state["reward"] for state in asyncio.run(main())] == [1.0, 1.0, 1.0]


rewards = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6)


@given(rewards)
def test_advantages_add_up_to_0_and_keep_the_distances_of_the_rewards(values):
    states = [{"state_value": value} for value in values]
    asyncio.run(vf.Rubric([lambda state: state["state_value"]]).score_group(states))
    advantages = [state["advantage"] for state in states]
    assert sum(advantages) == pytest.approx(0.0, abs=1e-9)
    for value, advantage in zip(values, advantages, strict=True):
        assert advantage - advantages[0] == pytest.approx(value - values[0], abs=1e-9)


def test_one_state_twice_is_refused():
    state = {"completion": "a"}
    for rubric in (vf.Rubric([single]), vf.RubricGroup([vf.Rubric([single])])):
        with pytest.raises(ValueError, match="one state twice in a group"):
            asyncio.run(rubric.score_group([state, state]))


def test_an_empty_group_is_left_alone():
    assert asyncio.run(vf.Rubric([single, lengths_listed]).score_group([])) == []


def test_rubrics_of_a_group_run_at_the_same_time():
    async def main():
        first_is_waiting, second_was_here = asyncio.Event(), asyncio.Event()

        async def waits_for_the_second(completion) -> float:
            first_is_waiting.set()
            await second_was_here.wait()
            return 1.0

        async def answers_the_first(completion) -> float:
            await first_is_waiting.wait()
            second_was_here.set()
            return 0.5

        group = vf.RubricGroup([vf.Rubric([waits_for_the_second]), vf.Rubric([answers_the_first])])
        (state,) = states_of("a")
        await asyncio.wait_for(group.score_rollout(state), PATIENCE_SECONDS)
        return state

    assert asyncio.run(main())["reward"] == 1.5


def test_the_advantage_of_a_rubric_group_is_that_of_the_summed_rewards():
    # summed 1.5 and 0.5, mean 1.0; the last rubric's own advantage would be 0 for both
    group = vf.RubricGroup(
        [vf.Rubric([lambda completion: float(completion == "a")]), vf.Rubric([lambda completion: 1.0], [0.5])]
    )
    states = states_of("a", "b")
    asyncio.run(group.score_group(states))
    assert [state["reward"] for state in states] == [1.5, 0.5]
    assert [state["advantage"] for state in states] == [0.5, -0.5]


def test_metrics_and_errors_of_all_rubrics_are_collected_with_clashing_names_numbered():
    def length(completion) -> float:
        return float(len(completion))

    def crash(completion) -> float:
        raise ValueError("no")

    group = vf.RubricGroup(
        [vf.Rubric([length, crash]), vf.RubricGroup([vf.Rubric([crash]), vf.Rubric([length], [3.0])])]
    )
    (state,) = states_of("ab")
    asyncio.run(group.score_rollout(state))
    assert group.metric_names == ["length", "crash", "crash#2", "length#2"]
    assert state["metrics"] == {"length": 2.0, "length#2": 2.0}
    assert [error.criterion for error in state["errors"]] == ["crash", "crash#2"]
    assert state["reward"] == 8.0  # 1·2 + 0 + 0 + 3·2
    assert state["coverage"] == pytest.approx(4 / 6)  # 1 and 3 of 1 + 1 + 1 + 3


def test_rubrics_of_a_group_do_not_disturb_each_others_state_and_leave_it_in_order():
    async def main():
        written = asyncio.Event()

        async def writes(state) -> float:
            state["shared"], state["mine"] = "first", 1
            written.set()
            return 1.0

        async def looks(state) -> float:
            await written.wait()
            seen = float("shared" in state) + state["reward"]
            state["shared"] = "second"
            del state["scratch"]
            return seen

        (state,) = states_of("a", scratch="x")
        group = vf.RubricGroup([vf.Rubric([writes]), vf.Rubric([looks])])
        await asyncio.wait_for(group.score_rollout(state), PATIENCE_SECONDS)
        return state

    state = asyncio.run(main())
    assert state["metrics"] == {"writes": 1.0, "looks": 0.0}
    assert (state["shared"], state["mine"], "scratch" in state) == ("second", 1, False)


def test_a_group_of_rubrics_takes_functions_and_objects():
    first, second = vf.Rubric(), vf.Rubric([lambda helper: helper])
    group = vf.RubricGroup([first, second])
    group.add_reward_func(single, weight=2.0)
    group.add_metric(lambda helper: helper)
    group.add_class_object("helper", 0.25)
    (state,) = states_of("a")
    asyncio.run(group.score_rollout(state))
    assert state["reward"] == 2.25
    assert (group.weights, first.weights) == ([2.0, 0.0, 1.0], [2.0, 0.0])
    with pytest.raises(ValueError, match="a group without rubrics"):
        vf.RubricGroup([])


def test_a_refusal_by_one_rubric_of_a_group_leaves_no_reward():
    def misspelt(complation) -> float:
        return 1.0

    state = {"completion": "a", "reward": 1.0}
    with pytest.raises(vf.InvalidRewards, match=r"misspelt\(complation\)"):
        asyncio.run(vf.RubricGroup([vf.Rubric([single]), vf.Rubric([misspelt])]).score_rollout(state))
    assert state == {"completion": "a"}


ROWS = [
    {"question": "2+2?", "answer": "4", "example_id": "sum", "completion": "4"},
    {"question": "3*3?", "answer": "9", "example_id": "product", "completion": "9"},
    {"question": "2+2?", "answer": "4", "example_id": "sum", "completion": "5"},
]


def correct(completion, answer) -> float:
    return float(completion[-1]["content"] == answer)


@pytest.mark.parametrize("key", ["example_id", "question", lambda state: state["answer"]])
def test_a_flat_list_is_scored_group_by_group(key):
    states = vf.states_from(ROWS)
    groups = asyncio.run(vf.score_groups_of(vf.Rubric([correct]), states, key=key, concurrency=1))
    assert [len(group) for group in groups.values()] == [2, 1]
    # the sums: rewards 1 and 0 around 0.5; the product is alone with its mean
    assert [state["advantage"] for state in states] == [0.5, 0.0, -0.5]


def test_groups_are_scored_at_the_same_time():
    async def main():
        arrived = asyncio.Event()

        async def meet(completion, example_id) -> float:
            if example_id == "product":
                arrived.set()
            await arrived.wait()
            return 1.0

        await asyncio.wait_for(vf.score_groups_of(vf.Rubric([meet]), vf.states_from(ROWS)), PATIENCE_SECONDS)

    asyncio.run(main())


@pytest.mark.parametrize("wrapped", [False, True], ids=["rubric", "group of rubrics"])
def test_a_column_only_other_groups_have_is_an_error_of_the_rollout_and_no_refusal(wrapped):
    def sourced(source) -> float:
        return 1.0

    states = vf.states_from([ROWS[0] | {"source": "book"}, ROWS[1]])
    rubric = vf.Rubric([sourced])
    asyncio.run(vf.score_groups_of(vf.RubricGroup([rubric]) if wrapped else rubric, states))
    assert [state["reward"] for state in states] == [1.0, 0.0]
    assert [error.kind for error in states[1]["errors"]] == ["missing_argument"]


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "in a group of rubrics"])
def test_a_rubric_with_a_scoring_of_its_own_takes_part(wrapped):
    class Constant(vf.Rubric):
        async def score_group(self, states):
            for state in states:
                state["reward"], state["metrics"] = 0.25, {"constant": 0.25}

    states = vf.states_from(ROWS)
    rubric = vf.RubricGroup([Constant(), vf.Rubric([correct])]) if wrapped else Constant()
    asyncio.run(vf.score_groups_of(rubric, states))
    assert [state["reward"] for state in states] == ([1.25, 1.25, 0.25] if wrapped else [0.25] * 3)
    assert all(state["metrics"]["constant"] == 0.25 for state in states)


def test_states_that_cannot_be_grouped_are_refused_with_their_places():
    states = [vf.State(input={"example_id": 1}), {"completion": "x"}, {"example_id": [1]}]
    with pytest.raises(vf.InvalidRewards) as refused:
        vf.group_by(states)
    assert [fault.place for fault in refused.value.faults] == ["states[1]", "states[2].example_id"]
    with pytest.raises(ValueError, match="concurrency is 0"):
        asyncio.run(vf.score_groups_of(vf.Rubric(), [], concurrency=0))


def test_rows_become_states():
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    first, second = vf.states_from(
        [
            {"prompt": messages, "completion": [{"role": "assistant", "content": "Hi"}], "example_id": "h"},
            {"prompt": None, "question": "2+2?", "submission": "4", "reference": "4"},
        ],
        system_prompt="Think.",
    )
    assert (first["prompt"], first["example_id"], first["task"], first["info"]) == (
        messages,
        "h",
        "default",
        {},
    )
    assert second["prompt"][0] == {"role": "system", "content": "Think."}
    assert second["completion"] == [{"role": "assistant", "content": "4"}]
    assert (second["answer"], second["example_id"]) == ("4", 1)


def test_rows_without_a_prompt_are_refused_all_at_once():
    with pytest.raises(vf.InvalidRewards) as refused:
        vf.states_from([{"answer": "4"}, {"question": "?"}, {"prompt": 7}])
    assert [fault.place for fault in refused.value.faults] == ["rows[0]", "rows[2]"]
    assert "allowed: a text or messages" in str(refused.value)
