"""A server that has batches, whose answers a script gives, and a clock that a test puts forward."""

from collections.abc import Iterator
from typing import Any

import pytest

from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import endpoints
from tests.factories import Cast
from tests.services.grading.batches.scripted import Clock, Judge


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def script() -> Judge:
    return Judge()


@pytest.fixture
def endpoint(people: Cast, script: Judge, settings: Any) -> Iterator[JudgeEndpoint]:
    settings.JUDGE_ALLOW_PRIVATE_HOSTS = True
    with running_server(script) as url:
        made = endpoints.add_endpoint(
            people.team, by=people.alice, name="batcher", base_url=url, model="m", api_key="sk-secret"
        )
        made.batches = True
        made.input_usd_per_million, made.output_usd_per_million = 2.0, 10.0
        made.save()
        yield made
