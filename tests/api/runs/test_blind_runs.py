"""Who is still to review items blind learns nothing by planning, starting and resuming runs."""

from typing import Any

import pytest

from rubricweb.models import Run
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.reviews import queues
from rubricweb.services.runs.few_shot import FewShot
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.worlds.blinding.two_systems import SystemsWorld, systems_world
from tests.worlds.blinding.two_worlds import cascade_world

STARTS = ("/runs/plan", "/runs", "/launches")


def withheld(client: ApiClient, path: str, body: Any) -> str:
    """Why that is refused, which it must be because they review blind."""
    problem = client.refused(403, "POST", path, body)
    assert problem["type"] == "urn:rubricweb:problem:withheld"
    return str(problem["detail"])


# ── Who answered ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def world(people: Cast) -> SystemsWorld:
    """v3 and v4 answered c1, c2 and c3; alice is still to review an answer to c1 and both to c3."""
    return systems_world(people, swapped=False)


def of(world: SystemsWorld, **choice: Any) -> dict[str, Any]:
    return {
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.version.pk,
        "judge": "offline",
        **choice,
    }


def ids(world: SystemsWorld, *submissions: str) -> list[int]:
    return [world.dataset.items.get(submission=one).pk for one in submissions]


@pytest.mark.parametrize("path", STARTS)
def test_no_run_over_chosen_items_tells_a_blind_rater_who_answered_them(
    people: Cast, as_member, world: SystemsWorld, path: str
) -> None:
    alice, before = as_member(people.alice), Run.objects.count()
    # One that waits, the other answer to its case, and both: with and without a version.
    for chosen in (
        ["c1 in other words"],
        ["c1 first"],
        ["c1 first", "c1 in other words"],
        ["c2 first", "c3 first"],
    ):
        for systems in ([], ["assistant@v3"], ["assistant@v4"]):
            detail = withheld(alice, path, of(world, item_ids=ids(world, *chosen), systems=systems))
            assert "whose answers they are is not told" in detail
            assert "@v" not in detail
    assert Run.objects.count() == before


def test_who_rates_nothing_blind_is_told_whose_answers_a_run_is_over(
    people: Cast, as_member, world: SystemsWorld
) -> None:
    ed, chosen = as_member(people.ed), ids(world, "c1 in other words")
    assert ed.send("POST", "/runs", of(world, item_ids=chosen))["system"] == "assistant@v4"
    told = ed.refused(422, "POST", "/runs/plan", of(world, item_ids=chosen, systems=["assistant@v3"]))
    assert told["faults"][0]["allowed"] == "a version that has answers among them"


def test_whole_versions_and_answers_to_reviewed_cases_are_graded_for_a_blind_rater(
    people: Cast, as_member, world: SystemsWorld
) -> None:
    alice = as_member(people.alice)
    whole = alice.send("POST", "/runs/plan", of(world, systems=["assistant@v3"]))
    assert whole["items"] == 3
    reviewed = alice.send("POST", "/runs", of(world, item_ids=ids(world, "c2 in other words")))
    assert reviewed["system"] == "assistant@v4"


def test_a_blind_raters_sample_is_of_reviewed_cases_alone(
    people: Cast, as_member, world: SystemsWorld
) -> None:
    sampled = of(world, sample=2, systems=["assistant@v3"])
    started = {
        who.username: as_member(who).send("POST", "/runs", sampled)["id"] for who in (people.alice, people.ed)
    }
    of_run = {
        who: sorted(Run.objects.get(pk=pk).run_items.values_list("item__submission", flat=True))
        for who, pk in started.items()
    }
    # Two of the three that v3 gave; alice has reviewed all answers to c2 alone.
    assert of_run["alice"] == ["c2 first"]
    assert len(of_run["ed"]) == 2
    alice = as_member(people.alice)
    extra = factories.queue(
        people.team,
        people.ed,
        dataset=world.dataset,
        rubric_version=world.version,
        raters=[people.alice],
        name="All again",
    )
    for path in STARTS:
        assert "is not told" in withheld(alice, path, sampled)
    queues.close_queue(extra, by=people.ed)
    assert alice.send("POST", "/runs/plan", sampled)["items"] == 1


def test_where_all_answers_are_of_one_version_nothing_is_to_be_told(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.alice], name="Blind"
    )
    body = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "judge": "offline"}
    chosen = {"item_ids": [dataset.items.all()[0].pk]}
    assert as_member(people.alice).send("POST", "/runs/plan", body | chosen)["items"] == 1


# ── Examples ─────────────────────────────────────────────────────────────────────────────────────


def labelled_but(people: Cast, *hidden: str) -> dict[str, Any]:
    """A labelled dataset, of which alice is to review the `hidden` items blind, and a run that ed started
    over another one: its judge is shown all three labels.
    """
    version = factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])
    dataset = factories.dataset(people.team, people.ed)
    labels = (
        "item_id,criterion,rater,verdict\ngood,capital,x,MET\nbad,capital,x,MET\nempty-ish,capital,x,UNMET\n"
    )
    factories.import_labels(dataset, version, by=people.ed, data=labels.encode(), filename="labels.csv")
    other = factories.dataset(
        people.team,
        people.ed,
        name="to grade",
        items=[{"id": "new", "submission": "Lyon lies on the Rhône."}],
    )
    run = factories.run(
        people.team,
        people.ed,
        dataset=other,
        rubric_version=version,
        few_shot_from=FewShot(dataset, n=20),
    )
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.alice],
        name="Blind",
        source=Source(kind="items", item_ids=tuple(dataset.items.get(key=key).pk for key in hidden)),
    )
    body = {
        "dataset_id": other.pk,
        "rubric_version_id": version.pk,
        "judge": "offline",
        "few_shot": {"dataset_id": dataset.pk, "n": 20},
    }
    return {"body": body, "run": run, "queue": queue, "dataset": dataset}


def shown(run: dict[str, Any]) -> tuple[Any, Any]:
    return run["few_shot"]["item_ids"], run["few_shot"]["digest"]


def test_items_still_to_review_blind_are_no_examples_and_others_examples_are_not_told(
    people: Cast, as_member
) -> None:
    found = labelled_but(people, "bad")
    alice, ed, path = as_member(people.alice), as_member(people.ed), f"/runs/{found['run'].pk}"
    ids = {item.key: item.pk for item in found["dataset"].items.all()}
    mine = alice.send("POST", "/runs", found["body"])
    drawn = Run.objects.get(pk=mine["id"]).few_shot
    assert drawn is not None
    assert drawn.item_ids == (ids["good"], ids["empty-ish"])
    # Also where none of hers is among them: that would tell as much.
    assert shown(mine) == (None, None)
    assert shown(alice.get(path)) == (None, None)
    assert [shown(run) for run in alice.get("/runs")["items"]] == [(None, None)] * 2
    assert shown(ed.get(path))[0] == sorted(ids.values())
    assert shown(ed.send("POST", "/runs", found["body"]))[0] == sorted(ids.values())
    queues.close_queue(found["queue"], by=people.ed)
    assert shown(alice.get(path)) == shown(ed.get(path))
    assert shown(alice.send("POST", "/runs", found["body"]))[0] == sorted(ids.values())


def test_where_every_label_is_hidden_the_refusal_is_the_same_whatever_they_are(
    people: Cast, as_member
) -> None:
    found = labelled_but(people, "good", "bad", "empty-ish")
    problem = as_member(people.alice).refused(422, "POST", "/runs/plan", found["body"])
    assert problem["faults"][0]["found"].endswith("apart from 3 items of cases you are still to review blind")


# ── Failures ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("unsure", [False, True])
def test_failures_of_a_cascade_are_not_asked_again_for_a_blind_rater(
    people: Cast, as_member, unsure: bool
) -> None:
    world = cascade_world(people, unsure=unsure)
    alice, broken = as_member(people.alice), f"/runs/{world.broken.pk}/resume"
    bad = world.dataset.items.get(key="bad").pk
    for body in ({}, {"item_ids": [bad]}, {"item_ids": [bad + 1000]}, {"error_kinds": ["timeout"]}):
        assert "whether anything failed is not told" in withheld(alice, broken, body)
    assert alice.send("POST", broken, {"error_kinds": []})["items"] == 0
    # What was never graded is told, and goes on.
    resumed = alice.send("POST", f"/runs/{world.paused.pk}/resume")
    assert (resumed["items"], resumed["run"]["state"]) == (3, "running")
    # Where the first judge was sure, the second, which fails, was never asked.
    assert as_member(people.ed).send("POST", broken, {"item_ids": [bad]})["items"] == int(unsure)
