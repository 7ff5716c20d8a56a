"""Splitting a dataset over the API by marking its cases."""

from typing import Any

from django.urls import reverse

from rubricweb.models import RunItem
from rubricweb.services.reviews import queues
from tests import factories
from tests.factories import Cast


def test_cases_are_split_shown_narrowed_and_extended(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    ed, bob, at = as_member(people.ed), as_member(people.bob), f"/datasets/{dataset.pk}"
    nothing = {"dev": 0, "test": 0, "without": 0, "draws": [], "report": None, "looks": []}
    assert bob.get(f"{at}/split") == nothing
    ed.refused(409, "POST", f"{at}/split/extend", {})
    ed.refused(422, "POST", f"{at}/split", {"n_dev": 3})
    made = ed.send("POST", f"{at}/split", {"n_dev": 1, "seed": 7})
    assert (made["dev"], made["test"], made["without"]) == (1, 2, 0)
    [draw] = made["draws"]
    assert (draw["number"], draw["seed"], draw["n_dev"], draw["n_test"]) == (1, 7, 1, 2)
    assert (draw["created_by"], draw["dataset_version"]) == ("ed", 1)
    assert made == bob.get(f"{at}/split")
    ed.refused(409, "POST", f"{at}/split", {"n_dev": 1})
    rows = bob.get(f"{at}/items")["items"]
    by_half = {half: [row["id"] for row in rows if row["split"] == half] for half in ("dev", "test")}
    for half, ids in by_half.items():
        assert [row["id"] for row in bob.get(f"{at}/items", split=half)["items"]] == ids
    assert bob.get(f"/items/{by_half['dev'][0]}")["split"] == "dev"
    assert bob.get(f"{at}/items", split="none")["items"] == []
    bob.refused(422, "GET", f"{at}/items", query={"split": "train"})
    with_one = b'{"id": "later", "prompt": "And Spain?", "submission": "Madrid."}'
    factories.add_items(dataset, by=people.ed, data=with_one, filename="more.jsonl")
    assert bob.get(f"{at}/split")["without"] == 1
    [later] = bob.get(f"{at}/items", split="none")["items"]
    assert (later["key"], later["split"]) == ("later", None)
    more = ed.send("POST", f"{at}/split/extend", {})
    # A third of four is 1.33, so 1: there is one already.
    assert (more["dev"], more["test"], more["without"]) == (1, 3, 0)
    ed.refused(422, "POST", f"{at}/split/extend", {})


def test_a_run_is_over_one_half(people: Cast, as_member) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    ed = as_member(people.ed)
    body = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "judge": "offline", "no_cap": True}
    refused = ed.refused(422, "POST", "/runs", body | {"split": "test"})
    assert "no test case" in str(refused)
    ed.send("POST", f"/datasets/{dataset.pk}/split", {"n_dev": 1})
    assert ed.send("POST", "/runs/plan", body | {"split": "test"})["items"] == 2
    run = ed.send("POST", "/runs", body | {"split": "test"})
    assert run["split"] == "test"
    one = ed.send("POST", "/runs", body | {"split": "test", "sample": 1})
    item = RunItem.objects.get(run=one["id"]).item
    assert item.case.half == "test"
    assert ed.send("POST", "/runs", body)["split"] is None
    ed.refused(422, "POST", "/runs", body | {"split": "none"})


def test_a_queue_is_over_one_half(people: Cast, as_member) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    ed = as_member(people.ed)
    body = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "split": "test"}
    new = {"name": "Test cases", "raters": ["ann"]}
    assert "no test case" in str(ed.refused(422, "POST", "/queues", body | new))
    ed.send("POST", f"/datasets/{dataset.pk}/split", {"n_dev": 1})
    assert ed.send("POST", "/queues/plan", body)["items"] == 2
    queue = ed.send("POST", "/queues", body | new)
    assert (queue["split"], ed.get(f"/queues/{queue['id']}")["progress"]["items"]) == ("test", 2)
    assert ed.send("POST", "/queues", body | new | {"name": "All", "split": None})["split"] is None
    ed.refused(422, "POST", "/queues", body | new | {"split": "none"})


def test_who_is_to_label_an_item_blind_draws_no_halves(people: Cast, as_member, sign_in) -> None:
    """Into which split a case falls depends on what a peer said of it: none is drawn, whatever that was."""
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    blind: dict[str, Any] = {"dataset": dataset, "rubric_version": version, "name": "Blind"}
    queue = factories.queue(people.team, people.rae, raters=[people.ed], **blind)
    ed, alice, at = as_member(people.ed), as_member(people.alice), f"/datasets/{dataset.pk}/split"
    why = (
        "The verdicts on 3 items of this dataset are hidden from you, and which split a case falls into "
        "would tell of them. Submit your reviews in “Blind”. Or ask somebody who is not a rater."
    )
    assert ed.refused(403, "POST", at, {"n_dev": 1, "seed": 7})["detail"] == why
    page = reverse("dataset_split", args=[people.team.slug, dataset.pk])
    shown = sign_in(people.ed).post(page, {"n_dev": "1", "seed": "7"})
    assert (shown.status_code, why in shown.content.decode()) == (422, True)
    assert not dataset.case_splits.exists()
    # Nothing is copied: who rates in no blind queue may draw while one is open.
    assert alice.send("POST", at, {"n_dev": 1, "seed": 7})["dev"] == 1
    more = b'{"id": "later", "prompt": "And Spain?", "submission": "Madrid."}'
    factories.add_items(dataset, by=people.ed, data=more, filename="more.jsonl")
    # The new item came into the blind queue as well.
    assert "The verdicts on 4 items" in ed.refused(403, "POST", f"{at}/extend", {})["detail"]
    extend = reverse("dataset_split_extend", args=[people.team.slug, dataset.pk])
    said = sign_in(people.ed).post(extend, follow=True).content.decode()
    assert "The verdicts on 4 items of this dataset are hidden from you" in said
    assert ed.get(at)["without"] == 1
    queues.close_queue(queue, by=people.rae)
    assert ed.send("POST", f"{at}/extend", {})["without"] == 0
