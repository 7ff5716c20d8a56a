"""A run against another one, through the API."""

import pytest

from rubricweb.models import Run
from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.api.client import ApiClient
from tests.api.conftest import World, by_the_book
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import attempts_run, stricter_run
from tests.worlds.sampled import opened
from tests.worlds.systems import answer, versions


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
    assert (found["baseline"]["lowest"], found["run"]["lowest"]) == (0.0, pytest.approx(1 / 3))
    assert found["unseen_failures"] == 1.0  # three items exclude no share of failures
    # Without a pass rule there is no bar.
    below = found["baseline"]["below_bar"], found["run"]["below_bar"], found["below_bar_difference"]
    assert below == (None, None, None)
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


def test_intervals_of_parts_hold_for_those_of_one_run_too(bob: ApiClient, people: Cast) -> None:
    """Both runs ask for the fact, each for something else as well, with the same weight."""
    items = [{"id": f"i{number}", "submission": f"Answer {number}"} for number in range(20)]
    dataset = factories.dataset(people.team, people.ed, items=items)

    def graded(own: str) -> Run:
        criteria = [
            {"name": name, "weight": 1.0, "requirement": f"Has the {name}."} for name in ("fact", own)
        ]
        version = factories.version(people.team, people.ed, criteria=criteria)
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
        is_unmet = {f"Answer {number}" for number in range(10)}
        return grade(
            run,
            InProcessJudge(
                lambda asked, text: "UNMET" if "greeting" in asked and text.strip() in is_unmet else "MET"
            ),
        )

    baseline, run = graded("source"), graded("greeting")
    found = bob.get(path(run, baseline))
    [fact], [greeting], [source] = found["criteria"], found["only_run"], found["only_baseline"]
    assert (fact["contribution"]["value"], source["contribution"]["value"]) == (0.0, -0.5)
    # Half of 20 items win ½: mean ¼, s² = 20 · ¼² / 19, error √(0.0658 / 20) = 0.05735. Three parts at once:
    # t of 19 degrees at 1 − 0.05/3 is 2.6251 (for one part 2.0930), half 0.1506.
    part = greeting["contribution"]
    assert part["value"] == 0.25
    assert (part["low"], part["high"]) == (pytest.approx(0.0994, abs=1e-4), pytest.approx(0.4006, abs=1e-4))


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
    listed = ann.get(path(newer, world.run, "/items"))
    assert listed["items"] == []
    assert [(one["why"], one["items"]) for one in listed["left_out"]] == [("to_review_blind", 3)]
    item = world.dataset.items.get(key="bad")
    problem = ann.refused(403, "GET", path(newer, world.run, f"/items/{item.pk}"))
    assert problem["type"].endswith("withheld")


def test_runs_over_two_system_versions_are_paired_by_case(bob: ApiClient, people: Cast) -> None:
    of = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    baseline, run = of.run_over("v3"), of.run_over("v4")
    found = bob.get(path(run, baseline))
    # c1 1 → (0.25 + 1) / 2, c2 0.75 → 1, c3 0.25 → 0.25: −0.375, 0.25 and 0.
    assert (found["paired_by"], found["n"]) == ("case", 3)
    assert found["difference"]["value"] == pytest.approx(-1 / 24)
    assert (found["run"]["system"], found["baseline"]["system"]) == ("assistant@v4", "assistant@v3")
    assert found["without_pair"] == {
        "only_run": {"n": 1, "keys": ["c6"]},
        "only_baseline": {"n": 1, "keys": ["c5"]},
        "reworded": {"n": 2, "keys": ["c4"]},
        "unscored": 0,
    }
    pages, cursor = [], ""
    while True:
        page = bob.get(path(run, baseline, f"/items?limit=2{cursor}"))
        pages += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert [row["case_key"] for row in pages[:3]] == ["c1", "c2", "c3"]
    assert len(pages) == 7
    first = pages[0]
    assert (len(first["run_items"]), len(first["baseline_items"])) == (2, 1)
    one = bob.get(path(run, baseline, f"/items/{first['item_id']}?beside={first['baseline_items'][0]}"))
    assert (one["paired_by"], one["case_key"]) == ("case", "c1")
    assert (one["run_answer"]["system"], one["baseline_answer"]["system"]) == (
        "assistant@v4",
        "assistant@v3",
    )
    assert [row["answers_differ"] for row in one["criteria"]] == [True, False]


def test_two_system_versions_are_compared_by_their_newest_runs(bob: ApiClient, people: Cast) -> None:
    of = versions(people)
    query = {"version": "assistant@v4", "baseline": "assistant@v3"}
    baseline = of.run_over("v3")
    refused = bob.refused(422, "GET", "/system-versions/against", query=query)
    assert "assistant@v4 has no finished run" in refused["detail"]
    run = of.run_over("v4")
    found = bob.get("/system-versions/against", **query)
    assert (found["run"]["id"], found["baseline"]["id"], found["n"]) == (run.pk, baseline.pk, 3)


def test_a_try_is_taken_where_there_is_nothing_else_and_said_to_be_one(bob: ApiClient, people: Cast) -> None:
    """Two of five answers are a try: c2 rose from 0.75 to 1 and c3 stayed, a mean of 0.125."""
    of = versions(people)
    of.run_over("v3")
    few = [one.pk for one in of.answers("v4")[1:3]]
    query = {"version": "assistant@v4", "baseline": "assistant@v3"}
    tried = of.run_over("v4", item_ids=few)
    found = bob.get("/system-versions/against", **query)
    assert (found["run"]["id"], found["run"]["is_try"]) == (tried.pk, True)
    assert not found["baseline"]["is_try"]
    assert (found["difference"]["value"], found["n"]) == (pytest.approx(0.125), 2)
    # Of all five c1 fell from 1 to 0.25 too: (−0.75 + 0.25 + 0) / 3. A later try changes nothing.
    whole = of.run_over("v4")
    of.run_over("v4", item_ids=few)
    found = bob.get("/system-versions/against", **query)
    assert (found["run"]["id"], found["run"]["is_try"]) == (whole.pk, False)
    assert (found["difference"]["value"], found["n"]) == (pytest.approx(-1 / 6), 3)


def test_what_does_not_pass_is_compared_over_the_same_cases(people: Cast, bob: ApiClient) -> None:
    """By tests/worlds/attempts.py 5/12 did not pass, now none does; the interval is derived there."""
    before = attempts_run(people)
    after = stricter_run(people, before)
    found = bob.get(path(after, before))
    assert (found["baseline"]["below_bar"], found["run"]["below_bar"]) == (pytest.approx(5 / 12), 1.0)
    difference = found["below_bar_difference"]
    assert (difference["value"], difference["n"]) == (pytest.approx(7 / 12), 3)
    assert (difference["low"], difference["high"]) == (pytest.approx(-0.8813, abs=1e-4), 1.0)


def test_what_does_not_pass_is_not_told_who_is_to_review_blind(people: Cast, as_member) -> None:
    before = attempts_run(people)
    after = stricter_run(people, before)
    opened(people, before, Source())  # by ann
    found = as_member(people.ann).get(path(after, before))
    assert (found["n"], found["below_bar_difference"]) == (0, None)
    for side in ("run", "baseline"):
        assert (found[side]["lowest"], found[side]["below_bar"]) == (None, None)
