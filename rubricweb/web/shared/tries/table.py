"""The answers of a try as a table: a row for each criterion, a column for each side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from rubricweb import engine
from rubricweb.engine.autograders.base import Overall
from rubricweb.services.tries.answers import (
    StillWaiting,
    TriedReply,
    TriedResult,
    TriedSum,
    TriedVerdict,
    TryPiece,
    TryStopped,
)
from rubricweb.services.tries.subject import Subject


@dataclass(frozen=True)
class ShownReply:
    """A reply with what it says of the criterion of its cell, None where it is one number over all."""

    told: TriedReply
    verdict: TriedVerdict | None

    @property
    def sent(self) -> list[dict[str, str]]:
        """The messages as texts, and the form in which the reply is asked for."""
        texts = []
        for message in self.told.request.get("messages", ()):
            content = message.get("content")
            text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
            texts.append({"title": str(message.get("role", "")).capitalize(), "text": text})
        if form := self.told.request.get("response_format"):
            texts.append({"title": "Reply form", "text": json.dumps(form, indent=2, ensure_ascii=False)})
        return texts


@dataclass
class TryCell:
    """What one side said of one criterion, or of all where `index` is None.

    `verdict` is what counts, None while it is waited for; `replies` are the answers it rests on, each with
    what was said of this criterion: several of a panel.
    """

    side: str
    heading: str
    index: int | None
    weight: float = 1.0
    verdict: TriedVerdict | None = None
    overall: Overall | None = None
    by: str = ""
    passed_on: tuple[str, ...] = ()
    replies: list[ShownReply] = field(default_factory=list)
    is_over: bool = False

    @property
    def place(self) -> str:
        return f"try-{self.side}-{'all' if self.index is None else self.index}"

    @property
    def is_answered(self) -> bool:
        return self.verdict is not None or self.overall is not None or bool(self.replies and self.is_over)


@dataclass
class TryTable:
    """`is_holistic` is a judge that gives one number: its cells stand in a row of their own."""

    subject: Subject
    sides: tuple[str, ...]
    headings: dict[str, str]
    rows: list[tuple[engine.Criterion, list[TryCell]]] = field(default_factory=list)
    overall: list[TryCell] = field(default_factory=list)
    sums: dict[str, TriedSum] = field(default_factory=dict)
    stopped: str = ""
    waited: float = 0.0
    is_over: bool = False

    def __post_init__(self) -> None:
        self.overall = [TryCell(side, self.headings[side], None) for side in self.sides]
        self.rows = [
            (criterion, [TryCell(side, self.headings[side], index, criterion.weight) for side in self.sides])
            for index, criterion in enumerate(self.subject.rubric.criteria)
        ]

    def take(self, piece: TryPiece) -> list[TryCell]:
        """The cells that the piece has changed."""
        changed = list(self._changed(piece))
        if isinstance(piece, TryStopped):
            self.stopped = piece.why
        elif isinstance(piece, StillWaiting):
            self.waited = piece.seconds
        elif isinstance(piece, TriedSum):
            self.sums[piece.side] = piece
            self.is_over = len(self.sums) == len(self.sides)
            for cell in self._cells:
                if cell.side == piece.side:
                    cell.is_over = True
                    if cell.verdict is None:
                        changed.append(cell)
        return changed

    def _changed(self, piece: TryPiece) -> Iterator[TryCell]:
        if isinstance(piece, TriedResult):
            cell = self._cell(piece.side, piece.criterion.index)
            cell.verdict, cell.by, cell.passed_on = piece.criterion, piece.by, piece.passed_on
            yield cell
        elif isinstance(piece, TriedReply):
            for verdict in piece.verdicts:
                cell = self._cell(piece.side, verdict.index)
                cell.replies.append(ShownReply(piece, verdict))
                if not piece.is_vote:
                    cell.verdict = verdict
                yield cell
            if not piece.verdicts:
                cell = self.overall[self.sides.index(piece.side)]
                cell.overall = piece.overall
                cell.replies.append(ShownReply(piece, None))
                yield cell

    def _cell(self, side: str, index: int) -> TryCell:
        return self.rows[index][1][self.sides.index(side)]

    @property
    def _cells(self) -> list[TryCell]:
        """Those that are shown."""
        return self.overall if self.shows_overall else [cell for _, cells in self.rows for cell in cells]

    @property
    def shows_overall(self) -> bool:
        """Whether some judge gave one number for all."""
        return any(cell.replies for cell in self.overall)

    @property
    def sum_rows(self) -> list[tuple[str, TriedSum | None]]:
        return [(self.headings[side], self.sums.get(side)) for side in self.sides]

    @property
    def columns(self) -> list[str]:
        return [self.headings[side] for side in self.sides]
