"""The generate functions that ask the endpoint of the environment."""

import asyncio

import pytest

from rubricweb.engine.autograders.one_shot import PerCriterionOneShotGrader
from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.autograders.rubric_as_judge import RubricAsJudgeGrader
from rubricweb.engine.rubric import Criterion, Option, Rubric
from rubricweb.judges.base import JudgeFailure
from rubricweb.judges.defaults import (
    DEFAULT_MODEL,
    NoEndpoint,
    default_oneshot_generate_fn,
    default_per_criterion_generate_fn,
    default_rubric_as_judge_generate_fn,
    environment_config,
)
from rubricweb.judges.offline.script import Fail, Say, Script

RUBRIC = Rubric(
    [Criterion(weight=10, requirement="Mentions Paris"), Criterion(weight=5, requirement="Mentions Rome")]
)


@pytest.fixture
def environment(serve, monkeypatch):
    def point(script=None):
        monkeypatch.setenv("OPENAI_BASE_URL", serve(script))
        monkeypatch.setenv("OPENAI_MODEL", "offline-lexical")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    return point


@pytest.mark.parametrize(
    "grader",
    [
        PerCriterionGrader(default_per_criterion_generate_fn),
        PerCriterionOneShotGrader(default_oneshot_generate_fn),
        RubricAsJudgeGrader(default_rubric_as_judge_generate_fn),
        PerCriterionGrader(),
    ],
    ids=["per criterion", "one shot", "holistic", "by default"],
)
def test_a_rubric_is_graded_by_the_endpoint_of_the_environment(environment, grader):
    environment()
    report = asyncio.run(RUBRIC.grade("Paris is the capital of France.", autograder=grader))
    assert report.score == pytest.approx(10 / 15, abs=0.005)


def test_a_choice_is_asked_in_a_form_of_its_own(environment):
    options = [
        Option(label="poor", value=0.0),
        Option(label="fair", value=0.5),
        Option(label="good", value=1),
    ]
    rubric = Rubric([Criterion(requirement="How precise is it?", options=options)])
    environment(Script(Say('{"explanation": "Names the city only.", "option": "fair"}')))
    report = asyncio.run(rubric.grade("Paris.", autograder=PerCriterionGrader()))
    assert (report.score, report.errors) == (0.5, ())
    assert report.report[0].option == "fair"


def test_a_failing_endpoint_raises_with_its_kind(environment):
    environment(Script(Fail(401, "who are you?")))
    with pytest.raises(JudgeFailure, match="who are you") as failed:
        asyncio.run(default_per_criterion_generate_fn("system", "user", max_attempts=1))
    assert failed.value.kind == failed.value.error.kind == "unauthorized"


def test_an_unknown_option_is_refused(environment):
    environment()
    with pytest.raises(TypeError, match="unknown option top_k; allowed are"):
        asyncio.run(default_oneshot_generate_fn("system", "user", top_k=3))


def test_without_key_and_url_it_says_what_to_set():
    with pytest.raises(NoEndpoint, match="OPENAI_API_KEY nor OPENAI_BASE_URL"):
        environment_config({})


def test_a_key_alone_means_openai():
    found = environment_config({"OPENAI_API_KEY": "sk-x"})
    assert (found.base_url, found.model) == ("https://api.openai.com/v1", DEFAULT_MODEL)
