"""The figures over all criteria, as tiles of Compare and of the agreement board."""

from collections.abc import Iterator
from dataclasses import dataclass

from rubricweb.engine.agreement import PAIR_FIGURES, RATER_FIGURES, Figure
from rubricweb.engine.agreement.figure_rows import shown_in
from rubricweb.selectors.comparison.board.board import AgreementBoard
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.web.comparison.figure_tables import board_title, lowest, people_rows

ONE_OF_THEM = "one of these people"


@dataclass(frozen=True)
class AgreementTile:
    """One figure; `about` is where the page explains it.

    `pooled` is the same figure of one table of all criteria, and `pooled_name` what that is called.

    The drawing goes from `minimum` to 1; `mark` is drawn across the interval, `note` says why it stands where
    it does. `human` is a figure of people alone.
    """

    label: str
    about: str
    figure: Figure
    minimum: float
    pooled: Figure | None = None
    pooled_name: str = ""
    mark: float | None = None
    mark_words: str = ""
    note: str = ""
    human: bool = False


def tiles(comparison: Comparison) -> Iterator[AgreementTile]:
    """The κ that leads stands first where it is the judge's in a person's seat, else after the others."""
    leading, low, seat = comparison.leading, comparison.scale_low, _seat(comparison)
    if leading.in_seat and seat is not None:
        yield seat
    for row in shown_in("compare", PAIR_FIGURES):
        if row.name == "cohen_kappa":
            yield _kappa(comparison)
        elif row.name in comparison.overall.figures:
            yield AgreementTile(row.title, row.about, comparison.overall.figures[row.name], lowest(row, low))
    yield _alpha(comparison)
    for people in people_rows():
        if people.name in comparison.human_figures:
            figure = comparison.human_figures[people.name]
            yield AgreementTile(f"Human {people.short}", people.about, figure, low, human=True)
    if not leading.in_seat and seat is not None:
        yield seat


def _kappa(comparison: Comparison) -> AgreementTile:
    within, low, pooled = comparison.within, comparison.scale_low, comparison.overall.kappa
    note = "leaves tied units out" if comparison.leading.in_seat else ""
    if within is None:
        return AgreementTile("Cohen κ", "kappa", pooled, low, note=note)
    return AgreementTile("κ within criteria", "within", within.kappa, low, pooled, "Cohen κ", note=note)


def _alpha(comparison: Comparison) -> AgreementTile:
    within, low, pooled = comparison.within, comparison.scale_low, comparison.human_alpha
    if within is None:
        return AgreementTile("Human α", "alpha", pooled, low, human=True)
    label = "Human α within criteria"
    return AgreementTile(label, "alpha", within.human_alpha, low, pooled, "Human α", human=True)


def board_tiles(board: AgreementBoard) -> Iterator[AgreementTile]:
    """The figures over all criteria that are met or not, those within criteria in front of one table's."""
    if board.overall is None:
        return
    within = (
        {}
        if board.within is None
        else {
            "alpha_nominal": board.within.alpha,
            "pairwise_kappa": board.within.pair_kappa,
            "human_ceiling_kappa": board.within.kappa,
        }
    )
    for row in shown_in("board", RATER_FIGURES):
        figure = board.overall.figures.get(row.name)
        if figure is None:
            continue
        title = board_title(row)
        if row.name in within:
            apart = f"{title} within criteria"
            yield AgreementTile(apart, row.about, within[row.name], board.scale_low, figure, title)
        else:
            yield AgreementTile(title, row.about, figure, lowest(row, board.scale_low))


def _seat(comparison: Comparison) -> AgreementTile | None:
    ceiling, within = comparison.ceiling, comparison.within
    if ceiling.judge is None or not ceiling.n:
        return None
    low, label = comparison.scale_low, "κ in a person’s seat"
    note = "comes first: more than a tenth of what people labelled is tied, and here a tie is ½"
    note = note if comparison.leading.in_seat else ""
    if within is None:
        mark = ceiling.kappa.value
        return AgreementTile(
            label, "ceiling", ceiling.judge.kappa, low, mark=mark, mark_words=ONE_OF_THEM, note=note
        )
    return AgreementTile(
        f"{label}, within criteria",
        "ceiling",
        within.seat.judge_kappa,
        low,
        pooled=ceiling.judge.kappa,
        pooled_name=label,
        mark=within.seat.kappa.value,
        mark_words=ONE_OF_THEM,
        note=note,
    )
