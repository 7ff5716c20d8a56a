"""What a file comes to is said before it is stored, and asked by one rule: over the API, at the terminal."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rubricweb.api.datasets.schemas import AddedAnswers
from rubricweb.models import Dataset, DatasetImport, Item, JournalEntry, System, User
from rubricweb.services.datasets.previews import nearest_name
from tests import factories
from tests.api.client import ApiClient, upload
from tests.commands.shapes import misfits
from tests.commands.terminal import Terminal, terminal_of
from tests.factories import Cast

TWICE = (
    '{"id": "a", "submission": "So."}\n{"id": "b", "submission": " So. "}\n{"id": "c", "submission": "No."}\n'
)
V2 = '{"id": "x", "submission": "Yes!"}\n{"id": "y", "submission": "No!"}\n'


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def terminal(people: Cast, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return terminal_of(people.team, people.ed, capsys)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Two cases, answered by assistant@v1."""
    rows = [
        {"case_id": key, "system": "assistant@v1", "prompt": f"{key}?", "submission": "So."} for key in "xy"
    ]
    return factories.dataset(people.team, people.ed, name="asked", items=rows)


def test_the_same_words_are_asked_about_where_the_answer_comes_at_once(ed: ApiClient) -> None:
    asked = {"file": upload(TWICE, "t.jsonl")}
    problem = ed.refused(409, "POST", "/datasets/import", files=asked)
    assert "1 of 3 items have the words of an earlier item, as b says what a says" in problem["detail"]
    assert not Dataset.objects.exists()
    kept = {"file": upload(TWICE, "kept.jsonl"), "duplicates": "keep"}
    assert ed.send("POST", "/datasets/import", files=kept)["item_count"] == 3
    skipped = {"file": upload(TWICE, "t.jsonl"), "duplicates": "skip"}
    made = ed.send("POST", "/datasets/import", files=skipped)
    assert (made["item_count"], made["preview"]["duplicates"]) == (2, 1)
    assert made["preview"]["first_duplicates"] == [{"key": "b", "same_as": "a", "words": "So."}]
    entry = JournalEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.detail["items"], entry.detail["duplicates"]) == (2, 1)
    more = '{"id": "d", "submission": "No."}\n{"id": "e", "submission": "New."}'
    at = f"/datasets/{made['id']}/items"
    ed.refused(409, "POST", at, files={"file": upload(more, "m.jsonl")})
    planned = ed.send("POST", f"{at}/plan", files={"file": upload(more, "m.jsonl")})
    assert (planned["items"], planned["duplicates"], planned["new_cases"]) == (2, 1, 2)
    added = ed.send("POST", at, files={"file": upload(more, "m.jsonl"), "duplicates": "skip"})
    assert (added["items"], added["dataset"]["item_count"]) == (1, 3)


def test_a_forgotten_version_and_a_misspelt_system_are_asked_about(ed: ApiClient, dataset: Dataset) -> None:
    at = f"/datasets/{dataset.pk}/answers"
    for system, said in (
        ("assistant", "new version assistant (there is assistant@v1)"),
        ("asistant@v2", "new system asistant@v2 (there is assistant)"),
        ("Assistant@V1", "new system Assistant@V1 (there is assistant)"),
        ("assistant@V1", "new version assistant@V1 (there is assistant@v1)"),
    ):
        sent = {"file": upload(V2, "v2.jsonl"), "system": system}
        assert said in ed.refused(409, "POST", at, files=sent)["detail"]
        planned = ed.send(
            "POST", at, files={"file": upload(V2, "v2.jsonl"), "system": system, "plan": "true"}
        )
        [name] = planned["preview"]["new_names"]
        assert (name["name"], name["is_doubtful"]) == (system, True)
    assert Item.objects.count() == 2
    assert System.objects.exclude(name="").count() == 1
    meant = {"file": upload(V2, "v2.jsonl"), "system": "assistant", "new_names": "true"}
    made = ed.send("POST", at, files=meant)
    assert made["answers"] == 2
    entry = JournalEntry.objects.order_by("pk").last()
    assert entry is not None
    assert entry.detail["new_systems"] == ["assistant"]


def test_the_next_version_and_another_system_are_told_and_not_asked_about(
    ed: ApiClient, dataset: Dataset
) -> None:
    at = f"/datasets/{dataset.pk}/answers"
    made = ed.send("POST", at, files={"file": upload(V2, "v2.jsonl"), "system": "assistant@v2"})
    assert made["preview"]["new_names"] == [
        {"what": "version", "name": "assistant@v2", "nearest": "assistant@v1", "is_doubtful": False}
    ]
    other = ed.send("POST", at, files={"file": upload(V2, "v2.jsonl"), "system": "rival"})
    assert [one["what"] for one in other["preview"]["new_names"]] == ["system"]


def test_a_plan_names_the_nearest_case_for_one_that_is_not_there(ed: ApiClient, dataset: Dataset) -> None:
    rows = '{"id": "X", "submission": "A."}\n{"id": "zebra", "submission": "B."}'
    sent = {"file": upload(rows, "v2.jsonl"), "system": "assistant@v2", "plan": "true"}
    planned = ed.send("POST", f"/datasets/{dataset.pk}/answers", files=sent)
    assert planned["unknown"] == ["X", "zebra"]
    names = [
        (one["name"], one["nearest"]) for one in planned["preview"]["new_names"] if one["what"] == "case"
    ]
    assert names == [("X", "x"), ("zebra", "")]


def test_a_plan_of_a_new_dataset_stores_nothing_and_is_refused_as_the_import(
    ed: ApiClient, dataset: Dataset
) -> None:
    rows = '{"case_id": "q", "system": "rival@r1", "prompt": "Q?", "submission": "A."}'
    planned = ed.send("POST", "/datasets/import/plan", files={"file": upload(rows, "n.jsonl")})
    assert (planned["items"], planned["new_cases"]) == (1, 0)
    assert [one["name"] for one in planned["new_names"]] == ["rival@r1"]
    ed.refused(409, "POST", "/datasets/import/plan", files={"file": upload(rows, "n.jsonl"), "name": "asked"})
    assert Dataset.objects.count() == 1


def test_an_import_in_the_background_asks_about_names_and_shows_a_preview_where_it_is_wanted(
    people: Cast, dataset: Dataset
) -> None:
    rows = b'{"case_id": "x", "submission": "A."}'
    asked: dict[str, Any] = {"dataset": dataset, "system": "asistant@v1"}
    job = factories.imported(people.team, people.ed, rows, "v.jsonl", **asked)
    assert (job.state, job.found["preview"]["new_names"][0]["nearest"]) == ("asks", "assistant")
    meant = factories.imported(people.team, people.ed, rows, "v.jsonl", new_names=True, **asked)
    assert meant.state == "done"
    looked = factories.imported(people.team, people.ed, b'{"id": "n", "submission": "N."}', preview=True)
    assert (looked.state, looked.duplicate_count) == ("asks", 0)


def test_the_terminal_asks_plans_and_tells_the_same(
    terminal: Terminal, dataset: Dataset, tmp_path: Any
) -> None:
    (tmp_path / "t.jsonl").write_text(TWICE)
    (tmp_path / "v2.jsonl").write_text(V2)
    asked = terminal("import-dataset", tmp_path / "t.jsonl")
    assert (asked.code, "as b says what a says" in asked.err, "--duplicates skip" in asked.err) == (
        1,
        True,
        True,
    )
    planned = terminal("import-dataset", tmp_path / "t.jsonl", "--plan")
    assert "3 items, 1 item of them said before." in planned.err
    assert "b says the same as a" in planned.err
    assert Dataset.objects.count() == 1
    assert terminal("import-dataset", tmp_path / "t.jsonl", "--duplicates", "skip").code == 0
    again = terminal("import-dataset", tmp_path / "t.jsonl", "--duplicates", "skip")
    assert again.err.startswith("Already there:")
    answers = ("datasets", "add-answers", "asked", tmp_path / "v2.jsonl", "--system", "assistant")
    refused = terminal(*answers)
    assert (refused.code, "new version assistant (there is assistant@v1)" in refused.err) == (1, True)
    assert "new version assistant (there is assistant@v1)" in terminal(*answers, "--plan").err
    told = terminal(*answers, "--new-names", "--json")
    assert misfits(AddedAnswers, told.out) == []
    assert json.loads(told.out)["answers"] == 2
    more = ("add-items", tmp_path / "t.jsonl", "--dataset", "asked")
    assert terminal(*more).code == 1
    assert "new case a" in terminal(*more, "--plan").err
    assert "Added 3 items" in terminal(*more, "--duplicates", "keep").err
    background = ("datasets", "import", tmp_path / "v2.jsonl", "--into", "asked", "--system", "asistant@v1")
    plan = terminal(*background, "--plan")
    assert (plan.code, "new system asistant@v1 (there is assistant)" in plan.err) == (0, True)
    assert terminal(*background).code == 1
    assert {job.state for job in DatasetImport.objects.all()} == {"cancelled"}
    assert terminal(*background, "--new-names").code == 0


def test_a_file_that_is_graded_is_taken_as_it_is_and_says_what_came_twice(
    people: Cast, terminal: Terminal, tmp_path: Any
) -> None:
    version = factories.version(people.team, people.ed)
    (tmp_path / "t.jsonl").write_text(TWICE)
    graded = terminal("grade", f"id:{version.pk}", tmp_path / "t.jsonl", "--judge", "offline")
    assert "b says the same as a" in graded.err
    assert Dataset.objects.get().items.count() == 3


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        # One letter of nine is missing: 2 × 8 / 17 = 0.94 of the letters are equal.
        ("asistant", ["assistant"], ("assistant", True)),
        ("model 2", ["Model-2"], ("Model-2", True)),
        # 2 × 5 / 12 = 0.83, but another number is another model.
        ("model-2", ["model-1"], ("model-1", False)),
        ("rival", ["assistant"], ("", False)),
        ("anything", [], ("", False)),
    ],
)
def test_the_nearest_name_is_likely_meant_where_it_is_misspelt(
    name: str, known: list[str], found: tuple[str, bool]
) -> None:
    assert nearest_name(name, known) == found
