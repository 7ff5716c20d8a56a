"""Queues: how far they are, who has done what, and which items lie around one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Sum
from django.utils import timezone

from rubricweb.models import (
    Dataset,
    Draw,
    Item,
    QueueItem,
    QueueState,
    Rater,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    RubricVersion,
    Run,
    Stratum,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import hidden_datasets, hidden_items, shown
from rubricweb.selectors.datasets.systems import queue_systems
from rubricweb.selectors.reviews.queue_sources import in_words
from rubricweb.selectors.reviews.review_pace import own_paces, rater_paces, time_left

STATES = (QueueState.OPEN, QueueState.PAUSED, QueueState.CLOSED)

UNITED_MAX = 100
"""So many queries are put into one; SQLite takes no more than 500."""


@dataclass(frozen=True)
class QueueProgress:
    """`wanted` reviews are the places of all items; `mine_left` is how many this person could still take.

    `expired` are the drafts among `drafts` that lost their place, because nothing was heard for too long or
    because their person was taken out of the queue.
    """

    items: int
    wanted: int
    submitted: int
    drafts: int
    expired: int
    skipped: int
    my_submitted: int
    my_draft: bool
    mine_left: int

    @property
    def share(self) -> float:
        return self.submitted / self.wanted if self.wanted else 0.0

    @property
    def left(self) -> int:
        """Reviews that nobody has submitted yet."""
        return max(0, self.wanted - self.submitted)


@dataclass(frozen=True)
class QueueRow:
    """`my_seconds_left` is what is left for the viewer at their own pace; None where it is not known yet.
    `systems` as `queue_systems` names them.
    """

    queue: ReviewQueue
    progress: QueueProgress
    i_rate: bool
    my_seconds_left: float | None
    systems: list[str] | None


def queues(team: Team, viewer: User, *, archived: bool = False) -> list[QueueRow]:
    """The team's queues, open ones first, then paused ones, each with its progress and the viewer's own; or
    those archived.

    Eight queries, however many queues; nine where some name system versions.
    """
    rows = list(
        ReviewQueue.objects.filter(unarchived(archived=archived), team=team)
        .select_related("dataset", "rubric_version", "run")
        .prefetch_related("criteria")
        .order_by("-created_at", "-pk")
    )
    rows.sort(key=lambda queue: STATES.index(queue.state))
    mine = _rated_by(viewer, rows)
    progress = _progress(rows, viewer, mine)
    paces = own_paces([queue for queue in rows if progress[queue.pk].mine_left], viewer)
    named = queue_systems(rows, viewer=viewer, team=team)
    left = {pk: progress[pk].mine_left * pace for pk, pace in paces.items()}
    return [
        QueueRow(each, progress[each.pk], each.pk in mine, left.get(each.pk), named[each.pk]) for each in rows
    ]


def queue_progress(queue: ReviewQueue, viewer: User) -> QueueProgress:
    return _progress([queue], viewer, _rated_by(viewer, [queue]))[queue.pk]


@dataclass(frozen=True)
class OwnProgress:
    """How far one person is in a queue: the same numbers as in QueueProgress, without anybody else's."""

    my_submitted: int
    mine_left: int


def own_progress(queue: ReviewQueue, viewer: User) -> OwnProgress:
    """What the rail beside an item says. Three queries, none of which reads other people's reviews."""
    asked = ReviewQueue.raters.through.objects.filter(reviewqueue=queue, rater=OuterRef("pk"))
    me = Rater.objects.filter(team=queue.team_id, user=viewer).annotate(is_asked=Exists(asked)).first()
    if me is None:
        return OwnProgress(0, 0)
    counts = Review.objects.filter(queue=queue, rater=me).order_by().aggregate(**_counted_of(viewer))
    left = 0
    if me.is_asked and queue.state == QueueState.OPEN:
        left = counts["my_open"] + _with_room([queue.pk], viewer).get(queue.pk, 0) - counts["my_with_room"]
    return OwnProgress(counts["my_submitted"], left)


def open_reviews_count(team: Team, viewer: User, *, at_most: int) -> int:
    """How many reviews wait for this person, counted up to `at_most`: the number on the navigation.

    Three queries for up to a hundred queues, none of which counts a whole queue.
    """
    open_queues = ReviewQueue.objects.filter(team=team, state=QueueState.OPEN, raters__user=viewer)
    mine = list(open_queues.values_list("pk", flat=True))
    own = Review.objects.filter(rater__user=viewer)
    found = own.filter(_is_open(viewer), queue__in=mine).count() if mine else 0
    for start in range(0, len(mine), UNITED_MAX):
        if found >= at_most:
            break
        parts = [_some_free(queue_id, viewer, own, at_most) for queue_id in mine[start : start + UNITED_MAX]]
        found += len(parts[0].union(*parts[1:], all=True)[: at_most - found])
    return min(found, at_most)


def _some_free(queue_id: int, viewer: User, own: QuerySet[Review], at_most: int) -> QuerySet[Any, tuple[int]]:
    """Items of a queue with room, not among `own` reviews, from its end: people begin at the beginning."""
    had = own.filter(queue=queue_id, item=OuterRef("item"))
    theirs = QueueItem.objects.for_person(viewer)
    free = theirs.filter(~Exists(had), queue=queue_id, room__gt=0).order_by("-position")
    # Wrapped, because SQLite unites nothing that has an order or a limit of its own.
    return QueueItem.objects.filter(pk__in=free.values("pk")[:at_most]).order_by().values_list("pk")


def rates(queue: ReviewQueue, viewer: User) -> bool:
    """Whether this person is one of the queue's raters."""
    return queue.pk in _rated_by(viewer, [queue])


def source_words(queue: ReviewQueue, viewer: User) -> list[str]:
    """How the items were chosen, a sentence each; nothing that tells verdicts the viewer may not see yet."""
    words = in_words(queue.source, verdicts=queue.dataset_id not in hidden_datasets(viewer, queue.team))
    return ["Items that an imported file has labels of."] if queue.imported else words


def draws(queue: ReviewQueue, viewer: User) -> list[Draw]:
    """The random draws its items come from, oldest first, with their strata. Two queries besides.

    None while some of the dataset is hidden from the viewer: strata by verdicts would tell verdicts.
    """
    if queue.dataset_id in hidden_datasets(viewer, queue.team):
        return []
    strata = Prefetch("strata", Stratum.objects.defer("items"))
    return list(queue.draws.order_by("pk").prefetch_related(strata))


def _rated_by(viewer: User, queues: Sequence[ReviewQueue]) -> set[int]:
    links = ReviewQueue.raters.through.objects.filter(reviewqueue__in=queues, rater__user=viewer)
    return set(links.values_list("reviewqueue_id", flat=True))


def _progress(queues: Sequence[ReviewQueue], viewer: User, mine: set[int]) -> dict[int, QueueProgress]:
    """Queue id → progress, in three queries however many queues. `mine` are those the viewer rates in.

    Left for a rater are drafts they can submit, and items they have not taken that have room for one more.
    """
    places = {
        row["queue_id"]: row
        for row in QueueItem.objects.filter(queue__in=queues)
        .order_by()
        .values("queue_id")
        .annotate(items=Count("pk"), wanted=Sum("wanted"))
    }
    counted: Any = (
        Review.objects.filter(queue__in=queues)
        .order_by()
        .values("queue_id")
        .annotate(
            **_counted(),
            # Labels of a file stand in no queue items.
            items=Count("item", distinct=True, filter=Q(queue__imported=True)),
            **_counted_of(viewer),
        )
    )
    counts = {row["queue_id"]: row for row in counted}
    handing_out = [queue.pk for queue in queues if queue.pk in mine and queue.state == QueueState.OPEN]
    free = _with_room(handing_out, viewer)
    nothing: dict[str, int] = defaultdict(int)
    found = {}
    for queue in queues:
        row, place = counts.get(queue.pk, nothing), places.get(queue.pk)
        left = row["my_open"] + free.get(queue.pk, 0) - row["my_with_room"]
        found[queue.pk] = QueueProgress(
            items=place["items"] if place else row["items"],
            wanted=place["wanted"] if place else row["submitted"],
            submitted=row["submitted"],
            drafts=row["drafts"],
            expired=row["expired"],
            skipped=row["skipped"],
            my_submitted=row["my_submitted"],
            my_draft=row["my_open"] > 0,
            mine_left=left if queue.pk in handing_out else 0,
        )
    return found


def _counted() -> dict[str, Count]:
    """Reviews of each state; `expired` are drafts without a place, and silent ones of an open queue."""
    silent = Q(holds_place=False) | Q(queue__state=QueueState.OPEN, held_until__lt=timezone.now())
    return {
        "submitted": Count("pk", filter=Q(state=ReviewState.SUBMITTED)),
        "drafts": Count("pk", filter=Q(state=ReviewState.DRAFT)),
        "expired": Count("pk", filter=Q(state=ReviewState.DRAFT) & silent),
        "skipped": Count("pk", filter=Q(state=ReviewState.SKIPPED)),
    }


def _counted_of(viewer: User) -> dict[str, Count]:
    """How many reviews of this person there are; `my_open` are drafts they can submit."""
    mine = Q(rater__user=viewer)
    return {
        "my_submitted": Count("pk", filter=mine & Q(state=ReviewState.SUBMITTED)),
        "my_open": Count("pk", filter=mine & _is_open(viewer)),
        "my_with_room": Count("pk", filter=mine & Q(_has_room(viewer))),
    }


def _is_open(viewer: User) -> Q:
    """Whether a review of this person is a draft with a place, or could have one again."""
    return Q(state=ReviewState.DRAFT) & (Q(holds_place=True) | Q(_has_room(viewer)))


def _with_room(queue_ids: Sequence[int], viewer: User) -> dict[int, int]:
    """Queue id → items with room for this person. Without those they had, it is what they could take."""
    room = QueueItem.objects.for_person(viewer).filter(queue__in=queue_ids, room__gt=0).order_by()
    return dict(room.values("queue_id").annotate(n=Count("pk")).values_list("queue_id", "n"))


def _has_room(viewer: User) -> Exists:
    """Whether a review's item has room for this person, whose reviews are few beside a queue's items."""
    room = QueueItem.objects.for_person(viewer)
    return Exists(room.filter(queue=OuterRef("queue"), item=OuterRef("item"), room__gt=0))


@dataclass(frozen=True)
class RaterProgress:
    """`seconds` is the person's pace, None while not known; `rates` whether they are still asked."""

    name: str
    user_id: int | None
    submitted: int
    drafts: int
    expired: int
    skipped: int
    seconds: float | None
    rates: bool


def rater_progress(queue: ReviewQueue) -> list[RaterProgress]:
    """Who has done how much of a queue, by name; also people who were taken out of it. Four queries."""
    counted: Any = Review.objects.filter(queue=queue).order_by().values("rater_id").annotate(**_counted())
    counts = {row.pop("rater_id"): row for row in counted}
    asked = set(queue.raters.values_list("pk", flat=True))
    paces = rater_paces(queue)
    nothing = {"submitted": 0, "drafts": 0, "expired": 0, "skipped": 0}
    return [
        RaterProgress(
            name=rater.name,
            user_id=rater.user_id,
            seconds=paces.get(rater.pk),
            rates=rater.pk in asked,
            **counts.get(rater.pk, nothing),
        )
        for rater in Rater.objects.filter(pk__in=asked | set(counts)).order_by("name")
    ]


@dataclass(frozen=True)
class Pace:
    """What is left, in seconds of work: of everybody together, and of the viewer; None where not known."""

    left: float | None
    mine_left: float | None


def queue_pace(queue: ReviewQueue, progress: QueueProgress, viewer: User) -> Pace:
    """What is left of a queue at the median pace of its people, and at the viewer's own. Two queries."""
    own = own_paces([queue], viewer).get(queue.pk)
    return Pace(
        left=time_left(progress.left, rater_paces(queue).values()),
        mine_left=None if own is None else own * progress.mine_left,
    )


REMARKS_MAX = 100


def remarks(queue: ReviewQueue, viewer: User) -> list[Review]:
    """Reviews with a flag, a note or a reason for skipping, newest first, at most REMARKS_MAX of them.

    Other people's on items the viewer is still to review blind are left out: a note may tell a verdict. So
    are their own of other queues where they are to label the item again without seeing what they said.
    """
    remarked = Q(flagged=True) | ~Q(note="") | Q(state=ReviewState.SKIPPED)
    said = Review.objects.filter(remarked, queue=queue)
    visible = shown(viewer, queue.team, queue.dataset_id)
    if visible:  # empty, it would leave the viewer's own only
        again = hidden_items(viewer, queue.team, besides=queue, own=True)
        said = said.filter(Q(rater__user=viewer) & ~Q(item__in=again) | visible)
    rows = said.select_related("item", "rater").order_by("-pk")
    bodies = ("item__submission", "item__thinking", "item__prompt", "item__reference")
    return list(rows.defer(*bodies)[:REMARKS_MAX])


def reviewers(team: Team) -> QuerySet[User]:
    """The members who may be asked to review, by name."""
    able = User.objects.filter(memberships__team=team, memberships__role__gte=Role.ANNOTATOR, is_active=True)
    return able.order_by("name", "username")


@dataclass(frozen=True)
class QueueChoices:
    """What a new queue can be made of."""

    datasets: QuerySet[Dataset]
    versions: QuerySet[RubricVersion]
    runs: QuerySet[Run]
    people: QuerySet[User]


def queue_choices(team: Team) -> QueueChoices:
    """The team's datasets, published rubric versions and runs, newest first, and who may review, by name."""
    return QueueChoices(
        datasets=Dataset.objects.filter(unarchived(), team=team).order_by("-created_at", "-pk"),
        versions=RubricVersion.objects.filter(unarchived("rubric__"), rubric__team=team).order_by(
            "-published_at", "-pk"
        ),
        runs=Run.objects.filter(unarchived(), team=team)
        .select_related("dataset")
        .order_by("-created_at", "-pk"),
        people=reviewers(team),
    )


@dataclass(frozen=True)
class RailItem:
    """One line of the rail: the item and where this person stands with it ("" when not begun)."""

    item_id: int
    key: str
    description: str
    review_id: int | None
    state: str
    flagged: bool = False
    answered: int = 0


def rail(queue: ReviewQueue, viewer: User, *, around: Item, size: int = 200) -> list[RailItem]:
    """Items of the queue near `around`, each with the viewer's own state; not those others filled."""
    own = Review.objects.filter(queue=queue, rater__user=viewer)
    here = QueueItem.objects.filter(queue=queue, item=around).values_list("position", flat=True).first() or 0
    near = QueueItem.objects.filter(queue=queue, position__gte=max(0, here - size // 2))
    for_viewer = Q(rater=None) | Q(rater__user=viewer)
    rows = list(
        near.filter(Q(room__gt=0) & for_viewer | Exists(own.filter(item=OuterRef("item"))))
        .order_by("position")
        .values_list("item_id", "item__key", "item__description")[:size]
    )
    reviews: Any = own.filter(item__in=[pk for pk, _, _ in rows]).annotate(answered=Count("judgements"))
    mine = {review.item_id: review for review in reviews.only("pk", "item_id", "state", "flagged")}
    lines = []
    for pk, key, description in rows:
        review = mine.get(pk)
        if review is None:
            lines.append(RailItem(pk, key, description, None, ""))
        else:
            lines.append(
                RailItem(pk, key, description, review.pk, review.state, review.flagged, review.answered)
            )
    return lines
