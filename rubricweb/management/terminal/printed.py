"""How results are printed: lines for people, JSON for programs, tables that fit a file as well."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from rubricweb.engine.number_format import counted, low_end_words, text_of
from rubricweb.management.terminal.remarks import HARMLESS

if TYPE_CHECKING:  # they need numpy: a tenth of a second that `rubricweb lint` does without
    from rubricweb.engine.agreement.intervals import Figure
    from rubricweb.engine.agreement.scores.pairing import Unit

WIDTH = 140  # of tables that go into a file or a pipe
# JSON escapes the other control characters by itself.
ESCAPED = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def say(*lines: str) -> int:
    """Prints the lines and gives back exit code 0."""
    sys.stdout.write("".join(f"{line.translate(HARMLESS)}\n" for line in lines))
    return 0


def words(text: str) -> Text:
    """A text as a table or line takes it: nothing in it is obeyed, and all of it is shown."""
    return Text(text.replace("\r\n", "\n").translate(HARMLESS), overflow="fold")


def print_json(answer: Any, *, indent: int | None = None) -> None:
    """One JSON value on a line, or on many with `indent`; escaped where the output is not Unicode."""
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(answer, ensure_ascii=plain, indent=indent).translate(ESCAPED) + "\n")


def print_file(chunks: Iterable[str | bytes]) -> None:
    """A file on standard output: as it is into files and pipes, without control characters at a terminal."""
    sys.stdout.flush()
    for chunk in chunks:
        data = chunk if isinstance(chunk, bytes) else chunk.encode()
        if sys.stdout.isatty():
            sys.stdout.write(data.decode(errors="replace").translate(HARMLESS))
        else:
            sys.stdout.buffer.write(data)
    sys.stdout.flush()


def moment(at: datetime) -> str:
    """A time as people at this terminal read it: 2026-03-01 14:05."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def mean_words(mean: Figure, unit: Unit, *, lowest: float | None = None) -> str:
    """A mean score: "0.72 [0.61, 0.83] (95 % interval, 40 items), lowest 0.12"."""
    if mean.value is None:
        return text_of(mean)
    about = "95 % interval, " if mean.low is not None else ""
    said = f"{text_of(mean)} ({about}{counted(mean.n, unit)})"
    return said if lowest is None else f"{said}, {low_end_words(lowest)}"


def passed_words(passed: Figure, unit: Unit) -> str:
    """How many pass: "62% [47%, 75%] of 40 items, by the rubric's rule"."""
    return f"{text_of(passed, percent=True)} of {counted(passed.n, unit)}, by the rubric's rule"


class Terminal(Console):
    """Where tables and lines go: as wide as the terminal, and of one width into files.

    What people and models wrote is shown as it is: not as markup, and without steering the terminal.
    """

    def __init__(self) -> None:
        super().__init__(width=None if sys.stdout.isatty() else WIDTH, highlight=False, markup=False)

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(words(one) if isinstance(one, str) else one for one in objects), **options)

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Whatever is printed or shown live comes through here; its own control codes are segments apart."""
        for one in super().render(renderable, options):
            yield one if one.control else Segment(one.text.translate(HARMLESS), one.style)

    def on_broken_pipe(self) -> None:
        """Left to `console.main`, which ends as if all had been read."""
        raise BrokenPipeError


def terminal() -> Terminal:
    """The console of this command."""
    return Terminal()


class Table(RichTable):
    """Rows and columns; where there is no room for them, a few lines for every row.

    A column of figures is never cut or wrapped, one of words is no narrower than READABLE or its longest
    word: without that room a row is its first cell (with what follows an id or number), and below it all
    others, named.
    """

    def __init__(self, words: Sequence[str] = (), figures: Sequence[str] = ()) -> None:
        super().__init__(box=box.SIMPLE)
        for title in words:
            self.add_column(title)
        for title in figures:
            self.add_column(title, justify="right", no_wrap=True)

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Cells are texts."""
        super().add_row(*(words(str(cell)) for cell in cells), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rooms = [_room(column) for column in self.columns]
        spare = options.max_width - sum(rooms) - RULE * len(rooms) - 1
        if spare < 0 and len(rooms) > 1:
            yield from self._stacked(options.max_width)
            return
        for column, room in zip(self.columns, rooms, strict=True):
            # What is left over goes to the first columns: left alone, a table takes from all alike.
            column.width = min(_widest(column), room + spare)
            spare -= column.width - room
        yield from super().__rich_console__(console, options)

    def _stacked(self, width: int) -> RenderResult:
        titles = [str(column.header) for column in self.columns]
        first = 2 if titles[0] in ("id", "number") else 1
        for row in zip(*(column.cells for column in self.columns), strict=True):
            cells = [str(cell) for cell in row]
            below = zip(titles[first:], cells[first:], strict=True)
            yield Text("  ".join(cells[:first]), style="bold", overflow="fold")
            named = [f"{title} {', '.join(cell.splitlines())}" for title, cell in below if cell]
            yield from _packed(named, width)


READABLE = 12
RULE = 3
INDENT = "    "


def _packed(parts: Sequence[str], width: int) -> Iterator[Text]:
    """The parts on as few lines as they need, broken between them where that is possible."""
    line = ""
    for part in parts:
        if line and cell_len(f"{line} · {part}") > width:
            yield Text(line, overflow="fold")
            line = ""
        line = f"{line} · {part}" if line else INDENT + part
    if line:
        yield Text(line, overflow="fold")


def _room(column: Column) -> int:
    """How many characters a column needs to be read."""
    if column.no_wrap or column.justify == "right":
        return _widest(column)
    longest = max(cell_len(word) for text in _texts(column) for word in [*text.split(), ""])
    return min(_widest(column), max(READABLE, longest))


def _widest(column: Column) -> int:
    return max(cell_len(line) for text in _texts(column) for line in [*text.splitlines(), ""])


def _texts(column: Column) -> list[str]:
    return [str(column.header), *map(str, column.cells)]


def table(words: Sequence[str], figures: Sequence[str] = ()) -> Table:
    """An empty table with columns of words, then of figures."""
    return Table(words, figures)


def facts(rows: Sequence[tuple[str, str]] = ()) -> RichTable:
    """Names with what is so beside them."""
    made = RichTable(box=box.SIMPLE, show_header=False)
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(words(name), words(value))
    return made
