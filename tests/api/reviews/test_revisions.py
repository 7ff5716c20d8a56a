"""Keeping, changing and finding unclear through the API."""

from rubricweb.models import Revision
from tests.api.client import ApiClient
from tests.api.reviews.test_reviews import answer
from tests.factories import Cast


def submitted(client: ApiClient, queue_id: int, verdict: str = "UNMET") -> dict:
    review = answer(client, client.send("POST", f"/queues/{queue_id}/next"), verdict)
    return client.send("POST", f"/reviews/{review['id']}/submit")


def path(review: dict, place: int = 0) -> str:
    return f"/reviews/{review['id']}/criteria/{review['criteria'][place]['criterion']['id']}/revision"


def test_a_verdict_is_changed_and_stays_beside_the_initial_one(people: Cast, as_member, world) -> None:
    ann = as_member(people.ann)
    review = submitted(ann, world.queue.pk)  # the judge: MET MET UNMET
    reveal = ann.get(f"/reviews/{review['id']}/reveal")
    assert [row["disagrees"] for row in reveal["criteria"]] == [True, True, False]
    assert [row["revision"] for row in reveal["criteria"]] == [None, None, None]
    body = {"choice": "change", "verdict": "met", "reason": "It does name it."}
    for _ in range(2):  # safe to repeat
        row = ann.send("PUT", path(review), body)["criteria"][0]
        assert (row["mine"], row["revision"]["choice"], row["revision"]["verdict"]) == (
            "UNMET",
            "change",
            "MET",
        )
        assert row["decided"] == "MET"
    kept = ann.send("POST", f"/reviews/{review['id']}/keep")["criteria"]
    assert [row["revision"] and row["revision"]["choice"] for row in kept] == ["change", "keep", None]
    assert Revision.objects.count() == 2


def test_refusals_name_the_place(people: Cast, as_member, world) -> None:
    ann = as_member(people.ann)
    review = submitted(ann, world.queue.pk)
    for body, place in (
        ({"choice": "change", "verdict": "MET"}, "reason"),
        ({"choice": "change", "reason": "Why."}, "verdict"),
        ({"choice": "perhaps"}, "choice"),
        ({"choice": "keep", "verdikt": "MET"}, "verdikt"),
    ):
        [fault] = ann.refused(422, "PUT", path(review), body)["faults"]
        assert fault["place"] == place
    assert not Revision.objects.exists()


def test_a_draft_is_withheld_and_a_closed_queue_is_over(people: Cast, as_member, world) -> None:
    ann, ed = as_member(people.ann), as_member(people.ed)
    review = submitted(ann, world.queue.pk)
    draft = ann.send("POST", f"/queues/{world.queue.pk}/next")
    for method, where, body in (
        ("PUT", path(draft), {"choice": "keep"}),
        ("POST", f"/reviews/{draft['id']}/keep", None),
    ):
        assert ann.refused(403, method, where, body)["type"].endswith("withheld")
    as_member(people.rae).refused(404, "PUT", path(review), {"choice": "keep"})
    ed.send("POST", f"/queues/{world.queue.pk}/close")
    ann.refused(409, "PUT", path(review), {"choice": "keep"})
    ann.refused(409, "POST", f"/reviews/{review['id']}/keep")


def test_rates_and_the_to_do_list_are_read(people: Cast, as_member, world) -> None:
    ann, bob = as_member(people.ann), as_member(people.bob)
    review = submitted(ann, world.queue.pk)  # differs from the judge on the first two
    ann.send("PUT", path(review), {"choice": "change", "verdict": "MET", "reason": "Yes."})
    ann.send("PUT", path(review, 1), {"choice": "unclear"})
    rates = bob.get(f"/runs/{world.run.pk}/revisions", queue=world.queue.pk)
    assert (rates["reveals"], rates["overall"]["criterion"], rates["overall"]["n"]) == (True, None, 2)
    assert (rates["overall"]["changed"]["value"], rates["overall"]["unclear"]) == (0.5, 1)
    assert [row["criterion"]["name"] for row in rates["criteria"]] == ["capital", "concise"]
    [work] = bob.get(f"/rubrics/{world.version.rubric_id}/work")["criteria"]
    assert (work["criterion"]["name"], work["unclear_said"], work["done"]) == ("concise", 1, False)
    assert {row["cause"]: row["count"] for row in work["counts"]}["rubric_unclear"] == 1


def test_a_review_is_sent_back_and_submitted_again(people: Cast, as_member, world) -> None:
    ann, alice = as_member(people.ann), as_member(people.alice)
    review = submitted(ann, world.queue.pk)
    where = f"/reviews/{review['id']}/send-back"
    ann.refused(403, "POST", where, {"note": "A rater is no lead."})
    alice.refused(422, "POST", where, {"note": ""})
    sent = alice.send("POST", where, {"note": "Line 1 names it."})
    assert (sent["note"], sent["answered_at"]) == ("Line 1 names it.", None)
    alice.refused(409, "POST", where, {"note": "Again."})
    [waiting] = ann.get(f"/queues/{world.queue.pk}/sent-back")["items"]
    assert waiting["review_id"] == review["id"]
    ann.send("PUT", path(review), {"choice": "change", "verdict": "MET", "reason": "It does."})
    row = ann.send("POST", f"/reviews/{review['id']}/send-again")["criteria"][0]
    assert (row["mine"], row["revision"]["verdict"]) == ("UNMET", "MET")
    assert ann.get(f"/queues/{world.queue.pk}/sent-back")["items"] == []
    [kept] = alice.get(f"/queues/{world.queue.pk}/sent-back")["items"]
    assert kept["answered_at"] is not None
