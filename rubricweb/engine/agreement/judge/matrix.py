"""A table of what people and judge said as rows to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from rubricweb.engine.agreement.judge.pair_agreement import PairAgreement


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


def confusion_matrix(agreement: PairAgreement) -> tuple[ConfusionMatrixRow, ...]:
    """A row for each label people gave, in the order of the rubric, with a cell for each verdict of the
    judge: how many, and which share of the row. Counts of 3 and 1 in a row have shares 0.75 and 0.25.
    """
    rows = []
    for truth, row in zip(agreement.levels, agreement.confusion, strict=True):
        total = sum(row)
        cells = tuple(
            Cell(truth, said, count, count / total if total else None)
            for said, count in zip(agreement.levels, row, strict=True)
        )
        rows.append(ConfusionMatrixRow(truth, cells, total))
    return tuple(rows)
