"""Labels of a file that nobody is to settle: left out of the whole inbox and of its number."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, JournalEntry, ReviewQueue, RubricVersion, User
from rubricweb.selectors.adjudication.waiting import waiting_units
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.api.client import ApiClient, upload
from tests.commands.terminal import terminal_of
from tests.factories import Cast

# kim and lee differ on both items.
ROWS = "item_id,criterion,rater,verdict\n" + "".join(
    f"{item},capital,{rater},{verdict}\n"
    for item in ("good", "bad")
    for rater, verdict in (("kim", "MET"), ("lee", "UNMET"))
)


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


def units(ed: ApiClient, **query: Any) -> int:
    return len(ed.get("/adjudication", **query)["items"])


def sent(version: RubricVersion, **more: Any) -> dict[str, Any]:
    return {"file": upload(ROWS, "old.csv"), "rubric_version_id": str(version.pk), **more}


def test_what_is_labelled_in_history_alone_is_no_unit_to_decide(
    people: Cast, ed: ApiClient, dataset: Dataset, version: RubricVersion
) -> None:
    made = ed.send("POST", f"/datasets/{dataset.pk}/labels", files=sent(version, history="true"))
    queue = ReviewQueue.objects.get(pk=made["queue"]["id"])
    assert (made["queue"]["history"], waiting_units(people.team, people.ed)) == (True, 0)
    assert units(ed) == 0
    # Asked for by name, it is there.
    assert units(ed, queue=queue.pk) == 2
    # Labelled here by now, one of the two is to be settled.
    here = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        criteria=[version.criteria.get(name="capital").pk],
    )
    review = queues.start_review(here, dataset.items.get(key="bad"), people.ann)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    [unit] = ed.get("/adjudication")["items"]
    assert unit["item_key"] == "bad"


def test_it_can_be_said_afterwards_and_of_labels_of_files_alone(
    people: Cast,
    ed: ApiClient,
    dataset: Dataset,
    version: RubricVersion,
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = ed.send("POST", f"/datasets/{dataset.pk}/labels", files=sent(version))
    number = made["queue"]["id"]
    assert units(ed) == 2
    assert ed.send("PATCH", f"/queues/{number}", {"history": True})["history"] is True
    assert units(ed) == 0
    entry = JournalEntry.objects.order_by("pk").last()
    assert entry is not None
    assert (entry.verb, entry.detail["what"]) == ("changed", "history")
    terminal = terminal_of(people.team, people.ed, capsys)
    assert "differ on is to be settled" in terminal("queues", "edit", number, "--history", "no").out
    assert units(ed) == 2
    client, slug = sign_in(people.ed), people.team.slug
    assert "Labels of the past" in client.get(reverse("queue_change", args=[slug, number])).content.decode()
    words = {"name": "old", "hold_minutes": "30", "initial-history": "False", "history": "on"}
    client.post(reverse("queue_edit", args=[slug, number]), words)
    inbox = client.get(reverse("adjudication", args=[slug])).content.decode()
    assert "Labels of the past are left out" in inbox
    assert units(ed) == 0
    open_one = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    problem = ed.refused(422, "PATCH", f"/queues/{open_one.pk}", {"history": True})
    assert problem["faults"][0]["place"] == "history"


def test_the_terminal_and_the_page_bring_labels_of_the_past_in(
    people: Cast,
    dataset: Dataset,
    version: RubricVersion,
    tmp_path: Any,
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "old.csv").write_text(ROWS)
    terminal = terminal_of(people.team, people.ed, capsys)
    asked = ("--dataset", dataset.name, "--rubric", f"id:{version.pk}", "--history")
    assert terminal("import-labels", tmp_path / "old.csv", *asked).code == 0
    assert ReviewQueue.objects.get(name="old").history
    address = reverse("labels_import", args=[people.team.slug, dataset.pk])
    file = upload(ROWS.replace("MET", "CANNOT_ASSESS"), "older.csv")
    client = sign_in(people.ed)
    step = client.post(address, {"file": file, "rubric_version": version.pk, "history": "on"})
    client.post(step.url, {"action": "import"})
    assert ReviewQueue.objects.get(name="older").history
