"""What the agreement board says first: whether people agree well enough, and on what they do not."""

from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import counted, from_to, number, value_of
from rubricweb.selectors.comparison.board.board import AgreementBoard, CriterionAgreement
from rubricweb.selectors.comparison.findings import RELIABLE_ALPHA
from rubricweb.web.shared.plots import Axis, Mark, Picture, PictureRow, kappa_axis

LEAST_LENIENCY = 0.05
"""How far raters must lie apart for the most lenient and the strictest to be named."""


@dataclass(frozen=True)
class AgreedCriterion:
    """One criterion of the table with its α, people among themselves."""

    row: CriterionAgreement
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class BoardAnswer:
    """Everything above the folds of the board."""

    badge: str
    look: str
    sentence: str
    why: str
    picture: Picture
    rows: tuple[AgreedCriterion, ...]
    axis: Axis


def board_answer(board: AgreementBoard) -> BoardAnswer | None:
    """None where no criterion of an item has labels of two people.

    People agree well enough where the 95 % interval of their α lies above 0.667 (Krippendorff 2004), too
    little where it lies below, and else the labels cannot tell. α is that within criteria where there are
    several; of a rubric with no criterion that is met or not it is that of the worst choice.
    """
    alpha, kappa, name = _leading(board)
    if alpha is None or not alpha.n:
        return None
    rows = tuple(
        AgreedCriterion(row, (Mark.of("people", row.alpha),)) for row in board.criteria if row.alpha.n
    )
    badge, look, sentence = _verdict(alpha, name)
    marks = [("People among themselves", "Krippendorff’s α", alpha)]
    marks += [] if kappa is None else [("One person", "with the others, κ", kappa)]
    items = min((row.alpha.n for row in board.criteria if row.alpha.n), default=0)
    shown = tuple(
        PictureRow(who, about, Mark.of("people", figure, items), percent=False)
        for who, about, figure in marks
        if figure.value is not None
    )
    picture = Picture(
        "How far people agree",
        shown,
        kappa_axis([alpha, *([] if kappa is None else [kappa])], with_words=True),
        "",
    )
    axis = kappa_axis([row.row.alpha for row in rows], with_words=False)
    return BoardAnswer(badge, look, sentence, _why(board, alpha), picture, rows, axis)


def _leading(board: AgreementBoard) -> tuple[Figure | None, Figure | None, str]:
    """α, κ of one person with the others, and of what where that is not everything."""
    if board.within is not None:
        return board.within.alpha, board.within.kappa, ""
    if board.overall is not None and board.overall.alpha.n:
        return board.overall.alpha, board.overall.ceiling.kappa, ""
    worst = next((row for row in board.criteria if row.alpha.n), None)
    if worst is None:
        return None, None, ""
    return worst.alpha, worst.ceiling.kappa, f" on {worst.name}"


def _verdict(alpha: Figure, name: str) -> tuple[str, str, str]:
    said = f"α {value_of(alpha)}"
    if alpha.value is None:
        return (
            "Not defined",
            "undecided",
            f"Everybody gave one and the same label{name}: nothing can be measured.",
        )
    if alpha.low is not None and alpha.low > RELIABLE_ALPHA:
        return "Good enough", "better", f"People agree well enough to measure a judge{name} ({said})."
    if alpha.high is not None and alpha.high < RELIABLE_ALPHA:
        return "Too little", "worse", f"People agree too little to measure a judge finely{name} ({said})."
    return (
        "Undecided",
        "undecided",
        f"Not enough labels to say whether people agree well enough{name} ({said}).",
    )


def _why(board: AgreementBoard, alpha: Figure) -> str:
    between = from_to(alpha.low, alpha.high)
    parts = [f"Interval {between}; the usual bar is 0.67." if between else "Too few items for an interval."]
    worst = next((row for row in board.criteria if row.alpha.value is not None), None)
    if worst is not None and len(board.criteria) > 1:
        parts.append(f"Least on {worst.name} ({number(worst.alpha.value, 2)}).")
    parts.append(_raters(board))
    return " ".join(filter(None, parts))


def _raters(board: AgreementBoard) -> str:
    """The ends of leniency, for those who may see everybody's: named where their intervals do not overlap."""
    known = [row for row in board.raters if row.leniency.value is not None]
    if len(known) < 2:
        return f"{counted(board.reviews, 'review')} by {counted(board.raters_total, 'rater')}."
    first, last = known[0], known[-1]
    top, bottom = first.leniency.value or 0.0, last.leniency.value or 0.0
    low, high = first.leniency.low, last.leniency.high
    if top - bottom < LEAST_LENIENCY or low is None or high is None or low <= high:
        return "No rater is clearly more lenient than another."
    return f"Most lenient: {first.rater.name}; strictest: {last.rater.name}."
