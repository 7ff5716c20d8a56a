"""What stands below Compare's table: whose fault the disagreements were, and the scores item by item."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from rubricweb.engine.number_format import number
from rubricweb.models import Cause
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.rubrics.todo import CriterionWork
from rubricweb.selectors.shared.score_ends import score_ends
from rubricweb.web.http import TeamRequest
from rubricweb.web.shared.plots import Dot

MOST_DOTS = 400
"""So many items are drawn one by one; more would be a cloud, and a heavy page."""

WORDS = {
    Cause.JUDGE_WRONG: "Judge wrong",
    Cause.RUBRIC_UNCLEAR: "Rubric unclear",
    Cause.HUMAN_WRONG: "Person slipped",
    Cause.ITEM_BROKEN: "Item broken",
}


@dataclass(frozen=True)
class CauseCount:
    """How often decisions named one cause; `criteria` are those it was named for."""

    cause: Cause
    count: int
    criteria: int

    @property
    def words(self) -> str:
        return WORDS[self.cause]

    @property
    def side(self) -> str:
        """Whose mark the bar has."""
        return {Cause.JUDGE_WRONG: "judge", Cause.HUMAN_WRONG: "people"}.get(self.cause, "none")


def faults(todo: Iterable[CriterionWork]) -> list[CauseCount]:
    """The causes that decisions named, over all criteria, in the order a reader acts on them."""
    rows = [dict(row.counts) for row in todo]
    found = [
        CauseCount(cause, sum(row[cause] for row in rows), sum(row[cause] > 0 for row in rows))
        for cause in WORDS
    ]
    return [fault for fault in found if fault.count]


def dots(request: TeamRequest, comparison: Comparison, pair: str) -> list[Dot]:
    """The scores of the first `MOST_DOTS` items that both scored, as shares of the way to the best score."""
    low, high = score_ends(comparison.run)
    return [
        Dot(
            (point.people - low) / (high - low),
            (point.judge - low) / (high - low),
            f"People {number(point.people, 2)}, judge {number(point.judge, 2)}",
            f"{reverse('compare_item', args=[request.team.slug, point.item_id])}?{pair}",
        )
        for point in comparison.scores.points[:MOST_DOTS]
        if high > low
    ]
