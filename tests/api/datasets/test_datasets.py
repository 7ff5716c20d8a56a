"""Datasets, items and labels through the API."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Dataset, Rater, ReviewQueue
from rubricweb.services.datasets import imports
from tests.api.client import ApiClient, upload
from tests.factories import CRITERIA, ITEMS, Cast


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


def test_a_file_becomes_a_dataset_with_its_items(ed: ApiClient) -> None:
    text = "\n".join(json.dumps(item) for item in ITEMS)
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(text, "a.jsonl"), "name": "Answers"})
    assert (dataset["name"], dataset["item_count"], dataset["own_rubric_count"]) == ("Answers", 3, 0)
    assert (dataset.pop("left_out"), dataset.pop("left_out_count")) == ([], 0)
    fields = dataset.pop("columns_read")["fields"]
    assert (fields["submission"], fields["prompt"]) == ("submission", "prompt")
    assert dataset.pop("preview")["items"] == 3
    assert ed.get(f"/datasets/{dataset['id']}") == dataset
    [listed] = ed.get("/datasets")["items"]
    assert (listed["item_count"], listed["run_count"]) == (3, 0)
    rows = ed.get(f"/datasets/{dataset['id']}/items")["items"]
    assert [(row["key"], row["position"]) for row in rows] == [("good", 0), ("bad", 1), ("empty-ish", 2)]
    assert "submission" not in rows[0]
    item = ed.get(f"/items/{rows[0]['id']}")
    assert item["submission"] == "Paris is the capital of France."
    assert item["prompt"] == "What is the capital of France?"


def test_a_column_of_own_ids_is_taken_and_said(ed: ApiClient) -> None:
    text = "\n".join(
        json.dumps({"question_id": f"q{n}", "output": f"Rome {n}.", "topic": "t"}) for n in (1, 2)
    )
    read = {
        "fields": {"id": "question_id", "submission": "output"},
        "metadata": ["topic"],
        "own_id": True,
    }
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(text, "a.jsonl")})
    assert dataset["columns_read"] == read
    rows = ed.get(f"/datasets/{dataset['id']}/items")["items"]
    assert [row["key"] for row in rows] == ["q1", "q2"]
    sent = {"file": upload(text, "b.jsonl"), "name": "Behind"}
    made = ed.call("POST", "/datasets/imports", files=sent).json()
    imports.work(made["id"], worker="w:1", now=timezone.now)
    assert ed.get(f"/datasets/imports/{made['id']}")["columns_read"] == read


def test_a_whole_file_is_of_the_version_that_is_named(ed: ApiClient) -> None:
    text = "\n".join(json.dumps({"id": f"q{n}", "submission": f"Rome {n}."}) for n in (1, 2))

    def sent(text: str, system: str) -> dict[str, Any]:
        return {"files": {"file": upload(text, "a.jsonl"), "system": system}}

    dataset = ed.send("POST", "/datasets/import", **sent(text, "assistant@v3"))
    rows = ed.get(f"/datasets/{dataset['id']}/items")["items"]
    assert [(row["key"], row["case_key"], row["system"]) for row in rows] == [
        ("q1", "q1", "assistant@v3"),
        ("q2", "q2", "assistant@v3"),
    ]
    other = json.dumps({"id": "q1", "submission": "Rome.", "system": "assistant@v4"})
    [fault] = ed.refused(422, "POST", "/datasets/import", **sent(other, "assistant@v3"))["faults"]
    assert (fault["place"], fault["found"]) == ("line 1: system", 'the text "assistant@v4"')
    assert ed.refused(422, "POST", "/datasets/import", **sent(text, "@v3"))["faults"][0]["place"] == "system"


def test_the_datasets_prompt_and_reference_stand_in_for_missing_ones(ed: ApiClient) -> None:
    data = {
        "name": "d",
        "prompt": "The common question",
        "reference_submission": "The common reference",
        "rubric": {"criteria": CRITERIA},
        "items": [{"submission": "a", "description": "first"}],
    }
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(json.dumps(data), "d.json")})
    assert dataset["rubric_version"]["number"] == 1
    [row] = ed.get(f"/datasets/{dataset['id']}/items")["items"]
    item = ed.get(f"/items/{row['id']}")
    assert (item["prompt"], item["reference"]) == ("The common question", "The common reference")


def test_a_file_with_faults_imports_nothing(ed: ApiClient) -> None:
    text = '{"id": "a", "submission": "x"}\n{"id": "a", "submission": "y"}\n{"id": "b"}'
    problem = ed.refused(422, "POST", "/datasets/import", files={"file": upload(text, "a.jsonl")})
    assert len(problem["faults"]) == 2
    assert all(fault["place"].startswith("line ") for fault in problem["faults"])
    assert not Dataset.objects.exists()


def test_a_text_beyond_the_limit_is_refused_by_row(ed: ApiClient) -> None:
    turn = {"role": "user", "content": "x" * 2_500_000}
    rows = [
        {"id": "a", "submission": "x" * 5_000_000},
        {"id": "b", "submission": "x" * 5_000_001},
        {"id": "c", "submission": "x", "prompt": [turn, turn]},
        {"id": "d", "submission": "x", "metadata": {"page": "x" * 5_000_001}},
    ]
    text = "\n".join(map(json.dumps, rows))
    refused = ed.refused(422, "POST", "/datasets/import", files={"file": upload(text, "a.jsonl")})
    assert refused["detail"] == "a.jsonl, read as JSON Lines of items: 3 faults, nothing was imported."
    faults = refused["faults"]
    assert [fault["place"] for fault in faults] == [
        "line 2: submission",
        "line 3: prompt",
        "line 4: metadata.page",
    ]
    assert faults[0]["found"] == "a text of 5,000,001 characters"
    assert {fault["allowed"] for fault in faults} == {"at most 5,000,000"}


def test_a_name_that_is_taken_is_a_conflict(ed: ApiClient) -> None:
    for status in (201, 409):
        file = upload('{"submission": "x"}', "a.jsonl")
        response = ed.call("POST", "/datasets/import", files={"file": file, "name": "Answers"})
        assert response.status_code == status


def test_items_are_found_and_sorted(ed: ApiClient, world) -> None:
    path = f"/datasets/{world.dataset.pk}/items"
    assert [row["key"] for row in ed.get(path, search="belgium")["items"]] == ["bad"]
    assert [row["key"] for row in ed.get(path, sort="-key")["items"]] == ["good", "empty-ish", "bad"]


LABELS = """item_id,criterion,rater,verdict,reason
good,capital,ann,MET,says so
good,concise,ann,MET,
bad,capital,zoe,UNMET,no
"""


def test_labels_become_a_closed_queue(ed: ApiClient, world) -> None:
    path = f"/datasets/{world.dataset.pk}/labels"
    form = {"file": upload(LABELS, "l.csv"), "rubric_version_id": world.version.pk, "name": "By hand"}
    queue = ed.send("POST", path, files=form)["queue"]
    assert (queue["name"], queue["state"], queue["imported"]) == ("By hand", "closed", True)
    raters = ed.get(f"/queues/{queue['id']}")["raters"]
    assert {(rater["name"], rater["submitted"]) for rater in raters} == {("Ann", 1), ("zoe", 1)}


def test_labels_that_do_not_fit_are_all_named(ed: ApiClient, world) -> None:
    path = f"/datasets/{world.dataset.pk}/labels"
    text = LABELS + "ugly,capital,ann,MET,\ngood,depth,ann,MET,\n"
    form = {"file": upload(text, "l.csv"), "rubric_version_id": world.version.pk}
    problem = ed.refused(422, "POST", path, files=form)
    assert [fault["place"] for fault in problem["faults"]] == ["line 5: item_id", "line 6: criterion"]
    assert "no rubric" in ed.refused(422, "POST", path, files={"file": upload(LABELS, "l.csv")})["detail"]


def test_items_are_added_to_a_dataset_and_ids_it_has_are_refused(ed: ApiClient) -> None:
    text = "\n".join(json.dumps(item) for item in ITEMS)
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(text, "a.jsonl")})
    address = f"/datasets/{dataset['id']}/items"
    more = '{"id": "late", "submission": "Late."}'
    added = ed.send("POST", address, files={"file": upload(more, "more.jsonl")})
    assert (added["items"], added["dataset"]["item_count"]) == (1, 4)
    problem = ed.refused(422, "POST", address, files={"file": upload(more, "more.jsonl")})
    assert [fault["place"] for fault in problem["faults"]] == ["items[0].id"]
    assert [row["key"] for row in ed.get(address)["items"]] == ["good", "bad", "empty-ish", "late"]


def test_what_a_rater_of_a_file_is_can_be_changed_and_changed_back(ed: ApiClient) -> None:
    data = {"rubric": {"criteria": CRITERIA}, "items": [ITEMS[0] | {"labels": {"gpt": ["MET"] * 3}}]}
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(json.dumps(data), "d.json")})
    [listed] = ed.get(f"/datasets/{dataset['id']}/raters")
    address = f"/datasets/{dataset['id']}/raters/{listed['id']}"
    for kind in ("machine", "human", "settled"):
        assert ed.send("PATCH", address, {"rater_kind": kind}) == [listed | {"rater_kind": kind}]
    assert ed.get(f"/datasets/{dataset['id']}/raters") == [listed | {"rater_kind": "settled"}]


def test_a_file_of_labels_is_looked_at_before_anything_is_stored(ed: ApiClient) -> None:
    data = {"rubric": {"criteria": CRITERIA}, "items": ITEMS[:2]}
    dataset = ed.send("POST", "/datasets/import", files={"file": upload(json.dumps(data), "d.json")})
    name, address = CRITERIA[0]["name"], f"/datasets/{dataset['id']}/labels"
    lines = "item_id,criterion,rater,verdict,rater_kind\n"
    lines += f"good,{name},kim,MET,\nbad,{name},kim,UNMET,\ngood,{name},gpt,MET,machine\n"
    seen = ed.send("POST", f"{address}/plan", files={"file": upload(lines, "first.csv")})
    assert (seen["queue_name"], seen["labels"], seen["items"], seen["criteria"]) == ("first", 3, 2, 1)
    assert seen["raters"] == [
        {"name": "gpt", "rater_kind": "machine", "labels": 1, "member": ""},
        {"name": "kim", "rater_kind": "human", "labels": 2, "member": ""},
    ]
    assert (seen["shape"], [one["field"] for one in seen["columns"]]) == (
        "long",
        ["item_id", "criterion", "rater", "verdict", "rater_kind"],
    )
    assert (seen["left_out"], seen["unknown_values"], len(seen["first"])) == ([], [], 3)
    assert not Rater.objects.filter(name__in=["gpt", "kim"]).exists()
    assert not ReviewQueue.objects.exists()
    wrong = upload(lines + f"nobody,{name},kim,MET,\ngood,none,kim,MET,\n", "first.csv")
    refused = ed.refused(422, "POST", f"{address}/plan", files={"file": wrong})
    assert [fault["place"] for fault in refused["faults"]] == ["line 5: item_id", "line 6: criterion"]
    assert ed.send("POST", address, files={"file": upload(lines, "first.csv")})["queue"]["name"] == "first"


def test_a_file_of_labels_that_grew_brings_what_is_new_in_it(ed: ApiClient, world) -> None:
    path, head = f"/datasets/{world.dataset.pk}/labels", "item_id,criterion,rater,verdict\n"
    before = head + "good,capital,kim,MET\nbad,capital,kim,UNMET\n"

    def form(text: str, name: str) -> dict[str, object]:
        return {"file": upload(text, name), "rubric_version_id": world.version.pk}

    ed.send("POST", path, files=form(before, "week 1.csv"))
    after = before + "good,concise,kim,MET\n"
    known = {"why": "known", "rows": 2, "says": "2 labels that were imported before: the queue week 1"}
    seen = ed.send("POST", f"{path}/plan", files=form(after, "week 2.csv"))
    assert (seen["labels"], seen["left_out"]) == (1, [known])
    stored = ed.send("POST", path, files=form(after, "week 2.csv"))
    assert (stored["queue"]["name"], stored["left_out"]) == ("week 2", [known])
    # A fault keeps it out all the same, and so does a file with nothing new.
    ed.refused(422, "POST", path, files=form(after + "ugly,capital,kim,MET\n", "week 3.csv"))
    refused = ed.refused(409, "POST", path, files=form(after, "week 3.csv"))
    assert "All labels in this file were imported before" in refused["detail"]


def test_labels_of_other_shapes_are_imported_in_part_where_that_is_asked_for(ed: ApiClient, world) -> None:
    path = f"/datasets/{world.dataset.pk}/labels"
    wide = "who,key,capital,concise,gpt: capital\nann,good,yes,fine,\nann,ugly,no,no,\n"

    def form(**said: str) -> dict[str, object]:
        return {"file": upload(wide, "wide.csv"), "rubric_version_id": world.version.pk, **said}

    # Without being told otherwise, nothing is left out.
    refused = ed.refused(422, "POST", path, files=form())
    assert [fault["place"] for fault in refused["faults"]] == ["line 2: concise", "line 3: key"]
    said = {"strict": "false", "columns": "=gpt: capital", "values": "fine=MET", "rater_kinds": "ann=machine"}
    seen = ed.send("POST", f"{path}/plan", files=form(strict="false"))
    assert [(one["value"], one["allowed"]) for one in seen["unknown_values"]] == [
        ("fine", ["MET", "UNMET", "CANNOT_ASSESS"])
    ]
    stored = ed.send("POST", path, files=form(**said))
    assert stored["left_out"] == [
        {"why": "item", "rows": 1, "says": "1 row on 1 item that is not in this dataset: ugly"}
    ]
    assert Rater.objects.get(name="ann").kind == "machine"
    wide = "a,b\n" + "1,2\n" * 50
    (fault,) = ed.refused(422, "POST", path, files=form(strict="false"))["faults"]
    assert "the columns a, b" in fault["found"]
    assert ed.refused(422, "POST", path, files=form(columns="a"))["faults"][0]["place"] == "columns"


def test_a_file_is_imported_in_the_background_and_asked_for_until_it_is_done(ed: ApiClient) -> None:
    file = upload('{"id": "a", "submission": "So."}\n{"id": "b", "submission": "So."}\n', "two.jsonl")
    begun = ed.call("POST", "/datasets/imports", files={"file": file, "name": "Two"})
    assert (begun.status_code, begun.json()["state"]) == (202, "waiting")
    pk = begun.json()["id"]
    imports.work(pk, worker="w:1", now=timezone.now)
    asking = ed.get(f"/datasets/imports/{pk}")
    said = [{"key": "b", "same_as": "a", "words": "So."}]
    assert (asking["state"], asking["first_duplicates"]) == ("asks", said)
    told = ed.send("POST", f"/datasets/imports/{pk}/duplicates", body={"duplicates": "skip"})
    assert told["state"] == "waiting"
    imports.work(pk, worker="w:1", now=timezone.now)
    done = ed.get(f"/datasets/imports/{pk}")
    assert (done["state"], done["rows_stored"]) == ("done", 1)
    assert ed.get(f"/datasets/{done['dataset_id']}")["item_count"] == 1
    assert ed.call("POST", f"/datasets/imports/{pk}/cancel").status_code == 409
    file.seek(0)
    assert ed.call("POST", "/datasets/imports", files={"file": file, "name": "Two"}).status_code == 409
    assert [row["id"] for row in ed.get("/datasets/imports")["items"]] == [pk]
    assert ed.call("GET", f"/datasets/imports/{pk}/faults").content == b"where,found,allowed\r\n"


def test_a_new_dataset_may_be_answers_of_one_version(ed: ApiClient) -> None:
    file = upload('{"id": "a", "submission": "So."}\n', "first.jsonl")
    asked = {"name": "First", "system": "assistant@v1"}
    begun = ed.call("POST", "/datasets/imports", files={"file": file, **asked})
    assert begun.status_code == 202, begun.content
    done = imports.work(begun.json()["id"], worker="w:1", now=timezone.now)
    [item] = ed.get(f"/datasets/{done.dataset_id}/items")["items"]
    assert (item["key"], item["system"]) == ("a", "assistant@v1")
    file.seek(0)
    wrong = ed.call("POST", "/datasets/imports", files={"file": file, "name": "No", "system": "a/b"})
    assert (wrong.status_code, wrong.json()["faults"][0]["place"]) == (422, "system")


def test_columns_are_declared_and_narrow_items(ed: ApiClient) -> None:
    rows = [{"id": key, "submission": key, "language": tongue} for key, tongue in (("a", "de"), ("b", "en"))]
    text = "\n".join(map(json.dumps, rows))
    made = ed.send("POST", "/datasets/import", files={"file": upload(text, "a.jsonl")})
    address = f"/datasets/{made['id']}"
    declared = ed.send("PUT", f"{address}/columns", body={"columns": ["language"]})
    assert declared == ed.get(f"{address}/columns") == [{"name": "language", "values": ["de", "en"]}]
    found = ed.get(f"{address}/items?where=language%3Den")
    assert [row["key"] for row in found["items"]] == ["b"]
    assert ed.call("GET", f"{address}/items?where=colour%3Dred").status_code == 422
