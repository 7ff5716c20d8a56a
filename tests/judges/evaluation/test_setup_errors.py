"""A judge that is set up wrongly raises once, by name; only a judge's failures are data."""

import asyncio
import functools
import json
import os

import pytest

from rubricweb.engine import Criterion, PerCriterionOutput, Rubric, RubricDataset, evaluate
from rubricweb.engine.autograders import (
    Member,
    PanelGrader,
    PerCriterionGrader,
    PerCriterionOneShotGrader,
    RubricAsJudgeGrader,
)
from rubricweb.engine.errors import ConfigurationError
from rubricweb.judges.base import JudgeMisconfigured
from rubricweb.judges.defaults import NoEndpoint, WrongOption, default_per_criterion_generate_fn
from rubricweb.judges.offline.script import Fail, Script

RUBRIC = Rubric([Criterion(requirement="Mentions Paris"), Criterion(requirement="Mentions Rome")])


def grade(grader):
    return asyncio.run(RUBRIC.grade("Paris.", autograder=grader))


class Client:
    """Stands for a client library's object."""

    chat = None


class RefusedKey(Exception):
    status_code = 401


class NoSuchModel(Exception):
    def __init__(self):
        super().__init__("no such model")
        self.response = type("Response", (), {"status_code": 404})()


async def misspelt(system_prompt, user_prompt):
    return PerCriterionOuptut(criterion_status="MET", explanation="")  # noqa: F821


async def missing_module(system_prompt, user_prompt):
    import a_client_that_is_not_installed  # noqa: F401


async def missing_setting(system_prompt, user_prompt):
    return os.environ["A_KEY_THAT_NOBODY_SET"]


async def missing_attribute(system_prompt, user_prompt):
    return Client().chats.create(system_prompt)


async def wrong_call(system_prompt, user_prompt):
    return json_of(system_prompt, user_prompt, 3)


def json_of(prompt):
    return prompt


async def not_awaitable(system_prompt, user_prompt):
    return await json_of(user_prompt)


async def refused_key(system_prompt, user_prompt):
    raise RefusedKey("who are you?")


async def no_such_model(system_prompt, user_prompt):
    raise NoSuchModel


async def no_key(system_prompt, user_prompt):
    raise ValueError("The api_key client option must be set either by passing it or by the environment")


WRONG = {
    misspelt: NameError,
    missing_module: ImportError,
    missing_setting: KeyError,
    missing_attribute: AttributeError,
    wrong_call: TypeError,
    not_awaitable: TypeError,
    refused_key: RefusedKey,
    no_such_model: NoSuchModel,
    no_key: ValueError,
}


@pytest.mark.parametrize("generate", WRONG, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "grader_of",
    [
        PerCriterionGrader,
        PerCriterionOneShotGrader,
        RubricAsJudgeGrader,
        lambda generate: PanelGrader([Member(PerCriterionGrader(generate), "a")], repeats=2),
    ],
    ids=["per criterion", "one shot", "holistic", "panel"],
)
def test_a_function_that_is_wrong_itself_raises_its_own_exception(generate, grader_of):
    with pytest.raises(WRONG[generate]) as raised:
        grade(grader_of(generate))
    assert not isinstance(raised.value, ExceptionGroup)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: None.strip(),  # the model gave no text
        lambda: {}["criterion_status"],
        lambda: [][0],
        lambda: [1].get("criterion_status"),
        lambda: json.loads("null")["choices"],
        lambda: float(None),
        lambda: PerCriterionOutput(criterion_status="PERHAPS", explanation=""),
        lambda: (_ for _ in ()).throw(ValueError("no verdict in 'The api_key client option must be set'")),
        lambda: (_ for _ in ()).throw(TimeoutError()),
        lambda: (_ for _ in ()).throw(ConnectionError("gone")),
        lambda: (_ for _ in ()).throw(RuntimeError("busy")),
    ],
)
def test_a_reply_in_another_shape_and_a_network_that_fails_are_data(answer):
    async def generate(system_prompt, user_prompt):
        return answer()

    report = grade(PerCriterionGrader(generate))
    assert (report.score, len(report.errors)) == (None, 2)


def test_what_is_asked_at_once_ends_with_the_first_that_is_wrong():
    ended = []

    async def generate(system_prompt, user_prompt):
        if "Rome" in user_prompt:
            raise NameError("name 'client' is not defined")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(user_prompt)

    with pytest.raises(NameError, match="client"):
        grade(PerCriterionGrader(generate))
    assert len(ended) == 1


@pytest.mark.parametrize("grader", [PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader])
def test_no_endpoint_at_all_is_raised_with_what_to_set(monkeypatch, grader):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(NoEndpoint, match="neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"):
        grade(grader())


@pytest.mark.parametrize(("status", "kind"), [(401, "unauthorized"), (404, "not_found")])
def test_an_endpoint_that_refuses_the_key_or_knows_no_such_model_is_raised(serve, monkeypatch, status, kind):
    monkeypatch.setenv("OPENAI_BASE_URL", serve(Script(Fail(status, "who are you?"))))
    with pytest.raises(JudgeMisconfigured, match="who are you") as raised:
        grade(PerCriterionGrader())
    assert raised.value.kind == kind
    assert isinstance(raised.value, ConfigurationError)


@pytest.mark.parametrize(
    ("option", "why"), [({"top_k": 3}, "unknown option top_k"), ({"temperature": -1}, "temperature is -1")]
)
def test_an_option_that_no_judge_has_is_raised(serve, monkeypatch, option, why):
    monkeypatch.setenv("OPENAI_BASE_URL", serve())
    with pytest.raises(WrongOption, match=why):
        grade(PerCriterionGrader(functools.partial(default_per_criterion_generate_fn, **option)))


def test_a_function_of_other_arguments_is_refused_when_the_grader_is_made():
    async def one(prompt):
        return prompt

    async def three(system, user, client):
        return client

    async def more(system, user, *, schema, temperature=0, **others):
        return schema

    for function in (one, three):
        with pytest.raises(TypeError, match="allowed: a function that is called with the system prompt"):
            PerCriterionGrader(function)
    PerCriterionGrader(more)


def test_an_evaluation_raises_it_once_and_keeps_what_was_graded(tmp_path):
    async def generate(system_prompt, user_prompt):
        if "third" in user_prompt:
            raise NameError("name 'client' is not defined")
        return PerCriterionOutput(criterion_status="MET", explanation="")

    dataset = RubricDataset(prompt="p", rubric=RUBRIC)
    for answer in ("first", "second", "third", "fourth"):
        dataset.add_item(answer)
    with pytest.raises(NameError) as raised:
        asyncio.run(evaluate(dataset, PerCriterionGrader(generate), max_concurrent_items=1))
    (note,) = raised.value.__notes__
    assert note == "2 of 4 items were graded before, and are not kept without an experiment_name."
    named = {"experiment_name": "kept", "experiments_dir": tmp_path, "max_concurrent_items": 1}
    with pytest.raises(NameError) as raised:
        asyncio.run(evaluate(dataset, PerCriterionGrader(generate), **named))
    assert raised.value.__notes__ == ["2 of 4 items were graded before, and are kept: the same call goes on."]
    assert len((tmp_path / "kept" / "items.jsonl").read_text().splitlines()) == 2
