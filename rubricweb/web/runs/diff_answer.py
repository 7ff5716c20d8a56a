"""What the page of two runs says first: whether scores differ, by how much, and which criteria moved them."""

from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.intervals import CONFIDENCE
from rubricweb.engine.number_format import counted, from_to, number, value_of
from rubricweb.selectors.runs.diff.changes import CriterionChange
from rubricweb.selectors.runs.diff.diff import RunDiff
from rubricweb.web.shared.plots import Axis, Kind, Mark, Picture, PictureRow, difference_axis

POINTS = 100
"""Parts of the score are told in points of so many; those of raw scores as they are."""

WORDS: dict[str, tuple[str, str]] = {
    "up": ("Scores rose", "better"),
    "down": ("Scores fell", "worse"),
    "open": ("No difference seen", "undecided"),
    "": ("Cannot tell", "undecided"),
}
"""The direction of a difference → its badge and the look of it."""

KINDS: dict[str, Kind] = {"up": "better", "down": "worse", "open": "none", "": "none"}


@dataclass(frozen=True)
class MovedCriterion:
    """One criterion with its part of the difference, in points; `word` is better, worse or not clear.

    It is the direction of answers that differ after Holm; not clear where a new weight moved the points the
    other way.
    """

    change: CriterionChange
    points: Figure
    mark: Mark
    word: str

    @property
    def marks(self) -> tuple[Mark, ...]:
        return (self.mark,)


@dataclass(frozen=True)
class DiffAnswer:
    """Everything above the list of items; `rows` is empty where parts by criterion are not known.

    Of raw scores, `is_raw`, points are those of the scores; else they are of a hundred.
    """

    badge: str
    look: str
    sentence: str
    why: str
    picture: Picture
    rows: tuple[MovedCriterion, ...]
    total: Figure
    axis: Axis
    is_raw: bool


def diff_answer(found: RunDiff) -> DiffAnswer | None:
    """None where nothing has a score in both."""
    scores = found.scores
    if not scores.n or scores.difference.value is None:
        return None
    badge, look = WORDS[found.direction]
    rows = tuple(_rows(found))
    total = in_points(scores.difference, 1 if _is_raw(found) else POINTS)
    axis = difference_axis([row.points for row in rows], unit=1.0)
    return DiffAnswer(
        badge, look, _sentence(found), _why(found), _picture(found), rows, total, axis, _is_raw(found)
    )


def _names(found: RunDiff) -> tuple[str, str]:
    """The two system versions where both are known and differ, else the two runs."""
    this, other = (side.system or side.run.system for side in found.sides)
    if this and other and this != other:
        return this, other
    return str(found.run), str(found.baseline)


def _sentence(found: RunDiff) -> str:
    this, other = _names(found)
    scores = found.scores
    means = f"{number(scores.mean_other.value, 2)} against {number(scores.mean_one.value, 2)}"
    on = counted(scores.n, found.paired_by)
    if found.direction == "up":
        return f"{this} scores higher than {other}: {means}."
    if found.direction == "down":
        return f"{this} scores lower than {other}: {means}."
    if not scores.wilcoxon.n:
        return f"No difference on {on}: {means}."
    if found.direction == "open":
        return f"No difference seen between {this} and {other}: {means}."
    return f"{on} cannot tell {this} from {other}: {means}."


def _why(found: RunDiff) -> str:
    difference = found.scores.difference
    between = from_to(difference.low, difference.high)
    told = f"{value_of(difference, signed=True)}{f', interval {between}' if between else ''}"
    counts = found.counts
    moved = f"{counts['fix']:,} up, {counts['regression']:,} down, {counts['unchanged']:,} the same"
    return f"{told}, {counted(found.scores.n, found.paired_by)}. {moved}."


def _picture(found: RunDiff) -> Picture:
    difference = found.scores.difference
    mark = Mark(KINDS[found.direction], difference, found.direction not in ("up", "down"))
    row = PictureRow("Change", counted(found.scores.n, found.paired_by), mark, percent=False, signed=True)
    return Picture(f"Change of mean {found.scale}", (row,), difference_axis([difference]), "")


def _rows(found: RunDiff) -> list[MovedCriterion]:
    rows = []
    for change in found.criteria:
        part = change.contribution
        if part is None or part.value is None:
            continue
        by_answers = (change.difference.value or 0.0) * change.criterion.weight
        sure = change.p is not None and change.p < 1 - CONFIDENCE and by_answers * part.value > 0
        word = ("better" if part.value > 0 else "worse") if sure else "not clear"
        kind: Kind = "none" if word == "not clear" else "better" if part.value > 0 else "worse"
        points = in_points(part, 1 if _is_raw(found) else POINTS)
        rows.append(MovedCriterion(change, points, Mark(kind, points), word))
    return sorted(rows, key=lambda row: -(row.points.value or 0.0))


def _is_raw(found: RunDiff) -> bool:
    """Whether scores are compared as they were before they were normalised."""
    return not (found.run.normalize and found.baseline.normalize)


def in_points(figure: Figure, of: int) -> Figure:
    """The same in points of so many: 0.05 is 5 of a hundred."""

    def times(value: float | None) -> float | None:
        return None if value is None else value * of

    return Figure(times(figure.value), times(figure.low), times(figure.high), figure.n)
