"""Rubrics through the API: drafts, versions, files."""

import json

import pytest

from rubricweb.models import Rubric
from tests.api.client import ApiClient, upload
from tests.factories import CRITERIA, Cast

DRAFT = {"title": "Capitals", "criteria": CRITERIA}


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def test_a_draft_is_started_saved_and_published(ed: ApiClient) -> None:
    rubric = ed.send("POST", "/rubrics", DRAFT)
    assert (rubric["draft_revision"], rubric["created_by"]) == (0, "ed")
    assert rubric["draft"] == DRAFT | {"guidelines": ""}
    shorter = {"title": "Capitals, short", "guidelines": "Be strict.", "criteria": CRITERIA[:1]}
    saved = ed.send("PUT", f"/rubrics/{rubric['id']}/draft", {"revision": 0, "draft": shorter})
    assert (saved["draft_revision"], saved["title"], saved["draft"]) == (1, "Capitals, short", shorter)
    version = ed.send("POST", f"/rubrics/{rubric['id']}/publish", {"note": "first"})
    assert (version["number"], version["note"], version["rubric_id"]) == (1, "first", rubric["id"])
    [criterion] = version["criteria"]
    assert (criterion["name"], criterion["weight"], criterion["group"]) == ("capital", 10.0, "Facts")
    assert ed.get(f"/rubric-versions/{version['id']}") == version
    [row] = ed.get(f"/rubrics/{rubric['id']}/versions")["items"]
    assert (row["number"], row["criterion_count"], row["run_count"]) == (1, 1, 0)
    [listed] = ed.get("/rubrics")["items"]
    assert (listed["title"], listed["newest_number"]) == ("Capitals, short", 1)


def test_publishing_the_same_draft_again_gives_the_same_version(ed: ApiClient) -> None:
    rubric = ed.send("POST", "/rubrics", DRAFT)
    first = ed.send("POST", f"/rubrics/{rubric['id']}/publish")
    assert ed.send("POST", f"/rubrics/{rubric['id']}/publish") == first


def test_a_draft_saved_meanwhile_is_never_overwritten(ed: ApiClient) -> None:
    rubric = ed.send("POST", "/rubrics", DRAFT)
    path = f"/rubrics/{rubric['id']}/draft"
    ed.send("PUT", path, {"revision": 0, "draft": {"title": "Theirs"}})
    problem = ed.refused(409, "PUT", path, {"revision": 0, "draft": {"title": "Mine"}})
    assert problem["type"] == "urn:rubricweb:problem:conflict"
    assert ed.get(f"/rubrics/{rubric['id']}")["title"] == "Theirs"


def test_an_unfinished_draft_is_kept_and_every_fault_named_at_publishing(ed: ApiClient) -> None:
    unfinished = {"title": "T", "criteria": [{"requirement": "", "weight": "heavy"}, {"requirement": "R"}]}
    rubric = ed.send("POST", "/rubrics", unfinished)
    problem = ed.refused(422, "POST", f"/rubrics/{rubric['id']}/publish")
    assert [fault["place"] for fault in problem["faults"]] == [
        "criteria[0].weight",
        "criteria[0].requirement",
    ]
    assert ed.get(f"/rubrics/{rubric['id']}")["draft"]["criteria"] == unfinished["criteria"]
    assert ed.get(f"/rubrics/{rubric['id']}/versions")["items"] == []


def test_a_rubric_file_becomes_version_one(ed: ApiClient) -> None:
    file = upload(json.dumps({"criteria": CRITERIA}), "capitals.json")
    version = ed.send("POST", "/rubrics/import", files={"file": file, "title": "From a file"})
    assert (version["number"], version["title"], len(version["criteria"])) == (1, "From a file", 3)


def test_a_rubric_file_with_faults_imports_nothing(ed: ApiClient) -> None:
    file = upload(json.dumps([{"weight": 1, "requirement": ""}, {"requirement": "x", "wieght": 2}]), "r.json")
    problem = ed.refused(422, "POST", "/rubrics/import", files={"file": file})
    assert len(problem["faults"]) == 2
    assert not Rubric.objects.exists()


def test_rubrics_are_found_by_a_part_of_their_title(ed: ApiClient) -> None:
    for title in ("Capitals", "Rivers"):
        ed.send("POST", "/rubrics", {"title": title})
    assert [row["title"] for row in ed.get("/rubrics", search="riv")["items"]] == ["Rivers"]
