"""What the page of two runs says first: whether scores differ, by how much, and which criteria moved them."""

from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.intervals import CONFIDENCE
from rubricweb.engine.number_format import counted
from rubricweb.selectors.runs.diff.changes import CriterionChange
from rubricweb.selectors.runs.diff.diff import RunDiff
from rubricweb.selectors.runs.diff.verdict import (
    POINTS,
    WORDS,
    diff_sentence,
    diff_why,
    in_points,
    is_raw,
)
from rubricweb.web.shared.plots import Axis, Kind, Mark, Picture, PictureRow, difference_axis

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
    total = in_points(scores.difference, 1 if is_raw(found) else POINTS)
    axis = difference_axis([row.points for row in rows], unit=1.0)
    return DiffAnswer(
        badge, look, diff_sentence(found), diff_why(found), _picture(found), rows, total, axis, is_raw(found)
    )


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
        points = in_points(part, 1 if is_raw(found) else POINTS)
        rows.append(MovedCriterion(change, points, Mark(kind, points), word))
    return sorted(rows, key=lambda row: -(row.points.value or 0.0))
