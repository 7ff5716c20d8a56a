"""What a queue would come to before it is opened: items, reviews, hours."""

from dataclasses import dataclass

from rubricweb.models import Dataset, RubricVersion, User
from rubricweb.selectors.reviews.informative import REASONS, ReasonCount
from rubricweb.selectors.reviews.queue_sources import Source, chosen, in_words
from rubricweb.selectors.reviews.review_pace import team_pace


@dataclass(frozen=True)
class QueuePlan:
    """`seconds` of work are at the pace of the team's newest reviews, None while too little is known."""

    items: int
    reviews: int
    seconds: float | None
    reasons: tuple[ReasonCount, ...]
    source: tuple[str, ...]


def queue_plan(
    dataset: Dataset,
    source: Source,
    *,
    viewer: User,
    rubric_version: RubricVersion | None = None,
    raters_per_item: int = 1,
) -> QueuePlan:
    """What these choices come to; raises what `queue_sources.chosen` raises."""
    found = chosen(dataset, source, viewer=viewer)
    reviews = len(found.item_ids) * raters_per_item
    pace = team_pace(dataset.team, rubric_version)
    counts = found.source.get("reasons", {})
    return QueuePlan(
        items=len(found.item_ids),
        reviews=reviews,
        seconds=None if pace is None else reviews * pace,
        reasons=tuple(ReasonCount(name, REASONS[name], counts[name]) for name in counts),
        source=tuple(in_words(found.source)),
    )
