"""An agreement board as the rows of one long table, for files."""

from __future__ import annotations

from collections.abc import Iterator

from rubricweb.engine.agreement import Figure
from rubricweb.selectors.comparison.board.board import AgreementBoard, CriterionAgreement
from rubricweb.selectors.comparison.board.raters import RaterAgreement

COLUMNS = ("part", "criterion", "rater", "other", "item", "week", "figure", "value", "low", "high", "n")
"""Which part of the board a row is of, what it is about, the figure, its interval and its units."""

Row = dict[str, str | float | int | None]


def board_rows(board: AgreementBoard) -> Iterator[Row]:
    """One row per figure with its interval, after one for each other file whose labels are among them; None
    where a column does not apply or nothing is defined. `…_within` counts chance within each criterion.
    """
    for file in board.other_files:
        yield dict.fromkeys(COLUMNS) | {"part": "other file", "other": file.name}
    for agreement in board.rows:
        for name, figure in _figures(agreement):
            yield _row("criterion", name, figure, criterion=agreement.name)
        if agreement.criterion is None and (within := board.within) is not None:
            for name, figure in (("alpha", within.alpha), ("kappa", within.pair_kappa)):
                yield _row("criterion", f"{name}_within", figure, criterion=agreement.name)
            yield _row("criterion", "human_ceiling_kappa_within", within.kappa, criterion=agreement.name)
    apart = "_within" if board.scope is None and board.within is not None else ""
    scope = "" if board.scope is None else board.scope.name
    for row in board.matrix:
        for cell in row.cells:
            for name, pair in ((f"kappa{apart}", cell.kappa), ("raw_agreement", cell.raw)):
                if pair is not None:
                    yield _row(
                        "pair", name, pair, criterion=scope, rater=row.rater.name, other=cell.other.name
                    )
    for item in board.hardest:
        figure = Figure(item.agreement, None, None, item.n)
        yield _row("item", "raw_agreement", figure, criterion=scope, item=item.name)
    for rater in board.raters or ((board.mine,) if board.mine else ()):
        for name, figure in _rater_figures(rater):
            yield _row("rater", name, figure, rater=rater.rater.name)
    for week in board.weeks:
        for name, figure in ((f"alpha{apart}", week.alpha), ("raw_agreement", week.raw)):
            yield _row("week", name, figure, criterion=scope, week=week.monday.isoformat())


def _figures(row: CriterionAgreement) -> Iterator[tuple[str, Figure]]:
    yield "alpha", row.alpha
    yield "kappa", row.kappa
    yield from row.figures.items()
    yield "seconds", row.seconds


def _rater_figures(row: RaterAgreement) -> Iterator[tuple[str, Figure]]:
    yield "credit", row.credit
    yield "leniency", row.leniency
    if row.gold is not None:
        yield "gold", row.gold


def _row(part: str, name: str, figure: Figure, **about: str) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    row |= {"part": part, "figure": name, "value": figure.value, "low": figure.low, "high": figure.high}
    row |= {"n": figure.n, **about}
    return row
