"""How results are printed: lines for people, JSON for programs, tables that fit a file as well."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 140  # of tables that go into a file or a pipe


def say(*lines: str) -> int:
    """Prints the lines and gives back exit code 0."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def print_json(answer: Any) -> None:
    """One JSON value on a line."""
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")


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
        made.add_row(name, Text(value))
    return made
