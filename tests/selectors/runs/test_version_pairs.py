"""Two system versions: which of their runs are compared, and what is said where none can be."""

from dataclasses import replace

import pytest
from django.utils import timezone

from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import Run
from rubricweb.selectors.runs.over_time.version_pairs import VersionPair, version_called, version_pair
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import FACT, Versions, judge, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


def pair(world: Versions, one: str = "v4", other: str = "v3", **narrowed: object) -> VersionPair:
    team = world.people.team
    called = [version_called(team, f"assistant@{label}") for label in (one, other)]
    return version_pair(team, *called, **narrowed)  # type: ignore[arg-type]  # as the test narrows it


def test_the_newest_runs_that_were_graded_alike_are_taken(people: Cast, world: Versions) -> None:
    world.run_over("v3")
    before, after = world.run_over("v3"), world.run_over("v4")
    # Newer, but not graded alike: by another rubric; and not over.
    other = factories.version(people.team, people.ed, title="Shorter", criteria=[FACT])
    grade(world.planned("v4", rubric_version=other), judge())
    world.planned("v4")
    assert pair(world) == VersionPair(after, before)
    assert pair(world, "v3", "v4") == VersionPair(before, after)
    assert pair(world, dataset=world.dataset, judge="offline") == VersionPair(after, before)


def test_what_is_missing_is_named_with_what_to_start(people: Cast, world: Versions) -> None:
    with pytest.raises(Invalid, match="Neither assistant@v4 nor assistant@v3 has a finished run"):
        pair(world)
    world.run_over("v4")
    with pytest.raises(
        Invalid, match="assistant@v3 has no finished run; start one over questions as run of v4"
    ):
        pair(world)
    other = factories.version(people.team, people.ed, title="Shorter", criteria=[FACT])
    grade(world.planned("v3", rubric_version=other), judge())
    with pytest.raises(
        Invalid, match=r"assistant@v3 has no finished run that was graded as run of v4.*Shorter v1"
    ):
        pair(world)
    with pytest.raises(Invalid, match="with judge somebody"):
        pair(world, judge="somebody")


def test_what_differs_between_the_newest_runs_of_both_is_named(people: Cast, world: Versions) -> None:
    shorter = factories.version(people.team, people.ed, title="Shorter", criteria=[FACT])
    world.run_over("v3", name="usual")
    grade(world.planned("v3", rubric_version=shorter), judge())
    world.run_over("v3", name="usual again")  # newer, and graded as the first one
    ours = JudgeConfig(name="ours", base_url="http://127.0.0.1:9/v1", model="small")
    world.run_over("v4", normalize=False, judge=ours)
    with pytest.raises(Invalid) as refused:
        pair(world)
    assert str(refused.value).endswith(
        "graded as run of v4 of assistant@v4: Capitals v1, per_criterion by ours, model small, raw scores, "
        "over questions; start one. Its newest is usual again: Capitals v1, per_criterion by offline judge "
        "(not an LLM), model offline-lexical, over questions."
    )


def test_an_archived_run_is_taken_by_nobody(people: Cast, world: Versions) -> None:
    before, archived, after = world.run_over("v3"), world.run_over("v3"), world.run_over("v4")
    archiving.archive(archived, by=people.ed, now=timezone.now())
    assert pair(world) == VersionPair(after, before)
    archiving.archive(world.dataset, by=people.ed, now=timezone.now())
    assert pair(world, dataset=world.dataset) == VersionPair(after, before)
    with pytest.raises(Invalid, match="Neither"):
        pair(world)


def test_a_version_nobody_knows_and_the_same_one_twice_are_refused(people: Cast, world: Versions) -> None:
    with pytest.raises(Invalid, match=r"no system version 'assistant@v9'.*Known: assistant@v4, assistant@v3"):
        version_called(people.team, "assistant@v9")
    with pytest.raises(Invalid, match="cannot be held against itself"):
        pair(world, "v4", "v4")


def test_runs_of_another_team_are_not_taken(people: Cast, world: Versions) -> None:
    with pytest.raises(Invalid, match="Known: none yet"):
        version_called(people.other_team, "assistant@v4")


def few(world: Versions, version: str, **options: object) -> Run:
    """A try: over c2 and c3 of the five cases the version answered."""
    return world.run_over(version, item_ids=[one.pk for one in world.answers(version)[1:3]], **options)


def test_a_try_is_taken_only_where_nothing_else_was_graded_alike(people: Cast, world: Versions) -> None:
    before, tried = world.run_over("v3"), few(world, "v4")
    assert pair(world) == VersionPair(tried, before)
    newer = few(world, "v4")
    assert pair(world) == VersionPair(newer, before)
    after = world.run_over("v4")
    few(world, "v4")
    few(world, "v3")
    assert pair(world) == VersionPair(after, before)
    # Two whole runs come before a newer one beside a try.
    world.run_over("v4", normalize=False)
    few(world, "v3", normalize=False)
    assert pair(world) == VersionPair(after, before)


def test_a_run_of_which_nothing_was_scored_stands_behind_a_try(people: Cast, world: Versions) -> None:
    def broken(version: str) -> Run:
        failing = InProcessJudge(lambda requirement, response: JudgeError("server_error", "HTTP 500"))
        return grade(world.planned(version), failing)

    before, unscored = world.run_over("v3"), broken("v4")
    assert pair(world) == VersionPair(unscored, before)
    tried = few(world, "v4")
    broken("v4")
    broken("v3")
    assert pair(world) == VersionPair(tried, before)
    after = world.run_over("v4")
    broken("v4")
    assert pair(world) == VersionPair(after, before)


def test_a_judge_asked_otherwise_is_another_one(people: Cast, world: Versions) -> None:
    ours = JudgeConfig(name="ours", base_url="http://127.0.0.1:9/v1", model="small")
    world.run_over("v3", judge=ours)
    world.run_over("v4", judge=replace(ours, temperature=1.0, reasoning_effort="high"))
    with pytest.raises(Invalid) as refused:
        pair(world)
    assert str(refused.value).endswith(
        "Capitals v1, per_criterion by ours, model small, temperature 1, reasoning effort high, over "
        "questions; start one. Its newest is run of v3: Capitals v1, per_criterion by ours, model small, "
        "temperature 0, reasoning effort not set, over questions."
    )
    # What shapes no answer is not asked for.
    patient = world.run_over("v4", judge=replace(ours, timeout_seconds=5.0, concurrency=2))
    assert pair(world).run == patient
