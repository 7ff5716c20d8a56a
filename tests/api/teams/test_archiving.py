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
