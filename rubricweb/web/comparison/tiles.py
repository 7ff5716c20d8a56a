"""The figures over all criteria, as the tiles on top of Compare show them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.selectors.comparison.comparison import Comparison

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
    """The κ that leads stands first where it is the judge's in a person's seat, else after accuracy."""
    overall, within, leading = comparison.overall, comparison.within, comparison.leading
    seat, low = _seat(comparison), comparison.scale_low
    if leading.in_seat and seat is not None:
        yield seat
    yield AgreementTile("Accuracy", "accuracy", overall.accuracy, 0)
    yield AgreementTile("Balanced accuracy", "balanced", overall.balanced_accuracy, 0)
    ties = "leaves tied units out" if leading.in_seat else ""
    if within is None:
        yield AgreementTile("Cohen κ", "kappa", overall.kappa, low, note=ties)
        yield AgreementTile("Human α", "alpha", comparison.human_alpha, low, human=True)
    else:
        yield AgreementTile(
            "κ within criteria", "within", within.kappa, low, overall.kappa, "Cohen κ", note=ties
        )
        label, pooled = "Human α within criteria", comparison.human_alpha
        yield AgreementTile(label, "alpha", within.human_alpha, low, pooled, "Human α", human=True)
    yield AgreementTile("MCC", "mcc", overall.mcc, low)
    if not leading.in_seat and seat is not None:
        yield seat


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
