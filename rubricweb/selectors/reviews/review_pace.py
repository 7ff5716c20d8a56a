"""How long reviews take: of one person, of a queue, of the team."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from statistics import median

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from rubricweb.models import (
    Criterion,
    QueueCriterion,
    Review,
    ReviewQueue,
    ReviewState,
    RubricVersion,
    Team,
    User,
)

NEWEST = 20
"""A pace is the median of so many reviews of a person, the newest."""
TEAM_NEWEST = 200
"""The pace of a team is the median of so many."""
LEAST = 3
"""Of fewer reviews nothing is said."""
AT_ONCE = timedelta(seconds=1)
"""What was submitted so soon after its start was not read by anybody: a program sent it."""


def rater_paces(queue: ReviewQueue) -> dict[int, float]:
    """Rater id → median seconds of a review, over their NEWEST in the queue; raters with LEAST or more.

    The seconds the page was in front of its reader where the browser said so, else the time from its start
    to its submission. One query.
    """
    rows = _timed(Review.objects.filter(queue=queue)).annotate(
        newest=Window(RowNumber(), partition_by=F("rater"), order_by=F("submitted_at").desc())
    )
    by_rater: dict[int, list[float]] = defaultdict(list)
    for review in rows.filter(newest__lte=NEWEST):
        by_rater[review.rater_id].append(_seconds(review))
    return {rater: median(found) for rater, found in by_rater.items() if len(found) >= LEAST}


def own_paces(queues: Sequence[ReviewQueue], viewer: User) -> dict[int, float]:
    """Queue id → the viewer's own median seconds of a review there, as `rater_paces`. One query."""
    mine = _timed(Review.objects.filter(queue__in=queues, rater__user=viewer)).annotate(
        newest=Window(RowNumber(), partition_by=F("queue"), order_by=F("submitted_at").desc())
    )
    by_queue: dict[int, list[float]] = defaultdict(list)
    for review in mine.filter(newest__lte=NEWEST):
        by_queue[review.queue_id].append(_seconds(review))
    return {queue: median(found) for queue, found in by_queue.items() if len(found) >= LEAST}


def team_pace(team: Team, version: RubricVersion | None = None, *, criteria: int = 0) -> float | None:
    """Median seconds of the team's TEAM_NEWEST reviews; by this rubric version where there are LEAST of it.

    A review of another number of this version's criteria counts in proportion, `criteria` 0 being all: 60
    seconds for 4 are 30 for 2. None with fewer than LEAST.
    """
    reviews = _timed(Review.objects.filter(queue__team=team))
    same = list(reviews.filter(queue__rubric_version=version).order_by("-submitted_at")[:TEAM_NEWEST])
    if len(same) >= LEAST:
        return median(_scaled(same, version, criteria))
    found = [_seconds(review) for review in reviews.order_by("-submitted_at")[:TEAM_NEWEST]]
    return median(found) if len(found) >= LEAST else None


def _scaled(reviews: Sequence[Review], version: RubricVersion | None, criteria: int) -> list[float]:
    """The seconds of reviews by one version, each as if its queue had asked about so many of its criteria."""
    limits = QueueCriterion.objects.filter(queue__in={review.queue_id for review in reviews}).order_by()
    asked = dict(limits.values("queue_id").annotate(n=Count("pk")).values_list("queue_id", "n"))
    if not asked and not criteria:
        return [_seconds(review) for review in reviews]
    everything = Criterion.objects.filter(version=version).exclude(kind="check").count()
    wanted = criteria or everything
    return [_seconds(review) * wanted / asked.get(review.queue_id, everything) for review in reviews]


def _timed(reviews: QuerySet[Review]) -> QuerySet[Review]:
    """Submitted reviews that people did here, and not those of a file or a program."""
    done = reviews.filter(state=ReviewState.SUBMITTED, queue__imported=False)
    done = done.exclude(seconds=None, submitted_at__lt=F("started_at") + AT_ONCE)
    return done.only("rater", "queue", "seconds", "started_at", "submitted_at")


def _seconds(review: Review) -> float:
    if review.seconds is not None:
        return review.seconds
    return ((review.submitted_at or review.started_at) - review.started_at).total_seconds()


def time_left(left: int, paces: Iterable[float]) -> float | None:
    """Seconds of work in `left` reviews, at the median of paces: 6 at 60, 120 and 600 seconds are 720."""
    known = list(paces)
    return left * median(known) if known else None
