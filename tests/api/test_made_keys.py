"""What the API says to people names no key that was made from the content; fields that name an item do."""

from collections.abc import Callable

import pytest

from rubricweb.models import User
from tests import factories
from tests.api.client import ApiClient, upload
from tests.factories import Cast
from tests.worlds.furnished import MADE

TWICE = '{"submission": "Rome it is."}\n{"submission": " Rome it is. "}\n'
ASKED = [
    {"system": f"bot@v{n}", "prompt": f"{word}?", "submission": f"{word} by v{n}."}
    for word in ("Rome", "Oslo")
    for n in (1, 2)
]


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


def test_duplicates_are_told_by_their_words(ed: ApiClient) -> None:
    problem = ed.refused(409, "POST", "/datasets/import", files={"file": upload(TWICE, "t.jsonl")})
    assert "as “Rome it is.” says what an earlier item says" in problem["detail"]
    assert not MADE.search(problem["detail"])
    kept = {"file": upload(TWICE, "t.jsonl"), "duplicates": "keep"}
    [one] = ed.send("POST", "/datasets/import", files=kept)["preview"]["first_duplicates"]
    assert MADE.match(one["key"])  # a field that names the item to programs
    assert one["words"] == "Rome it is."


def test_new_cases_without_an_id_are_counted_not_named(people: Cast, ed: ApiClient) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    rows = '{"submission": "More."}\n{"id": "given", "submission": "Other."}\n'
    plan = ed.send("POST", f"/datasets/{dataset.pk}/items/plan", files={"file": upload(rows, "m.jsonl")})
    assert plan["new_cases"] == 2
    assert [one["name"] for one in plan["new_names"] if one["what"] == "case"] == ["given"]


def test_rows_without_a_case_id_are_refused_without_a_made_one(people: Cast, ed: ApiClient) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    sent = {
        "file": upload('{"submission": "Nowhere."}\n', "a.jsonl"),
        "system": "bot@v3",
        "new_names": "true",
    }
    problem = ed.refused(422, "POST", f"/datasets/{dataset.pk}/answers", files=sent)
    [fault] = problem["faults"]
    assert fault["found"] == "an id that was made from the content"


def test_answers_that_belong_to_no_queue_are_named_by_their_words(people: Cast, ed: ApiClient) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    item = dataset.items.get(submission="Oslo by v1.")
    asked = {"dataset_id": dataset.pk, "rubric_version_id": version.pk, "name": "Q", "raters": ["ann"]}
    asked |= {"source": {"kind": "items", "item_ids": [item.pk]}, "systems": ["bot@v2"]}
    problem = ed.refused(422, "POST", "/queues", asked)
    assert "Only answers of bot@v2 belong here; “Oslo by v1.” is of bot@v1." in problem["detail"]


def test_conflicts_of_a_combination_are_told_by_words(people: Cast, ed: ApiClient) -> None:
    ids = [
        factories.dataset(people.team, people.ed, name=name, items=[{"submission": "Rome it is."}]).pk
        for name in ("one", "two")
    ]
    parts = [{"dataset_id": pk, "system": "bot@v1"} for pk in ids]
    plan = ed.send("POST", "/datasets/combinations/plan", {"name": "both", "datasets": parts})
    said = " ".join(f"{one['place']} {one['found']}" for one in plan["conflicts"])
    assert "two: item “Rome it is.”" in said
    assert not MADE.search(said)


def test_the_audit_log_tells_no_made_key(people: Cast, ed: ApiClient) -> None:
    dataset = factories.dataset(people.team, people.ed, name="plain", items=[{"submission": "Rome it is."}])
    item = dataset.items.get()
    ed.call("POST", f"/items/{item.pk}/comments", {"text": "Hm."})
    [line] = [one for one in ed.get("/audit-log")["items"] if one["kind"] == "item"]
    assert (line["label"], line["target_id"]) == ("", item.pk)
