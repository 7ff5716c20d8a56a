"""What Compare shows first: the verdict, one picture, and the criteria by what needs work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.raters.leading import SeatKappas
from rubricweb.engine.number_format import counted, from_to, value_of
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.verdict import (
    CLOSE,
    LOOKS,
    ComparisonVerdict,
    apart_of,
    comparison_verdict,
    leaning_criteria,
    seat_of,
)
from rubricweb.selectors.labels.by_kind import CriterionComparison
from rubricweb.web.shared.plots import (
    SHARE_AXIS,
    Axis,
    Mark,
    Picture,
    PictureRow,
    bias_axis,
    kappa_axis,
)

Lead = Literal["agreement", "bias"]


@dataclass(frozen=True)
class CriterionRow:
    """One criterion of the table; `gap` is what it is sorted by, `leaning` its bias where that is told.

    `person` and `judge` are κ in one seat where agreement leads, else how often each gives credit.
    `differ` counts units on which judge and ground truth differ.
    """

    compared: CriterionComparison
    person: Figure
    judge: Figure
    gap: Figure
    leaning: str
    differ: int
    marks: tuple[Mark, Mark]
    is_open: bool = False

    @property
    def n(self) -> int:
        options = self.compared.options
        return self.compared.pair.n if options is None else options.n


@dataclass(frozen=True)
class ComparisonAnswer:
    """Everything above the folds of Compare."""

    verdict: ComparisonVerdict
    look: str
    picture: Picture
    lead: Lead
    rows: tuple[CriterionRow, ...]
    axis: Axis
    bias_axis: Axis

    @property
    def percent(self) -> bool:
        return self.lead == "bias"

    @property
    def opened(self) -> CriterionRow | None:
        return next((row for row in self.rows if row.is_open), None)


def comparison_answer(
    comparison: Comparison, lead: Lead | None = None, opened: int | None = None
) -> ComparisonAnswer | None:
    """The answer, its table by agreement or by bias: by what leads where `lead` is not asked for.

    `opened` is the id of the criterion whose row is open. None where judge and people have no answer in
    common.
    """
    verdict = comparison_verdict(comparison)
    if verdict is None:
        return None
    lead = lead or verdict.leads
    rows = tuple(_rows(comparison, lead, opened))
    shown = [figure for row in rows for figure in (row.person, row.judge)]
    return ComparisonAnswer(
        verdict=verdict,
        look=LOOKS.get(verdict.state, "undecided"),
        picture=_picture(comparison, verdict),
        lead=lead,
        rows=rows,
        axis=SHARE_AXIS if lead == "bias" else kappa_axis(shown, with_words=False),
        bias_axis=bias_axis(row.compared.bias for row in rows),
    )


# ── The picture ──────────────────────────────────────────────────────────────────────────────────


def _picture(comparison: Comparison, verdict: ComparisonVerdict) -> Picture:
    seat, rests_on = seat_of(comparison), comparison.items
    if verdict.leads == "bias" and comparison.rates.judge.value is not None:
        return _rates(comparison, seat, rests_on)
    if seat is not None:
        return _seats(comparison, seat, rests_on)
    kappa = comparison.leading.kappa
    rows = (
        ()
        if kappa.value is None
        else (PictureRow("The judge", "with people", Mark.of("judge", kappa, rests_on), False),)
    )
    return Picture(
        f"Agreement with people ({comparison.leading.name})", rows, kappa_axis([kappa], with_words=True), ""
    )


def _seats(comparison: Comparison, seat: SeatKappas, rests_on: int) -> Picture:
    others = comparison.ceiling.raters - 1
    with_others = "with the other" if others == 1 else f"with the other {others}"
    apart = apart_of(comparison, seat)
    note = f"Judge minus person {value_of(apart, signed=True)}"
    if between := from_to(apart.low, apart.high):
        note += f", interval {between}"
    return Picture(
        "Agreement with the other raters (κ), all criteria",
        (
            PictureRow("One person", with_others, Mark.of("people", seat.person, rests_on), False),
            PictureRow("The judge", "in the same seat", Mark.of("judge", seat.judge, rests_on), False),
        ),
        kappa_axis([seat.person, seat.judge], with_words=True),
        f"{note}. Close enough: above {value_of(Figure(-CLOSE, None, None, 100))}.",
    )


def _rates(comparison: Comparison, seat: SeatKappas | None, rests_on: int) -> Picture:
    rates = comparison.rates
    gives = "Share that gets credit" if comparison.has_penalties else "Share that passes"
    note = ""
    if seat is not None:
        note = (
            f"Agreement (κ): judge {value_of(seat.judge)}, one person {value_of(seat.person)}. Chance is 0."
        )
    items = f"same {counted(comparison.items, 'item')}"
    return Picture(
        f"{gives}, all criteria",
        (
            PictureRow(
                "People", counted(comparison.raters, "rater"), Mark.of("people", rates.people, rests_on), True
            ),
            PictureRow("The judge", items, Mark.of("judge", rates.judge, rests_on), True),
        ),
        SHARE_AXIS,
        note,
    )


# ── The criteria ─────────────────────────────────────────────────────────────────────────────────


def _rows(comparison: Comparison, lead: Lead, opened: int | None) -> Sequence[CriterionRow]:
    """Criteria that people answer: widest gap first, or the largest bias; those without either come last."""
    compared = [row for row in comparison.criteria if row.mean_value is None]
    leaning = leaning_criteria([row for row in compared if row.bias.value is not None], comparison)
    rows = [
        replace(_row(row, lead, leaning.get(row.criterion.pk, "")), is_open=row.criterion.pk == opened)
        for row in compared
    ]
    size: Callable[[float], float] = (lambda gap: -abs(gap)) if lead == "bias" else (lambda gap: gap)

    def place(row: CriterionRow) -> tuple[bool, float, int]:
        gap = row.gap.value
        return (gap is None, 0.0 if gap is None else size(gap), row.compared.criterion.position)

    return sorted(rows, key=place)


def _row(row: CriterionComparison, lead: Lead, leaning: str) -> CriterionRow:
    seat = row.ceiling.judge
    undefined = Figure(None, None, None, 0)
    if lead == "bias":
        person, judge, gap = row.rates.people, row.rates.judge, row.bias
    elif seat is not None and seat.kappa_difference.value is not None:
        person, judge, gap = row.ceiling.kappa, seat.kappa, seat.kappa_difference
    else:
        person, judge, gap = undefined, row.leading.kappa, undefined
    counts = [cell.count for line in row.matrix for cell in line.cells if not cell.agrees]
    items = row.pair.n if row.options is None else row.options.n
    marks = (Mark.of("people", person, items), Mark.of("judge", judge, items))
    return CriterionRow(row, person, judge, gap, leaning, sum(counts), marks)
