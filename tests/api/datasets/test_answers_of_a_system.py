"""Lists of items narrowed to a system, and versions undone, over the API, on the page and at the terminal."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset, JournalEntry, User
from rubricweb.selectors.datasets.items import Listed, items, matching_ids
from rubricweb.services.reviews.queues import Source
from tests import factories
from tests.api.client import ApiClient, upload
from tests.commands.terminal import terminal_of
from tests.factories import Cast


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Two cases, each answered by assistant@v1, assistant@v2 and rival."""
    rows = [
        {"case_id": key, "system": system, "prompt": f"{key}?", "submission": f"{key} by {system}"}
        for key in "xy"
        for system in ("assistant@v1", "assistant@v2", "rival")
    ]
    return factories.dataset(people.team, people.ed, name="asked", items=rows)


def test_lists_are_narrowed_to_a_system_or_to_one_of_its_versions(
    people: Cast,
    dataset: Dataset,
    as_member: Callable[[User], ApiClient],
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    bob, at = as_member(people.bob), f"/datasets/{dataset.pk}/items"
    of_v2 = ["x@assistant@v2", "y@assistant@v2"]
    assert [row["key"] for row in bob.get(at, system="assistant@v2")["items"]] == of_v2
    # Two cases by two versions.
    assert len(bob.get(at, system="assistant")["items"]) == 4
    [fault] = bob.refused(422, "GET", at, query={"system": "asistant@v2"})["faults"]
    assert (fault["place"], "did you mean assistant@v2?" in fault["allowed"]) == ("system", True)
    terminal = terminal_of(people.team, people.bob, capsys)
    listed = terminal("datasets", "items", "asked", "--system", "rival").out
    assert ("x@rival" in listed, "assistant" in listed) == (True, False)
    client, here = sign_in(people.ed), reverse("dataset", args=[people.team.slug, dataset.pk])
    page = client.get(here, {"system": "assistant@v2"})
    assert [row.key for row in page.context["page"].rows] == of_v2
    assert "<option selected>assistant@v2</option>" in page.content.decode()
    # All of this list is what is selected.
    assert len(matching_ids(dataset, viewer=people.ed, most=9, listed=Listed(system="assistant@v2"))) == 2


def test_who_is_to_review_an_answer_blind_finds_it_by_no_system(people: Cast, dataset: Dataset) -> None:
    version = factories.version(people.team, people.ed)
    first = dataset.items.get(key="x@assistant@v1")
    factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("items", item_ids=(first.pk,)),
    )
    listed = Listed(system="assistant@v1")
    found = items(dataset, viewer=people.ann, listed=listed).rows
    assert [row.case.key for row in found] == ["y"]
    assert len(items(dataset, viewer=people.bob, listed=listed).rows) == 2


def test_the_newest_version_is_undone_over_the_api_on_the_page_and_at_the_terminal(
    people: Cast,
    dataset: Dataset,
    as_member: Callable[[User], ApiClient],
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    ed, at = as_member(people.ed), f"/datasets/{dataset.pk}"

    def forgotten() -> None:
        rows = '{"id": "x", "submission": "1"}\n{"id": "y", "submission": "2"}'
        sent = {"file": upload(rows, "v3.jsonl"), "system": "assistant", "new_names": "true"}
        ed.send("POST", f"{at}/answers", files=sent)
        assert dataset.items.count() == 8

    forgotten()
    planned = ed.send("POST", f"{at}/undo", {"version": 2, "plan": True})
    assert planned == {
        "version": 2,
        "change": "append",
        "items": 2,
        "system_versions": ["assistant"],
        "stands": [],
    }
    ed.refused(409, "POST", f"{at}/undo", {"version": 1})
    as_member(people.bob).refused(403, "POST", f"{at}/undo", {"version": 2})
    assert ed.send("POST", f"{at}/undo", {"version": 2}) == planned
    assert (ed.get(at)["version"], dataset.items.count()) == (1, 6)
    names = [one["name"] for system in ed.get("/systems")["items"] for one in system["versions"]]
    assert names == ["assistant@v1", "assistant@v2", "rival"]

    forgotten()
    client, slug = sign_in(people.ed), people.team.slug
    here, address = (reverse(name, args=[slug, dataset.pk]) for name in ("dataset", "dataset_undo"))
    assert address in client.get(here).content.decode()
    assert "2 items that were added are removed." in client.get(address).content.decode()
    done = client.post(address, {"version": "2"}, follow=True).content.decode()
    assert ("Version 2 of asked is undone." in done, address in done) == (True, False)

    forgotten()
    terminal = terminal_of(people.team, people.ed, capsys)
    assert "No other answers are of assistant" in terminal("datasets", "undo", "asked", "--plan").err
    assert terminal("datasets", "undo", "asked", "--version", "1").code == 1
    assert "Undid version 2 of asked." in terminal("datasets", "undo", "asked").err
    assert "first version" in terminal("datasets", "undo", "asked").err
    assert JournalEntry.objects.filter(verb="undid a version of").count() == 3
    assert dataset.items.count() == 6
