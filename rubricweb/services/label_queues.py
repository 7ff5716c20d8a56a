"""Decisions about labels with the review queues they need: all labelled again, or a probe of some."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from django.db import transaction
from django.db.models import Q

from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Blind,
    Dataset,
    Item,
    LabelDecision,
    LabelDecisionKind,
    QueueItem,
    QueueState,
    Rater,
    RaterKind,
    ReviewQueue,
    Rubric,
    RubricVersion,
    User,
)
from rubricweb.selectors.probes import changes_with_probes, earlier_labels, later_labels
from rubricweb.selectors.reviews import queue_sources
from rubricweb.selectors.reviews.queue_sources import SAMPLE, SEEDS, Source, new_seed
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.selectors.rubrics.label_changes import LabelChange, changes_in_version
from rubricweb.selectors.rubrics.label_queues import LabelQueue, label_queues
from rubricweb.services.reviews import queue_changes, queues
from rubricweb.services.rubrics import label_decisions, rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, require_change, rubric_of

PROBED = 12
"""So many items a probe draws unless somebody says otherwise."""
NAME_MAX = 120


@dataclass(frozen=True)
class QueueWish:
    """How the queue of a decision is to be opened. Without `raters` those who gave the earlier labels are
    asked. `size` items of a probe are drawn with `seed`: PROBED of them, with a new one. To label again,
    `raters_per_item` people are asked about each item: as many as labelled it before, where it is None.
    """

    raters: Sequence[User] = ()
    size: int | None = None
    seed: int | None = None
    raters_per_item: int | None = None


@dataclass(frozen=True)
class _Earlier:
    """The labels under the words before: item → its raters, item → its dataset, and who of them may review
    here or is asked instead.
    """

    raters: Mapping[int, frozenset[int]]
    dataset: Mapping[int, int]
    able: Mapping[int, User]

    def by_dataset(self, items: Sequence[int]) -> dict[Dataset, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for pk in items:
            found[self.dataset[pk]].append(pk)
        return {row: found[row.pk] for row in Dataset.objects.filter(pk__in=found).order_by("pk")}


@transaction.atomic
def publish(
    rubric: Rubric,
    *,
    by: User,
    note: str = "",
    revision: int | None = None,
    decisions: Mapping[str, NewLabelDecision] | None = None,
    opening: Mapping[str, QueueWish] | None = None,
) -> RubricVersion:
    """`rubrics.publish`, with the queues that some of the decisions, by uid, open in the same step.

    Where one cannot be opened, nothing is published.
    """
    version = rubrics.publish(rubric, by=by, note=note, revision=revision, decisions=decisions)
    if opening:
        changes = changes_in_version(version, viewer=None)
        for uid, wish in opening.items():
            _open(version, require_change(changes, uid), wish, by=by)
    return version


@transaction.atomic
def decide(
    version: RubricVersion,
    uid: str,
    chosen: NewLabelDecision,
    *,
    by: User,
    seen: int | None,
    opening: QueueWish | None = None,
) -> LabelChange:
    """`label_decisions.decide`, with the queue to label again or to probe opened in the same step.

    Where it cannot be opened, nothing is decided. A decision of another kind closes the queues of the one it
    replaces, which nobody needs any more: `closed` of what is returned names them.
    """
    label_decisions.decide(version, uid, chosen, by=by, seen=seen)
    closed = _close_replaced(seen, chosen.kind, by=by)
    if opening is not None:
        _open(version, require_change(changes_in_version(version, viewer=None), uid), opening, by=by)
    change = require_change(changes_with_probes(version, viewer=by), uid)
    return replace(change, closed=closed)


def _close_replaced(replaced: int | None, kind: str, *, by: User) -> tuple[LabelQueue, ...]:
    """Closes what is open for a decision that one of another kind replaced; an editor can open it again."""
    if replaced is None:
        return ()
    earlier = LabelDecision.objects.get(pk=replaced)
    same = LabelDecision.objects.filter(version=earlier.version_id, criterion=earlier.criterion_id)
    opened = label_queues(Q(label_decision__in=same.exclude(kind=kind)))
    found = [one for several in opened.values() for one in several if one.queue.state != QueueState.CLOSED]
    for one in found:
        queues.close_queue(one.queue, by=by)
    return tuple(found)


@transaction.atomic
def open_queues(
    version: RubricVersion, uid: str, wish: QueueWish, *, by: User, seen: int | None
) -> LabelChange:
    """Opens the queues of the current decision, which must be the one that was `seen`, else Conflict."""
    Rubric.objects.select_for_update().get(pk=rubric_of(version).pk)
    change = require_change(changes_in_version(version, viewer=None), uid)
    if change.decision is None or change.decision.pk != seen:
        raise Conflict(
            "Somebody else has decided about these labels meanwhile. Look at their decision before you open "
            "a queue."
        )
    _open_all(version, change, wish, by=by)
    return require_change(changes_with_probes(version, viewer=by), uid)


def _open(version: RubricVersion, change: LabelChange, wish: QueueWish, *, by: User) -> None:
    """The queues of a decision made in the same step; what is refused has its place among the decisions."""
    try:
        _open_all(version, change, wish, by=by)
    except Invalid as refused:
        faults = [replace(one, place=f"decisions.{change.uid}.queue.{one.place}") for one in refused.faults]
        raise Invalid(str(refused), faults) from refused


def _open_all(version: RubricVersion, change: LabelChange, wish: QueueWish, *, by: User) -> list[ReviewQueue]:
    """Opens a queue for each dataset with labels under the words before, about the reworded criteria alone.

    To *label again*: over every item whose labels wait, for as many raters as labelled it, or as wished. To
    *probe*: over items drawn at random, each for one rater who labelled it, blind to their own label too; for
    another where none of them can. Where the change has its queues already, these are opened again. Raises
    Conflict where nothing is to be labelled again, Invalid where nobody may, or where fewer items have labels
    than are to be probed.
    """
    decision = change.decision
    if decision is None or decision.kind == LabelDecisionKind.CARRY:
        raise Conflict("Decide to label again or to probe first: only these open a review queue.")
    if change.queues:
        # Closed when another decision replaced this kind of work, which is wanted again.
        for one in change.queues:
            if one.queue.state == QueueState.CLOSED and not one.is_done:
                queue_changes.reopen_queue(one.queue, by=by)
        return []
    earlier = _earlier(version, change, wish)
    if not earlier.raters:
        raise Conflict("No labels wait under the words before: there is nothing to label again.")
    if decision.kind == LabelDecisionKind.PROBE:
        return _open_probe(version, change, wish, earlier, by)
    if wish.raters_per_item is not None and wish.raters_per_item < 1:
        raise Invalid.at("raters_per_item", str(wish.raters_per_item), "a whole number from 1")
    if wish.size is not None or wish.seed is not None:
        raise Invalid.at("size", "a size or seed with label_again", "none: every item whose labels wait")
    return _open_for_all(version, change, wish, earlier, by)


def _earlier(version: RubricVersion, change: LabelChange, wish: QueueWish) -> _Earlier:
    assert version.rubric is not None  # it was decided about
    labels = earlier_labels(change.pairs)
    people = {
        rater.pk: rater
        for rater in Rater.objects.filter(
            pk__in={one.rater_id for one in labels}, kind=RaterKind.HUMAN
        ).select_related("user")
    }
    raters: dict[int, set[int]] = defaultdict(set)
    for one in labels:
        raters[one.item_id] |= {one.rater_id} & set(people)
    members = {user.pk: user for user in reviewers(version.rubric.team)}
    asked = {user.pk for user in wish.raters} or set(members)
    # Nobody is asked anew about what was retired.
    dataset = dict(Item.objects.current().filter(pk__in=raters).values_list("pk", "dataset_id"))
    return _Earlier(
        raters={pk: frozenset(several) for pk, several in raters.items() if pk in dataset},
        dataset=dataset,
        able={
            pk: members[rater.user_id]
            for pk, rater in people.items()
            if rater.user_id in members and rater.user_id in asked
        },
    )


# ── Label again ──────────────────────────────────────────────────────────────────────────────────


def _open_for_all(
    version: RubricVersion, change: LabelChange, wish: QueueWish, earlier: _Earlier, by: User
) -> list[ReviewQueue]:
    again: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for one in later_labels(change.pairs):
        again[one.item_id].add((one.rater_id, one.criterion_id))
    # What a file settled without a person is labelled by one.
    asked_for = wish.raters_per_item
    wanted = {pk: asked_for or max(1, len(raters)) for pk, raters in earlier.raters.items()}
    waiting = [pk for pk in sorted(wanted) if len(again[pk]) < wanted[pk] * len(change.pairs)]
    if not waiting:
        many = f"{asked_for} labels" if asked_for else "as many labels as it had under those before"
        raise Conflict(f"Every item has {many} under the new words.")
    people = list(wish.raters) or list(earlier.able.values())
    most = max(wanted[pk] for pk in waiting)
    if not wish.raters and len(people) < most:
        why = f"each item is for {most}" if asked_for else f"items had up to {most} raters each"
        _refuse_people(earlier, why)
    opened = []
    for dataset, items in earlier.by_dataset(waiting).items():
        most = max(wanted[pk] for pk in items)
        queue = _create(
            version, change, dataset, people, Source(kind="items", item_ids=tuple(items)), by, most
        )
        for n in {wanted[pk] for pk in items} - {most}:
            fewer = [pk for pk in items if wanted[pk] == n]
            QueueItem.objects.filter(queue=queue, item__in=fewer).update(wanted=n, room=n)
        opened.append(queue)
    return opened


# ── Probe ────────────────────────────────────────────────────────────────────────────────────────


def _open_probe(
    version: RubricVersion, change: LabelChange, wish: QueueWish, earlier: _Earlier, by: User
) -> list[ReviewQueue]:
    size = PROBED if wish.size is None else wish.size
    population = sorted(earlier.raters)
    if wish.raters_per_item is not None:
        found = f"{counted(wish.raters_per_item, 'person', 'people')} per item of a probe"
        raise Invalid.at("raters_per_item", found, "none: each of its items is for one person")
    if not 1 <= size <= len(population):
        raise Invalid.at(
            "size",
            f"a probe of {counted(size, 'item')}",
            f"1 to {len(population)}: so many have labels under the words before",
        )
    others = list(wish.raters) or list(earlier.able.values())
    if not others:
        _refuse_people(earlier, "a probe asks those who gave the labels, or others you choose")
    seed = new_seed() if wish.seed is None else wish.seed
    if not 0 <= seed < SEEDS:
        raise Invalid.at("seed", str(seed), f"a whole number from 0 to {SEEDS - 1}")
    drawn = Random(seed).sample(population, size)  # noqa: S311  a sample that can be drawn again, no secret
    sizes = {dataset.pk: len(items) for dataset, items in earlier.by_dataset(drawn).items()}
    taken: Counter[int] = Counter()
    opened = []
    for dataset, items in earlier.by_dataset(population).items():
        if dataset.pk not in sizes:
            continue
        source = Source(kind=SAMPLE, item_ids=tuple(items), size=sizes[dataset.pk], seed=seed)
        chosen = queue_sources.chosen(dataset, source, viewer=by).item_ids
        asked = {pk: _rater_of(pk, earlier, others, taken) for pk in chosen}
        queue = _create(version, change, dataset, list(dict.fromkeys(asked.values())), source, by, 1)
        of_user = dict(queue.raters.values_list("user_id", "pk"))
        for user in set(asked.values()):
            own = [pk for pk, rater in asked.items() if rater == user]
            QueueItem.objects.filter(queue=queue, item__in=own).update(rater=of_user[user.pk])
        opened.append(queue)
    return opened


def _rater_of(item: int, earlier: _Earlier, others: Sequence[User], taken: Counter[int]) -> User:
    """Who is asked about an item: of those who labelled it whoever has the fewest so far, else another."""
    same = [earlier.able[pk] for pk in sorted(earlier.raters[item]) if pk in earlier.able]
    user = min(same or others, key=lambda one: taken[one.pk])
    taken[user.pk] += 1
    return user


# ── Either ───────────────────────────────────────────────────────────────────────────────────────


def _create(
    version: RubricVersion,
    change: LabelChange,
    dataset: Dataset,
    people: Sequence[User],
    source: Source,
    by: User,
    raters_per_item: int,
) -> ReviewQueue:
    assert change.decision is not None  # looked at first
    is_probe = change.decision.kind == LabelDecisionKind.PROBE
    what = f"{'Probe' if is_probe else 'Label again'}: {change.name or 'new guidelines'}"
    return queues.create_queue(
        dataset.team,
        queues.QueueRequest(
            name=_free_name(dataset, f"{what[:NAME_MAX]} (v{version.number})"),
            dataset=dataset,
            rubric_version=version,
            raters=people,
            raters_per_item=raters_per_item,
            source=source,
            criteria=[now.pk for _, now in change.pairs],
            blind=Blind.SELF if is_probe else Blind.BOTH,
            label_decision=change.decision,
        ),
        by=by,
    )


def _free_name(dataset: Dataset, name: str) -> str:
    """The name, with a number behind it where another queue has it."""
    begun = ReviewQueue.objects.filter(team=dataset.team, name__startswith=name)
    taken = set(begun.values_list("name", flat=True))
    tried, number = name, 2
    while tried in taken:
        tried, number = f"{name} {number}", number + 1
    return tried


def _refuse_people(earlier: _Earlier, why: str) -> None:
    gave = counted(len(set().union(*earlier.raters.values())), "person", "people")
    names = ", ".join(sorted(str(user) for user in earlier.able.values())) or "nobody"
    raise Invalid.at(
        "raters",
        f"{len(earlier.able)} of the {gave} who gave the labels may review here ({names})",
        f"people of the team that you choose: {why}",
    )
