"""A run against another one, through the API."""

import pytest

from rubricweb.models import Run
from tests import factories
from tests.api.client import ApiClient
from tests.api.conftest import World, by_the_book
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def bob(people: Cast, as_member) -> ApiClient:
    return as_member(people.bob)


@pytest.fixture
def newer(people: Cast, world: World) -> Run:
    """As the first run, but Belgium is no longer noticed: "bad" rises from 0 to 1."""
    return grade(
        factories.run(
            people.team, people.ed, dataset=world.dataset, rubric_version=world.version, name="second"
        ),
        InProcessJudge(
            lambda requirement, response: (
                "UNMET" if "outside" in requirement else by_the_book(requirement, response)
            )
        ),
    )


def path(run: Run, baseline: Run, rest: str = "") -> str:
    return f"/runs/{run.pk}/against/{baseline.pk}{rest}"


def test_a_run_is_held_against_another(bob: ApiClient, world: World, newer: Run) -> None:
    found = bob.get(path(newer, world.run))
    # good 1, bad (10 + 5 − 15)/15 = 0, empty-ish 5/15; now 1, 1, 1/3: the mean rises by 1/3.
    assert found["n"] == 3
    assert found["difference"]["value"] == pytest.approx(1 / 3)
    assert found["run"]["mean"]["value"] == pytest.approx(7 / 9)
    assert (found["run"]["name"], found["baseline"]["name"]) == ("second", "first")
    assert found["item_counts"] == {"regression": 0, "fix": 1, "unchanged": 2, "unpaired": 0}
    assert (found["run"]["coverage"], found["run"]["errors"], found["hidden_items"]) == (1.0, 0, 0)
    assert found["settings"] == []
    wrong = found["criteria"][2]
    assert (wrong["n"], wrong["to_met"], wrong["to_unmet"], wrong["p"]) == (3, 0, 1, 1.0)
    # Of weight −15 over P = 15, once in three items.
    assert wrong["contribution"]["value"] == pytest.approx(1 / 3)
    assert (wrong["noise"], wrong["within_noise"]) == (None, "unknown")
    assert found["rest"] == pytest.approx(0.0)


def test_items_come_changes_first_a_page_at_a_time(bob: ApiClient, world: World, newer: Run) -> None:
    seen, cursor = [], None
    for _ in range(3):
        page = bob.get(path(newer, world.run, "/items"), limit=1, **({"cursor": cursor} if cursor else {}))
        seen += [(row["key"], row["change"], row["answers_changed"]) for row in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [("bad", "fix", 1), ("good", "unchanged", 0), ("empty-ish", "unchanged", 0)]
    assert cursor is None
    [fix] = bob.get(path(newer, world.run, "/items"), change="fix")["items"]
    assert (fix["difference"], fix["run"]["score"], fix["baseline"]["score"]) == (1.0, 1.0, 0.0)
    [regression] = bob.get(path(world.run, newer, "/items"), change="regression")["items"]
    assert (regression["key"], regression["difference"]) == ("bad", -1.0)


def test_an_item_shows_both_answers_with_their_reasons(bob: ApiClient, world: World, newer: Run) -> None:
    item = world.dataset.items.get(key="bad")
    found = bob.get(path(newer, world.run, f"/items/{item.pk}"))
    assert (found["key"], found["change"], found["answers_changed"]) == ("bad", "fix", 1)
    wrong = found["criteria"][2]
    assert (wrong["baseline"]["verdict"], wrong["run"]["verdict"]) == ("MET", "UNMET")
    assert wrong["run"]["reason"] == "judge says UNMET"
    assert (wrong["difference"], wrong["answers_differ"], wrong["only_in"]) == (-1.0, True, None)


def test_what_cannot_be_compared_is_refused(people: Cast, bob: ApiClient, world: World, newer: Run) -> None:
    other = factories.dataset(people.team, people.ed, name="others")
    elsewhere = factories.run(people.team, people.ed, dataset=other, rubric_version=world.version)
    for rest in ("", "/items", f"/items/{world.dataset.items.all()[0].pk}"):
        problem = bob.refused(422, "GET", path(newer, elsewhere, rest))
        assert "only runs over the same dataset" in problem["detail"]
        assert "itself" in bob.refused(422, "GET", path(newer, newer, rest))["detail"]
    bob.refused(404, "GET", path(newer, world.run, f"/items/{other.items.all()[0].pk}"))
    bob.refused(422, "GET", path(newer, world.run, "/items"), query={"change": "worse"})
    bob.refused(422, "GET", path(newer, world.run, "/items"), query={"cursor": "made-up"})


def test_another_teams_runs_are_not_found(people: Cast, bob: ApiClient, world: World) -> None:
    team, charlie = people.other_team, people.charlie
    theirs = factories.run(
        team,
        charlie,
        dataset=factories.dataset(team, charlie),
        rubric_version=factories.version(team, charlie),
    )
    bob.refused(404, "GET", path(world.run, theirs))
    bob.refused(404, "GET", path(theirs, world.run))


def test_a_blind_rater_learns_how_many_items_are_left_out_and_nothing_else(
    people: Cast, as_member, world: World, newer: Run
) -> None:
    ann = as_member(people.ann)
    found = ann.get(path(newer, world.run))
    assert (found["hidden_items"], found["n"], found["difference"]["value"]) == (3, 0, None)
    assert [row["n"] for row in found["criteria"]] == [0, 0, 0]
    assert ann.get(path(newer, world.run, "/items"))["items"] == []
    item = world.dataset.items.get(key="bad")
    problem = ann.refused(403, "GET", path(newer, world.run, f"/items/{item.pk}"))
    assert problem["type"].endswith("withheld")
