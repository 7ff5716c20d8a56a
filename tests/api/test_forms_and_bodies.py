"""Forms, query strings and bodies: what an operation does not ask for is refused, not ignored."""

from typing import Any

import pytest

from tests.api.client import ApiClient, upload
from tests.factories import Cast

FORM = (
    b'--B\r\nContent-Disposition: form-data; name="file"; filename="d.json"\r\n\r\n'
    b'[{"submission": "Hi"}]\r\n--B--\r\n'
)


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def test_what_there_can_be_one_of_is_refused_when_it_comes_twice(ed: ApiClient) -> None:
    problem = ed.refused(422, "GET", "/rubrics", query={"limit": ["5", "7"]})
    assert problem["faults"] == [{"place": "query.limit", "found": "2 values", "allowed": "one"}]
    first, second = upload('[{"submission": "Hi"}]', "a.json"), upload('[{"submission": "Ho"}]', "b.json")
    for path in ("/datasets/import", "/datasets/imports"):
        problem = ed.refused(422, "POST", path, files={"file": [first, second]})
        assert problem["faults"] == [{"place": "file", "found": "2 values", "allowed": "one"}]
        first.seek(0), second.seek(0)
    problem = ed.refused(422, "POST", "/datasets/import", files={"file": first, "name": ["A", "B"]})
    assert [fault["place"] for fault in problem["faults"]] == ["name"]
    assert ed.get("/datasets")["items"] == []


def test_a_list_in_a_query_may_come_in_several_values(ed: ApiClient, world: Any) -> None:
    path = f"/runs/{world.run.pk}/comparison"
    assert ed.get(path, queue=[world.queue.pk, world.queue.pk])


def test_a_file_under_the_name_of_a_form_field_is_refused(ed: ApiClient) -> None:
    files = {"file": upload('[{"submission": "Hi"}]', "d.json"), "name": upload("Greetings", "name.txt")}
    [fault] = ed.refused(422, "POST", "/datasets/import", files=files)["faults"]
    assert (fault["place"], fault["found"]) == ("name", "an unknown file")
    assert ed.get("/datasets")["items"] == []


@pytest.mark.parametrize(
    "kind",
    [
        "application/x-www-form-urlencoded; charset=latin-1",
        "multipart/form-data; boundary=B; charset=latin-1",
        "multipart/form-data; boundary=B; charset=hex",
        "multipart/form-data; boundary=B; charset=rot13",
        "multipart/form-data; boundary=B; charset=idna",
        "multipart/form-data; boundary=B; charset=undefined",
    ],
)
@pytest.mark.parametrize("path", ["/datasets/import", "/rubrics/import", "/rubrics"])
def test_a_form_in_another_charset_is_not_understood(ed: ApiClient, path: str, kind: str) -> None:
    response = sent_as(ed, path, FORM, kind)
    assert response.status_code == 400, response.content
    assert "UTF-8" in response.json()["detail"]
    assert ed.get("/datasets")["items"] == []


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "us-ascii", "made-up"])
def test_a_form_in_utf_8_may_say_so(ed: ApiClient, charset: str) -> None:
    kind = f"multipart/form-data; boundary=B; charset={charset}"
    assert sent_as(ed, "/datasets/import", FORM, kind).status_code == 201


def test_json_is_utf_8_whatever_charset_it_claims(ed: ApiClient) -> None:
    for charset in ("latin-1", "hex"):
        response = sent_as(
            ed, "/rubrics", '{"title": "Grüße"}'.encode(), f"application/json; charset={charset}"
        )
        assert response.status_code == 201
        assert response.json()["title"] == "Grüße"


def sent_as(client: ApiClient, path: str, body: bytes, kind: str) -> Any:
    """The answer to a body of this media type, as it stands."""
    token = {"Authorization": f"Bearer {client.secret}"}
    return client.client.generic("POST", f"/api/v1{path}", body, content_type=kind, headers=token)


def test_a_body_is_refused_where_none_is_taken(ed: ApiClient, people: Cast, as_member, world: Any) -> None:
    queue, run = f"/queues/{world.queue.pk}", f"/runs/{world.run.pk}"
    for path, key in (
        (f"{queue}/accept", "plan"),
        (f"{run}/extend", "item_ids"),
        (f"{queue}/close", "archive"),
        (f"{queue}/pause", "pause"),
    ):
        [fault] = ed.refused(422, "POST", path, {key: True})["faults"]
        assert fault == {"place": key, "found": "an unknown key", "allowed": "no body here"}
    alice = as_member(people.alice)
    [fault] = alice.refused(422, "DELETE", "/prices", {"model": "m"}, query={"model": "m"})["faults"]
    assert fault["place"] == "model"
    for body in ("[]", "null", "5", '"plan"'):
        [fault] = ed.refused(422, "POST", f"{queue}/close", body)["faults"]
        assert (fault["place"], fault["allowed"]) == ("body", "no body here")
    for body in ("garbage{", b"\xff", "plan=true", '{"a": NaN}'):
        problem = ed.refused(400, "POST", f"{queue}/close", body)
        assert "not valid" in problem["detail"] or "UTF-8" in problem["detail"]
    assert ed.get(queue)["state"] == "open"
    assert ed.send("POST", f"{queue}/pause", {})["state"] == "paused"
    assert ed.send("POST", f"{queue}/resume")["state"] == "open"
