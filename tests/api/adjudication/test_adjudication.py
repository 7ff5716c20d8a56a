"""Adjudication through the API: inbox, units, conflicts, what all agree on, where ground truth comes from."""

from urllib.parse import quote

import pytest

from rubricweb.models import JournalEntry
from tests import factories
from tests.api.conftest import World
from tests.factories import Cast

# The judge by the book: good MET MET UNMET; bad MET MET MET; empty-ish UNMET MET UNMET.
LABELS = """item_id,criterion,rater,verdict,reason
good,capital,x,MET,named
good,capital,y,UNMET,not named
bad,capital,x,UNMET,no
bad,capital,y,UNMET,no
empty-ish,capital,x,UNMET,no
empty-ish,capital,y,UNMET,no
"""


@pytest.fixture
def labelled(people: Cast, world: World) -> World:
    world.queue.delete()
    queue = factories.import_labels(
        world.dataset, world.version, by=people.ed, data=LABELS.encode(), filename="labels.csv"
    )
    return World(world.version, world.dataset, world.run, queue)


def path(labelled: World, key: str, criterion: str = "capital") -> str:
    item, one = labelled.dataset.items.get(key=key), labelled.version.criteria.get(name=criterion)
    return f"/items/{item.pk}/criteria/{one.pk}/adjudication"


def test_the_inbox_is_listed_page_by_page(people: Cast, as_member, labelled: World) -> None:
    bob = as_member(people.bob)
    first = bob.get("/adjudication", limit=1)
    [row] = first["items"]
    assert (row["item_key"], row["criterion"]["name"], row["kinds"]) == ("good", "capital", ["people differ"])
    assert (row["votes"], row["judged"], row["decided"]) == (
        [
            {"verdict": "MET", "effect": "helped", "count": 1},
            {"verdict": "UNMET", "effect": "hurt", "count": 1},
        ],
        ["MET"],
        None,
    )
    second = bob.get("/adjudication", limit=1, cursor=first["next_cursor"])
    assert [(one["item_key"], one["kinds"]) for one in second["items"]] == [("bad", ["judge differs"])]
    assert second["next_cursor"] is None
    assert bob.get("/adjudication", queue=labelled.queue.pk, kind="people differ")["items"] == [row]
    bob.refused(422, "GET", "/adjudication", query={"kind": "mood"})
    bob.refused(404, "GET", "/adjudication", query={"queue": 10**9})


def test_a_unit_has_letters_and_names_on_demand(people: Cast, as_member, labelled: World) -> None:
    bob = as_member(people.bob)
    unit = bob.get(path(labelled, "good"))
    people_said = [answer for answer in unit["answers"] if not answer["is_judge"]]
    assert [answer["name"] for answer in people_said] == ["Rater A", "Rater B"]
    assert sorted(answer["reason"] for answer in people_said) == ["named", "not named"]
    assert (unit["most"], unit["decision"]) == (None, None)
    bob.refused(422, "GET", path(labelled, "good"), query={"names": "true"})
    named = bob.send("POST", f"{path(labelled, 'good')}/names")
    assert {"x", "y"} <= {answer["name"] for answer in named["answers"]}
    assert JournalEntry.objects.filter(verb="looked at the names on").count() == 1


def test_two_adjudicators_at_once(people: Cast, as_member, labelled: World) -> None:
    rae, ed = as_member(people.rae), as_member(people.ed)
    first = rae.send("PUT", path(labelled, "good"), {"verdict": "MET", "cause": "human_wrong"})
    mine = {"verdict": "UNMET", "cause": "rubric_unclear"}
    detail = ed.refused(409, "PUT", path(labelled, "good"), mine)["detail"]
    assert "decided MET (human wrong)" in detail
    assert "you were about to decide UNMET" in detail
    ed.refused(409, "DELETE", path(labelled, "good"))
    again = rae.send("PUT", path(labelled, "good"), {"verdict": "MET", "cause": "judge_wrong"})  # one's own
    undo = f"{path(labelled, 'good')}?seen={quote(first['decided_at'])}"
    assert "You have decided MET meanwhile" in rae.refused(409, "DELETE", undo)["detail"]
    ed.refused(409, "PUT", path(labelled, "good"), mine | {"seen": first["decided_at"]})  # moved on since
    theirs = ed.send("PUT", path(labelled, "good"), mine | {"seen": again["decided_at"]})
    assert theirs["decided_by"] == "ed"
    # What was replaced stands again, by whom and when it was decided; asked twice, it is taken back once.
    for _ in range(2):
        back = ed.send("DELETE", f"{path(labelled, 'good')}?seen={quote(theirs['decided_at'])}")
        assert back["decision"] == again
    ed.refused(409, "DELETE", path(labelled, "good"))
    assert rae.send("DELETE", path(labelled, "good"))["decision"] == first
    assert rae.send("DELETE", path(labelled, "good"))["decision"] is None
    assert rae.send("DELETE", path(labelled, "good"))["decision"] is None
    assert JournalEntry.objects.filter(verb="adjudicated").count() == 3


def test_the_same_decision_again_is_the_same_decision(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    mine = {"verdict": "MET", "cause": "human_wrong", "reason": "It is named."}
    first = rae.send("PUT", path(labelled, "good"), mine)
    assert rae.send("PUT", path(labelled, "good"), mine) == first
    adjudicated = JournalEntry.objects.filter(verb="adjudicated")
    assert adjudicated.count() == 1
    # Another reason is another decision.
    assert rae.send("PUT", path(labelled, "good"), mine | {"reason": "Look."})["reason"] == "Look."
    assert adjudicated.count() == 2


def test_ground_truth_says_where_it_comes_from(people: Cast, as_member, labelled: World) -> None:
    rae, bob = as_member(people.rae), as_member(people.bob)
    rae.send("PUT", path(labelled, "good"), {"verdict": "MET", "cause": "human_wrong", "reason": "Line 1."})
    item = labelled.dataset.items.get(key="good")
    [row] = bob.get(f"/items/{item.pk}/ground-truth")["criteria"]
    assert (row["verdict"], row["rule"], row["decided_by"]) == ("MET", "adjudicated", "rae")
    assert (row["cause"], row["reason"]) == ("human_wrong", "Line 1.")
    assert [(one["is_judge"], one["verdict"]) for one in row["labels"]] == [
        (False, "MET"),
        (False, "UNMET"),
        (True, "MET"),
    ]
    item = labelled.dataset.items.get(key="bad")
    [row] = bob.get(f"/items/{item.pk}/ground-truth")["criteria"]
    assert (row["verdict"], row["rule"], row["decided_by"], row["cause"]) == ("UNMET", "unanimous", None, "")
    # Who said what is told to those who ask for it, which is written down.
    assert [one["rater"] for one in row["labels"]] == [None, None]
    assert not JournalEntry.objects.filter(verb="looked at the names on").exists()
    bob.refused(422, "GET", f"/items/{item.pk}/ground-truth", query={"names": "true"})
    [row] = bob.send("POST", f"/items/{item.pk}/ground-truth/names")["criteria"]
    assert [one["rater"] for one in row["labels"]] == ["x", "y"]
    assert JournalEntry.objects.get(verb="looked at the names on").actor == people.bob


def test_what_all_agree_on_is_accepted_at_once(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    queue = f"/queues/{labelled.queue.pk}"
    # Only empty-ish: x, y and the judge say UNMET.
    assert rae.get(f"{queue}/agreed") == {"units": 1, "waiting": 2, "hidden_items": 0}
    assert rae.send("POST", f"{queue}/accept") == {"accepted": 1}
    assert rae.send("POST", f"{queue}/accept") == {"accepted": 0}
    item = labelled.dataset.items.get(key="empty-ish")
    [row] = rae.get(f"/items/{item.pk}/ground-truth")["criteria"]
    assert (row["rule"], row["decided_by"], row["cause"]) == ("unanimous", "rae", "")
