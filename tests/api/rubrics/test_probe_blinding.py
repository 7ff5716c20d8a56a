"""Until they submit, no answer and no command tells a prober what they or others said before."""

import json
from collections.abc import Sequence

import pytest
from django.utils import timezone

from rubricweb.models import User
from tests import factories
from tests.api.client import ApiClient
from tests.api.conftest import World
from tests.api.test_blinding import everything_readable, written
from tests.commands.test_blinding import said
from tests.factories import Cast
from tests.worlds.blinding.probed import ProbedWorld, probed_world
from tests.worlds.blinding.two_worlds import in_both_worlds, told_apart

TO_GRADE = [{"id": "new", "submission": "Lyon lies on the Rhône."}]


def answers(people: Cast, client: ApiClient, *, met: bool, only: Sequence[str] = ()) -> dict[str, str]:
    """Every answer to GET about the item, by either version and each of the prober's reviews.

    With `only`, those of these operations alone.
    """
    world, found = probed_world(people, met=met), {}
    asked: set[str] = set()
    for run, queue, version, review, about in (
        (world.run, world.probe, world.second, world.draft, ""),
        (world.before, world.labelled, world.first, world.earlier, "queue_id"),
        (world.before, world.labelled, world.first, world.earlier, "version_id"),
        (world.before, world.labelled, world.first, world.earlier, "review_id"),
        (world.run, world.probe, world.second, world.of_copy, "review_id"),
    ):
        one = World(version, world.dataset, run, queue)
        told = everything_readable(client, one, review.pk, ["bad"], about=about, only=only, asked=asked)
        found |= {f"{review.pk} {about} {place}": text for place, text in told.items()}
    criterion = world.first.criteria.get(name="capital")
    for review in (world.earlier, world.of_copy):
        path = f"/reviews/{review.pk}/criteria/{criterion.pk}"
        found[f"write {review.pk}"] = client.call("PUT", path, {"verdict": "MET"}).content.decode()
    own = world.draft.item.comments.get(author=people.alice)
    found["own comment"] = client.call("PUT", f"/comments/{own.pk}", {"text": "x"}).content.decode()
    graded = factories.dataset(people.team, people.ed, name="to grade", items=TO_GRADE)
    new = {"dataset_id": graded.pk, "rubric_version_id": world.first.pk, "judge": "offline"}
    # As many examples as there are, then few, so that a label decides which.
    shown = [{"n": 20}, *({"n": 1, "seed": seed} for seed in range(3))]
    of_dataset, of_queue = {"dataset_id": world.dataset.pk}, {"queue_id": world.labelled.pk}
    choices = [{"few_shot": where | how} for where in (of_dataset, of_queue) for how in shown]
    return found | written(client, new, choices)


def test_no_answer_tells_a_prober_what_they_or_others_said_before(people: Cast, as_member) -> None:
    """Two worlds that differ in two labels, notes and comments of everybody on an item that is to be labelled
    again. The prober owns the team.
    """
    alice = as_member(people.alice)
    told = told_apart(*in_both_worlds(lambda met: answers(people, alice, met=met), at=timezone.now()))
    assert not told, "\n".join(told)


def test_who_is_not_asked_is_told_what_was_said_before(people: Cast, as_member) -> None:
    ed = as_member(people.ed)
    names = ("get_agreement", "list_to_adjudicate", "get_version_label_changes", "list_comments")
    looks = in_both_worlds(lambda met: answers(people, ed, met=met, only=names), at=timezone.now())
    told = told_apart(*looks)
    for name in names:
        assert [line for line in told if f" {name} " in line], name
    assert [line for line in told if line.startswith("POST /runs/plan")]
    assert [line for line in told if line.startswith("POST /runs ")]


def printed(capsys: pytest.CaptureFixture[str], people: Cast, viewer: User, *, met: bool) -> dict[str, str]:
    """What commands about the rubric, the runs and the item print as this person."""
    world: ProbedWorld = probed_world(people, met=met)
    asked = [("labels", "changes", f"id:{version.pk}") for version in (world.first, world.second)]
    asked += [("queues", "show", str(queue.pk)) for queue in (world.labelled, world.probe)]
    asked += [("runs", "show", str(run.pk)) for run in (world.before, world.run)]
    asked += [("adjudication", "list", "--decided"), ("audit-log", "--limit", "500")]
    asked += [("comments", "list", f"id:{world.draft.item.pk}")]
    return {
        " ".join([room, *words, *form]): said(capsys, people, viewer, *words, *form, room=room)
        for room, *words in asked
        for form in ([], ["--json"])
    }


def test_no_command_tells_a_prober_what_they_or_others_said_before(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = in_both_worlds(lambda met: printed(capsys, people, people.alice, met=met), at=timezone.now())
    told = told_apart(*looks)
    assert not told, "\n".join(told)
    [labels] = [text for place, text in looks[0].items() if place == "labels changes id:2 --json"]
    probe = json.loads(labels.splitlines()[0])["probe"]
    assert (probe["withheld"], probe["answered"], probe["asked"]) == (True, 2, 4)


def test_a_command_tells_who_is_not_asked_what_was_said_before(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = in_both_worlds(lambda met: printed(capsys, people, people.ed, met=met), at=timezone.now())
    places = [line.split(": ")[0] for line in told_apart(*looks)]
    for part in ("labels changes", "adjudication list", "comments list"):
        assert [place for place in places if place.startswith(part)], part
