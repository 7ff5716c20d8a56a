"""Whose verdicts a person may not see yet: the one place that knows, asked by everything that shows some."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from rubricweb.engine.number_format import counted
from rubricweb.errors import Withheld
from rubricweb.models import (
    Blind,
    ChangeKind,
    Dataset,
    DatasetChange,
    Item,
    QueueItem,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Run,
    Team,
    User,
)
from rubricweb.selectors.waiting_items import StandsBeside, Unsubmitted


def hidden_items(
    viewer: User,
    team: Team,
    *,
    item: int | OuterRef | None = None,
    besides: ReviewQueue | None = None,
    submitting: Review | None = None,
    own: bool = False,
) -> QuerySet[Item, Any]:
    """Items whose verdicts by others this person must not see: those of open blind queues they rate in,
    until they have submitted their own review of the item there; and the same words wherever the team has
    them: a second time in that dataset, in the queue or not, in a half of a split, in a file imported twice.
    So an item that was submitted stays hidden while its copy waits, and the wrong words of a corrected item
    while the right ones do: they are of the same system, and were judged much alike. Where a queue holds
    answers of several system versions to one case, a submitted one stays hidden while another waits there: a
    verdict of a run over one version, or its name, would tell who gave the other.

    It does not matter which run, queue or rubric version a verdict comes from, nor the person's role. Those
    hidden only by the queue `besides` are left out; the draft `submitting` counts as submitted. With `item`,
    an id or a reference to one, only that item: looked up by its words, without reading the whole queues.
    `own` are only the items on which they must not see their own earlier labels either. One query at once,
    for the queues; nothing more for somebody who rates in no open blind one.
    """
    queues = _blind_queues(viewer, team)
    if own:
        queues = queues.filter(blind=Blind.SELF)
    if besides is not None:
        queues = queues.exclude(pk=besides.pk)

    # What these queues cannot hide is left out: long conditions take longer to put together than to answer.
    asking = _asking(queues)
    if not asking:
        return Item.objects.none().values("pk")
    queue_ids = [one.queue_id for one in asking]
    several = any(one.several_versions for one in asking)
    everything = _waiting(viewer, queue_ids, several_versions=several, submitting=submitting)

    def waiting(*where: Q) -> QuerySet[QueueItem]:
        return everything.filter(*where)

    if item is None:
        # Both lists are read once, so that many equal items are not compared each with each.
        words = waiting(~Q(item__content_hash="")).values("item__content_hash")
        is_hidden = Q(pk__in=waiting().values("item")) | Q(content_hash__in=words)
    else:
        itself = Q(item=OuterRef("pk"))
        same_words = Item.objects.filter(
            ~Q(content_hash=""),
            Exists(waiting(itself)),
            content_hash=OuterRef("content_hash"),
            dataset__team=team,
        )
        is_hidden = Q(Exists(waiting(itself)) | Exists(same_words), pk=item)
    if any(one.corrected for one in asking):
        is_hidden |= _is_corrected(waiting, item)
    return Item.objects.filter(is_hidden, dataset__team=team).order_by().values("pk")


def _is_corrected(waiting: Callable[..., QuerySet[QueueItem]], item: int | OuterRef | None) -> Q:
    """The condition on items that one which waits is a correction of them, or of what they are one of."""
    if item is None:
        first = waiting(Q(item__replaces__isnull=False)).values("item__replaces")
        return Q(pk__in=first) | Q(replaces__in=first)
    replaces = Q(item__replaces=OuterRef("pk")) | Q(item__replaces=OuterRef("replaces"))
    return Q(Exists(waiting(replaces)), pk=item)


def shown(viewer: User, team: Team, dataset_id: int) -> Q:
    """The condition on rows with an `item` of this dataset of the team that it is none of `hidden_items`.

    Empty for somebody from whom nothing is hidden: join it with others by AND only.

    The same rule, for very many rows: the queues are looked up here, in one small query. Queues that hide
    alike are one condition, so that it is no longer for many of them.
    """
    condition = Q()
    for alike, queue_ids in _alike(viewer, team, dataset_id).items():
        waiting = _waiting(viewer, queue_ids, several_versions=alike.several_versions)
        # One condition within the other, so that the words are looked up first and not the whole queue.
        same_words = Item.objects.filter(content_hash=OuterRef("item__content_hash")).exclude(content_hash="")
        if alike.here:
            condition &= Q(~Exists(waiting.filter(item=OuterRef("item"))))
            same_words = same_words.exclude(pk=OuterRef("item"))
        if alike.corrected:
            for wrong in ("item", "item__replaces"):
                condition &= Q(~Exists(waiting.filter(item__replaces=OuterRef(wrong))))
        copies = same_words.filter(Exists(waiting.filter(item=OuterRef("pk"))))
        condition &= Q(~Exists(copies.order_by()))
    return condition


def hidden_of(viewer: User, team: Team, dataset_id: int) -> set[int]:
    """The ids of all `hidden_items` of one dataset of the team: the same rule, for a whole dataset at once.

    What waits is read once and compared here, so that the time grows with the size of the queues and no
    faster. One query for somebody who rates in no open blind queue, at most four more for any number.
    """
    hidden: set[int] = set()
    words: set[str] = set()
    for alike, queue_ids in _alike(viewer, team, dataset_id).items():
        waiting = _waiting(viewer, queue_ids, several_versions=alike.several_versions)
        if alike.here:
            hidden.update(waiting.values_list("item_id", flat=True).distinct())
        else:
            words.update(waiting.values_list("item__content_hash", flat=True).distinct())
    if words or hidden:
        rows = Item.objects.filter(dataset=dataset_id).order_by()
        own_texts = list(rows.values_list("pk", "content_hash", "replaces_id"))
        words.update(text for item_id, text, _ in own_texts if item_id in hidden)
        words.discard("")
        first = {replaced for item_id, _, replaced in own_texts if item_id in hidden} - {None}
        hidden.update(item_id for item_id, text, _ in own_texts if text in words)
        hidden.update(item_id for item_id, _, replaced in own_texts if item_id in first or replaced in first)
    return hidden


def hidden_datasets(viewer: User, team: Team) -> frozenset[int]:
    """Datasets with at least one hidden item, by id.

    Figures over all their items, such as the stored mean of a run, are withheld as a whole: from the mean of
    one item its verdicts can be read, and from the means before and after one review those of the item
    between them. One query for somebody who rates in no open blind queue, at most three for others.
    """
    waiting = dict(_unfinished_queues(viewer, team).order_by().values_list("pk", "dataset_id"))
    if not waiting:
        return frozenset()
    hidden = set(waiting.values())
    # A dataset with an item that waits is hidden already: only the others are searched for the same words.
    others = list(Dataset.objects.filter(team=team).exclude(pk__in=hidden).values_list("pk", flat=True))
    if not others:
        return frozenset(hidden)
    same_words = _waiting(viewer, waiting, several_versions=True).filter(
        item__content_hash=OuterRef("content_hash")
    )
    items = Item.objects.filter(dataset__in=others).exclude(content_hash="")
    copies = items.filter(Exists(same_words)).order_by().values_list("dataset_id", flat=True)
    return frozenset(hidden.union(copies.distinct()))


@dataclass(frozen=True)
class HiddenRuns:
    """Runs over at least one hidden item, asked by `run in hidden` or as a `condition` on rows of runs.

    `versions` are datasets with the system versions that answered hidden items there. A run over one version
    goes over its answers alone: an open audit of another version withholds nothing of it. A run without one
    is hidden with its dataset.
    """

    datasets: frozenset[int]
    versions: frozenset[tuple[int, int]]

    def __contains__(self, run: object) -> bool:
        assert isinstance(run, Run)
        if run.system_version_id is None:
            return run.dataset_id in self.datasets
        return (run.dataset_id, run.system_version_id) in self.versions

    def __bool__(self) -> bool:
        return bool(self.datasets)

    @property
    def condition(self) -> Q:
        """True of runs that are hidden."""
        found = Q(dataset__in=self.datasets, system_version=None)
        for dataset_id, version_id in sorted(self.versions):
            found |= Q(dataset=dataset_id, system_version=version_id)
        return found


def hidden_runs(viewer: User, team: Team) -> HiddenRuns:
    """The runs whose figures over all items are withheld from this person; at most five queries more than
    `hidden_datasets`, where something is hidden.
    """
    datasets = hidden_datasets(viewer, team)
    ran = Run.objects.filter(dataset__in=datasets, system_version__isnull=False).order_by()
    graded = set(ran.values_list("dataset_id", "system_version_id").distinct()) if datasets else set()
    if not graded:
        return HiddenRuns(datasets, frozenset())
    # All versions a queue asks about, as long as anything waits in it: of which one that is would be told by
    # whose figures are withheld. The queues are read at once, so that only their own items are.
    unfinished = _unfinished_queues(viewer, team).order_by().values_list("pk", flat=True)
    asked = QueueItem.objects.filter(queue__in=list(unfinished)).order_by()
    versions = frozenset(asked.values_list("item__dataset_id", "item__system_version_id").distinct())
    # Elsewhere the same words are hidden, and what was corrected.
    others = {version for _, version in graded - versions}
    elsewhere = Item.objects.filter(dataset__in=datasets, system_version__in=others).order_by()
    hidden = elsewhere.filter(pk__in=hidden_items(viewer, team)).distinct()
    return HiddenRuns(datasets, versions.union(hidden.values_list("dataset_id", "system_version_id")))


class _Asking(NamedTuple):
    """A queue; whether its dataset has answers of several system versions, and items that were corrected."""

    queue_id: int
    dataset_id: int
    several_versions: bool
    corrected: bool


def _asking(queues: QuerySet[ReviewQueue]) -> list[_Asking]:
    """What must be known of each of these queues. One query."""
    answers = Item.objects.filter(dataset=OuterRef("dataset")).values("system_version")
    first = Subquery(answers.order_by("system_version", "position")[:1])
    last = Subquery(answers.order_by("-system_version", "-position")[:1])
    corrections = DatasetChange.objects.filter(dataset=OuterRef("dataset"), kind=ChangeKind.CORRECT)
    rows = queues.order_by().annotate(first_version=first, last_version=last, corrected=Exists(corrections))
    found = rows.values_list("pk", "dataset_id", "first_version", "last_version", "corrected")
    return [_Asking(pk, dataset, first != last, corrected) for pk, dataset, first, last, corrected in found]


class _Alike(NamedTuple):
    """How queues hide items of one dataset: whether they are over it, and what is as in `_Asking`."""

    here: bool
    several_versions: bool
    corrected: bool


def _alike(viewer: User, team: Team, dataset_id: int) -> dict[_Alike, list[int]]:
    """The queues that hide something from this person, by how they hide items of this dataset. One query."""
    found = defaultdict(list)
    for one in _asking(_unfinished_queues(viewer, team)):
        here = one.dataset_id == dataset_id
        found[_Alike(here, one.several_versions, here and one.corrected)].append(one.queue_id)
    return found


def _waiting(
    viewer: User, queue_ids: Collection[int], *, several_versions: bool, submitting: Review | None = None
) -> QuerySet[QueueItem]:
    """Items of these queues that hide verdicts: left for this person, or beside one that is, which can only
    be where a dataset has answers of several versions.
    """
    waits = Q(Unsubmitted(viewer, submitting))
    if several_versions:
        waits |= Q(StandsBeside(viewer, submitting))
    return QueueItem.objects.for_person(viewer).filter(waits, queue__in=queue_ids).order_by()


def _left(viewer: User) -> QuerySet[QueueItem]:
    """Queue items this person is asked about and has submitted no review of."""
    return QueueItem.objects.for_person(viewer).filter(Unsubmitted(viewer)).order_by()


def _unfinished_queues(viewer: User, team: Team) -> QuerySet[ReviewQueue]:
    """The open blind queues in which something is left for this person: the others hide nothing."""
    # One that is left is looked for from the end of each queue: people begin at the beginning.
    left = _left(viewer).filter(queue=OuterRef("pk")).order_by("-position").values("pk")[:1]
    return _blind_queues(viewer, team).annotate(one_left=Subquery(left)).filter(one_left__isnull=False)


def key_is_hidden(viewer: User, team: Team) -> Exists:
    """The condition on items that their key is kept from this person, with who answered: it sways verdicts.

    So it is of every answer to a case with a hidden one: by elimination the others would tell who gave it.
    """
    hidden = Exists(hidden_items(viewer, team, item=OuterRef("pk")))
    return Exists(Item.objects.filter(hidden, case=OuterRef("case")).order_by())


def unnamed_of(viewer: User, team: Team, dataset_id: int) -> set[int]:
    """The ids of all items of a dataset of the team of which `key_is_hidden` holds."""
    return with_other_answers(hidden_of(viewer, team, dataset_id), dataset_id)


def with_other_answers(item_ids: set[int], dataset_id: int) -> set[int]:
    """The ids of these items of the dataset and of all other answers to their cases."""
    if not item_ids:
        return set()
    cases = list(Item.objects.filter(dataset=dataset_id).order_by().values_list("pk", "case_id"))
    theirs = {case_id for pk, case_id in cases if pk in item_ids}
    return {pk for pk, case_id in cases if case_id in theirs}


def is_withheld(run: Run, viewer: User) -> bool:
    """Whether this person must not see the figures over all items of the run."""
    if run.system_version_id is None:
        return run.dataset_id in hidden_datasets(viewer, run.team)
    return run in hidden_runs(viewer, run.team)


def require_visible(viewer: User, item: Item) -> None:
    """Refuses to show verdicts on an item this person is still to review blind."""
    if hidden_items(viewer, item.dataset.team, item=item.pk).exists():
        raise Withheld(
            "You are a rater of this item, the same words or another answer to its case, in an open blind "
            "queue. Verdicts of judges and other people appear once you have submitted yours."
        )


def require_nothing_hidden(
    viewer: User, team: Team, dataset_id: int, *, why: str = "and cannot be handed to you"
) -> None:
    """Refuses a whole export or list that would hold verdicts hidden from this person, or tell of them."""
    hidden = len(hidden_of(viewer, team, dataset_id))
    if hidden:
        raise Withheld(
            f"The verdicts on {counted(hidden, 'item')} of this dataset are hidden from you, {why}. "
            f"{what_hides(viewer, team, dataset_id)} Or ask somebody who is not a rater."
        )


def require_queues_visible(queues: Sequence[ReviewQueue], viewer: User) -> None:
    """Refuses the figures of queues over one dataset with an item this person is still to review blind, in
    one of them or elsewhere.
    """
    team, dataset_id = queues[0].team, queues[0].dataset_id
    if dataset_id not in hidden_datasets(viewer, team):
        return
    here = Q(Exists(QueueItem.objects.filter(queue__in=queues, item=OuterRef("pk")))) | Q(
        Exists(Review.objects.filter(queue__in=queues, item=OuterRef("pk")))
    )
    hidden = hidden_items(viewer, team).values("pk")
    left = Item.objects.filter(here, pk__in=hidden, dataset=dataset_id).count()
    if left:
        named = queues[0].name if len(queues) == 1 else "these files"
        raise Withheld(
            f"The verdicts on {counted(left, 'item')} of {named} are hidden from you, and how far the raters "
            f"agree would tell of them. {what_hides(viewer, team, dataset_id)}"
        )


def what_hides(viewer: User, team: Team, dataset_id: int) -> str:
    """The queues that hide items of the dataset from this person, by name, and what ends that; "" for none.

    What others took there, or this person skipped, may still be handed to them: it stays hidden until the
    queue is closed.
    """
    left, itself = _left(viewer).filter(queue=OuterRef("pk")), Q(dataset=dataset_id)
    words = Item.objects.filter(dataset=dataset_id).exclude(content_hash="").order_by().values("content_hash")
    own = Review.objects.filter(queue=OuterRef("queue"), item=OuterRef("item"), rater__user=viewer)
    is_draft = Exists(own.filter(state=ReviewState.DRAFT, holds_place=True))
    is_free = Q(room__gt=0) & ~Q(Exists(own.filter(state=ReviewState.SKIPPED)))
    queues = (
        _blind_queues(viewer, team)
        .filter(Exists(left), itself | Q(Exists(left.filter(item__content_hash__in=words))))
        .annotate(can_submit=Exists(left.filter(Q(is_draft) | is_free)))
    )
    to_do: list[str] = []
    taken: list[str] = []
    for name, can_submit in queues.order_by("pk").values_list("name", "can_submit").distinct():
        (to_do if can_submit else taken).append(f"“{name}”")
    said = [f"Submit your reviews in {' and '.join(to_do)}."] if to_do else []
    if taken:
        is_closed = "it is closed." if len(taken) == 1 else "they are closed."
        named = f"Nothing is left for you to submit in {' and '.join(taken)}"
        said.append(f"{named}: what is hidden there appears when {is_closed}")
    return " ".join(said)


def require_own_visible(viewer: User, review: Review) -> None:
    """Refuses to show what this person submitted on an item they are to label again without seeing it."""
    team = review.queue.team
    hidden = hidden_items(viewer, team, item=review.item_id, besides=review.queue, own=True)
    if review.state == ReviewState.SUBMITTED and hidden.exists():
        raise Withheld(
            "You are asked to label this item again without seeing what you said before. "
            "Your earlier review appears once you have submitted the new one."
        )


def _blind_queues(viewer: User, team: Team) -> QuerySet[ReviewQueue]:
    return (
        ReviewQueue.objects.filter(team=team, raters__user=viewer)
        .exclude(state=QueueState.CLOSED)
        .exclude(blind=Blind.NONE)
    )
