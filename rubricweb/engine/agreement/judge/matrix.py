"""A table of what people and judge said as rows to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement.judge.accuracy import Confusion
from rubricweb.engine.agreement.judge.options import OptionAgreement
from rubricweb.engine.verdict import Verdict


@dataclass(frozen=True)
class Cell:
    """One cell of a confusion matrix; `share` is its part of the units people gave this label, 0 to 1."""

    truth: str
    judged: str
    count: int
    share: float | None

    @property
    def agrees(self) -> bool:
        return self.truth == self.judged


@dataclass(frozen=True)
class ConfusionMatrixRow:
    """What the judge said where people said `truth`."""

    truth: str
    cells: tuple[Cell, ...]
    total: int


def confusion_matrix(confusion: Confusion) -> tuple[ConfusionMatrixRow, ...]:
    """A row for each label people gave, with a cell for each verdict of the judge: how many, and which share
    of the row. Counts of 3 and 1 in a row have shares 0.75 and 0.25.
    """
    met, unmet = str(Verdict.MET), str(Verdict.UNMET)
    return _matrix(
        (met, unmet),
        ((confusion.met_met, confusion.met_unmet), (confusion.unmet_met, confusion.unmet_unmet)),
    )


def option_matrix(agreement: OptionAgreement) -> tuple[ConfusionMatrixRow, ...]:
    """The counts of a choice as rows of what people said, options in the order of the rubric."""
    return _matrix(agreement.levels, agreement.confusion)


def _matrix(levels: Sequence[str], counts: Sequence[Sequence[int]]) -> tuple[ConfusionMatrixRow, ...]:
    rows = []
    for truth, row in zip(levels, counts, strict=True):
        total = sum(row)
        cells = tuple(
            Cell(truth, said, count, count / total if total else None)
            for said, count in zip(levels, row, strict=True)
        )
        rows.append(ConfusionMatrixRow(truth, cells, total))
    return tuple(rows)
