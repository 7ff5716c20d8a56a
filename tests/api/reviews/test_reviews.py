"""Queues and reviews through the API."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import QueueItem, Review
from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture
def ann(people: Cast, as_member) -> ApiClient:
    return as_member(people.ann)


def answer(client: ApiClient, review: Any, verdict: str = "MET") -> Any:
    """Saves the same verdict on every criterion; the review as it is then."""
    for question in review["criteria"]:
        path = f"/reviews/{review['id']}/criteria/{question['criterion']['id']}"
        review = client.send("PUT", path, {"verdict": verdict, "reason": "because"})
    return review


def test_a_queue_is_opened_looked_at_and_closed(people: Cast, as_member, world) -> None:
    ed = as_member(people.ed)
    body = {
        "name": "Second look",
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.version.pk,
        "raters": ["ann", "RAE"],
        "raters_per_item": 2,
        "run_id": world.run.pk,
        "instructions": "Read twice.",
    }
    queue = ed.send("POST", "/queues", body)
    assert (queue["state"], queue["blind"], queue["run_id"]) == ("open", "both", world.run.pk)
    full = ed.get(f"/queues/{queue['id']}")
    assert (full["progress"]["wanted"], full["progress"]["mine_left"]) == (6, 0)
    assert [rater["name"] for rater in full["raters"]] == ["Ann", "Rae"]
    row = as_member(people.ann).get("/queues")["items"][0]
    assert (row["id"], row["i_rate"], row["progress"]["mine_left"]) == (queue["id"], True, 3)
    assert ed.send("POST", f"/queues/{queue['id']}/close")["state"] == "closed"
    as_member(people.ann).refused(409, "POST", f"/queues/{queue['id']}/next")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"raters": ["bob"]}, 422),  # a viewer
        ({"raters": ["ann", "nobody"]}, 422),
        ({"raters": []}, 422),
        ({"raters_per_item": 3}, 422),
        ({"rubric_version_id": None}, 422),
        ({"name": "First look"}, 409),  # the name of the queue that is there
        ({"run_id": 10**6}, 404),
    ],
)
def test_a_queue_that_makes_no_sense_is_not_opened(people: Cast, as_member, world, change, status) -> None:
    body = {
        "name": "New",
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.version.pk,
        "raters": ["ann", "rae"],
    }
    as_member(people.ed).refused(status, "POST", "/queues", body | change)


def test_a_review_goes_from_next_to_submitted(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    # A key may tell who answered: it is told once the review is submitted.
    assert (review["state"], review["item"]["key"], review["item"]["case_key"]) == ("draft", None, None)
    assert review["item"]["submission"] == "Paris is the capital of France."
    assert [question["verdict"] for question in review["criteria"]] == [None, None, None]
    assert ann.send("POST", f"/queues/{world.queue.pk}/next")["id"] == review["id"]
    answered = answer(ann, review)
    assert [(one["verdict"], one["reason"]) for one in answered["criteria"]] == [("MET", "because")] * 3
    submitted = ann.send("POST", f"/reviews/{review['id']}/submit")
    assert (submitted["state"], submitted["item"]["key"]) == ("submitted", "good")
    assert submitted["submitted_at"] is not None
    assert ann.send("POST", f"/reviews/{review['id']}/submit") == submitted
    assert ann.send("POST", f"/queues/{world.queue.pk}/next")["item"]["position"] == 1


def test_nothing_left_to_review_is_an_empty_answer(ann: ApiClient, world) -> None:
    for _ in range(3):
        review = answer(ann, ann.send("POST", f"/queues/{world.queue.pk}/next"))
        ann.send("POST", f"/reviews/{review['id']}/submit")
    response = ann.call("POST", f"/queues/{world.queue.pk}/next")
    assert (response.status_code, response.content) == (204, b"")


def test_verdicts_are_changed_and_taken_back_until_submitting(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
    ann.send("PUT", path, {"verdict": "MET", "reason": "first"})
    kept = ann.send("PUT", path, {"verdict": "CANNOT_ASSESS"})["criteria"][0]
    assert (kept["verdict"], kept["reason"]) == ("CANNOT_ASSESS", "first")
    for _ in range(2):
        assert ann.send("DELETE", path)["criteria"][0]["verdict"] is None
    assert ann.send("PUT", path, {"verdict": " met "})["criteria"][0]["verdict"] == "MET"
    [fault] = ann.refused(422, "PUT", path, {"verdict": "yes"})["faults"]
    assert fault["place"] == "verdict"
    assert "CANNOT_ASSESS" in fault["allowed"]


def test_an_unfinished_review_names_what_is_missing(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    problem = ann.refused(422, "POST", f"/reviews/{review['id']}/submit")
    assert [fault["place"] for fault in problem["faults"]] == ["capital", "concise", "wrong_country"]


def test_a_submitted_review_changes_no_more(ann: ApiClient, world) -> None:
    review = answer(ann, ann.send("POST", f"/queues/{world.queue.pk}/next"))
    ann.send("POST", f"/reviews/{review['id']}/submit")
    path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
    ann.refused(409, "PUT", path, {"verdict": "UNMET"})
    ann.refused(409, "DELETE", path)
    ann.refused(409, "PATCH", f"/reviews/{review['id']}", {"note": "late"})
    ann.refused(409, "POST", f"/reviews/{review['id']}/skip", {"reason": "late"})


def test_note_and_flag_are_saved_apart(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    path = f"/reviews/{review['id']}"
    ann.send("PATCH", path, {"note": "Odd."})
    noted = ann.send("PATCH", path, {"flagged": True})
    assert (noted["note"], noted["flagged"]) == ("Odd.", True)


def test_a_skipped_item_goes_to_somebody_else(ann: ApiClient, people: Cast, as_member, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    ann.refused(422, "POST", f"/reviews/{review['id']}/skip", {"reason": "  "})
    ann.send("PATCH", f"/reviews/{review['id']}", {"note": "Cut off."})
    skipped = ann.send("POST", f"/reviews/{review['id']}/skip", {"reason": "Mine."})
    assert (skipped["state"], skipped["note"], skipped["skip_reason"]) == ("skipped", "Cut off.", "Mine.")
    assert ann.send("POST", f"/queues/{world.queue.pk}/next")["item"]["id"] != review["item"]["id"]


def test_an_item_is_reviewed_by_choice_while_there_is_room(
    ann: ApiClient, people: Cast, as_member, world
) -> None:
    world.queue.queue_items.update(wanted=1, room=1)
    item = world.dataset.items.get(key="empty-ish")
    path = f"/queues/{world.queue.pk}/items/{item.pk}/start"
    review = ann.send("POST", path)
    assert review["item"]["id"] == item.pk
    assert ann.send("POST", path)["id"] == review["id"]
    as_member(people.rae).refused(409, "POST", path)


def test_who_is_no_rater_of_the_queue_takes_nothing(people: Cast, as_member, world) -> None:
    problem = as_member(people.alice).refused(403, "POST", f"/queues/{world.queue.pk}/next")
    assert problem["type"] == "urn:rubricweb:problem:forbidden"


def test_a_heartbeat_keeps_the_place_and_says_until_when(people: Cast, as_member, world) -> None:
    ann = as_member(people.ann)
    draft = ann.send("POST", f"/queues/{world.queue.pk}/next")
    Review.objects.update(held_until=timezone.now() - timedelta(minutes=1), holds_place=False)
    QueueItem.objects.filter(item=draft["item"]["id"]).update(room=0)
    path = f"/reviews/{draft['id']}/heartbeat"
    assert not ann.send("POST", path)["holds_place"]
    QueueItem.objects.filter(item=draft["item"]["id"]).update(room=1)
    said = ann.send("POST", path)
    assert said["holds_place"]
    assert datetime.fromisoformat(said["held_until"]) > timezone.now() + timedelta(minutes=29)
    as_member(people.rae).refused(404, "POST", path)


# ── Evidence, reasons, times, the next one ahead ─────────────────────────────────────────────────


def test_evidence_and_times_go_in_and_come_out(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
    span = {"field": "submission", "start": 0, "end": 5, "text": "Paris"}
    saved = ann.send("PUT", path, {"verdict": "MET", "evidence": [span], "seconds": 7.5})["criteria"][0]
    assert (saved["evidence"], saved["seconds"], saved["with_reason"]) == ([span], 7.5, [])
    [fault] = ann.refused(422, "PUT", path, {"verdict": "MET", "evidence": [span | {"start": 1}]})["faults"]
    assert fault["place"] == "evidence[0].text"
    assert ann.send("PATCH", f"/reviews/{review['id']}", {"seconds": 40})["seconds"] == 40


def test_a_reason_that_is_too_long_is_named(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
    [fault] = ann.refused(422, "PUT", path, {"verdict": "MET", "reason": "r" * 10_001})["faults"]
    assert (fault["place"], fault["found"]) == ("reason", "10001 characters")


def test_a_reason_the_queue_asks_for_is_named_when_missing(ann: ApiClient, world) -> None:
    world.queue.rationale = "always"
    world.queue.save()
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    for question in review["criteria"]:
        ann.send("PUT", f"/reviews/{review['id']}/criteria/{question['criterion']['id']}", {"verdict": "MET"})
    problem = ann.refused(422, "POST", f"/reviews/{review['id']}/submit")
    assert [fault["place"] for fault in problem["faults"]] == ["capital", "concise", "wrong_country"]
    assert problem["detail"] == "3 criteria still need a reason."


def test_the_next_item_is_taken_ahead_once_and_given_back(ann: ApiClient, world) -> None:
    review = ann.send("POST", f"/queues/{world.queue.pk}/next")
    following = ann.send("POST", f"/reviews/{review['id']}/ahead")
    assert ann.send("POST", f"/reviews/{review['id']}/ahead")["id"] == following["id"] != review["id"]
    assert ann.send("DELETE", f"/reviews/{following['id']}") == {"given_back": True}
    ann.refused(404, "GET", f"/reviews/{following['id']}")
    answer(ann, review)
    assert ann.send("DELETE", f"/reviews/{review['id']}") == {"given_back": False}


def test_a_review_is_its_raters_alone(people: Cast, as_member, world) -> None:
    mine = as_member(people.ann).send("POST", f"/queues/{world.queue.pk}/next")
    for other in (people.rae, people.alice):
        as_member(other).refused(404, "GET", f"/reviews/{mine['id']}")
        as_member(other).refused(404, "POST", f"/reviews/{mine['id']}/submit")
