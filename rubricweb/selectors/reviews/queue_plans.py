"""What a queue would come to before it is opened or extended: items, reviews, answers, hours."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    QueueItem,
    QueueState,
    QueueSystemVersion,
    ReviewQueue,
    Role,
    RubricVersion,
    SystemVersion,
    Team,
    User,
)
from rubricweb.selectors.datasets.systems import blinded_answers
from rubricweb.selectors.reviews.informative import REASONS, ReasonCount
from rubricweb.selectors.reviews.queue_sources import Source, chosen, in_words
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.selectors.reviews.review_pace import team_pace
from rubricweb.selectors.rubrics.chosen_criteria import chosen_criteria


@dataclass(frozen=True)
class QueuePlan:
    """`criteria` are what each review asks about, None where an item brings a rubric of its own; `answers`
    are those of all reviews. `seconds` of work are at the pace of the team's newest reviews, None while too
    little is known.

    `one_system` is the system version whose answers all of these are, where the dataset has answers of others
    too: raters can find out, blind or not, as its figures alone are withheld from them. None otherwise.
    """

    items: int
    reviews: int
    criteria: int | None
    seconds: float | None
    reasons: tuple[ReasonCount, ...]
    source: tuple[str, ...]
    one_system: str | None = None

    @property
    def answers(self) -> int | None:
        return None if self.criteria is None else self.reviews * self.criteria


def queue_plan(
    dataset: Dataset,
    source: Source,
    *,
    viewer: User,
    rubric_version: RubricVersion | None = None,
    criteria: Sequence[int | str] = (),
    raters_per_item: int = 1,
    systems: Sequence[SystemVersion] = (),
    half: str = "",
) -> QueuePlan:
    """What these choices come to; `criteria` are ids or names, none is all; none of `systems` is all, and so
    is no `half`.

    Raises what opening such a queue would raise: see `chosen_criteria`, `queue_sources.chosen` and
    `require_rubrics`.
    """
    limit = chosen_criteria(rubric_version, criteria)
    selected_items = chosen(dataset, source, viewer=viewer, criteria=limit, systems=systems, half=half)
    require_rubrics(dataset, rubric_version, selected_items.item_ids, limited=bool(limit))
    reviews = len(selected_items.item_ids) * raters_per_item
    asked = _asked(dataset, rubric_version, limit)
    pace = team_pace(dataset.team, rubric_version, criteria=len(limit))
    counts = selected_items.source.get("reasons", {})
    return QueuePlan(
        items=len(selected_items.item_ids),
        reviews=reviews,
        criteria=asked,
        seconds=None if pace is None else reviews * pace,
        reasons=tuple(ReasonCount(name, REASONS[name], counts[name]) for name in counts),
        source=tuple(in_words(selected_items.source)),
        one_system=_one_system(dataset, selected_items.item_ids, viewer),
    )


def _one_system(dataset: Dataset, item_ids: Sequence[int], viewer: User) -> str | None:
    """See `QueuePlan.one_system`; None as well where the viewer must not know whose answers these are."""
    if blinded_answers(dataset, viewer):
        return None
    current = Item.objects.current().filter(dataset=dataset).order_by()
    versions: dict[int, set[int]] = defaultdict(set)
    for item_id, version_id in current.values_list("pk", "system_version"):
        versions[version_id].add(item_id)
    asked = [version_id for version_id, ids in versions.items() if not ids.isdisjoint(item_ids)]
    if len(asked) != 1 or len(versions) == 1:
        return None
    return str(SystemVersion.objects.select_related("system").get(pk=asked[0])) or None


def require_rubrics(
    dataset: Dataset, rubric_version: RubricVersion | None, item_ids: Sequence[int], *, limited: bool = False
) -> None:
    """Refuses items that would be reviewed by no rubric at all; in a queue `limited` to some criteria those
    with a rubric of their own, of which nothing would be asked.
    """
    if limited:
        own = Item.objects.filter(dataset=dataset, rubric_version__isnull=False)
        of_their_own = len(set(own.values_list("pk", flat=True)) & set(item_ids))
        if of_their_own:
            raise Invalid.about(
                "criteria",
                f"{counted(of_their_own, 'item')} of {dataset} brought a rubric along, whose criteria cannot "
                "be chosen: ask about all criteria, or choose items without a rubric of their own.",
            )
    if rubric_version is not None:
        return
    bare = Item.objects.filter(dataset=dataset, rubric_version=None).values_list("pk", flat=True)
    missing = len(set(bare) & set(item_ids))
    if missing:
        bring = "brings no rubric of its own" if missing == 1 else "bring no rubric of their own"
        why = f"{counted(missing, 'item')} of {dataset} {bring}; choose a rubric version."
        raise Invalid.about("rubric_version", why)


def _asked(dataset: Dataset, version: RubricVersion | None, limit: Sequence[Criterion]) -> int | None:
    """How many criteria each review asks about; None where items differ in it."""
    if limit:
        return len(limit)
    if (
        version is None
        or Item.objects.current().filter(dataset=dataset, rubric_version__isnull=False).exists()
    ):
        return None
    return Criterion.objects.filter(version=version).exclude(kind="check").count()


@dataclass(frozen=True)
class GrowingQueue:
    """A queue that takes more items; of the selected ones `new` are not in it yet, of `total`.

    `foreign` are answers of system versions, or to cases of a half, that it is not about. Both are None where
    that would tell the viewer whose answer an item is that they are still to review blind.
    """

    queue: ReviewQueue
    new: int | None
    total: int
    foreign: int | None = 0

    @property
    def reviews(self) -> int | None:
        """How many reviews the new items ask for; None as `new` is."""
        return None if self.new is None else self.new * self.queue.raters_per_item


def growing_queues(dataset: Dataset, item_ids: Sequence[int], viewer: User) -> list[GrowingQueue]:
    """The queues over the dataset that take more items, newest first, with what these items add to each."""
    rows = ReviewQueue.objects.filter(dataset=dataset, imported=False).exclude(state=QueueState.CLOSED)
    queues = list(rows.select_related("rubric_version").order_by("-created_at", "-pk"))
    there = QueueItem.objects.filter(queue__in=queues, item__in=item_ids).order_by().values("queue")
    already = dict(there.annotate(n=Count("pk")).values_list("queue", "n"))
    foreign = _foreign(dataset, queues, item_ids, viewer)
    total, growing = len(item_ids), []
    for queue in queues:
        of_others = foreign.get(queue.pk, 0)
        new = None if of_others is None else total - already.get(queue.pk, 0)
        growing.append(GrowingQueue(queue, new, total, of_others))
    return growing


def _foreign(
    dataset: Dataset, queues: Sequence[ReviewQueue], item_ids: Sequence[int], viewer: User
) -> dict[int, int | None]:
    """Queue id → how many of the items are answers of other versions than those it is limited to, or to cases
    of another half.
    """
    versions: dict[int, set[int]] = {}
    rows = QueueSystemVersion.objects.filter(queue__in=queues)
    for queue_id, version_id in rows.values_list("queue_id", "system_version_id"):
        versions.setdefault(queue_id, set()).add(version_id)
    halves = {queue.pk: queue.half for queue in queues if queue.half}
    if not versions and not halves:
        return {}
    untold = {} if blinded_answers(dataset, viewer).isdisjoint(item_ids) else versions
    answers = Item.objects.filter(dataset=dataset, pk__in=item_ids).order_by()
    counts = answers.values_list("system_version", "case__half").annotate(n=Count("pk"))
    return {
        queue_id: None
        if queue_id in untold
        else sum(
            n
            for version, half, n in counts
            if version not in versions.get(queue_id, {version}) or half != halves.get(queue_id, half)
        )
        for queue_id in {*versions, *halves}
    }


def usual_people(team: Team, dataset: Dataset | None) -> tuple[list[User], int]:
    """Who a new queue is offered to first, and how many of them an item: as in the newest queue over the
    dataset, else in any. Where there was none the annotators and reviewers, or everybody who may review if
    these are fewer than two; and two an item, so that their agreement is known.
    """
    able = reviewers(team)
    queues = ReviewQueue.objects.filter(team=team).order_by("-created_at", "-pk")
    newest = queues.filter(dataset=dataset).first() or queues.first()
    people = list(able.filter(raters__queues=newest).distinct()) if newest else []
    if newest and people:
        return people, min(newest.raters_per_item, len(people))
    label_mostly = Q(memberships__team=team, memberships__role__in=(Role.ANNOTATOR, Role.REVIEWER))
    people = list(able.filter(label_mostly).distinct())
    if len(people) < 2:
        people = list(able)
    return people, min(2, max(1, len(people)))
