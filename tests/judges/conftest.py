"""A real server to ask, and real questions to ask it."""

import contextlib
import functools
import json

import pytest

from rubricweb.engine.autograders.one_shot import PerCriterionOneShotGrader
from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.autograders.rubric_as_judge import RubricAsJudgeGrader
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.judges.base import JudgeConfig, Question
from rubricweb.judges.offline.server import running_server
from rubricweb.judges.pool import ask_all, close_clients

MET = json.dumps({"explanation": "It is there.", "criterion_status": "MET"})


@pytest.fixture
def serve():
    """serve(script) starts a server for the test and returns its base URL."""
    with contextlib.ExitStack() as servers:
        yield lambda script=None: servers.enter_context(running_server(script))
        close_clients()  # before the servers go: they wait for open connections


@pytest.fixture
def config():
    """config(base_url, …) is a judge with no patience to speak of."""

    def make(base_url, **changed):
        hasty = {
            "name": "test judge",
            "model": "offline-lexical",
            "backoff_seconds": 0.005,
            "max_attempts": 3,
            "timeout_seconds": 10.0,
            "stop_grace_seconds": 0.2,
            "allow_private_hosts": True,
        }
        return JudgeConfig(base_url=base_url, **(hasty | changed))

    return make


@pytest.fixture
def question():
    """question(…) is what a grader asks: one criterion each, or by `grader` all of them at once."""
    graders = {
        "per_criterion": PerCriterionGrader,
        "one_shot": PerCriterionOneShotGrader,
        "rubric_as_judge": RubricAsJudgeGrader,
    }

    def make(key="q1", submission="Paris is the capital.", criteria=None, grader="per_criterion", **options):
        rubric = Rubric(criteria or [Criterion(weight=1, requirement="Mentions Paris")])
        autograder = graders[grader](**options)
        prompt = autograder.prompts(Submission(submission), rubric)[0]
        return Question(key, prompt, functools.partial(autograder.read, prompt, rubric=rubric))

    return make


@pytest.fixture
def ask(config, question):
    """ask(base_url, …) asks one question and returns its one reply; `about` are options of the question."""

    def one(base_url, *, about=None, jitter=lambda: 0.0, **changed):
        (reply,) = ask_all(config(base_url, **changed), [question(**(about or {}))], jitter=jitter)
        return reply

    return one


@pytest.fixture
def met():
    """A readable reply to a question about one criterion."""
    return MET
