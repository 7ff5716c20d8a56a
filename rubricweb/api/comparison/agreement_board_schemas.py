"""Shapes of the agreement board of a queue."""

from datetime import date
from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.comparison.figure_schemas import FiguresByName
from rubricweb.api.comparison.schemas import HumanCeiling, Unavailable
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.schemas import Figure, Id, Named
from rubricweb.api.shapes import Shape
from rubricweb.engine.agreement.raters.ceiling import PeopleWithin as ShownPeopleWithin
from rubricweb.selectors.comparison.board.board import HardItem as ShownHardItem
from rubricweb.selectors.comparison.board.raters import MatrixRow as ShownMatrixRow
from rubricweb.selectors.comparison.board.raters import RaterAgreement as ShownRaterAgreement
from rubricweb.selectors.comparison.board.raters import RaterName


class BoardQuery(BaseModel):
    criterion: Annotated[
        Id | None, Field(description="Pairs, hardest items and weeks of this criterion only.")
    ] = None


class BoardRater(Shape[RaterName]):
    """A rater by name; for annotators and viewers others are numbered."""


class CriterionAgreement(Schema):
    """How far people agree on one criterion; on all binary ones together where `criterion` is null.

    `alpha` is ordinal where options are steps, else nominal. `kappa` is the mean over pairs of raters,
    `raw_agreement` the mean share of equal pairs of labels. `seconds` is the median time the criterion was
    open, with n 0 where nothing was measured.
    """

    criterion: Criterion | None
    items: int
    raters: int
    abstained: int
    alpha: Figure
    kappa: Figure
    raw_agreement: Figure
    ceiling: HumanCeiling
    figures: FiguresByName
    seconds: Figure

    @staticmethod
    def resolve_raw_agreement(row: Any) -> Any:
        return row.raw


class PeopleWithin(Shape[ShownPeopleWithin]):
    """Agreement over several binary criteria with chance counted within each: α, the mean κ of pairs, and κ
    of one person with the majority of the others.
    """


class PairCell(Schema):
    """Two raters on the `n` units both labelled; a rater against themselves has no figures. Over all criteria
    `kappa` is within criteria, where there are several.
    """

    other: BoardRater
    n: int
    raw_agreement: Figure | None
    kappa: Figure | None

    @staticmethod
    def resolve_raw_agreement(cell: Any) -> Any:
        return cell.raw


class MatrixRow(Shape[ShownMatrixRow]):
    cells: list[PairCell]


class HardItem(Shape[ShownHardItem]):
    """An item and the mean share of equal pairs of labels over its `n` units with two labels, 0 to 1.

    `key` is null while an answer to the same case is still to be reviewed blind.
    """


class Week(Schema):
    """Agreement on the items whose last review was submitted in the week from `monday`.

    α over all criteria is within criteria, where there are several.
    """

    monday: date
    items: int
    alpha: Figure
    raw_agreement: Figure

    @staticmethod
    def resolve_raw_agreement(week: Any) -> Any:
        return week.raw


class RaterAgreement(Shape[ShownRaterAgreement]):
    """One rater: `leniency` is own credit less that of the others on the same units, −1 to 1.

    Credit is the value of a label, 1 less the value where the weight is negative. `gold` is the share of
    labels on gold items that are right, null without gold items.
    """


class AgreementBoard(Schema):
    """How far the raters of a queue agree, by their initial labels.

    `overall` pools binary criteria in one table, null without any; where they are several, what is said of
    all rests on `within`. `raters` has everybody for reviewers and above, nobody
    for others; `mine` are your own numbers, null before you have done your part (`mine_waits`) or when you
    are no rater. Below `too_few_below` units a figure tells little.
    """

    queue_id: int
    other_files: Annotated[
        list[Named],
        Field(description="Queues of other files whose labels, by the same people, are in the figures too."),
    ]
    reviews: int
    raters_total: int
    overall: CriterionAgreement | None
    within: Annotated[
        PeopleWithin | None,
        Field(description="Null where there is one criterion only, or all are items' own."),
    ]
    criteria: list[CriterionAgreement]
    scope: Criterion | None
    matrix: list[MatrixRow]
    raters_left_out: Annotated[
        int, Field(description="Raters with a label in the scope for whom the matrix has no room.")
    ]
    hardest: list[HardItem]
    agreed_items: int
    weeks: list[Week]
    names_hidden: bool
    raters: list[RaterAgreement]
    mine: RaterAgreement | None
    mine_waits: bool
    resamples: int
    too_few_below: int
    unavailable: Annotated[
        Unavailable | None, Field(description="Why there is no agreement yet; null where there is.")
    ]

    @staticmethod
    def resolve_queue_id(board: Any) -> int:
        return int(board.queue.pk)
