"""`rubricweb datasets case`."""

import json

import pytest

from rubricweb.api.cases import schemas
from rubricweb.models import Case
from tests.commands.shapes import misfits
from tests.factories import Cast
from tests.worlds.systems import versions


@pytest.fixture
def case(people: Cast) -> Case:
    world = versions(people)
    world.run_over("v3")
    world.run_over("v4")
    return Case.objects.get(dataset=world.dataset, key="c1")


def test_the_command_prints_a_line_for_each_answer(people: Cast, at_terminal, case: Case) -> None:
    terminal = at_terminal(people.bob)
    shown = terminal("datasets", "case", "questions", "c1")
    assert "Case c1: Question c1?" in shown.err
    assert [word in shown.out for word in ("assistant@v3", "assistant@v4")] == [True] * 2
    # A verdict a line: nine of them in one cell could not be read.
    judged = [line.split() for line in shown.out.splitlines() if "UNMET" in line or "kind" in line]
    assert ["kind", "MET"] in judged
    printed = terminal("datasets", "case", "questions", "c1", "--json", "--limit", "1").out
    assert misfits(schemas.Case, printed) == []
    told = json.loads(printed)
    assert (len(told["answers"]), bool(told["next_cursor"])) == (1, True)
    missing = terminal("datasets", "case", "questions", "c9")
    assert (missing.code, "There is no case 'c9'" in missing.err) == (1, True)
