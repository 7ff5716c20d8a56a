"""Whatever is refused is answered as a problem, with its place, and without our internals."""

from typing import Any

import pytest
from django.test import Client

from rubricweb.api.rubrics import routes as room
from tests import factories
from tests.api.client import ApiClient, declared, faults_of, upload
from tests.factories import Cast


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def test_a_problem_says_what_where_and_what_is_allowed(ed: ApiClient) -> None:
    problem = ed.refused(422, "POST", "/rubrics", {"title": "", "critera": []})
    assert problem["type"] == "urn:rubricweb:problem:invalid"
    assert problem["title"] == "Not valid"
    assert problem["detail"] == "The request has 2 faults."
    assert {fault["place"]: (fault["found"], fault["allowed"]) for fault in problem["faults"]} == {
        "title": ("an empty text", "String should have at least 1 character"),
        "critera": (
            "an unknown key",
            "did you mean criteria? One of title, id, description, guidelines, criteria, sections, "
            "pass_rule, length_penalty",
        ),
    }


def test_a_fault_deep_in_a_body_is_placed(ed: ApiClient) -> None:
    body = {"title": "T", "criteria": [{"requirement": "a"}, {"requirement": "b", "wieght": 1}]}
    problem = ed.refused(422, "POST", "/rubrics", body)
    [fault] = problem["faults"]
    assert fault["place"] == "criteria[1].wieght"
    assert fault["allowed"].startswith("did you mean weight?")


def test_what_is_missing_is_named(ed: ApiClient) -> None:
    problem = ed.refused(422, "POST", "/queues", {})
    assert [(fault["place"], fault["found"]) for fault in problem["faults"]] == [
        ("name", "nothing"),
        ("dataset_id", "nothing"),
    ]


def test_a_missing_body_and_a_missing_file_are_named(ed: ApiClient) -> None:
    assert [fault["place"] for fault in ed.refused(422, "POST", "/runs")["faults"]] == ["body"]
    problem = ed.refused(422, "POST", "/datasets/import", files={"name": "x"})
    assert [fault["place"] for fault in problem["faults"]] == ["file"]


def test_an_unknown_choice_lists_the_choices(ed: ApiClient) -> None:
    body = {"dataset_id": 1, "judge": "offline", "autograder": "vibes"}
    [fault] = ed.refused(422, "POST", "/runs", body)["faults"]
    assert (fault["place"], fault["found"]) == ("autograder", 'the text "vibes"')
    assert "'one_shot'" in fault["allowed"]


@pytest.mark.parametrize(
    ("source", "wrong", "allowed"),
    [
        (
            {"kind": "sample", "size": 1, "sed": 2},
            "sed",
            "did you mean seed? One of kind, size, strata_metadata, strata_criterion, run_id, seed, search, "
            "metadata",
        ),
        ({"kind": "filter", "serach": "x"}, "serach", "did you mean search? One of kind, search, metadata"),
    ],
)
def test_an_unknown_key_is_placed_as_sent_and_its_neighbours_are_named(
    ed: ApiClient, world: Any, source: Any, wrong: str, allowed: str
) -> None:
    planned = {"dataset_id": world.dataset.pk, "source": source}
    for path, body in (
        ("/queues", planned | {"name": "Q"}),
        ("/queues/plan", planned),
        (f"/queues/{world.queue.pk}/extend", {"source": source}),
    ):
        [fault] = ed.refused(422, "POST", path, body)["faults"]
        assert (fault["place"], fault["allowed"]) == (f"source.{wrong}", allowed)


def test_a_value_of_no_allowed_type_is_one_fault_where_it_was_sent(ed: ApiClient) -> None:
    body = {"title": "T", "criteria": [], "pass_rule": {"min_criterion": []}}
    assert ed.refused(422, "POST", "/rubrics", body)["faults"] == [
        {
            "place": "pass_rule.min_criterion",
            "found": "an empty list",
            "allowed": "a valid number, or a valid string",
        }
    ]
    queue = {"name": "Q", "dataset_id": 1, "criteria": [0]}
    assert [one["place"] for one in ed.refused(422, "POST", "/queues", queue)["faults"]] == ["criteria[0]"]


@pytest.mark.parametrize(
    ("panel", "place"),
    [
        ({"repeats": "often"}, "panel.repeats"),
        ({"repeats": [1, "often"]}, "panel.repeats[1]"),
        ({"rule": "whim"}, "panel.rule"),
        ({"rule": {"binary": "whim"}}, "panel.rule.binary"),
        ({"rule": {"whim": "majority"}}, "panel.rule.whim"),
        ({"repeats": [{}]}, "panel.repeats[0]"),
    ],
)
def test_a_fault_of_a_panel_is_placed_as_it_was_sent(ed: ApiClient, panel: Any, place: str) -> None:
    body = {"dataset_id": 1, "panel": {"members": [{"judge": "offline"}], **panel}}
    [fault] = ed.refused(422, "POST", "/runs", body)["faults"]
    assert fault["place"] == place


def test_a_refusal_in_one_sentence_is_one_fault_as_well(ed: ApiClient, world: Any) -> None:
    problem = ed.refused(422, "GET", f"/runs/{world.run.pk}/against/{world.run.pk}")
    assert [fault["allowed"] for fault in problem["faults"]] == [problem["detail"]]


@pytest.mark.parametrize(
    ("wrong", "allowed"),
    [
        ({"dataset_id": True}, "a valid integer"),
        ({"dataset_id": "1"}, "a valid integer"),
        ({"use_cache": "on"}, "a valid boolean"),
        ({"use_cache": 1}, "a valid boolean"),
        ({"option_seed": "3"}, "a valid integer"),
        ({"budget_usd": "3"}, "a valid number"),
    ],
)
def test_json_of_another_type_than_described_is_refused(
    ed: ApiClient, world: Any, wrong: Any, allowed: str
) -> None:
    body = {"dataset_id": world.dataset.pk, "judge": "offline"}
    [fault] = ed.refused(422, "POST", "/runs", body | wrong)["faults"]
    assert (fault["place"], fault["allowed"]) == (next(iter(wrong)), allowed)


def test_json_of_the_described_types_is_taken(ed: ApiClient, world: Any) -> None:
    """To JSON 1.0 is an integer as well; names of a closed list are texts."""
    body = {
        "name": "Q",
        "dataset_id": float(world.dataset.pk),
        "rubric_version_id": world.version.pk,
        "criteria": [float(world.version.criteria.get(position=0).pk)],
        "raters": ["ann"],
        "blind": "both",
        "order": None,
        "needs_reason": "never",
    }
    assert ed.send("POST", "/queues", body)["dataset"]["id"] == world.dataset.pk
    run = {"dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk, "judge": "offline"}
    assert ed.send("POST", "/runs", run | {"budget_usd": 1})["budget_usd"] == 1


@pytest.mark.parametrize("limit", ["0", "201", "-1", "many", "1e3", "9" * 5000])
def test_a_page_has_one_to_two_hundred_rows(ed: ApiClient, limit: str) -> None:
    [fault] = ed.refused(422, "GET", "/rubrics", query={"limit": limit})["faults"]
    assert fault["place"] == "query.limit"


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "not json",
        b"\xff\xfe{}",
        '{"title": "T", "criteria": [{"weight": NaN}]}',
        '{"title": "T", "criteria": [{"weight": 1e999}]}',
        '{"title": "T", "title": "U"}',
        '{"title": "a\\u0000b"}',
        '{"title": "\\ud800"}',
        '{"a\\u0000": 1}',
        "[" * 100_000,
        "1" * 10_000,
    ],
)
def test_a_body_that_is_not_strict_json_is_not_understood(ed: ApiClient, body: str | bytes) -> None:
    problem = ed.refused(400, "POST", "/rubrics", body)
    assert problem["type"] == "urn:rubricweb:problem:bad-request"
    assert ed.get("/rubrics")["items"] == []


def test_escaped_characters_that_only_look_dangerous_come_through(ed: ApiClient) -> None:
    body = '{"title": "a \\\\u0000 and \\ud83d\\ude00"}'
    assert ed.send("POST", "/rubrics", body)["title"] == "a \\u0000 and \U0001f600"


def test_a_nul_character_in_a_query_or_form_is_refused(ed: ApiClient) -> None:
    ed.refused(422, "GET", "/rubrics", query={"search": "a\x00b"})
    file = upload("[]", "r.json")
    ed.refused(422, "POST", "/rubrics/import", files={"file": file, "title": "a\x00b"})


def test_an_unknown_field_of_a_form_is_refused(ed: ApiClient) -> None:
    file = upload('[{"submission": "Hi"}]', "d.json")
    problem = ed.refused(422, "POST", "/datasets/import", files={"file": file, "nmae": "Greetings"})
    [fault] = problem["faults"]
    assert (fault["place"], fault["found"]) == ("nmae", "an unknown form field")
    assert fault["allowed"].startswith("did you mean name?")
    assert ed.get("/datasets")["items"] == []


def test_a_broken_form_is_not_understood(ed: ApiClient) -> None:
    response = ed.client.generic(
        "POST",
        "/api/v1/datasets/import",
        b"nothing of the kind",
        content_type="multipart/form-data",
        headers={"Authorization": f"Bearer {ed.secret}"},
    )
    assert response.status_code in (400, 422)
    assert response["Content-Type"] == "application/problem+json"


def test_a_body_above_the_limit_is_too_large(ed: ApiClient, settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    problem = ed.refused(413, "POST", "/rubrics", {"title": "T", "guidelines": "g" * 200})
    assert problem["type"] == "urn:rubricweb:problem:too-large"


def test_a_file_above_the_limit_is_too_large(ed: ApiClient, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 10
    ed.refused(413, "POST", "/rubrics/import", files={"file": upload("[" + " " * 20 + "]", "r.json")})


CURSORS = [
    "nonsense",
    "é",
    "W10",  # []
    "WzFd",  # [1]
    "WyJ4IiwieSJd",  # ["x", "y"]
    "W3sidCI6IngifSwxXQ",  # [{"t": "x"}, 1]
    "W3sidCI6MX0sMV0",  # [{"t": 1}, 1]
    "W251bGwsbnVsbF0",  # [null, null]
    "W1sxXSxbMV1d",  # [[1], [1]]
    "WzFlOTk5LCAxZTk5OV0",  # [1e999, 1e999]
    "W3siYSI6MX0sMV0",  # [{"a": 1}, 1]
    "W251bGwsIDFlOTk5XQ",  # [null, 1e999]
    "W251bGwsIDk5OTk5OTk5OV0",  # [null, 999999999], a row that is not there
    "W3sidCI6IjAwMDEtMDEtMDFUMDA6MDA6MDArMjM6NTkifSwxXQ",  # a time with no UTC: year 1, hours east of it
]


@pytest.mark.parametrize("cursor", CURSORS)
@pytest.mark.parametrize("path", ["/rubrics", "/runs", "/queues", "/datasets"])
def test_a_cursor_nobody_gave_out_is_refused(ed: ApiClient, world: Any, path: str, cursor: str) -> None:
    [fault] = ed.refused(422, "GET", path, query={"cursor": cursor})["faults"]
    assert fault["place"] == "cursor"


def test_a_cursor_of_items_nobody_gave_out_is_refused(people: Cast, ed: ApiClient) -> None:
    path = f"/datasets/{factories.dataset(people.team, people.ed).pk}/items"
    for cursor in (*CURSORS, "WyJiYWQiLCAxXQ", "WzFlOTk5XQ"):  # ["bad", 1], [1e999]
        for sort in ("key", "-key", "position"):
            if (cursor, sort) != ("WzFd", "position"):  # [1], which is one
                ed.refused(422, "GET", path, query={"cursor": cursor, "sort": sort})


def test_a_cursor_of_an_earlier_release_says_to_start_again(ed: ApiClient, world: Any) -> None:
    """It held the key of the last item: ["bad", 2]."""
    query = {"cursor": "WyJiYWQiLCAyXQ", "sort": "key"}
    problem = ed.refused(422, "GET", f"/datasets/{world.dataset.pk}/items", query=query)
    assert "an earlier release; start from the first page" in problem["detail"]


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v2", "/api/", "/api/v1/rubrics/", "/api/v1/rubrics/x", "/api/v1/%00"]
)
def test_an_unknown_route_is_a_problem_too(people: Cast, path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"


def test_an_enormous_id_is_only_not_found(ed: ApiClient) -> None:
    for number in (0, 2**63, 10**40):
        ed.refused(404, "GET", f"/rubrics/{number}")
        ed.refused(404, "GET", f"/items/{number}")
        ed.refused(404, "GET", f"/reviews/{number}")


def test_a_wrong_method_says_which_are_right(people: Cast) -> None:
    response = Client().patch("/api/v1/rubrics")
    assert response.status_code == 405
    assert response["Content-Type"] == "application/problem+json"
    assert {name.strip() for name in response["Allow"].split(",")} == {"GET", "POST"}


def test_a_bug_of_ours_is_told_to_the_log_only(ed: ApiClient, monkeypatch, caplog) -> None:
    def broken(*args: object, **options: object) -> None:
        raise RuntimeError("secret internals")

    monkeypatch.setattr(room.selected, "rubrics", broken)
    response = ed.client.get("/api/v1/rubrics", headers={"Authorization": f"Bearer {ed.secret}"})
    assert response.status_code == 500
    described = declared("GET", "/api/v1/rubrics")
    assert described is not None
    assert faults_of(response["Content-Type"], response.json(), described[500]) == []
    assert b"secret internals" not in response.content
    assert "secret internals" in caplog.text


def test_answers_stay_out_of_caches(ed: ApiClient) -> None:
    assert ed.call("GET", "/me")["Cache-Control"] == "no-store"
    assert ed.call("GET", "/rubrics/999")["Cache-Control"] == "no-store"
