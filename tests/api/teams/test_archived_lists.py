"""No list leaves archived rows out without a count: in the API, at the terminal and on pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, JudgeEndpoint, ReviewQueue, Rubric, Run, System, User
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.furnished import Furnished, at_rest

LISTS = {
    "/datasets": (Dataset, "dataset"),
    "/rubrics": (Rubric, "rubric"),
    "/queues": (ReviewQueue, "queue"),
    "/runs": (Run, "run"),
    "/systems": (System, "system"),
    "/endpoints": (JudgeEndpoint, "endpoint"),
}
COMMANDS = {
    ("datasets", "list"): (Dataset, "dataset", "--archived"),
    ("rubrics", "list"): (Rubric, "rubric", "--archived"),
    ("queues", "list"): (ReviewQueue, "queue", "--archived"),
    ("runs", "list"): (Run, "run", "--state archived"),
    ("endpoints", "list"): (JudgeEndpoint, "endpoint", "--archived"),
    ("judge", "list"): (JudgeEndpoint, "endpoint", "rubricweb endpoints list --archived"),
}
PAGES = {"datasets": Dataset, "rubrics": Rubric, "queues": ReviewQueue, "runs": Run, "systems": System}


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return at_rest(furnished)


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


def listed(model: Any, people: Cast) -> int:
    """How many rows the lists have: neither removed endpoints nor the system without a name."""
    rows = model.objects.filter(team=people.team)
    if model is System:
        rows = rows.exclude(name="")
    return int((rows.filter(removed_at=None) if model is JudgeEndpoint else rows).count())


def archive_all(model: Any) -> None:
    """Also those of another team, which no list of this one counts."""
    model.objects.update(archived_at=timezone.now())


def said(count: int, noun: str) -> str:
    return f"1 {noun}: it is archived" if count == 1 else f"{count} {noun}s: they are archived"


@pytest.mark.parametrize("path", LISTS)
def test_a_list_counts_the_archived_rows_it_leaves_out(people: Cast, ed: ApiClient, path: str) -> None:
    model, noun = LISTS[path]
    count = listed(model, people)
    assert count
    assert len(ed.get(path)["items"]) == count
    assert ed.get(path)["left_out"] == []
    archive_all(model)
    left = [{"why": "archived", "items": count, "says": said(count, noun)}]
    assert ed.get(path) == {"items": [], "next_cursor": None, "left_out": left}
    if path == "/endpoints":
        assert ed.get("/judges")["left_out"] == left
    asked = {"state": "archived"} if path == "/runs" else {"archived": True}
    shown = ed.get(path, **asked)
    assert (len(shown["items"]), shown["left_out"]) == (count, [])


def test_runs_count_those_of_the_same_dataset(people: Cast, furnished: Furnished, ed: ApiClient) -> None:
    archive_all(Run)
    [left] = ed.get("/runs", dataset=furnished.ours["dataset_id"])["left_out"]
    assert left["items"] == listed(Run, people)  # all of them are over it
    other = factories.dataset(people.team, people.ed, name="without runs")
    assert ed.get("/runs", dataset=other.pk)["left_out"] == []


def test_a_count_costs_one_query_however_many_are_archived(ed: ApiClient) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            ed.get("/datasets")
        return sum("archived_at" in one["sql"] and "COUNT(*)" in one["sql"] for one in asked)

    assert queries() == 1
    archive_all(Dataset)
    assert queries() == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_command_notes_what_it_leaves_out(
    people: Cast, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    model, noun, how = COMMANDS[command]
    count, ed = listed(model, people), terminal_of(people.team, people.ed, capsys)
    assert "Left out" not in ed(*command, *form).err
    archive_all(model)
    assert f"Left out: {said(count, noun)}; {how} lists them." in ed(*command, *form).err
    if how in ("--archived", "--state archived"):
        shown = ed(*command, *how.split(), "--json")
        assert len(shown.out.splitlines()) == count
        assert "Left out" not in shown.err


@pytest.mark.parametrize("page", PAGES)
def test_a_page_counts_archived_rows_and_leads_to_them(people: Cast, sign_in: Any, page: str) -> None:
    model = PAGES[page]
    count, at, ed = listed(model, people), reverse(page, args=[people.team.slug]), sign_in(people.ed)
    assert "Archived (" not in ed.get(at).content.decode()
    archive_all(model)
    assert f">Archived ({count})</a>" in ed.get(at).content.decode()
    asked = {"state": "archived"} if page == "runs" else {"archived": "1"}
    shelf = ed.get(at, asked).content.decode()
    assert "Archived (" not in shelf
    assert "Back to those not archived" in shelf
