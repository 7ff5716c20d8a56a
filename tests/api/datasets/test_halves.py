"""Splitting a dataset over the API by marking its cases."""

from rubricweb.models import RunItem
from rubricweb.services.datasets import datasets
from tests import factories
from tests.factories import Cast


def test_cases_are_split_shown_narrowed_and_extended(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    ed, bob, at = as_member(people.ed), as_member(people.bob), f"/datasets/{dataset.pk}"
    nothing = {"dev": 0, "test": 0, "without": 0, "draws": [], "report": None, "looks": []}
    assert bob.get(f"{at}/halves") == nothing
    ed.refused(409, "POST", f"{at}/halves/extend", {})
    ed.refused(422, "POST", f"{at}/halves", {"n_dev": 3})
    made = ed.send("POST", f"{at}/halves", {"n_dev": 1, "seed": 7})
    assert (made["dev"], made["test"], made["without"]) == (1, 2, 0)
    [draw] = made["draws"]
    assert (draw["number"], draw["seed"], draw["n_dev"], draw["n_test"]) == (1, 7, 1, 2)
    assert (draw["created_by"], draw["dataset_version"]) == ("ed", 1)
    assert made == bob.get(f"{at}/halves")
    ed.refused(409, "POST", f"{at}/halves", {"n_dev": 1})
    rows = bob.get(f"{at}/items")["items"]
    by_half = {half: [row["id"] for row in rows if row["half"] == half] for half in ("dev", "test")}
    for half, ids in by_half.items():
        assert [row["id"] for row in bob.get(f"{at}/items", half=half)["items"]] == ids
    assert bob.get(f"/items/{by_half['dev'][0]}")["half"] == "dev"
    assert bob.get(f"{at}/items", half="none")["items"] == []
    bob.refused(422, "GET", f"{at}/items", query={"half": "train"})
    with_one = b'{"id": "later", "prompt": "And Spain?", "submission": "Madrid."}'
    datasets.add_items(dataset, by=people.ed, data=with_one, filename="more.jsonl")
    assert bob.get(f"{at}/halves")["without"] == 1
    [later] = bob.get(f"{at}/items", half="none")["items"]
    assert (later["key"], later["half"]) == ("later", None)
    more = ed.send("POST", f"{at}/halves/extend", {})
    # A third of four is 1.33, so 1: there is one already.
    assert (more["dev"], more["test"], more["without"]) == (1, 3, 0)
    ed.refused(422, "POST", f"{at}/halves/extend", {})


def test_a_run_is_over_one_half(people: Cast, as_member) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    ed = as_member(people.ed)
    body = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "judge": "offline", "no_cap": True}
    refused = ed.refused(422, "POST", "/runs", body | {"half": "test"})
    assert "no test case" in str(refused)
    ed.send("POST", f"/datasets/{dataset.pk}/halves", {"n_dev": 1})
    assert ed.send("POST", "/runs/plan", body | {"half": "test"})["items"] == 2
    run = ed.send("POST", "/runs", body | {"half": "test"})
    assert run["half"] == "test"
    one = ed.send("POST", "/runs", body | {"half": "test", "sample": 1})
    item = RunItem.objects.get(run=one["id"]).item
    assert item.case.half == "test"
    assert ed.send("POST", "/runs", body)["half"] is None
    ed.refused(422, "POST", "/runs", body | {"half": "none"})


def test_a_queue_is_over_one_half(people: Cast, as_member) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    ed = as_member(people.ed)
    body = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "half": "test"}
    new = {"name": "Test cases", "raters": ["ann"]}
    assert "no test case" in str(ed.refused(422, "POST", "/queues", body | new))
    ed.send("POST", f"/datasets/{dataset.pk}/halves", {"n_dev": 1})
    assert ed.send("POST", "/queues/plan", body)["items"] == 2
    queue = ed.send("POST", "/queues", body | new)
    assert (queue["half"], ed.get(f"/queues/{queue['id']}")["progress"]["items"]) == ("test", 2)
    assert ed.send("POST", "/queues", body | new | {"name": "All", "half": None})["half"] is None
    ed.refused(422, "POST", "/queues", body | new | {"half": "none"})
