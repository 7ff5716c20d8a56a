"""What whoever labels blind learns of who answered by sending the words in again: nothing."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, DatasetImport, ReviewQueue
from rubricweb.services.datasets import imports
from rubricweb.services.reviews import queues
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast

V3, V4 = "assistant@v3", "assistant@v4"


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Two versions answered two cases; c0 is asked "Q0?" and v4 says "Four of c0."."""
    items = [
        {
            "id": f"c{case}-{version[-2:]}",
            "case_id": f"c{case}",
            "system": version,
            "prompt": f"Q{case}?",
            "submission": f"{said} of c{case}.",
        }
        for case in range(2)
        for version, said in ((V3, "Three"), (V4, "Four"))
    ]
    return factories.dataset(people.team, people.ed, items=items)


@pytest.fixture
def queue(people: Cast, dataset: Dataset) -> ReviewQueue:
    """ed is to label all of it blind."""
    version = factories.version(people.team, people.ed)
    return factories.queue(
        people.team, people.rae, dataset=dataset, rubric_version=version, raters=[people.ed], name="Blind"
    )


TOLD = [{"key": "xv4", "same_as": "c0-v4", "words": "Four of c0."}]


def guess(system: str) -> SimpleUploadedFile:
    """The words of v4 about c0, as of a case of one's own."""
    row = {"id": f"x{system[-2:]}", "case_id": "mine", "system": system}
    row |= {"prompt": "Q0?", "submission": "Four of c0."}
    return SimpleUploadedFile("guess.jsonl", json.dumps(row).encode())


def send(client: ApiClient, dataset: Dataset, system: str, **said: str) -> Any:
    files = {"file": guess(system), "dataset_id": str(dataset.pk), **said}
    return client.call("POST", "/datasets/imports", files=files)


def worked(client: ApiClient, sent: Any) -> dict[str, Any]:
    imports.work(sent.json()["id"], worker="w", now=timezone.now)
    found: dict[str, Any] = client.call("GET", f"/datasets/imports/{sent.json()['id']}").json()
    return found


@pytest.mark.parametrize("duplicates", ["ask", "skip"])
def test_duplicates_are_not_looked_for_by_who_labels_the_answers_blind(
    people: Cast, as_member: Any, dataset: Dataset, queue: ReviewQueue, duplicates: str
) -> None:
    ed = as_member(people.ed)
    right, wrong = (send(ed, dataset, system, duplicates=duplicates) for system in (V4, V3))
    assert right.status_code == wrong.status_code == 403
    assert right.json()["detail"] == wrong.json()["detail"]
    assert "Keep all items (duplicates: keep). Submit your reviews in “Blind”." in right.json()["detail"]
    assert not DatasetImport.objects.filter(dataset=dataset, filename="guess.jsonl").exists()


def test_a_file_all_of_which_is_kept_comes_in_and_tells_nothing(
    people: Cast, as_member: Any, dataset: Dataset, queue: ReviewQueue
) -> None:
    ed = as_member(people.ed)
    found = worked(ed, send(ed, dataset, V4, duplicates="keep"))
    assert (found["state"], found["rows_stored"]) == ("done", 1)
    assert (found["duplicate_count"], found["first_duplicates"]) == (0, [])


def test_who_became_a_rater_after_sending_the_file_is_not_told_either(
    people: Cast, as_member: Any, dataset: Dataset
) -> None:
    """Once before the file was read, once while it asks: then by no key, and only keeping is taken."""
    ed = as_member(people.ed)
    asks = send(ed, dataset, V4)
    assert worked(ed, asks)["first_duplicates"] == TOLD
    waits = send(ed, dataset, V4)
    version = factories.version(people.team, people.ed)
    factories.queue(
        people.team, people.rae, dataset=dataset, rubric_version=version, raters=[people.ed], name="Blind"
    )
    refused = worked(ed, waits)
    assert (refused["state"], refused["duplicate_count"]) == ("refused", 0)
    assert "still to review blind" in refused["message"]
    at = f"/datasets/imports/{asks.json()['id']}"
    assert ed.call("GET", at).json()["first_duplicates"] == []
    listed = ed.call("GET", "/datasets/imports").json()["items"]
    assert not any(one["first_duplicates"] for one in listed)
    assert as_member(people.alice).call("GET", at).json()["first_duplicates"] != []
    assert ed.call("POST", f"{at}/duplicates", {"duplicates": "skip"}).status_code == 403
    assert ed.call("POST", f"{at}/duplicates", {"duplicates": "keep"}).status_code == 200


def test_nothing_changes_for_others_and_once_the_queue_is_closed(
    people: Cast, as_member: Any, dataset: Dataset, queue: ReviewQueue
) -> None:
    alice, ed = as_member(people.alice), as_member(people.ed)
    assert worked(alice, send(alice, dataset, V4))["state"] == "asks"
    queues.close_queue(queue, by=people.rae)
    assert worked(ed, send(ed, dataset, V4))["first_duplicates"] == TOLD


def test_the_page_refuses_to_ask_and_takes_a_file_all_of_which_is_kept(
    people: Cast, sign_in: Any, dataset: Dataset, queue: ReviewQueue
) -> None:
    ed = sign_in(people.ed)
    to = reverse("dataset_add", args=[people.team.slug, dataset.pk])
    address = ed.post(to, {"file": guess(V4)}).url
    refused = ed.post(address, {})
    assert refused.status_code == 422
    assert "still to review blind" in refused.content.decode()
    assert ed.post(address, {"keep_all": "on"}).status_code == 302
    assert dataset.items.filter(key="xv4").exists()
