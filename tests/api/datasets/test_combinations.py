"""Datasets are combined over the API."""

import json

from django.utils import timezone

from rubricweb.models import Combination, Dataset
from rubricweb.services.combinations import combinations
from tests import factories
from tests.factories import Cast


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
    ed.refused(409, "POST", f"/datasets/combinations/{found['id']}/cancel")
    ed.refused(409, "POST", "/datasets/combinations", body)
    ed.refused(422, "POST", f"/datasets/combinations/{found['id']}/runs", {"run_ids": [1]})
    ed.refused(404, "POST", "/datasets/combinations", body | {"datasets": [{"dataset_id": 99_999}] * 2})
    body["datasets"][0]["system"] = "a/b"
    ed.refused(422, "POST", "/datasets/combinations/plan", body | {"name": "other"})
    assert (Combination.objects.count(), Dataset.objects.count()) == (1, 3)
