"""Ids, descriptions and sections of a rubric's file through the API."""

import json

from tests.api.client import upload
from tests.factories import Cast
from tests.services.rubrics.test_file_metadata import FILE

SHOWN = [
    {"title": "Still to write", "uid": "s-0", "description": "Nothing yet."},
    {"title": "Facts", "uid": "s-1", "description": "What is true."},
    {"title": "Style", "uid": "", "description": ""},
]


def test_a_version_shows_them_and_so_does_the_one_made_of_its_draft(people: Cast, as_member) -> None:
    ed = as_member(people.ed)
    files = {"file": upload(json.dumps(FILE), "essay.json")}
    first = ed.send("POST", "/rubrics/import", files=files)
    assert (first["uid"], first["description"], first["sections"]) == ("r-1", "For the spring term.", SHOWN)
    assert [one["description"] for one in first["criteria"]] == ["Of old.", "", ""]
    draft = ed.send("GET", f"/rubrics/{first['rubric_id']}")["draft"]
    draft["sections"][1]["description"] = "What was true."
    body = {"revision": 0, "draft": draft}
    ed.send("PUT", f"/rubrics/{first['rubric_id']}/draft", body)
    second = ed.send("POST", f"/rubrics/{first['rubric_id']}/publish", {})
    assert (second["number"], second["sections"][1]["description"]) == (2, "What was true.")
    assert second["sections"][0] == SHOWN[0]


def test_a_draft_whose_id_is_no_text_is_refused_with_its_place(people: Cast, as_member) -> None:
    draft = {"title": "Essay", "sections": [{"title": "A", "id": ["s"]}]}
    [fault] = as_member(people.ed).refused(422, "POST", "/rubrics", draft)["faults"]
    assert fault["place"] == "sections[0].id"


def test_a_file_is_refused_with_the_places_of_its_faults(people: Cast, as_member) -> None:
    data = {"id": True, "sections": [{"title": "A", "description": 3, "criteria": [{"requirement": "a"}]}]}
    files = {"file": upload(json.dumps(data), "bad.json")}
    refused = as_member(people.ed).refused(422, "POST", "/rubrics/import", files=files)
    assert [fault["place"] for fault in refused["faults"]] == ["id", "sections[0].description"]
