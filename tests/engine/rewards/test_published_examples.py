"""The published page's examples, with only the imports changed and its environments replaced by rows."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import rubricweb.engine.rewards as vf
from rubricweb.engine.rewards.types import Info, Messages, RolloutScore, State


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def rollout(text: str, **values: Any) -> vf.State:
    return vf.State(prompt=[{"role": "user", "content": "2+2?"}], completion=said(text), **values)


def scored(rubric: vf.Rubric, state: vf.State) -> vf.State:
    asyncio.run(rubric.score_rollout(state))
    assert state["errors"] == []
    return state


def scored_group(rubric: vf.Rubric, states: list[vf.State]) -> list[vf.State]:
    asyncio.run(rubric.score_group(states))
    assert [state["errors"] for state in states] == [[]] * len(states)
    return states


def test_overview():
    async def correct_answer(completion, answer) -> float:
        response = completion[-1]["content"]
        return 1.0 if answer in response else 0.0

    rubric = vf.Rubric(funcs=[correct_answer])

    assert scored(rubric, rollout("It is 4.", answer="4"))["reward"] == 1.0
    assert scored(rubric, rollout("It is 5.", answer="4"))["reward"] == 0.0


def test_basic_reward_functions():
    async def exact_match(completion, answer) -> float:
        """Check if answer appears in completion."""
        response = completion[-1]["content"]
        return 1.0 if answer in response else 0.0

    async def length_penalty(completion) -> float:
        """Penalize overly long responses."""
        response = completion[-1]["content"]
        return 1.0 if len(response) < 500 else 0.5

    rubric = vf.Rubric(
        funcs=[exact_match, length_penalty],
        weights=[1.0, 0.1],  # exact_match weighted 10x more
    )

    state = scored(rubric, rollout("4" + "!" * 499, answer="4"))
    assert state["reward"] == pytest.approx(1.0 * 1.0 + 0.1 * 0.5)
    assert state["metrics"] == {"exact_match": 1.0, "length_penalty": 0.5}


def test_type_signatures():
    messages: Messages = said("hello")
    info: Info = {"difficulty": 2}
    state: State = vf.State(input={"answer": "4"}, completion=messages, info=info)
    assert (state["answer"], state["info"]["difficulty"], vf.State) == ("4", 2, State)


def test_argument_injection_pattern():
    # Only receives what it asks for
    async def simple_reward(completion, answer) -> float:
        return 1.0 if answer in completion[-1]["content"] else 0.0

    # Can request all available data
    async def complex_reward(prompt, completion, answer, info, state) -> float:
        difficulty = info.get("difficulty", 1)
        tokens_used = state.get("usage", {}).get("total_tokens", 0)
        correct = answer in completion[-1]["content"]
        return float(correct) * (1.0 / difficulty) * (1.0 if tokens_used < 1000 else 0.5)

    # Use **kwargs to accept everything
    async def flexible_reward(**kwargs) -> float:
        completion = kwargs["completion"]
        answer = kwargs.get("answer", "")
        return 1.0 if answer in completion[-1]["content"] else 0.0

    rubric = vf.Rubric(funcs=[simple_reward, complex_reward, flexible_reward])
    state = rollout("4", answer="4", info={"difficulty": 4}, usage={"total_tokens": 1000})
    # 1 + 1 · 1/4 · 0.5 + 1
    assert scored(rubric, state)["reward"] == pytest.approx(2.125)


async def correctness(completion, answer) -> float:
    return 1.0 if answer in completion[-1]["content"] else 0.0


async def formatting(completion, parser) -> float:
    try:
        parser.parse(completion[-1]["content"])
        return 1.0
    except:  # noqa: E722 - as published
        return 0.0


async def conciseness(completion) -> float:
    length = len(completion[-1]["content"])
    return 1.0 if length < 200 else 0.5


def test_multiple_reward_functions():
    rubric = vf.Rubric(funcs=[correctness, formatting, conciseness], weights=[1.0, 0.5, 0.1])

    state = scored(rubric, rollout("five" * 50, answer="4"))
    # reward = (correctness * 1.0) + (formatting * 0.5) + (conciseness * 0.1) = 0 + 0.5 + 0.05
    assert state["reward"] == pytest.approx(0.55)


def test_adding_functions_dynamically():
    rubric = vf.Rubric()
    rubric.add_reward_func(correctness, weight=1.0)
    rubric.add_reward_func(formatting, weight=0.5)

    assert scored(rubric, rollout("4", answer="4"))["reward"] == 1.5


@pytest.mark.parametrize(("response", "reward"), [("abcdefghij", 1.0), ("abcdefgh", 0.0)])
def test_execution_order_and_state_sharing(response, reward):
    def compute_embedding_similarity(response, answer):
        return len(response) / len(answer)

    async def compute_similarity(completion, answer, state) -> float:
        """Compute and cache similarity score."""
        response = completion[-1]["content"]
        score = compute_embedding_similarity(response, answer)  # expensive
        state["similarity"] = score  # cache for other functions
        return score

    async def similarity_threshold(state) -> float:
        """Use cached similarity without recomputing."""
        return 1.0 if state["similarity"] > 0.8 else 0.0

    rubric = vf.Rubric(
        funcs=[compute_similarity, similarity_threshold],
        weights=[0.0, 1.0],  # log similarity (weight=0), reward threshold (weight=1)
    )

    state = scored(rubric, rollout(response, answer="abcdefghij"))
    # 10/10 = 1.0 is above 0.8, 8/10 = 0.8 is not: 0.0 * similarity + 1.0 * threshold
    assert state["reward"] == reward
    assert state["metrics"]["compute_similarity"] == len(response) / 10


def test_group_based_reward_functions():
    async def diversity_bonus(completions) -> list[float]:
        """Reward unique responses within a group."""
        responses = [c[-1]["content"] for c in completions]
        unique = set(responses)  # noqa: F841 - as published
        return [0.2 if responses.count(r) == 1 else 0.0 for r in responses]

    async def individual_correctness(completion, answer) -> float:
        return 1.0 if answer in completion[-1]["content"] else 0.0

    rubric = vf.Rubric(funcs=[individual_correctness, diversity_bonus], weights=[1.0, 0.5])

    states = scored_group(rubric, [rollout(text, answer="4") for text in ("4", "4", "5")])
    # 1 + 0.5·0, 1 + 0.5·0, 0 + 0.5·0.2; their mean is 2.1/3 = 0.7
    assert [state["reward"] for state in states] == pytest.approx([1.0, 1.0, 0.1])
    assert [state["advantage"] for state in states] == pytest.approx([0.3, 0.3, -0.6])


def test_relative_ranking():
    async def rank_by_length(completions) -> list[float]:
        """Reward shorter completions more within a group."""
        lengths = [len(c[-1]["content"]) for c in completions]
        max_len = max(lengths) if lengths else 1
        return [1.0 - (length / max_len) for length in lengths]

    states = scored_group(vf.Rubric(funcs=[rank_by_length]), [rollout("a" * n) for n in (1, 2, 4)])
    assert [state["reward"] for state in states] == [0.75, 0.5, 0.0]  # 1 − 1/4, 1 − 2/4, 1 − 4/4


def test_shared_objects():
    class Helper:
        async def score(self, completion):
            return len(completion) / 2

    async def my_reward_func(completion, my_helper) -> float:
        # my_helper is injected by name
        return await my_helper.score(completion)

    some_helper_object = Helper()
    rubric = vf.Rubric(funcs=[my_reward_func])
    rubric.add_class_object("my_helper", some_helper_object)

    assert scored(rubric, rollout("4"))["reward"] == 0.5  # one message


def test_parsers():
    parser = vf.XMLParser(fields=["reasoning", "answer"])

    async def my_reward_func(completion, answer, parser) -> float:
        parsed = parser.parse(completion[-1]["content"])
        return 1.0 if parsed.answer == answer else 0.0

    rubric = vf.Rubric(funcs=[my_reward_func], parser=parser)

    right = "<reasoning>2 and 2</reasoning>\n<answer>\n4\n</answer>"
    assert scored(rubric, rollout(right, answer="4"))["reward"] == 1.0
    assert scored(rubric, rollout("4", answer="4"))["reward"] == 0.0
    assert vf.Parser().parse("as it is") == "as it is"
    assert vf.ThinkParser().parse("<think>hm</think> 4") == "4"
    assert vf.MaybeThinkParser().parse("4") == vf.MaybeThinkParser().parse("<think>hm</think>4") == "4"


class ScriptedClient:
    """Has ``chat.completions.create``; says YES to right answers and remembers what it was asked."""

    def __init__(self, right: str = "Answer: 4\n") -> None:
        self.requests: list[dict[str, Any]] = []
        self.right = right
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    async def create(self, **request: Any) -> Any:
        self.requests.append(request)
        reply = "YES" if self.right in request["messages"][0]["content"] else "No."
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=reply))])


async def judge_correctness(prompt, completion, answer, judge) -> float:
    question = prompt[0]["content"]  # noqa: F841 - as published
    response = completion[-1]["content"]  # noqa: F841 - as published
    verdict = await judge(prompt, completion, answer)
    return 1.0 if "yes" in verdict.lower() else 0.0


def test_judges():
    client = ScriptedClient()
    judge_rubric = vf.JudgeRubric(
        judge_model="gpt-4.1-mini",
        judge_prompt="""Is this answer correct?
Question: {question}
Answer: {response}
Ground Truth: {answer}

Respond with YES or NO.""",
        judge_client=client,
    )
    judge_rubric.add_reward_func(judge_correctness)

    assert scored(judge_rubric, rollout("4", answer="4"))["reward"] == 1.0
    assert scored(judge_rubric, rollout("5", answer="4"))["reward"] == 0.0
    asked = "Is this answer correct?\nQuestion: 2+2?\nAnswer: 4\nGround Truth: 4\n\nRespond with YES or NO."
    assert client.requests[0] == {"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": asked}]}


def test_custom_shared_objects():
    class MathVerifier:
        async def verify(self, expression: str, expected: str) -> bool:
            return expression.replace(" ", "") == expected

    async def verify_answer(completion, answer, verifier) -> float:
        response = completion[-1]["content"]
        is_correct = await verifier.verify(response, answer)
        return 1.0 if is_correct else 0.0

    verifier = MathVerifier()
    rubric = vf.Rubric(funcs=[verify_answer])
    rubric.add_class_object("verifier", verifier)

    assert scored(rubric, rollout("2 x", answer="2x"))["reward"] == 1.0


def test_rubric_groups():
    math_rubric = vf.MathRubric()  # symbolic math verification
    judge_rubric = vf.JudgeRubric(judge_model="gpt-4.1-mini", judge_client=ScriptedClient("1/2"))
    judge_rubric.add_reward_func(judge_correctness, weight=0.5)

    combined = vf.RubricGroup(rubrics=[math_rubric, judge_rubric])

    state = scored(combined, rollout(r"So \boxed{\frac{1}{2}}.", answer="1/2"))
    assert state["reward"] == 1.5  # 1.0 · 1 from the math rubric, 0.5 · 1 from the judge
    assert state["metrics"] == {"correct_answer": 1.0, "judge_correctness": 1.0}


def test_metrics():
    async def response_length(completion) -> float:
        return float(len(completion[-1]["content"]))

    async def token_count(state) -> float:
        return float(state.get("usage", {}).get("total_tokens", 0))

    rubric = vf.Rubric(funcs=[correctness])
    rubric.add_metric(response_length)  # shorthand for weight=0
    rubric.add_metric(token_count)

    state = scored(rubric, rollout("It is 4.", answer="4", usage={"total_tokens": 342}))
    assert state["reward"] == 1.0
    assert state["metrics"] == {"correctness": 1.0, "response_length": 8.0, "token_count": 342.0}


def test_monitor_rubrics():
    class MultiTurnMonitorRubric(vf.Rubric):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.add_metric(self.num_turns)

        async def num_turns(self, state: vf.State) -> int:
            return len(state["trajectory"])

    class MyMonitorRubric(vf.Rubric):
        def __init__(self):
            super().__init__()
            self.add_metric(self.trajectory_length)
            self.add_metric(self.error_count)

        async def trajectory_length(self, state: vf.State) -> float:
            return float(len(state["trajectory"]))

        async def error_count(self, state: vf.State) -> float:
            errors = sum(1 for step in state["trajectory"] if step.get("error"))
            return float(errors)

    # instead of env.add_rubric(MyMonitorRubric())
    rubric = vf.RubricGroup([vf.Rubric(funcs=[correctness]), MultiTurnMonitorRubric(), MyMonitorRubric()])

    state = scored(rubric, rollout("4", answer="4", trajectory=[{}, {"error": "timeout"}, {}]))
    assert state["reward"] == 1.0
    assert state["metrics"] == {
        "correctness": 1.0,
        "num_turns": 3.0,
        "trajectory_length": 3.0,
        "error_count": 1.0,
    }


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        (r"\boxed{\frac{2}{4}}", 1.0),
        (r"<think>\boxed{1}</think>\boxed{0.5}", 1.0),
        ("1/2", 0.0),
        (r"\boxed{2}", 0.0),
    ],
    ids=["another form", "after thinking", "without a box", "wrong"],
)
def test_math_rubric(completion, reward):
    math_rubric = vf.MathRubric()

    assert scored(math_rubric, rollout(completion, answer=r"\frac{1}{2}"))["reward"] == reward


def test_judge_rubric_with_sampling_arguments():
    client = ScriptedClient("Response: 4\n")
    judge_rubric = vf.JudgeRubric(
        judge_model="gpt-4.1-mini",
        judge_prompt="""Evaluate if the response correctly answers the question.

Question: {question}
Response: {response}
Ground Truth: {answer}

Answer YES or NO.""",
        judge_sampling_args={"temperature": 0.0},
        judge_client=client,
    )

    async def judge_score(prompt, completion, answer, judge) -> float:
        verdict = await judge(prompt, completion, answer)
        return 1.0 if "yes" in verdict.lower() else 0.0

    judge_rubric.add_reward_func(judge_score)

    assert scored(judge_rubric, rollout("4", answer="4"))["reward"] == 1.0
    assert client.requests[0]["temperature"] == 0.0


def test_scoring_lifecycle():
    rubric = vf.Rubric(funcs=[correctness])
    inputs = [{"question": "2+2?", "answer": "4", "example_id": 0}] * 2

    async def main():
        # instead of env.rollout(input, client, model, sampling_args)
        state, *_ = vf.states_from([{**inputs[0], "completion": "4"}])
        await rubric.score_rollout(state)
        assert (state["reward"], state["metrics"]) == (1.0, {"correctness": 1.0})

        states = vf.states_from(
            {**row, "completion": text} for row, text in zip(inputs, ["4", "5"], strict=True)
        )
        await rubric.score_group(states)
        return states

    states = asyncio.run(main())
    avg_reward = sum(state["reward"] for state in states) / len(states)
    for state in states:
        assert state["advantage"] == state["reward"] - avg_reward
    assert [state["advantage"] for state in states] == [0.5, -0.5]


def test_rollout_score_type():
    result = RolloutScore(
        reward=0.85,
        metrics={"correctness": 1.0, "formatting": 0.8, "conciseness": 0.5, "response_length": 342.0},
    )
    assert result["reward"] == 0.85
    score = asyncio.run(vf.Rubric(funcs=[correctness]).score_rollout(rollout("4", answer="4")))
    assert score == RolloutScore(reward=1.0, metrics={"correctness": 1.0})


def test_complete_example():
    # instead of Dataset.from_list
    dataset = [
        {"question": "What is 2+2?", "answer": "4", "info": {"difficulty": 1, "category": "arithmetic"}},
        {
            "question": "What is the derivative of x^2?",
            "answer": "2x",
            "info": {"difficulty": 3, "category": "calculus"},
        },
    ]

    # Reward functions
    async def correctness(completion, answer, parser) -> float:
        parsed = parser.parse_answer(completion)
        return 1.0 if parsed == answer else 0.0

    async def difficulty_bonus(state, info) -> float:
        """Bonus for harder problems."""
        if state["reward"] == 1.0:  # only if correct
            return info.get("difficulty", 1) * 0.1
        return 0.0

    async def response_length(completion) -> float:
        return float(len(completion[-1]["content"]))

    # Parser
    parser = vf.XMLParser(fields=["reasoning", "answer"])

    # Rubric
    rubric = vf.Rubric(funcs=[correctness, difficulty_bonus], weights=[1.0, 1.0], parser=parser)
    rubric.add_metric(response_length)

    # instead of vf.SingleTurnEnv(dataset=dataset, parser=parser, rubric=rubric, system_prompt=…)
    replies = ["<answer>4</answer>", "<answer>2x</answer>", "<answer>x</answer>"]
    states = vf.states_from(
        ({**row, "completion": reply} for row, reply in zip([*dataset, dataset[1]], replies, strict=True)),
        system_prompt="Answer step by step in XML format.",
    )
    assert states[0]["prompt"] == [
        {"role": "system", "content": "Answer step by step in XML format."},
        {"role": "user", "content": "What is 2+2?"},
    ]
    assert [scored(rubric, state)["reward"] for state in states] == pytest.approx([1.1, 1.3, 0.0])
    assert states[1]["metrics"] == pytest.approx(
        {"correctness": 1.0, "difficulty_bonus": 0.3, "response_length": 19.0}  # <answer>2x</answer>
    )
