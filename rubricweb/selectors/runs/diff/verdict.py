"""What two runs come to: whether scores rose or fell, in words, and the parts of it in points."""

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import counted, from_to, number, value_of
from rubricweb.models.snapshots import Look
from rubricweb.selectors.runs.diff.diff import RunDiff

POINTS = 100
"""Parts of the score are told in points of so many; those of raw scores as they are."""

WORDS: dict[str, tuple[str, Look]] = {
    "up": ("Scores rose", "better"),
    "down": ("Scores fell", "worse"),
    "open": ("No difference seen", "undecided"),
    "": ("Cannot tell", "undecided"),
}
"""The direction of a difference → its badge and the look of it."""


def diff_sentence(found: RunDiff) -> str:
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


def diff_why(found: RunDiff) -> str:
    difference = found.scores.difference
    between = from_to(difference.low, difference.high)
    told = f"{value_of(difference, signed=True)}{f', interval {between}' if between else ''}"
    counts = found.counts
    moved = f"{counts['fix']:,} up, {counts['regression']:,} down, {counts['unchanged']:,} the same"
    return f"{told}, {counted(found.scores.n, found.paired_by)}. {moved}."


def _names(found: RunDiff) -> tuple[str, str]:
    """The two system versions where both are known and differ, else the two runs."""
    this, other = (side.system or side.run.system for side in found.sides)
    if this and other and this != other:
        return this, other
    return str(found.run), str(found.baseline)


def is_raw(found: RunDiff) -> bool:
    """Whether scores are compared as they were before they were normalised."""
    return not (found.run.normalize and found.baseline.normalize)


def in_points(figure: Figure, of: int) -> Figure:
    """The same in points of so many: 0.05 is 5 of a hundred."""

    def times(value: float | None) -> float | None:
        return None if value is None else value * of

    return Figure(times(figure.value), times(figure.low), times(figure.high), figure.n)
