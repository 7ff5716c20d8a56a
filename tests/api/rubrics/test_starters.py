"""Starters: listed and made a draft, through the API and at the terminal."""

import json
from collections.abc import Callable

import pytest

from rubricweb.models import Rubric, RubricVersion, User
from rubricweb.services.rubrics.starters import NAMES
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast


def test_a_starter_becomes_a_draft_through_the_api(
    people: Cast, as_member: Callable[[User], ApiClient]
) -> None:
    ed = as_member(people.ed)
    rows = ed.get("/starters")["items"]
    assert [row["name"] for row in rows] == list(NAMES)
    summary = next(row for row in rows if row["name"] == "summary")
    assert summary["criterion_count"] == len(summary["rubric"]["criteria"])
    made = ed.send("POST", "/starters/copy", {"starter": "summary"})
    assert made["title"] == summary["title"]
    asked = [criterion["requirement"] for criterion in summary["rubric"]["criteria"]]
    assert [criterion["requirement"] for criterion in made["draft"]["criteria"]] == asked
    assert ed.send("POST", "/starters/copy", {"starter": "summary", "title": "Mine"})["title"] == "Mine"
    ed.refused(422, "POST", "/starters/copy", {"starter": "none"})
    as_member(people.bob).refused(403, "POST", "/starters/copy", {"starter": "summary"})
    assert not RubricVersion.objects.exists()


def test_a_starter_becomes_a_draft_at_the_terminal(people: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    run = terminal_of(people.team, people.ed, capsys)
    listed = [json.loads(line) for line in run("rubrics", "starters", "--json").out.splitlines()]
    assert [row["name"] for row in listed] == list(NAMES)
    assert run("rubrics", "new", "--starter", "sql", "--title", "Queries").code == 0
    [made] = Rubric.objects.all()
    assert made.title == "Queries"
    sql = next(row for row in listed if row["name"] == "sql")
    assert len(made.draft["criteria"]) == sql["criterion_count"]
    refused = run("rubrics", "new", "--starter", "none")
    assert refused.code == 1
    assert "--starter: found none; allowed: one of support_reply" in refused.err.replace("\n", " ")
