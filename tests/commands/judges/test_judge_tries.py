"""`rubricweb judges try`: answers as they come, at the terminal."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricweb.api.judges import try_schemas as schemas
from rubricweb.services.judges import versions
from tests import factories
from tests.commands.shapes import misfits
from tests.commands.terminal import Terminal
from tests.factories import Cast
from tests.trying import TryWorld, try_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    with try_world(people) as made:
        yield made


@pytest.fixture
def ed(people: Cast, at_terminal) -> Terminal:
    return at_terminal(people.ed)


def test_each_verdict_is_printed_with_its_reason_and_cost(world: TryWorld, ed: Terminal) -> None:
    ended = ed(
        "judges",
        "try",
        "support-judge@v1",
        "--dataset",
        "tried answers",
        "--item",
        "good",
        "--rubric",
        f"id:{world.rubric.pk}",
    )
    assert ended.code == 0
    for line in (
        "capital: MET. It is MET.",
        "concise: UNMET. It is UNMET.",
        "  100 + 10 tokens, $0.0003",
        "score 0.667; 3 asked, 0 known, $0.0009",
    ):
        assert line in ended.out
    assert f"On item good (id:{world.item.pk}) of tried answers." in ended.err


def test_a_version_before_and_json(world: TryWorld, ed: Terminal) -> None:
    strict = versions.keep_version(
        world.first.judge, world.strict(), by=world.people.ed, parent=world.first, note="Strict."
    )
    command = [
        "judges",
        "try",
        str(strict),
        "--before",
        "support-judge@v1",
        "--dataset",
        f"id:{world.dataset.pk}",
    ]
    command += ["--rubric", f"id:{world.rubric.pk}"]
    lines = ed(*command, "--json").out.splitlines()
    told = [json.loads(line) for line in lines]
    assert [fault for line in lines for fault in misfits(schemas.TryLine, line)] == []
    sides = [line["answer"]["side"] for line in told if line["kind"] == "answer"]
    assert sorted(sides) == ["before"] * 3 + ["tried"] * 3
    assert "support-judge@v1: capital: MET. It is MET." in ed(*command).out
    assert world.script.count == 6


def test_the_next_item_and_files_that_are_not_stored(world: TryWorld, ed: Terminal, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text("title: T\ncriteria:\n- name: x\n  requirement: Names Paris as the capital.\n")
    ended = ed(
        "judges", "try", "support-judge", "--dataset", "tried answers", "--after", "good", "--rubric", rubric
    )
    assert "On item bad" in ended.err
    text = tmp_path / "answer.txt"
    text.write_text("Paris, surely.")
    ended = ed("judges", "try", "support-judge", "--submission", text, "--rubric", rubric)
    assert ended.code == 0
    assert "x: MET. It is MET." in ended.out


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], "--dataset"),
        (["--dataset", "nowhere"], "nowhere"),
        (["--dataset", "tried answers", "--item", "nobody"], "the id of an item"),
        (["--dataset", "tried answers"], "no rubric"),
        (["--dataset", "tried answers", "--wrong"], "has not graded"),
        (["--dataset", "tried answers", "--submission", "x.txt"], "one of them"),
    ],
)
def test_what_is_missing_is_named(world: TryWorld, ed: Terminal, told: list[str], said: str) -> None:
    ended = ed("judges", "try", "support-judge", *told)
    assert (ended.code, said in ended.err) == (1, True)
    assert world.script.count == 0


def test_viewers_and_blind_raters_try_nothing(world: TryWorld, at_terminal, ed: Terminal) -> None:
    command = ["judges", "try", "support-judge", "--dataset", "tried answers", "--item", "good"]
    command += ["--rubric", f"id:{world.rubric.pk}"]
    assert at_terminal(world.people.bob)(*command).code == 1
    factories.queue(
        world.people.team,
        world.people.alice,
        dataset=world.dataset,
        rubric_version=world.rubric,
        raters=[world.people.ed],
    )
    ended = ed(*command)
    assert (ended.code, "blind" in ended.err) == (1, True)
    assert world.script.count == 0
