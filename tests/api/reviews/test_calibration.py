"""Gold items and calibration through the API."""

import json

import pytest

from rubricweb.models import ReviewQueue
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.api.reviews.test_reviews import answer
from tests.factories import Cast

KNOWN = "item_id,criterion,rater,verdict,reason\n" + "".join(
    f"{item},{name},ground truth,MET,\n"
    for item in ("good", "bad")
    for name in ("capital", "concise", "wrong_country")
)


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Three items for ann and rae; the labels of the first two are known, all MET."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    factories.import_labels(dataset, version, by=people.ed, data=KNOWN.encode(), filename="known.csv")
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )


def do_next(client: ApiClient, queue: ReviewQueue, verdict: str) -> str:
    draft = answer(client, client.send("POST", f"/queues/{queue.pk}/next"), verdict)
    # Its key is told once it is submitted.
    return str(client.send("POST", f"/reviews/{draft['id']}/submit")["item"]["key"])


def test_a_round_from_marking_to_going_on(people: Cast, as_member, queue: ReviewQueue) -> None:
    ed, ann, path = as_member(people.ed), as_member(people.ann), f"/queues/{queue.pk}"
    assert ed.get(f"{path}/gold")["more"] == 2
    marked = ed.send("POST", f"{path}/gold", {"at_random": 2})
    assert ([item["key"] for item in marked["items"]], marked["gold"], marked["more"]) == (
        ["good", "bad"],
        2,
        0,
    )
    rules = {"calibration_items": 1, "pass_mark": 0.8, "extra_rater_below": 0.5}
    stored = ed.send("PUT", f"{path}/calibration", rules)
    assert {name: stored[name] for name in rules} == rules

    assert do_next(ann, queue, "UNMET") == "good"
    problem = ann.refused(409, "POST", f"{path}/next")
    assert "0 of your 3 labels in the calibration round were right (0%)" in problem["detail"]
    mine = ann.get(f"{path}/calibration")
    assert (mine["stage"], mine["pass_mark"], mine["calibration"]["total"]) == ("failed", 0.8, 3)
    assert [(one["item"]["key"], one["mine"], one["truth"], one["is_right"]) for one in mine["answers"]] == [
        ("good", "UNMET", "MET", False)
    ] * 3

    [row, other] = ed.get(f"{path}/gold")["raters"]
    assert (row["name"], row["stage"], row["accuracy"]["share"]) == ("Ann", "failed", 0.0)
    assert (other["name"], other["stage"], other["accuracy"]["share"]) == ("Rae", "open", None)
    again = ed.send("POST", f"{path}/raters/{row['id']}/try-again")["raters"][0]
    assert (again["stage"], again["calibration"]["total"]) == ("open", 0)
    assert do_next(ann, queue, "MET") == "bad"
    passed = ed.get(f"{path}/gold")["raters"][0]
    assert (passed["stage"], passed["calibration"]["passed_by"]) == ("passed", None)
    # Over all gold items: 0 of 3, then 3 of 3.
    assert (passed["accuracy"]["right"], passed["accuracy"]["total"]) == (3, 6)
    assert do_next(ann, queue, "MET") == "empty-ish"

    assert ed.send("POST", f"{path}/raters/{other['id']}/let-on")["raters"][1]["stage"] == "passed"
    item = marked["items"][1]["id"]
    assert [one["key"] for one in ed.send("DELETE", f"{path}/gold/{item}")["items"]] == ["good"]
    ed.refused(404, "DELETE", f"{path}/gold/{item}")


def test_nothing_a_rater_reads_says_which_items_are_gold(people: Cast, as_member, queue: ReviewQueue) -> None:
    """Everything ann can read of the queue is the same, but for numbers, whichever item is gold."""
    ed, ann, path = as_member(people.ed), as_member(people.ann), f"/queues/{queue.pk}"
    [good, bad] = [queue.dataset.items.get(key=key).pk for key in ("good", "bad")]
    ann.send("POST", f"{path}/next")
    seen = []
    for gold, other in ((good, bad), (bad, good)):
        ed.send("POST", f"{path}/gold", {"item_ids": [gold]})
        read = [
            ann.get(path),
            ann.get(f"{path}/calibration"),
            ann.get("/queues"),
            ann.get(f"/datasets/{queue.dataset_id}/items"),
            ann.send("POST", f"{path}/next"),
        ]
        seen.append(json.dumps(read))
        ann.refused(403, "GET", f"{path}/gold")
        ed.send("DELETE", f"{path}/gold/{gold}")
        assert other != gold
    assert seen[0] == seen[1]
    assert "gold" not in seen[0]


def test_an_editor_who_rates_may_have_gold_drawn_and_is_not_told_what(
    people: Cast, as_member, queue: ReviewQueue
) -> None:
    alice, path = as_member(people.alice), f"/queues/{queue.pk}"
    as_member(people.ed).send("POST", f"{path}/people", {"add": ["alice"]})
    item = queue.dataset.items.get(key="good").pk
    alice.refused(403, "POST", f"{path}/gold", {"item_ids": [item]})
    drawn = alice.send("POST", f"{path}/gold", {"at_random": 1})
    assert (drawn["gold"], drawn["items"]) == (1, [])
    for item in queue.dataset.items.all():
        problem = text_of(alice.call("DELETE", f"{path}/gold/{item.pk}"))
        assert "You rate in First look" in problem


def test_wrong_gold_and_rules_are_refused_where_they_are_wrong(
    people: Cast, as_member, queue: ReviewQueue
) -> None:
    ed, path = as_member(people.ed), f"/queues/{queue.pk}"
    unknown = queue.dataset.items.get(key="empty-ish").pk
    problem = ed.refused(422, "POST", f"{path}/gold", {"item_ids": [unknown]})
    assert [fault["place"] for fault in problem["faults"]] == ["item_ids[0]"]
    ed.refused(422, "POST", f"{path}/gold", {"at_random": 3})
    ed.refused(422, "POST", f"{path}/gold", {})
    ed.refused(422, "PUT", f"{path}/calibration", {"calibration_items": 1})
    ed.refused(422, "PUT", f"{path}/calibration", {"calibration_items": 0, "pass_mark": 1.5})
    ed.send("POST", f"{path}/close")
    ed.refused(409, "POST", f"{path}/gold", {"at_random": 1})
