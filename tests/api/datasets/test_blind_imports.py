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


# ── What others sent ─────────────────────────────────────────────────────────────────────────────


def test_what_others_sent_tells_who_labels_blind_neither_its_name_nor_whose_answers_it_brought(
    people: Cast, as_member: Any, sign_in: Any, dataset: Dataset, queue: ReviewQueue
) -> None:
    """A file of a new version, and one that is refused for what the dataset has."""
    alice, ed = as_member(people.alice), as_member(people.ed)
    row = SimpleUploadedFile("of-v5.jsonl", json.dumps({"case_id": "c0", "submission": "Five."}).encode())
    of_v5 = {"file": row, "dataset_id": str(dataset.pk), "system": "assistant@v5"}
    stored = worked(alice, alice.call("POST", "/datasets/imports", files=of_v5))
    assert (stored["state"], stored["filename"], stored["missing_cases"]) == ("done", "of-v5.jsonl", ["c1"])
    again = SimpleUploadedFile("again-v4.jsonl", json.dumps({"case_id": "c0", "submission": "4"}).encode())
    of_v4 = {"file": again, "dataset_id": str(dataset.pk), "system": V4}
    refused = worked(alice, alice.call("POST", "/datasets/imports", files=of_v4))
    assert (refused["state"], refused["fault_count"]) == ("refused", 1)

    pages = sign_in(people.ed)
    for job in (stored, refused):
        at = f"/datasets/imports/{job['id']}"
        found = ed.get(at)
        told = ("filename", "message", "preview", "missing_cases")
        assert [found[name] for name in told] == ["", "", None, []]
        faults = ed.call("GET", f"{at}/faults").content.decode()
        assert faults.split() == ["where,found,allowed"]
        page = reverse("dataset_import_progress", args=[people.team.slug, job["id"]])
        for text in (json.dumps(found), pages.get(page).content.decode()):
            assert "v4" not in text
            assert "v5" not in text
    assert "v5" not in json.dumps(ed.get("/datasets/imports"))
    assert "of-v5.jsonl" in json.dumps(alice.get("/datasets/imports"))


def test_an_import_of_others_that_asks_goes_by_no_name_either(
    people: Cast, as_member: Any, sign_in: Any, dataset: Dataset, queue: ReviewQueue
) -> None:
    asks = worked(as_member(people.alice), send(as_member(people.alice), dataset, V4))
    assert asks["state"] == "asks"
    ed, slug = sign_in(people.ed), people.team.slug
    listed = ed.get(reverse("datasets", args=[slug])).content.decode()
    assert "A file" in listed
    decided = ed.post(
        reverse("dataset_import_duplicates", args=[slug, asks["id"]]), {"duplicates": "keep"}, follow=True
    )
    assert "Added 1 item from the file." in decided.content.decode()
    assert "guess.jsonl" not in listed + decided.content.decode()


@pytest.fixture
def answered_once(people: Cast) -> Dataset:
    """c0 was answered by v3 alone, c1 by v4 alone: which cases a version has answered tells who answered.

    ed is to label both blind.
    """
    items = [
        {"case_id": case, "system": system, "prompt": f"{case}?", "submission": f"About {case}."}
        for case, system in (("c0", V3), ("c1", V4))
    ]
    found = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(people.team, people.ed)
    factories.queue(
        people.team, people.rae, dataset=found, rubric_version=version, raters=[people.ed], name="Blind"
    )
    return found


@pytest.mark.parametrize("case", ["c0", "c1"])
def test_no_file_tells_who_labels_blind_whether_a_version_has_answered_a_case(
    people: Cast, as_member: Any, answered_once: Dataset, case: str
) -> None:
    """Nor does a plan; the same words for the case it has answered and the one it has not."""
    ed, at = as_member(people.ed), f"/datasets/{answered_once.pk}"
    rows = {"case_id": case, "submission": "A guess."}

    def sent(address: str, row: dict[str, str], **said: str) -> tuple[int, str]:
        file = SimpleUploadedFile("guess.jsonl", json.dumps(row).encode())
        answer = ed.call("POST", f"{at}/{address}", files={"file": file, "duplicates": "keep", **said})
        return answer.status_code, answer.json()["detail"]

    refusal = (403, f"{V3} has answered some cases of {answered_once}, and which ones would tell who gave ")
    for said in ({"plan": "true"}, {}, {"plan": "true", "as_attempt": "true"}):
        status, detail = sent("answers", rows, system=V3, **said)
        assert (status, detail[: len(refusal[1])]) == refusal
    for address in ("items", "items/plan"):
        status, detail = sent(address, {**rows, "system": V3})
        assert (status, detail[: len(refusal[1])]) == refusal
    job = ed.call(
        "POST",
        "/datasets/imports",
        files={
            "file": SimpleUploadedFile("guess.jsonl", json.dumps(rows).encode()),
            "dataset_id": str(answered_once.pk),
            "system": V3,
            "duplicates": "keep",
        },
    )
    found = worked(ed, job)
    assert (found["state"], found["message"][: len(refusal[1])]) == ("refused", refusal[1])
    assert (found["missing_cases"], found["fault_count"]) == ([], 0)


def test_answers_of_a_new_version_and_to_new_cases_come_in_from_who_labels_blind(
    people: Cast, as_member: Any, answered_once: Dataset
) -> None:
    ed, at = as_member(people.ed), f"/datasets/{answered_once.pk}"
    new = SimpleUploadedFile("v5.jsonl", json.dumps({"case_id": "c0", "submission": "Five."}).encode())
    of_v5 = {"file": new, "system": "assistant@v5", "duplicates": "keep"}
    told = ed.send("POST", f"{at}/answers", files=of_v5)
    assert (told["answers"], told["missing"]) == (1, ["c1"])
    row = {"case_id": "c2", "system": V3, "prompt": "c2?", "submission": "Three."}
    more = SimpleUploadedFile("more.jsonl", json.dumps(row).encode())
    assert ed.send("POST", f"{at}/items", files={"file": more, "duplicates": "keep"})
    assert answered_once.items.count() == 4  # two there were, and two


def test_who_does_not_label_is_told_which_cases_a_version_has_answered(
    people: Cast, as_member: Any, answered_once: Dataset
) -> None:
    file = SimpleUploadedFile("guess.jsonl", json.dumps({"case_id": "c0", "submission": "A guess."}).encode())
    plan = as_member(people.alice).send(
        "POST",
        f"/datasets/{answered_once.pk}/answers",
        files={"file": file, "system": V3, "plan": "true"},
    )
    assert (plan["answered"], plan["missing"]) == (["c0"], ["c1"])
