"""Renaming and archiving by the API."""

from tests import factories
from tests.factories import Cast


def test_a_dataset_is_renamed_and_archived_in_one_request_and_listed_apart(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    ed = as_member(people.ed)
    changed = ed.send("PATCH", f"/datasets/{dataset.pk}", {"name": "Night build", "archived": True})
    assert (changed["name"], changed["archived_at"] is None) == ("Night build", False)
    assert ed.get("/datasets")["items"] == []
    [row] = ed.get("/datasets", archived=True)["items"]
    assert row["name"] == "Night build"
    assert ed.send("PATCH", f"/datasets/{dataset.pk}", {"archived": False})["archived_at"] is None


def test_runs_rubrics_and_queues_likewise(people: Cast, as_member) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    ed = as_member(people.ed)
    assert ed.send("PATCH", f"/runs/{run.pk}", {"name": "Baseline"})["name"] == "Baseline"
    assert ed.send("PATCH", f"/rubrics/{version.rubric_id}", {"name": "Cities"})["title"] == "Cities"
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    for path in (f"/runs/{run.pk}", f"/rubrics/{version.rubric_id}", f"/queues/{queue.pk}"):
        ed.refused(409, "PATCH", path, {"archived": True})
    assert ed.get("/runs", state="archived")["items"] == []
    assert ed.get("/queues", archived=True)["items"] == []


def test_a_system_is_renamed_archived_and_listed_apart(people: Cast, as_member) -> None:
    row = {"case_id": "c1", "system": "assistant@v1", "prompt": "Capital?", "submission": "Paris"}
    dataset = factories.dataset(people.team, people.ed, items=[row])
    version = factories.version(people.team, people.ed)
    ed = as_member(people.ed)
    [system] = ed.get("/systems")["items"]
    path = f"/systems/{system['id']}"
    changed = ed.send("PATCH", path, {"name": "helper", "archived": True})
    assert (changed["name"], changed["archived_at"] is None) == ("helper", False)
    assert ed.get("/systems")["items"] == []
    [listed] = ed.get("/systems", archived=True)["items"]
    assert (listed["name"], listed["versions"][0]["items"]) == ("helper", 1)
    about = {"dataset_id": dataset.pk, "rubric_version_id": version.pk}
    run = about | {"judge": "offline", "no_cap": True}
    asked = [
        ("/runs", run | {"systems": ["helper@v1"]}),
        ("/runs", run),
        ("/launches", run | {"systems": ["helper@v1"]}),
        ("/runs/plan", run | {"systems": ["helper@v1"]}),
        ("/queues", about | {"name": "New", "raters": ["ann"], "systems": ["helper@v1"]}),
    ]
    for where, body in asked:
        problem = ed.refused(409, "POST", where, body)
        assert problem["detail"] == "The system helper is archived: restore it first, or choose another."
    assert ed.send("PATCH", path, {"archived": False}) == {
        "id": system["id"],
        "name": "helper",
        "archived_at": None,
    }
    ed.send("POST", "/runs", run)
    ed.refused(409, "PATCH", path, {"name": "again", "archived": True})
    assert ed.get("/systems")["items"][0]["name"] == "helper"
    as_member(people.rae).refused(403, "PATCH", path, {"archived": True})


def test_an_endpoint_likewise_by_owners(people: Cast, as_member) -> None:
    alice, ed = as_member(people.alice), as_member(people.ed)
    said = {"name": "House model", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": "sk-1"}
    endpoint = alice.send("POST", "/endpoints", said)
    assert endpoint["archived_at"] is None
    path = f"/endpoints/{endpoint['id']}"
    changed = alice.send("PATCH", path, {"name": "Old model", "archived": True})
    assert (changed["name"], changed["has_key"], changed["archived_at"] is None) == ("Old model", True, False)
    assert ed.get("/endpoints")["items"] == []
    assert [row["name"] for row in ed.get("/endpoints", archived=True)["items"]] == ["Old model"]
    assert endpoint["judge"] not in [row["id"] for row in ed.get("/judges")["items"]]
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    body = {
        "dataset_id": dataset.pk,
        "rubric_version_id": version.pk,
        "judge": endpoint["judge"],
        "no_cap": True,
    }
    problem = ed.refused(409, "POST", "/runs", body)
    assert problem["detail"] == "The endpoint Old model is archived: restore it first, or choose another."
    alice.refused(409, "POST", f"{path}/test")
    ed.refused(403, "PATCH", path, {"archived": False})
    assert alice.send("PATCH", path, {"archived": False})["archived_at"] is None
    run = ed.send("POST", "/runs", body)
    problem = alice.refused(409, "PATCH", path, {"archived": True})
    assert problem["detail"] == f"Run {run['id']} is running: cancel it first, or wait until it has finished."
