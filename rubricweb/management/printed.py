"""How results are printed: lines for people, JSON for programs, tables that fit a file as well."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 140  # of tables that go into a file or a pipe


HARMLESS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    **dict.fromkeys(range(0x7F, 0xA0), "\N{REPLACEMENT CHARACTER}"),
}
"""Control characters and what is shown in their place: a terminal obeys them, whoever wrote them."""


def say(*lines: str) -> int:
    """Prints the lines and gives back exit code 0."""
    sys.stdout.write("".join(f"{line.translate(HARMLESS)}\n" for line in lines))
    return 0


def words(text: str) -> Text:
    """A text as a table or line takes it: nothing in it is obeyed, and all of it is shown."""
    return Text(text.replace("\r\n", "\n").translate(HARMLESS), overflow="fold")


def print_json(answer: Any) -> None:
    """One JSON value on a line."""
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


def moment(at: datetime) -> str:
    """A time as people at this terminal read it: 2026-03-01 14:05."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def terminal() -> Console:
    """Where tables go: as wide as the terminal, and of one width into files."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False)


def table(words: Sequence[str], figures: Sequence[str] = ()) -> Table:
    """An empty table with columns of words, then of figures."""
    made = Table(box=box.SIMPLE)
    for title in words:
        made.add_column(title)
    for title in figures:
        made.add_column(title, justify="right", no_wrap=True)
    return made


def facts(rows: Sequence[tuple[str, str]]) -> Table:
    """Names with what is so beside them."""
    made = Table(box=box.SIMPLE, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(words(name), words(value))
    return made
