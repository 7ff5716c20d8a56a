"""Judges and their versions through the API."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import JudgeVersion
from rubricweb.services.endpoints import endpoints
from rubricweb.services.shared import archiving
from tests.api.client import ApiClient
from tests.factories import Cast, dataset, run, version

pytestmark = pytest.mark.django_db

STRICT = "{{frame}}\n\nDecide UNMET when in doubt."


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    endpoints.add_endpoint(
        people.team, by=people.alice, name="small", base_url="http://127.0.0.1:9/v1", model="m"
    )
    return as_member(people.ed)


def made(ed: ApiClient, name: str = "Support judge", **more: Any) -> dict[str, Any]:
    body = {"name": name, "definition": {"members": [{"endpoint": "small"}]}} | more
    return ed.send("POST", "/named-judges", body)


def test_a_judge_is_made_of_the_name_of_a_model_alone(ed: ApiClient) -> None:
    judge = made(ed, note="For support.")
    assert (judge["slug"], judge["note"], judge["versions"], judge["runs"]) == (
        "support-judge",
        "For support.",
        1,
        0,
    )
    current = judge["current"]
    assert (current["called"], current["origin"], current["parent"]) == ("support-judge@v1", "kept", None)
    [member] = current["definition"]["members"]
    assert (member["name"], member["endpoint"], member["address"], member["model"]) == (
        "small",
        "small",
        "http://127.0.0.1:9/v1",
        "m",
    )
    assert ed.get(f"/named-judges/{judge['id']}") == judge
    [listed] = ed.get("/named-judges")["items"]
    assert listed["current"] == {"id": current["id"], "number": 1, "called": "support-judge@v1"}
    # What may be named besides stays what it was.
    assert "support-judge" not in {one["id"] for one in ed.get("/judges")["items"]}


def test_changes_are_kept_as_the_next_version_and_told_word_by_word(ed: ApiClient) -> None:
    judge = made(ed)
    changes = {
        "wording": {"instructions": {"without_options": STRICT}},
        "reply_format": "json",
    }
    body = {"parent": 1, "changes": changes, "note": "Strict in doubt."}
    v2 = ed.send("POST", f"/named-judges/{judge['id']}/versions", body)
    assert (v2["called"], v2["parent"], v2["note"], v2["is_current"]) == (
        "support-judge@v2",
        1,
        "Strict in doubt.",
        True,
    )
    v1 = judge["current"]
    diff = ed.get(f"/judge-versions/{v2['id']}/against/{v1['id']}")
    [change] = diff["changes"]
    assert change["place"] == "wording.instructions.without_options"
    # The shipped instructions stand in for none.
    assert change["before"].count("{{frame}}") == 1
    assert "".join(one["text"] for one in change["words"] if one["kind"] != "gone") == STRICT
    # null puts a default back: what is asked is v1 again, which can be made current.
    again = {"parent": 2, "changes": {"wording": {"instructions": {"without_options": None}}}}
    problem = ed.refused(409, "POST", f"/named-judges/{judge['id']}/versions", again)
    assert "support-judge@v1 asks just so" in problem["detail"]
    back = ed.send("POST", f"/judge-versions/{v1['id']}/current")
    assert (back["current"]["number"], back["versions"]) == (1, 2)
    numbers = [(one["number"], one["is_current"]) for one in ed.get(_versions(judge))["items"]]
    assert numbers == [(2, False), (1, True)]


def _versions(judge: dict[str, Any]) -> str:
    return f"/named-judges/{judge['id']}/versions"


def test_of_two_who_keep_a_version_at_once_the_second_is_told_and_can_send_theirs_again(
    ed: ApiClient, people: Cast, as_member
) -> None:
    judge = made(ed)
    alice = as_member(people.alice)
    strict = {"parent": 1, "changes": {"wording": {"instructions": {"without_options": STRICT}}}}
    kind = {"parent": 1, "changes": {"wording": {"instructions": {"without_options": "{{frame}} Be kind."}}}}
    ed.send("POST", _versions(judge), strict)
    problem = alice.refused(409, "POST", _versions(judge), kind)
    assert "kept support-judge@v2 meanwhile" in problem["detail"]
    alice.send("POST", _versions(judge), kind | {"parent": 2})
    assert [one["number"] for one in ed.get(_versions(judge))["items"]] == [3, 2, 1]


@pytest.mark.parametrize(
    ("definition", "place"),
    [
        ({"members": [{"endpoint": "small", "api_key": "sk-1"}]}, "definition.members[0].api_key"),
        ({"members": [{"endpoint": "small"}], "extra_headers": {}}, "definition.extra_headers"),
        ({"members": [{"endpoint": "nowhere"}]}, "definition.members[0].endpoint"),
        (
            {"members": [{"endpoint": "small", "address": "http://x/v1", "model": "m"}]},
            "definition.members[0].address",
        ),
        (
            {"members": [{"endpoint": "small", "sampling": {"temperature": 9}}]},
            "definition.members[0].sampling.temperature",
        ),
        ({"members": [{"endpoint": "small", "weight": "1"}]}, "definition.members[0].weight"),
        ({"members": "small"}, "definition.members"),
        ({}, "definition.members"),
        ({"members": [{"endpoint": "small"}], "wordings": {}}, "definition.wordings"),
        (
            {
                "members": [{"endpoint": "small"}],
                "wording": {"instructions": {"with_options": "No frame."}},
            },
            "definition.wording.instructions.with_options",
        ),
        (
            {
                "members": [{"endpoint": "small"}],
                "wording": {"instructions": {"with_options": "{{frame}} {{criterion}}"}},
            },
            "definition.wording.instructions.with_options",
        ),
        (
            {"members": [{"endpoint": "small"}], "wording": {"instructions": {"with_options": " \n"}}},
            "definition.wording.instructions.with_options",
        ),
        (
            {
                "members": [{"endpoint": "small"}],
                "wording": {"instructions": {"without_options": "{{frame}}" + "x" * 20_000}},
            },
            "definition.wording.instructions.without_options",
        ),
        (
            {"members": [{"endpoint": "small"}, {"endpoint": "small"}], "voting": {"repeats": [1]}},
            "definition.members[1].name",
        ),
    ],
)
def test_what_no_judge_can_be_is_refused_with_its_place_and_nothing_is_stored(
    ed: ApiClient, definition: dict[str, Any], place: str
) -> None:
    problem = ed.refused(422, "POST", "/named-judges", {"name": "New", "definition": definition})
    assert place in [fault["place"] for fault in problem["faults"]]
    assert "sk-1" not in str(problem)
    assert not JudgeVersion.objects.exists()


def test_a_version_is_sent_whole_or_as_changes(ed: ApiClient) -> None:
    judge = made(ed)
    whole = {"members": [{"endpoint": "small"}], "autograder": "one_shot"}
    for body in ({"parent": 1}, {"parent": 1, "changes": {}, "definition": whole}):
        problem = ed.refused(422, "POST", _versions(judge), body)
        assert problem["faults"][0]["allowed"] == "one of them"
    ed.refused(404, "POST", _versions(judge), {"parent": 7, "definition": whole})
    assert ed.send("POST", _versions(judge), {"parent": 1, "definition": whole})["number"] == 2


def test_a_judge_is_renamed_archived_and_restored(ed: ApiClient) -> None:
    judge = made(ed)
    path = f"/named-judges/{judge['id']}"
    changed = ed.send("PATCH", path, {"name": "Strict", "slug": "strict", "note": "Hm."})
    assert (changed["name"], changed["slug"], changed["note"]) == ("Strict", "strict", "Hm.")
    for slug in ("offline", "endpoint-3", "a b"):
        assert ed.refused(422, "PATCH", path, {"slug": slug})["faults"][0]["place"] == "slug"
    made(ed)  # the slug is free again
    ed.refused(409, "PATCH", path, {"slug": "support-judge"})
    assert ed.send("PATCH", path, {"archived": True})["archived_at"]
    shown = ed.get("/named-judges")
    assert [one["slug"] for one in shown["items"]] == ["support-judge"]
    assert shown["left_out"][0]["items"] == 1
    assert [one["slug"] for one in ed.get("/named-judges", archived=True)["items"]] == ["strict"]
    assert ed.send("PATCH", path, {"archived": False})["archived_at"] is None


def test_runs_say_by_which_version_and_are_found_by_their_judge(ed: ApiClient, people: Cast) -> None:
    judge = made(ed, definition={"members": [{"endpoint": "small"}], "autograder": "one_shot"})
    answers = dataset(people.team, people.ed)
    rubric = version(people.team, people.ed)
    other = run(people.team, people.ed, dataset=answers, rubric_version=rubric)
    body = {
        "dataset_id": answers.pk,
        "rubric_version_id": rubric.pk,
        "judge": "support-judge",
        "no_cap": True,
    }
    started = ed.send("POST", "/runs", body)
    said = {"judge_name": "Support judge", "judge_version": "support-judge@v1"}
    assert {name: started[name] for name in said} == said
    assert started["autograder"] == "one_shot"
    assert [one["id"] for one in ed.get("/runs", named_judge=judge["id"])["items"]] == [started["id"]]
    by_id = {one["id"]: one for one in ed.get("/runs")["items"]}
    assert by_id[started["id"]]["judge_version"] == "support-judge@v1"
    assert by_id[other.pk]["judge_version"] == f"{other.judge_version}"
    assert ed.get(f"/runs/{started['id']}")["judge_name"] == "Support judge"
    assert ed.get(f"/named-judges/{judge['id']}")["runs"] == 1
    assert [one["runs"] for one in ed.get(_versions(judge))["items"]] == [1]


def test_how_votes_are_settled_is_refused_at_its_place(ed: ApiClient) -> None:
    two = [{"endpoint": "small"}, {"endpoint": "small", "name": "other"}]
    for voting, place, allowed in (
        ({"repeats": [0]}, "voting.repeats", "1 to 100"),
        ({"rule": {"binary": "loudest"}}, "voting.rule.binary", "majority, weighted, unanimous, any"),
        ({"quorum": 2.0}, "voting.quorum", "a share from 0 to 1"),
        ({"repeats": [1, 2]}, "definition.voting.repeats", "one number, as the members have"),
        ({"escalate_on": ["error"]}, "definition.voting.escalate_on", "a member of stage 1"),
    ):
        body = {"name": "New", "definition": {"members": two, "voting": voting}}
        [fault] = ed.refused(422, "POST", "/named-judges", body)["faults"]
        assert (fault["place"], fault["allowed"]) == (place, allowed)


def test_a_slug_that_names_something_else_is_refused_and_nothing_is_stored(ed: ApiClient) -> None:
    for slug in ("offline", "panel", "endpoint-3", "new"):
        body = {"name": "New", "slug": slug, "definition": {"members": [{"endpoint": "small"}]}}
        [fault] = ed.refused(422, "POST", "/named-judges", body)["faults"]
        assert (fault["place"], fault["found"]) == ("slug", f"'{slug}'")
    assert not JudgeVersion.objects.exists()


def test_an_endpoint_that_is_renamed_or_archived_meanwhile(ed: ApiClient, people: Cast) -> None:
    judge = made(ed)
    [row] = endpoints.endpoints_of(people.team)
    endpoints.change_endpoint(row, by=people.alice, now=timezone.now(), name="tiny")
    # A version goes by the address: its endpoint is the same under another name.
    strict = {"parent": 1, "changes": {"wording": {"instructions": {"without_options": STRICT}}}}
    assert ed.send("POST", _versions(judge), strict)["number"] == 2
    body = {"name": "New", "definition": {"members": [{"endpoint": "small"}]}}
    [fault] = ed.refused(422, "POST", "/named-judges", body)["faults"]
    assert fault["allowed"].startswith("a model of the team: tiny")
    row.refresh_from_db()
    archiving.archive(row, by=people.alice, now=timezone.now())
    at_once = {"parent": 2, "changes": {"autograder": "one_shot"}}
    problem = ed.refused(409, "POST", _versions(judge), at_once)
    assert problem["detail"] == ("The endpoint tiny that small is asked at is archived: restore it first.")
    assert len(ed.get(_versions(judge))["items"]) == 2


def test_a_version_votes_in_a_panel_and_is_asked_several_times(ed: ApiClient, people: Cast) -> None:
    strict = {"members": [{"endpoint": "small"}], "wording": {"instructions": {"without_options": STRICT}}}
    made(ed, definition=strict)
    answers, rubric = dataset(people.team, people.ed), version(people.team, people.ed)
    body = {"dataset_id": answers.pk, "rubric_version_id": rubric.pk, "no_cap": True}
    [small] = [one["id"] for one in ed.get("/judges")["items"] if one["name"] == "small"]
    panel = {"members": [{"judge": small}, {"judge": "support-judge@v1"}]}
    started = ed.send("POST", "/runs", body | {"panel": panel})
    assert [one["name"] for one in started["panel"]["members"]] == ["small", "support-judge@v1"]
    [asked] = [one for one in JudgeVersion.objects.all() if str(one) == started["judge_version"]]
    assert [one.wording and one.wording.instructions.without_options for one in asked.definition.members] == [
        None,
        STRICT,
    ]
    thrice = {"members": [{"judge": "support-judge"}], "repeats": 3}
    voting = ed.send("POST", "/runs", body | {"panel": thrice})["judge_version"]
    refused = ed.refused(422, "POST", "/runs", body | {"panel": {"members": [{"judge": voting}]}})
    [fault] = refused["faults"]
    assert fault["place"] == "panel.members[0].judge"
    assert fault["allowed"].startswith("a model, or a version that asks one model once")
    ed.refused(404, "POST", "/runs", body | {"panel": {"members": [{"judge": "support-judge@v7"}]}})
