"""Every operation, asked by every role, with a token that may only read, and with another team's ids."""

import re
from typing import Any

import pytest

from rubricweb.models import Role
from tests.api.client import ApiClient, operations, upload
from tests.factories import Cast
from tests.worlds.furnished import Furnished

ALL = operations()
IDS = [f"{method} {path}" for method, path, _ in ALL]


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def request_for(operation: Any, ids: dict[str, Any]) -> dict[str, Any]:
    """A valid body, form or query string for each operation that needs one."""
    file = upload("Not a file anybody can import", "broken.json")
    combined = {"name": "Both", "datasets": [{"dataset_id": ids["dataset_id"], "system": "a@1"}]}
    needed: dict[str, dict[str, Any]] = {
        "change_me": {"body": {"single_keys": True}},
        "retire_items": {"body": {"item_ids": [ids["item_id"]]}},
        "restore_items": {"body": {"item_ids": [ids["item_id"]]}},
        "correct_item": {"body": {"submission": "Other words."}},
        "correct_case": {"body": {"prompt": "Asked in other words?"}},
        "invite": {"body": {"who": "somebody-new"}},
        "renew_invitation": {"body": {}},
        "share": {"body": {"page": "comparison", "run_id": ids["run_id"]}},
        "save_view": {"body": {"kind": "runs", "name": "Mine"}},
        "change_view": {"body": {"name": "Renamed"}},
        "compare_many_runs": {"query": {"run": [ids["run_id"], ids["baseline_id"]]}},
        "add_endpoint": {"body": {"name": "New", "base_url": "https://judge.example/v1", "model": "m"}},
        "edit_endpoint": {"body": {"temperature": 0.5}},
        "set_price": {
            "body": {"model": "m", "input_usd_per_million": 2.0, "output_usd_per_million": 1.0},
        },
        "remove_price": {"query": {"model": "m"}},
        "change_spending": {"body": {"monthly_budget_usd": 5.0}},
        "change_retention": {"body": {"keep_calls_days": 30}},
        "create_judge": {"body": {"name": "New", "definition": {"members": [{"endpoint": "local"}]}}},
        "change_judge": {"body": {"note": "Hm."}},
        "try_judge_version": {"body": {"item": ids["item_id"]}},
        "try_definition": {"body": {"item": ids["item_id"], "judge": "offline"}},
        "keep_judge_version": {"body": {"parent": 1, "changes": {"autograder": "one_shot"}}},
        "create_rubric": {"body": {"title": "New"}},
        "import_rubric": {"files": {"file": file}},
        "save_draft": {"body": {"revision": 0, "draft": {"title": "New"}}},
        "publish_rubric": {"body": {}},
        "import_dataset": {"files": {"file": file}},
        "plan_import": {"files": {"file": file}},
        "plan_items": {"files": {"file": file}},
        "undo_version": {"body": {"version": 1, "plan": True}},
        "declare_columns": {"body": {"columns": []}},
        "plan_combination": {"body": combined},
        "combine_datasets": {"body": combined},
        "start_combined_runs": {"body": {"run_ids": [ids["run_id"]], "no_cap": True}},
        "start_import": {"files": {"file": file}},
        "decide_duplicates": {"body": {"duplicates": "keep"}},
        "add_items": {"files": {"file": file}},
        "add_answers": {"files": {"file": file, "system": "a@1"}},
        "import_labels": {"files": {"file": file}},
        "plan_labels": {"files": {"file": file}},
        "change_imported_rater": {"body": {"rater_kind": "human"}},
        "seal_dataset": {"body": {"n_dev": 1}},
        "split_cases": {"body": {"n_dev": 1}},
        "extend_split": {"body": {}},
        "change_tags": {"body": {"case_ids": [ids["case_id"]], "add": ["hard"]}},
        "set_tags": {"body": {"tags": ["hard"]}},
        "decide_about_labels": {"body": {"uid": "guidelines", "kind": "later"}},
        "open_label_queues": {"body": {"uid": "guidelines", "seen": 1}},
        "restore_rubric_version": {"body": {"revision": 0}},
        "copy_rubric_version": {"body": {}},
        "change_dataset": {"body": {"name": "Renamed"}},
        "change_rubric": {"body": {"name": "Renamed"}},
        "change_system": {"body": {"name": "helper"}},
        "change_system_version": {"body": {"label": "v9"}},
        "change_member": {"body": {"role": "viewer"}},
        "change_team": {"body": {"name": "Renamed"}},
        "change_run": {"body": {"name": "Renamed"}},
        **{
            f"delete_{kind}": {"body": {"name": "x"}}
            for kind in ("rubric", "dataset", "run", "queue", "system", "system_version", "team")
        },
        "start_run": {"body": {"dataset_id": ids["dataset_id"], "judge": "offline"}},
        "start_launch": {"body": {"dataset_id": ids["dataset_id"], "judge": "offline"}},
        "compare_versions": {"query": {"version": "assistant@v1", "baseline": "assistant@v0"}},
        "resume_run": {"body": {}},
        "set_budget": {"body": {"budget_usd": 1.0}},
        "create_queue": {"body": {"name": "New", "dataset_id": ids["dataset_id"], "raters": ["nobody"]}},
        "plan_queue": {"body": {"dataset_id": ids["dataset_id"]}},
        "edit_queue": {"body": {"instructions": "Be kind."}},
        "extend_queue": {"body": {"raters_per_item": 1}},
        "reassign_queue": {"body": {"everyone": False}},
        "mark_gold": {"body": {"at_random": 1}},
        "set_calibration": {"body": {"calibration_items": 0}},
        "save_review_note": {"body": {"note": "Hm."}},
        "save_verdict": {"body": {"verdict": "MET"}},
        "revise": {"body": {"choice": "keep"}},
        "add_comment": {"body": {"text": "Hm."}},
        "edit_comment": {"body": {"resolved": True}},
        "read_notifications": {"body": {}},
        "set_notification_mail": {"body": {"wanted": True}},
        "send_review_back": {"body": {"note": "Look again."}},
        "skip_review": {"body": {"reason": "Unreadable."}},
        "compare": {"query": {"queue": ids["queue_id"]}},
        "list_to_adjudicate": {"query": {"queue": ids["queue_id"], "run": ids["run_id"]}},
        "adjudicate": {"body": {"verdict": "MET", "cause": "judge_wrong"}},
        "withheld_items": {"query": {"dataset": ids["dataset_id"]}},
        "export": {
            "query": {
                "what": "verdicts",
                "format": "csv",
                "dataset": ids["dataset_id"],
                "queue": ids["queue_id"],
            }
        },
    }
    return needed.get(operation.operation_id, {})


def address(path: str, ids: dict[str, Any]) -> str:
    names = re.findall(r"{(?:\w+:)?(\w+)}", path)
    unknown = set(names) - set(ids)
    assert not unknown, f"tests/api/test_access.py must learn an id for {unknown}"
    for name in names:
        path = re.sub(rf"{{(?:\w+:)?{name}}}", str(ids[name]), path)
    return path


@pytest.mark.parametrize(("method", "path", "operation"), ALL, ids=IDS)
def test_every_operation_keeps_its_roles(
    method: str, path: str, operation: Any, furnished: Furnished, people: Cast, as_member
) -> None:
    gate = operation.auth_callbacks[0]
    # Ids nobody has: who is let in learns that there is nothing, who is not learns only that.
    nothing = dict.fromkeys(furnished.ours, 10**9)
    for role, person in people.members.items():
        response = as_member(person).call(method, address(path, nothing), **request_for(operation, nothing))
        if role < gate.role:
            assert response.status_code == 403, f"{role.label} may {operation.operation_id}"
        else:
            assert response.status_code not in (401, 403, 500), f"{role.label}: {response.content}"


@pytest.mark.parametrize(("method", "path", "operation"), ALL, ids=IDS)
def test_a_token_that_may_only_read_reads_and_no_more(
    method: str, path: str, operation: Any, furnished: Furnished, people: Cast, token
) -> None:
    ids = furnished.ours
    people.team.queues.update(blind="none")
    reader = ApiClient(token(people.alice, people.team, may_write=False))
    response = reader.call(method, address(path, ids), **request_for(operation, ids))
    if operation.operation_id == "get_reveal":
        assert response.json()["type"].endswith("withheld")
    elif operation.operation_id == "compare_versions":
        assert "There is no system version 'assistant@v1'" in response.json()["detail"]
    elif method == "GET":
        assert response.status_code == 200, response.content
    else:
        assert response.status_code == 403
        assert "may only read" in response.json()["detail"]


@pytest.mark.parametrize(("method", "path", "operation"), ALL, ids=IDS)
def test_nobody_comes_in_without_a_token(
    method: str, path: str, operation: Any, furnished: Furnished, people: Cast
) -> None:
    ids = dict.fromkeys(furnished.ours, 1)
    response = ApiClient(None).call(method, address(path, ids), **request_for(operation, ids))
    assert response.status_code == 401


TEAMS_OWN = [
    case
    for case in ALL
    if "{" in case[1] or case[2].operation_id in ("start_run", "start_launch", "create_queue", "plan_queue")
]


@pytest.mark.parametrize(
    ("method", "path", "operation"), TEAMS_OWN, ids=[f"{method} {path}" for method, path, _ in TEAMS_OWN]
)
def test_another_teams_ids_are_not_found(
    method: str, path: str, operation: Any, furnished: Furnished, people: Cast, as_member
) -> None:
    theirs = furnished.theirs
    response = as_member(people.alice).call(method, address(path, theirs), **request_for(operation, theirs))
    assert response.status_code == 404, response.content


def test_another_teams_ids_inside_a_request_are_not_found(
    furnished: Furnished, people: Cast, as_member
) -> None:
    ours = furnished.ours
    theirs = furnished.theirs
    alice = as_member(people.alice)
    run = {"dataset_id": ours["dataset_id"], "rubric_version_id": ours["version_id"], "judge": "offline"}
    queue = {
        "name": "New",
        "dataset_id": ours["dataset_id"],
        "rubric_version_id": ours["version_id"],
        "raters": ["alice"],
    }
    alice.refused(404, "POST", "/runs", run | {"dataset_id": theirs["dataset_id"]})
    alice.refused(404, "POST", "/runs", run | {"rubric_version_id": theirs["version_id"]})
    alice.refused(404, "POST", "/launches", run | {"dataset_id": theirs["dataset_id"]})
    alice.refused(404, "POST", "/launches", run | {"rubric_version_id": theirs["version_id"]})
    alice.refused(404, "POST", "/queues", queue | {"rubric_version_id": theirs["version_id"]})
    alice.refused(404, "POST", "/queues", queue | {"run_id": theirs["run_id"]})
    alice.refused(422, "POST", "/queues", queue | {"raters": ["charlie"]})
    labels = {"file": upload("x", "x.csv"), "rubric_version_id": theirs["version_id"]}
    alice.refused(404, "POST", f"/datasets/{ours['dataset_id']}/labels", files=labels)
    run_path = f"/runs/{ours['run_id']}"
    alice.refused(404, "GET", f"{run_path}/items/{theirs['item_id']}")
    alice.refused(404, "GET", f"{run_path}/comparison", query={"queue": theirs["queue_id"]})
    alice.refused(404, "GET", "/adjudication", query={"queue": theirs["queue_id"]})
    alice.refused(404, "GET", "/adjudication", query={"queue": ours["queue_id"], "run": theirs["run_id"]})
    alice.refused(404, "POST", f"/queues/{ours['queue_id']}/items/{theirs['item_id']}/start")
    alice.refused(
        404, "PUT", f"/reviews/{ours['review_id']}/criteria/{theirs['criterion_id']}", {"verdict": "MET"}
    )
    decision = {"verdict": "MET", "cause": "judge_wrong"}
    path = f"/items/{ours['item_id']}/criteria/{theirs['criterion_id']}/adjudication"
    alice.refused(404, "PUT", path, decision)
    export = {"what": "verdicts", "format": "csv", "dataset": ours["dataset_id"]}
    for name in ("dataset", "queue", "run"):
        alice.refused(404, "GET", "/exports", query=export | {name: theirs[f"{name}_id"]})


def test_lists_and_filters_hold_nothing_of_another_team(
    furnished: Furnished, people: Cast, as_member
) -> None:
    theirs = furnished.theirs
    alice, ours = as_member(people.alice), furnished.ours
    for path, names in {
        "/rubrics": ["rubric_id"],
        "/datasets": ["dataset_id"],
        "/runs": ["run_id", "baseline_id"],
        "/queues": ["queue_id"],
    }.items():
        assert {row["id"] for row in alice.get(path)["items"]} == {ours[name] for name in names}
    assert alice.get("/runs", dataset=theirs["dataset_id"])["items"] == []
    assert alice.get("/runs", rubric=theirs["rubric_id"])["items"] == []


READS = [(path, operation) for method, path, operation in ALL if method == "GET"]


@pytest.mark.parametrize(("path", "operation"), READS, ids=[f"GET {path}" for path, _ in READS])
@pytest.mark.parametrize("name", ["team__slug", "dataset__team__tokens__digest", "order_by", "search__regex"])
def test_no_name_in_the_query_string_reaches_the_database(
    path: str, operation: Any, name: str, furnished: Furnished, people: Cast, as_member
) -> None:
    ids = furnished.ours
    query = request_for(operation, ids).get("query", {}) | {name: "x"}
    problem = as_member(people.alice).refused(422, "GET", address(path, ids), query=query)
    [fault] = problem["faults"]
    assert fault["place"] == f"query.{name}"
    assert fault["allowed"]


SORTED = {"list_items": "/datasets/{dataset_id}/items", "list_run_items": "/runs/{run_id}/items"}


@pytest.mark.parametrize("path", SORTED.values(), ids=SORTED)
@pytest.mark.parametrize("sort", ["dataset__team", "item__dataset__team__slug", "?", "-", "submission"])
def test_sort_names_come_from_a_closed_list(
    path: str, sort: str, furnished: Furnished, people: Cast, as_member
) -> None:
    ids = furnished.ours
    query = {"sort": sort}
    problem = as_member(people.alice).refused(422, "GET", path.format(**ids), query=query)
    [fault] = problem["faults"]
    assert fault["place"] == "query.sort"
    assert "'position'" in fault["allowed"]


def test_every_sorted_list_is_in_the_test_above() -> None:
    found = {
        operation.operation_id
        for _, _, operation in ALL
        for model in operation.models
        if model.__ninja_param_source__ == "query" and "sort" in model.__ninja_flatten_map__
    }
    assert found == set(SORTED)


def test_every_operation_declares_a_role_and_whether_it_writes() -> None:
    for method, path, operation in ALL:
        [gate] = operation.auth_callbacks
        assert gate.role in Role, path
        assert gate.writes == (method != "GET"), path
