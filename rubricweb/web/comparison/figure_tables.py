"""The figures of agreement that tables show: their columns, and their lines for one choice."""

from collections.abc import Iterator
from dataclasses import dataclass

from rubricweb.engine.agreement import PAIR_FIGURES, RATER_FIGURES, Figure, FigureRow, RaterFigure
from rubricweb.engine.agreement.figure_rows import shown_in
from rubricweb.selectors.comparison.board.board import AgreementBoard, CriterionAgreement
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.labels.by_kind import CriterionComparison

Cell = tuple[FigureRow, Figure]
"""A figure of a table, and what it is."""


@dataclass(frozen=True)
class JudgedCriterion:
    """A criterion that is met or not: the judge's figures, and those of people beside α and ceiling."""

    compared: CriterionComparison
    cells: list[Cell]
    people: list[Cell]


def verdict_rows(comparison: Comparison) -> list[JudgedCriterion]:
    """One for each criterion that is met or not, all with the same figures."""
    rows = [row for row in comparison.criteria if row.criterion.kind == "binary"]
    judge = [one for one in shown_in("compare", PAIR_FIGURES) if "binary" in one.applies_to]
    return [
        JudgedCriterion(
            row,
            [(one, row.pair.figures[one.name]) for one in judge],
            [(one, row.human_figures[one.name]) for one in people_rows() if one.name in row.human_figures],
        )
        for row in rows
    ]


def people_rows() -> list[RaterFigure]:
    """Those of people that Compare shows; α has a place of its own."""
    return [row for row in shown_in("compare", RATER_FIGURES) if row.about != "alpha"]


def lowest(row: FigureRow, scale_low: float) -> float:
    """Where its drawing begins: at 0 for what is never below."""
    return scale_low if row.low < 0 else 0.0


@dataclass(frozen=True)
class FigureLine:
    """One figure of a choice; `about` is where the page explains it, `minimum` where its drawing begins;
    `plain` is not drawn.
    """

    label: str
    about: str
    figure: Figure
    minimum: float
    words: str = ""
    plain: bool = False


def figure_lines(row: CriterionComparison, low: float) -> Iterator[FigureLine]:
    """Every figure of a choice; drawings of what can be below 0 begin at `low`."""

    def line(of: FigureRow, title: str, figure: Figure) -> FigureLine:
        return FigureLine(title, of.about, figure, lowest(of, low), of.unit, not of.drawn)

    for of in PAIR_FIGURES:
        if of.name in row.agreement.figures:
            yield line(of, of.title, row.agreement.figures[of.name])
    words = "one person against the others"
    yield FigureLine("Human ceiling, κ", "ceiling", row.ceiling.kappa, low, words)
    if row.ceiling.judge is not None and row.ceiling.judge.kappa.value is not None:
        words = "κ of the judge against the same others"
        yield FigureLine("In a person’s seat", "ceiling", row.ceiling.judge.kappa, low, words)
    for people in RATER_FIGURES:
        if people.name in row.human_figures:
            yield line(people, f"Human {people.short}", row.human_figures[people.name])


# ── The agreement board ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class BoardColumn:
    """Its head, where that is explained, whether it is drawn, and the rows of which a criterion has one."""

    title: str
    about: str
    drawn: bool
    rows: list[RaterFigure]

    def of(self, criterion: CriterionAgreement) -> Figure | None:
        """Its figure there."""
        return next((criterion.figures[row.name] for row in self.rows if row.name in criterion.figures), None)


@dataclass(frozen=True)
class BoardTable:
    """The figures of each criterion, column by column."""

    columns: list[BoardColumn]
    rows: list[tuple[CriterionAgreement, list[tuple[BoardColumn, Figure | None]]]]


def board_table(board: AgreementBoard) -> BoardTable:
    """Columns are those of which a criterion has a figure; α is one, whatever the scale."""
    by_title: dict[str, list[RaterFigure]] = {}
    for row in shown_in("board", RATER_FIGURES):
        if any(row.name in one.figures for one in board.criteria):
            by_title.setdefault(board_title(row), []).append(row)
    columns = [
        BoardColumn(title, rows[0].about, rows[0].about in DRAWN, rows) for title, rows in by_title.items()
    ]
    return BoardTable(
        columns, [(one, [(column, column.of(one)) for column in columns]) for one in board.criteria]
    )


DRAWN = ("alpha", "kappa")
"""What the page explains of those that the table of a board draws."""


def board_title(row: RaterFigure) -> str:
    return "Krippendorff α" if row.about == "alpha" else row.title
