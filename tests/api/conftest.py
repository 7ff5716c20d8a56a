"""Tokens for the cast, and a team with one of everything."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.utils import timezone

from rubricweb.models import Dataset, ReviewQueue, RubricVersion, Run, Team, User
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered


@pytest.fixture
def token(request: pytest.FixtureRequest) -> Callable[..., str]:
    """`token(user, team)` is the secret of a fresh token of that member.

    A test's world comes before its tokens: their lines in the audit log would take the ids it is
    put back with.
    """
    if "world" in request.fixturenames:
        request.getfixturevalue("world")

    def make(user: User, team: Team, *, may_write: bool = True, days: int = 30) -> str:
        membership = team.memberships.get(user=user)
        _, secret = teams.create_token(
            membership, name="tests", may_write=may_write, days=days, now=timezone.now()
        )
        return secret

    return make


@pytest.fixture
def as_member(people: Cast, token: Callable[..., str]) -> Callable[[User], ApiClient]:
    """`as_member(people.ed)` speaks for that member of the first team."""
    return lambda user: ApiClient(token(user, people.team))


@dataclass(frozen=True)
class World:
    version: RubricVersion
    dataset: Dataset
    run: Run
    queue: ReviewQueue


def by_the_book(requirement: str, response: str) -> str:
    """good: MET MET UNMET; bad: MET MET MET; empty-ish: UNMET MET UNMET."""
    if "Names Paris" in requirement:
        return "MET" if "Paris" in response else "UNMET"
    if "two sentences" in requirement:
        return "MET"
    return "MET" if "Belgium" in response else "UNMET"


@pytest.fixture
def world(people: Cast) -> World:
    """A graded run of three items, and a blind queue that ann and rae rate in."""
    return remembered(("world", people.team.pk, people.ed.pk), lambda: make_world(people))


def make_world(people: Cast) -> World:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="first"),
        InProcessJudge(by_the_book),
    )
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
        run=run,
    )
    return World(version, dataset, run, queue)
