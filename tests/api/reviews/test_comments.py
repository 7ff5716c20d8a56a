"""Comments and notices for programs: the same words, the same blinding."""

import pytest
from allauth.account.models import EmailAddress

from rubricweb.models import Comment, Judgement, Notice
from rubricweb.services.reviews import queues
from tests.api.conftest import World
from tests.api.reviews.test_reviews import answer
from tests.factories import Cast


def thread_of(world: World) -> str:
    return f"/items/{world.dataset.items.get(key='good').pk}/comments"


@pytest.fixture
def open_world(people: Cast, world: World) -> World:
    """The same without anything hidden."""
    queues.close_queue(world.queue, by=people.ed)
    Notice.objects.all().delete()  # those of the queue
    return world


def test_comments_are_written_read_edited_resolved_and_removed(
    people: Cast, as_member, open_world: World
) -> None:
    ann, bob, rae = as_member(people.ann), as_member(people.bob), as_member(people.rae)
    path = thread_of(open_world)
    criterion = open_world.version.criteria.get(name="capital")
    made = ann.send("POST", path, {"text": " Which one? ", "criterion_id": criterion.pk})
    assert (made["text"], made["author"], made["criterion_id"]) == ("Which one?", "ann", criterion.pk)
    one = f"/comments/{made['id']}"
    assert bob.get(one) == made
    assert bob.get(path)["items"] == [made]
    assert ann.send("PATCH", one, {"text": "Which town?"})["edited_at"] is not None
    assert rae.send("PATCH", one, {"resolved": True})["resolved"] is True
    rae.refused(403, "PATCH", one, {"text": "Mine."})
    rae.refused(403, "DELETE", one)
    for _ in range(2):
        assert ann.call("DELETE", one).status_code == 204
    removed = bob.get(one)
    assert (removed["text"], removed["resolved"]) == ("", True)
    assert removed["removed_at"] is not None
    ann.refused(409, "PATCH", one, {"text": "Again."})


def test_a_comment_on_a_verdict_carries_it(people: Cast, as_member, open_world: World) -> None:
    verdict = Judgement.objects.get(run=open_world.run, item__key="good", criterion__name="capital")
    made = as_member(people.ann).send(
        "POST", thread_of(open_world), {"text": "Sure?", "judgement_id": verdict.pk}
    )
    assert (made["judgement_id"], made["verdict"]) == (verdict.pk, "MET")
    assert made["criterion_id"] == verdict.criterion_id


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"text": ""}, "text"),
        ({"text": "  "}, "text"),
        ({"text": "x" * 10_001}, "text"),
        ({}, "text"),
        ({"text": "Hm.", "criterion_id": 1, "judgement_id": 1}, "body"),
        ({"text": "Hm.", "on": "it"}, "on"),
    ],
)
def test_a_wrong_comment_is_refused_with_its_place(
    people: Cast, as_member, open_world: World, body: dict[str, object], place: str
) -> None:
    problem = as_member(people.ann).refused(422, "POST", thread_of(open_world), body)
    assert problem["faults"][0]["place"] == place
    assert not Comment.objects.exists()


def test_long_threads_come_in_pages_oldest_first(people: Cast, as_member, open_world: World) -> None:
    ann, path = as_member(people.ann), thread_of(open_world)
    for number in range(5):
        ann.send("POST", path, {"text": str(number)})
    first = ann.get(path, limit=3)
    second = ann.get(path, limit=3, cursor=first["next_cursor"])
    assert [row["text"] for row in first["items"] + second["items"]] == list("01234")
    assert second["next_cursor"] is None


def test_notices_are_listed_unread_first_and_marked(people: Cast, as_member, open_world: World) -> None:
    ann, rae, path = as_member(people.ann), as_member(people.rae), thread_of(open_world)
    for words in ("@rae one", "@rae two", "@rae three"):
        ann.send("POST", path, {"text": words})
    listed = rae.get("/notifications")["items"]
    assert [(row["kind"], row["comment"]["text"]) for row in listed] == [
        ("mention", "@rae three"),
        ("mention", "@rae two"),
        ("mention", "@rae one"),
    ]
    assert listed[0]["comment"]["author"] == "ann"
    assert rae.send("POST", "/notifications/read", {"ids": [listed[0]["id"]]}) == {"read": 1, "unread": 2}
    assert [row["comment"]["text"] for row in rae.get("/notifications", unread="true")["items"]] == [
        "@rae two",
        "@rae one",
    ]
    assert [row["comment"]["text"] for row in rae.get("/notifications")["items"]][-1] == "@rae three"
    # Another's are nobody's to mark.
    assert ann.send("POST", "/notifications/read", {"ids": [listed[1]["id"]]}) == {"read": 0, "unread": 0}
    assert rae.send("POST", "/notifications/read", {}) == {"read": 2, "unread": 0}
    assert ann.get("/notifications")["items"] == []


def test_notices_come_in_pages(people: Cast, as_member, open_world: World) -> None:
    ann, rae = as_member(people.ann), as_member(people.rae)
    for number in range(5):
        ann.send("POST", thread_of(open_world), {"text": f"@rae {number}"})
    oldest = rae.get("/notifications")["items"][-1]
    rae.send("POST", "/notifications/read", {"ids": [oldest["id"]]})
    texts, cursor = [], None
    while True:
        page = rae.get("/notifications", limit=2, **({"cursor": cursor} if cursor else {}))
        texts += [row["comment"]["text"] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert texts == ["@rae 4", "@rae 3", "@rae 2", "@rae 1", "@rae 0"]


def test_a_queue_makes_a_notice_for_its_raters(people: Cast, as_member, world: World) -> None:
    [notice] = as_member(people.ann).get("/notifications")["items"]
    assert (notice["kind"], notice["queue"]) == (
        "queue",
        {"id": world.queue.pk, "name": world.queue.name},
    )
    assert as_member(people.ed).get("/notifications")["items"] == []


def test_everything_waits_until_one_has_submitted(people: Cast, as_member, world: World) -> None:
    """rae has submitted and writes to ann, who has not: no list, notice or count tells."""
    ann, rae = as_member(people.ann), as_member(people.rae)
    ann.send("POST", "/notifications/read", {})
    draft = answer(rae, rae.send("POST", f"/queues/{world.queue.pk}/next"))
    rae.send("POST", f"/reviews/{draft['id']}/submit")
    path = f"/items/{draft['item']['id']}/comments"
    made = rae.send("POST", path, {"text": "@ann this is MET"})
    verdict = Judgement.objects.filter(run=world.run, item=draft["item"]["id"])[0]
    assert ann.get(path)["items"] == []
    assert ann.get("/notifications", unread="true")["items"] == []
    ann.refused(404, "GET", f"/comments/{made['id']}")
    ann.refused(404, "PATCH", f"/comments/{made['id']}", {"resolved": True})
    problem = ann.refused(403, "POST", path, {"text": "Hm.", "judgement_id": verdict.pk})
    assert problem["type"].endswith("withheld")
    assert ann.send("POST", "/notifications/read", {}) == {"read": 0, "unread": 0}
    own = ann.send("POST", path, {"text": "My own."})
    assert ann.get(path)["items"] == [own]
    mine = ann.send("POST", f"/queues/{world.queue.pk}/items/{draft['item']['id']}/start")
    answer(ann, mine)
    ann.send("POST", f"/reviews/{mine['id']}/submit")
    assert [row["id"] for row in ann.get(path)["items"]] == [made["id"], own["id"]]
    assert [row["comment"]["id"] for row in ann.get("/notifications", unread="true")["items"]] == [made["id"]]


def test_mails_are_switched_off_and_on(people: Cast, as_member) -> None:
    bob = as_member(people.bob)
    assert bob.get("/notifications/mail") == {"wanted": True, "address": "", "configured": False}
    EmailAddress.objects.create(user=people.bob, email=people.bob.email, primary=True, verified=True)
    assert bob.get("/notifications/mail") == {
        "wanted": True,
        "address": "bob@example.org",
        "configured": False,
    }
    assert bob.send("PUT", "/notifications/mail", {"wanted": False})["wanted"] is False
    assert bob.get("/notifications/mail")["wanted"] is False
    assert bob.send("PUT", "/notifications/mail", {"wanted": True})["wanted"] is True
