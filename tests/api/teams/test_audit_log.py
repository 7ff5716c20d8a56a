"""The audit log over the API: for every member, narrowed by names from closed lists."""

from typing import get_args

from rubricweb.selectors.teams.members import KINDS
from rubricweb.services.shared.journal import Recorded
from tests import factories
from tests.factories import Cast


def test_every_member_reads_who_did_what(people: Cast, as_member) -> None:
    version = factories.version(people.team, people.ed)
    token, published = as_member(people.bob).get("/audit-log", limit=2)["items"]
    assert (token["actor"], token["verb"], token["kind"]) == ("Bob", "created", "API token")
    assert (published["actor"], published["verb"], published["kind"]) == ("Ed", "published", "rubric version")
    assert (published["target_id"], published["label"]) == (version.pk, str(version))


def test_the_audit_log_is_narrowed_to_a_person_and_to_a_kind(people: Cast, as_member) -> None:
    factories.version(people.team, people.ed)
    factories.dataset(people.team, people.alice)
    bob = as_member(people.bob)
    assert {row["actor"] for row in bob.get("/audit-log", actor="ed")["items"]} == {"Ed"}
    assert [row["actor"] for row in bob.get("/audit-log", kind="dataset")["items"]] == ["Alice"]
    assert bob.get("/audit-log", kind="dataset", actor="ED")["items"] == []


def test_names_the_audit_log_does_not_know_are_refused_with_those_it_does(people: Cast, as_member) -> None:
    bob = as_member(people.bob)
    [fault] = bob.refused(422, "GET", "/audit-log", query={"kind": "user"})["faults"]
    assert (fault["place"], "'rubric version'" in fault["allowed"]) == ("query.kind", True)
    [fault] = bob.refused(422, "GET", "/audit-log", query={"actor": "charlie"})["faults"]
    assert (fault["place"], fault["allowed"]) == ("actor", "alice, ann, bob, ed, rae")
    # Somebody of another team is as unknown as somebody who does not exist.
    assert "charlie" not in fault["allowed"]


def test_who_has_left_still_stands_in_the_audit_log(people: Cast, as_member) -> None:
    factories.version(people.team, people.ed)
    people.team.memberships.get(user=people.ed).delete()
    rows = as_member(people.bob).get("/audit-log", actor="ed")["items"]
    assert rows[0]["verb"] == "published"


def test_there_are_words_for_everything_the_audit_log_is_told_of() -> None:
    assert set(KINDS) == {model._meta.model_name for model in get_args(Recorded)}
