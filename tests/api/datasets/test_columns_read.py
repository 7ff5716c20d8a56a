"""Which column of a file is which field: guessed, and said otherwise in `columns`, as `--column` does."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Dataset, User
from rubricweb.services.datasets import imports
from tests.api.client import ApiClient, upload
from tests.factories import Cast

FILE = "ticketId,reply,topic\nA-1,So.,sums\nA-2,No.,sums\n"
SAID = ["submission=reply", "id="]


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


def sent(**more: Any) -> dict[str, Any]:
    return {"file": upload(FILE, "tickets.csv"), **more}


def keys(dataset: Dataset) -> list[str]:
    return list(dataset.items.order_by("position").values_list("key", flat=True))


def test_a_column_of_ids_is_declined_wherever_a_file_comes_in(ed: ApiClient) -> None:
    taken = ed.send("POST", "/datasets/import", files=sent(name="taken", columns=["submission=reply"]))
    assert taken["columns_read"]["own_id"] is True
    assert keys(Dataset.objects.get(name="taken")) == ["A-1", "A-2"]
    ed.send("POST", "/datasets/import", files=sent(name="declined", columns=SAID))
    begun = ed.call("POST", "/datasets/imports", files=sent(name="behind", columns=SAID)).json()
    imports.work(begun["id"], worker="w:1", now=timezone.now)
    for name in ("declined", "behind"):
        dataset = Dataset.objects.get(name=name)
        assert all(key.startswith("auto-") for key in keys(dataset)), name
        assert [item.metadata["ticketId"] for item in dataset.items.order_by("position")] == ["A-1", "A-2"]
    items = f"/datasets/{Dataset.objects.get(name='taken').pk}/items"
    assert ed.send("POST", f"{items}/plan", files=sent(columns=SAID))["items"] == 2
    ed.send("POST", items, files=sent(columns=SAID, duplicates="keep"))
    assert sum(key.startswith("auto-") for key in keys(Dataset.objects.get(name="taken"))) == 2


def test_answers_are_read_from_the_column_that_is_said(ed: ApiClient) -> None:
    ed.send("POST", "/datasets/import", files=sent(name="asked", columns=["submission=reply"]))
    at = f"/datasets/{Dataset.objects.get(name='asked').pk}/answers"
    said = ["case_id=ticketId", "submission=topic", "id="]
    added = ed.send("POST", at, files=sent(system="bot@v2", columns=said, duplicates="keep", new_names=True))
    assert added["answers"] == 2
    assert Dataset.objects.get(name="asked").items.filter(submission="sums").count() == 2


@pytest.mark.parametrize("path", ["/datasets/import", "/datasets/import/plan", "/datasets/imports"])
def test_what_is_no_pair_is_refused_with_what_is_allowed(ed: ApiClient, path: str) -> None:
    problem = ed.refused(422, "POST", path, files=sent(name="new", columns=["=reply"]))
    assert [(one["place"], one["found"]) for one in problem["faults"]] == [("columns", "'=reply'")]
    assert "submission=reply_text" in problem["faults"][0]["allowed"]


def test_a_column_that_is_not_in_the_file_is_refused(ed: ApiClient) -> None:
    problem = ed.refused(422, "POST", "/datasets/import", files=sent(columns=["submission=answers"]))
    assert "columns.submission" in [one["place"] for one in problem["faults"]]
