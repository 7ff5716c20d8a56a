"""Deleting for good by the API."""

from django.utils import timezone

from rubricweb.models import JournalEntry
from rubricweb.services.deletions import deletions
from tests import factories
from tests.factories import Cast


def test_the_api_plans_deletes_and_says_how_far_it_is(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed, name="Night build")
    alice = as_member(people.alice)
    plan = alice.get(f"/datasets/{dataset.pk}/deletion")
    assert (plan["kind"], plan["counts"], plan["refused"]) == ("dataset", {"cases": 3, "items": 3}, "")
    alice.refused(422, "DELETE", f"/datasets/{dataset.pk}", {"name": "night"})
    response = alice.call("DELETE", f"/datasets/{dataset.pk}", {"name": "Night build"})
    assert response.status_code == 202
    found = response.json()
    assert (found["state"], found["share"]) == ("waiting", 0.0)
    alice.refused(404, "GET", f"/datasets/{dataset.pk}")
    assert alice.get("/datasets")["items"] == []
    deletions.work(found["id"], worker="here:1", now=timezone.now)
    found = alice.get(f"/deletions/{found['id']}")
    assert (found["state"], found["share"], found["name"]) == ("done", 1.0, "Night build")
    assert alice.get("/deletions")["items"] == [found]
    assert JournalEntry.objects.filter(verb="deleted", target_label="Night build").exists()


def test_a_team_is_renamed_and_deleted_and_its_tokens_stop(people: Cast, as_member) -> None:
    alice = as_member(people.alice)
    assert alice.send("PATCH", "/team", {"name": "Capitals"})["name"] == "Capitals"
    as_member(people.ed).refused(403, "PATCH", "/team", {"name": "Mine"})
    assert alice.get("/team/deletion")["counts"] == {"members": 5, "tokens": 2}
    response = alice.call("DELETE", "/team", {"name": "Capitals"})
    assert response.status_code == 202
    assert alice.call("GET", "/team").status_code == 401


def test_systems_are_listed_renamed_and_kept_while_they_have_answers(people: Cast, as_member) -> None:
    answers = [{"case_id": "q", "system": "assistant@v1", "submission": "Paris."}]
    factories.dataset(people.team, people.ed, items=answers)
    ed, alice = as_member(people.ed), as_member(people.alice)
    [system] = ed.get("/systems")["items"]
    [version] = system["versions"]
    assert (system["name"], version["name"], version["items"]) == ("assistant", "assistant@v1", 1)
    assert ed.send("PATCH", f"/systems/{system['id']}", {"name": "helper"})["name"] == "helper"
    changed = ed.send("PATCH", f"/system-versions/{version['id']}", {"label": "v2"})
    assert changed == {"id": version["id"], "name": "helper@v2"}
    alice.refused(409, "DELETE", f"/systems/{system['id']}", {"name": "helper"})
    assert "has answers of it" in alice.get(f"/system-versions/{version['id']}/deletion")["refused"]
