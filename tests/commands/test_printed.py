"""How commands print: wide and narrow, into pipes that close, on terminals without every letter."""

import io
import json
import subprocess

from rich.console import Console

from rubricweb.management.terminal.printed import Table
from tests.installation import COMMAND, ROOT, Installation
from tests.waiting import PATIENCE_SECONDS


def shown(table: Table, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    console.print(table)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # the file is the one above
    assert max(map(len, lines)) <= width
    return [line.strip() for line in lines if line.strip()]


def runs() -> Table:
    table = Table(("id", "run", "state"), ("score", "cost"))
    table.add_row("12", "Support replies, criterion by criterion", "finished", "0.597", "$12.00")
    table.add_row("13", "Release notes", "running", "", "")
    return table


def test_a_row_is_a_line_where_there_is_room() -> None:
    head, _, first, second = shown(runs(), 90)
    assert head.split() == ["id", "run", "state", "score", "cost"]
    assert first.split("  ")[0] == "12"
    assert "Support replies, criterion by criterion" in first
    assert second.split() == ["13", "Release", "notes", "running"]


def test_words_wrap_before_figures_are_cut() -> None:
    # 2 + 8 + 5 + 6 for the other columns and 3 each for the lines between leave 17 for the run's name.
    lines = shown(runs(), 54)
    first = next(number for number, line in enumerate(lines) if "finished" in line)
    assert lines[first].split() == ["12", "Support", "replies,", "finished", "0.597", "$12.00"]
    assert lines[first + 1 : first + 3] == ["criterion by", "criterion"]


def test_where_there_is_no_room_a_row_is_a_few_lines_with_everything_named() -> None:
    assert shown(runs(), 40) == [
        "12  Support replies, criterion by",
        "criterion",
        "state finished · score 0.597",
        "cost $12.00",
        "13  Release notes",
        "state running",
    ]


def test_who_reads_the_first_lines_only_leaves_no_error_behind(installation: Installation) -> None:
    for form in ([], ["--json"]):
        command = subprocess.Popen(
            [*COMMAND, "members", "list", *form],
            cwd=ROOT,
            env=dict(installation.env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert command.stdout is not None
        command.stdout.close()
        _, said = command.communicate(timeout=PATIENCE_SECONDS)
        assert (command.returncode, said) == (0, b"")


def test_a_terminal_without_a_letter_shows_another_and_json_escapes_it(installation: Installation) -> None:
    installation.change("UPDATE rubricweb_user SET name = 'Zoë κ'")
    said = [
        subprocess.run(
            [*COMMAND, "members", "list", *form],
            cwd=ROOT,
            env={**installation.env, "PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        ).stdout.decode("latin-1")
        for form in ([], ["--json"])
    ]
    assert "Zoë ?" in said[0]
    assert json.loads(said[1])["name"] == "Zoë κ"
