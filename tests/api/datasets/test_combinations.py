"""Datasets are combined over the API."""

import json

from django.utils import timezone

from rubricweb.models import Combination, Dataset
from rubricweb.services.combinations import combinations
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


def test_datasets_are_planned_combined_and_watched(people: Cast, as_member) -> None:
    made = [
        factories.dataset(
            people.team,
            people.ed,
            name=name,
            items=[{"id": "a", "prompt": "So?", "submission": f"{name} says so."}],
        )
        for name in ("one", "two")
    ]
    ed = as_member(people.ed)
    body = {
        "name": "both",
        "datasets": [{"dataset_id": dataset.pk, "system": f"assistant@{dataset.name}"} for dataset in made],
    }
    plan = ed.send("POST", "/datasets/combinations/plan", body)
    assert (plan["items"], plan["cases"], plan["shared"]) == (2, 1, [{"datasets": 2, "cases": 1}])
    assert (plan["conflicts"], plan["runs"]) == ([], [])
    found = json.loads(ed.call("POST", "/datasets/combinations", body).content)
    assert (found["state"], found["dataset_id"]) == ("waiting", None)
    combinations.work(found["id"], worker="w", now=timezone.now)
    found = ed.get(f"/datasets/combinations/{found['id']}")
    assert (found["state"], found["items_copied"]) == ("done", 2)
    assert ed.get(f"/datasets/{found['dataset_id']}")["name"] == "both"
    assert found["datasets"] == [{"dataset_id": dataset.pk, "name": dataset.name} for dataset in made]
    ed.refused(409, "POST", f"/datasets/combinations/{found['id']}/cancel")
    ed.refused(409, "POST", "/datasets/combinations", body)
    ed.refused(422, "POST", f"/datasets/combinations/{found['id']}/runs", {"run_ids": [1]})
    ed.refused(404, "POST", "/datasets/combinations", body | {"datasets": [{"dataset_id": 99_999}] * 2})
    body["datasets"][0]["system"] = "a/b"
    ed.refused(422, "POST", "/datasets/combinations/plan", body | {"name": "other"})
    assert (Combination.objects.count(), Dataset.objects.count()) == (1, 3)


def test_combinations_are_listed_page_by_page_with_the_runs_that_are_left(people: Cast, as_member) -> None:
    version = factories.version(people.team, people.ed)
    items = [{"id": "a", "prompt": "So?", "submission": "It is so."}]
    made = [factories.dataset(people.team, people.ed, name=name, items=items) for name in ("one", "two")]
    run = factories.run(people.team, people.ed, dataset=made[0], rubric_version=version)
    grade(run, InProcessJudge(lambda *_: "MET"))
    ed = as_member(people.ed)
    datasets = [{"dataset_id": dataset.pk, "system": f"assistant@{dataset.name}"} for dataset in made]
    for name in ("first", "second"):
        ed.call("POST", "/datasets/combinations", {"name": name, "datasets": datasets})
    ids = list(Combination.objects.order_by("pk").values_list("pk", flat=True))
    first = ed.get("/datasets/combinations?limit=1")
    assert [one["id"] for one in first["items"]] == ids[1:]
    second = ed.get(f"/datasets/combinations?limit=1&cursor={first['next_cursor']}")
    assert ([one["id"] for one in second["items"]], second["next_cursor"]) == (ids[:1], None)

    assert ed.get(f"/datasets/combinations/{ids[0]}/runs") == []
    combinations.work(ids[0], worker="w", now=timezone.now)
    [offered] = ed.get(f"/datasets/combinations/{ids[0]}/runs")
    assert (offered["run_id"], offered["system"], offered["started_as"]) == (run.pk, "assistant@one", None)
    body = {"run_ids": [run.pk], "no_cap": True}
    [started] = ed.send("POST", f"/datasets/combinations/{ids[0]}/runs", body)["run_ids"]
    [offered] = ed.get(f"/datasets/combinations/{ids[0]}/runs")
    assert offered["started_as"] == started
    ed.refused(409, "POST", f"/datasets/combinations/{ids[0]}/runs", body)
