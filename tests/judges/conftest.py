"""A real server to ask, and real questions to ask it."""

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from rubricweb.engine.autograders.one_shot import PerCriterionOneShotGrader
from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.autograders.prompted import PromptedAutograder
from rubricweb.engine.autograders.rubric_as_judge import RubricAsJudgeGrader
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.server import running_server
from rubricweb.judges.pool import ask_all

MET = json.dumps({"explanation": "It is there.", "criterion_status": "MET"})


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """serve(script) starts a server for the test and returns its base URL."""
    with contextlib.ExitStack() as servers:
        yield lambda script=None: servers.enter_context(running_server(script))
        close_clients()  # before the servers go: they wait for open connections


@pytest.fixture
def config() -> Callable[..., JudgeConfig]:
    """config(base_url, …) is a judge with no patience to speak of."""

    def make(base_url: str, **changed: Any) -> JudgeConfig:
        hasty: dict[str, Any] = {  # fields of a JudgeConfig, each of its own type
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
def question() -> Callable[..., Question]:
    """question(…) is what a grader asks: one criterion each, or by `grader` all of them at once."""
    graders: dict[str, type[PromptedAutograder]] = {
        "per_criterion": PerCriterionGrader,
        "one_shot": PerCriterionOneShotGrader,
        "rubric_as_judge": RubricAsJudgeGrader,
    }

    def make(
        key: str = "q1",
        submission: str = "Paris is the capital.",
        criteria: Sequence[Criterion] | None = None,
        grader: str = "per_criterion",
        **options: Any,  # those of the grader
    ) -> Question:
        rubric = Rubric(criteria or [Criterion(weight=1, requirement="Mentions Paris")])
        autograder = graders[grader](**options)
        prompt = autograder.prompts(Submission(submission), rubric)[0]
        return Question(key, prompt, functools.partial(autograder.read, prompt, rubric=rubric))

    return make


@pytest.fixture
def ask(config: Callable[..., JudgeConfig], question: Callable[..., Question]) -> Callable[..., Reply]:
    """ask(base_url, …) asks one question and returns its one reply; `about` are options of the question."""

    def one(
        base_url: str,
        *,
        about: Mapping[str, Any] | None = None,
        jitter: Callable[[], float] = lambda: 0.0,
        **changed: Any,
    ) -> Reply:
        (reply,) = ask_all(config(base_url, **changed), [question(**(about or {}))], jitter=jitter)
        return reply

    return one


@pytest.fixture
def met() -> str:
    """A readable reply to a question about one criterion."""
    return MET
