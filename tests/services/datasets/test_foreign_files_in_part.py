"""Another program's file: what has a counterpart here is imported, the rest listed; or all is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, JournalEntry, Run
from rubricweb.services.datasets import datasets, files
from rubricweb.services.datasets.previews import ImportChoices
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast

IN_PART = ImportChoices(strict=False)


def annotated(who: int, **said: Any) -> dict[str, Any]:
    results = [
        {
            "from_name": name,
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [label] if isinstance(label, str) else label},
        }
        for name, label in said.items()
    ]
    return {"completed_by": who, "result": results}


TASKS = [
    {
        "id": 1,
        "data": {"text": "First."},
        "annotations": [
            annotated(1, polite="MET", tone="Warm", only="x"),
            annotated(2, tone=["Warm", "Cold"]),
        ],
        "predictions": [{"model_version": "v1", **annotated(0, polite="UNMET")}],
    },
    {"id": 2, "data": {"text": "Second."}, "annotations": [annotated(1, tone="Cold")]},
    {"id": 3, "data": {}, "annotations": [annotated(1, polite="MET")]},
]
SAMPLE = {"epoch": 1, "input": "2+2?", "scores": {"match": {"value": "C"}}}
INSPECT = {
    "eval": {"task": "sums"},
    "status": "success",
    "samples": [
        {"id": 1, "output": {"completion": "4"}, **SAMPLE},
        {"id": 2, "output": {}, "error": {"message": "out of time"}, **SAMPLE},
    ],
}
ROW = {
    "prompt": {"raw": "Greet."},
    "response": {"output": "Bonjour"},
    "testCase": {"assert": [{"type": "llm-rubric", "value": "Is French"}]},
    "gradingResult": {"pass": True, "componentResults": [{"pass": True, "reason": "It is."}]},
}
PROMPTFOO = {
    "results": {
        "version": 3,
        "results": [
            ROW,
            ROW | {"response": {}, "error": "no answer"},
            ROW | {"testCase": {"assert": [{"type": "javascript", "value": "1"}]}},
        ],
    }
}
EVALS = "\n".join(
    json.dumps(line)
    for line in (
        {"spec": {"eval_name": "capitals"}},
        {"sample_id": "c.0", "type": "sampling", "data": {"prompt": "Capital?", "sampled": ["Paris"]}},
        {"sample_id": "c.1", "type": "sampling", "data": {"prompt": "Capital?", "sampled": ["Rome", "Bonn"]}},
        {"sample_id": "c.0", "type": "match", "data": {"correct": True, "expected": "Paris"}},
    )
)
PARTLY: dict[str, tuple[str, int, list[str]]] = {
    "tasks.json": (
        json.dumps(TASKS),
        2,
        ["items[0].annotations[1].result[0].value.choices", "annotations.only", "items[2].submission"],
    ),
    "log.json": (json.dumps(INSPECT), 1, ["samples[1].output"]),
    "results.json": (
        json.dumps(PROMPTFOO),
        1,
        ["results.results[1].response.output", "results.results[2].testCase.assert[0].type"],
    ),
    "events.jsonl": (EVALS, 1, ["line 3: data.sampled"]),
}


@pytest.mark.parametrize("filename", PARTLY)
def test_what_has_a_counterpart_is_imported_and_the_rest_is_listed(people: Cast, filename: str) -> None:
    text, items, places = PARTLY[filename]
    given = {"by": people.ed, "data": text.encode(), "filename": filename, "name": "foreign"}
    with pytest.raises(Invalid) as refused:
        factories.import_dataset(people.team, **given)
    assert [fault.place for fault in refused.value.faults] == places
    assert not Dataset.objects.exists()
    stored = datasets.import_dataset_file(people.team, **given, choices=IN_PART)
    assert (stored.items, stored.dataset.items.count()) == (items, items)
    assert ([fault.place for fault in stored.left_out], stored.more_left_out) == (places, 0)
    assert JournalEntry.objects.get(verb="imported").detail["left_out"] == len(places)
    assert Run.objects.get(dataset=stored.dataset).run_items.count() == 1


def test_a_question_with_one_answer_ever_is_no_criterion_and_the_others_are(people: Cast) -> None:
    stored = datasets.import_dataset_file(
        people.team,
        by=people.ed,
        data=json.dumps(TASKS).encode(),
        filename="t.json",
        choices=IN_PART,
    )
    version = stored.dataset.rubric_version
    assert version is not None
    assert list(version.criteria.values_list("name", flat=True)) == ["polite", "tone"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (EVALS + "\n{broken", "line 5"),
        (json.dumps([TASKS[2]]), "submission"),
        (json.dumps(INSPECT | {"samples": None}), "a log without samples"),
    ],
    ids=["a line that is no JSON", "nothing left", "no samples"],
)
def test_what_cannot_be_trusted_or_is_empty_is_refused_all_the_same(
    people: Cast, text: str, why: str
) -> None:
    filename = "x.jsonl" if text.startswith('{"spec"') else "x.json"
    with pytest.raises(Invalid) as refused:
        datasets.import_dataset_file(
            people.team,
            by=people.ed,
            data=text.encode(),
            filename=filename,
            choices=IN_PART,
        )
    assert why in "; ".join(map(str, refused.value.faults))
    assert not Dataset.objects.exists()


def test_our_own_formats_are_whole_or_nothing(people: Cast) -> None:
    data = json.dumps([{"submission": "Fine."}, {"submission": ""}]).encode()
    with pytest.raises(Invalid, match="1 fault"):
        datasets.import_dataset_file(
            people.team, by=people.ed, data=data, filename="own.json", choices=IN_PART
        )


def test_a_table_without_submissions_is_refused_once_with_its_columns(people: Cast) -> None:
    data = b"key,essay\n" + b"a,Words.\n" * 500
    with pytest.raises(Invalid) as refused:
        factories.import_dataset(people.team, by=people.ed, data=data, filename="essays.csv")
    [fault] = refused.value.faults
    assert (fault.place, fault.found) == ("submission", "the columns key, essay")
    factories.import_dataset(
        people.team,
        by=people.ed,
        data=b"key,essay\na,Words.\n",
        filename="essays.csv",
        columns={"submission": "essay"},
    )


def test_single_rows_without_a_submission_are_told_by_line(people: Cast) -> None:
    with pytest.raises(Invalid) as refused:
        factories.import_dataset(
            people.team, by=people.ed, data=b"id,answer\na,\nb,Yes.\nc,\n", filename="answers.csv"
        )
    assert [fault.place for fault in refused.value.faults] == ["line 2: submission", "line 4: submission"]


def test_the_same_file_again_is_found_again_with_what_was_left_out(people: Cast) -> None:
    given: dict[str, Any] = {"data": json.dumps(TASKS).encode(), "filename": "t.json", "choices": IN_PART}
    first, is_new = files.dataset_from_file(people.team, by=people.ed, **given)
    again, is_new_again = files.dataset_from_file(people.team, by=people.ed, **given)
    assert (is_new, is_new_again, again.dataset) == (True, False, first.dataset)
    assert len(again.left_out) == 3
    assert Run.objects.count() == 1
    with pytest.raises(Conflict, match="already has a dataset"):
        datasets.import_dataset_file(people.team, by=people.ed, **given)


def test_more_items_of_a_foreign_file_are_taken_in_part_too(people: Cast) -> None:
    first = datasets.import_dataset_file(
        people.team,
        by=people.ed,
        data=json.dumps(TASKS).encode(),
        filename="t.json",
        choices=IN_PART,
    )
    more = [TASKS[1] | {"id": 8}, TASKS[2] | {"id": 9}]
    stored = datasets.add_items_of_file(
        first.dataset,
        by=people.ed,
        data=json.dumps(more).encode(),
        filename="more.json",
        choices=ImportChoices("keep", strict=False),
    )
    assert stored.items == 1
    assert "items[1].submission" in [fault.place for fault in stored.left_out]


def test_the_page_lists_what_is_left_out_before_anything_is_stored(
    people: Cast, sign_in: Callable[..., Client]
) -> None:
    browser = sign_in(people.ed)
    sent = {"file": SimpleUploadedFile("tasks.json", json.dumps(TASKS).encode())}
    checked = browser.post(reverse("dataset_import", args=[people.team.slug]), sent)
    page = browser.get(checked.headers["Location"]).content.decode()
    assert "3 places without a counterpart here" in page
    assert "2 choices at once" in page
    assert not Dataset.objects.exists()
    stored = browser.post(checked.headers["Location"], {"name": "tasks"}, follow=True).content.decode()
    assert "Left out what has no counterpart here, at 3 places" in stored
    assert Dataset.objects.get().items.count() == 2


def test_the_api_refuses_whole_unless_it_is_told_otherwise(people: Cast) -> None:
    _, secret = teams.create_token(
        people.team.memberships.get(user=people.ed), name="ci", may_write=True, days=1, now=timezone.now()
    )
    api = ApiClient(secret)
    sent = {"file": SimpleUploadedFile("tasks.json", json.dumps(TASKS).encode()), "name": "tasks"}
    assert api.call("POST", "/datasets/import", files=sent).status_code == 422
    sent["file"] = SimpleUploadedFile("tasks.json", json.dumps(TASKS).encode())
    answered = api.call("POST", "/datasets/import", files=sent | {"strict": "false"}).json()
    assert (answered["item_count"], answered["left_out_count"]) == (2, 3)
    assert answered["left_out"][1]["found"] == 'only one choice (the text "x")'
