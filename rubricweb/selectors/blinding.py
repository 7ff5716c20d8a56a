"""Whose verdicts a person may not see yet: the one place that knows, asked by everything that shows some."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from rubricweb.engine.number_format import counted
from rubricweb.errors import Withheld
from rubricweb.models import (
    Blind,
    Dataset,
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
from rubricweb.selectors.waiting_items import Asking, BesideUnsubmitted, Unsubmitted, Waiting, asking_of


def hidden_items(
    viewer: User,
    team: Team,
    *,
    item: int | OuterRef | None = None,
    besides: ReviewQueue | None = None,
    submitting: Review | None = None,
    own: bool = False,
) -> QuerySet[Item, Any]:
    """Items of which this person must not see what others said, nor who answered: those of open blind queues
    they rate in, until they have submitted their own review of the item there; and the same words wherever
    the team has them: a second time in that dataset, in the queue or not, in a half of a split, in a file
    imported twice. So an item that was submitted stays hidden while its copy waits, and the wrong words of a
    corrected item while the right ones do: they are of the same system, and were judged much alike.

    Where a queue asks about answers of several system versions, all answers to a case by versions it may ask
    about are hidden while one waits, in the queue or not: a name, or a verdict of a run over one version,
    would tell by elimination who gave the one that waits. A queue that asks about one version cannot hide
    whose answers they are.

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
    asking = asking_of(queues)
    if not asking:
        return Item.objects.none().values("pk")
    waiting = Waiting.of(viewer, team, asking, submitting)
    if item is None:
        # Both lists are read once, so that many equal items are not compared each with each.
        condition = waiting.among_all | Q(content_hash__in=waiting.words)
    else:
        same_words = Item.objects.filter(
            ~Q(content_hash=""), waiting.one, content_hash=OuterRef("content_hash"), dataset__team=team
        )
        condition = Q(waiting.one | Q(Exists(same_words.order_by())), pk=item)
    corrected = [one for one in asking if one.corrected]
    if corrected:
        condition |= _is_corrected(Waiting.of(viewer, team, corrected, submitting), corrected, item)
    return Item.objects.filter(condition, dataset__team=team).order_by().values("pk")


def _is_corrected(waiting: Waiting, asking: Sequence[Asking], item: int | OuterRef | None) -> Q:
    """The condition on items that one which waits in its queue's dataset is a correction of them, or of what
    they are one of.
    """
    corrections = Item.objects.filter(dataset__in={one.dataset_id for one in asking}).order_by()
    if item is None:
        first = corrections.filter(waiting.among_all, replaces__isnull=False).values("replaces")
        return Q(pk__in=first) | Q(replaces__in=first)
    replaces = Q(replaces=OuterRef("pk")) | Q(replaces=OuterRef("replaces"))
    return Q(Exists(corrections.filter(replaces, waiting.one)), pk=item)


def shown(viewer: User, team: Team, dataset_id: int) -> Q:
    """The condition on rows with an `item` of this dataset of the team that it is none of `hidden_items`.

    Empty for somebody from whom nothing is hidden: join it with others by AND only.

    The same rule, for very many rows: the queues are looked up here, in one small query. Queues that hide
    alike are one condition, so that it is no longer for many of them.
    """
    condition = Q()
    for alike, asking in _alike(viewer, team, dataset_id).items():
        waiting = Waiting.of(viewer, team, asking)
        # One condition within the other, so that the words are looked up first and not the whole queue.
        same_words = Item.objects.filter(content_hash=OuterRef("item__content_hash")).exclude(content_hash="")
        if alike.here:
            condition &= Q(~Exists(waiting.left.filter(item=OuterRef("item"))))
            same_words = same_words.exclude(pk=OuterRef("item"))
        if waiting.beside is not None:
            # Few cases have an answer that waits: the others are not looked into.
            cases = waiting.cases(Item.objects.filter(dataset=dataset_id))
            beside = BesideUnsubmitted(viewer, waiting.queue_ids, item="item")
            condition &= ~(Q(item__case__in=cases) & Q(beside))
        if alike.corrected:
            for wrong in ("item", "item__replaces"):
                right = Item.objects.filter(waiting.one, replaces=OuterRef(wrong))
                condition &= Q(~Exists(right.order_by()))
        condition &= Q(~Exists(same_words.filter(waiting.one).order_by()))
    return condition


def hidden_of(viewer: User, team: Team, dataset_id: int) -> set[int]:
    """The ids of all `hidden_items` of one dataset of the team: the same rule, for a whole dataset at once.

    What waits is read once and compared here, so that the time grows with the size of the queues and no
    faster. One query for somebody who rates in no open blind queue, at most four more for any number.
    """
    hidden: set[int] = set()
    corrections: set[int] = set()
    words: set[str] = set()
    for alike, asking in _alike(viewer, team, dataset_id).items():
        waiting = Waiting.of(viewer, team, asking)
        if waiting.beside is None and not alike.here:
            words.update(waiting.left.values_list("item__content_hash", flat=True).distinct())
        else:
            for item_id, text, of in waiting.items.values_list("pk", "content_hash", "dataset"):
                words.add(text)
                if of == dataset_id:
                    hidden.add(item_id)
                    if alike.corrected:
                        corrections.add(item_id)
    words.discard("")
    if words or hidden:
        rows = Item.objects.filter(dataset=dataset_id).order_by()
        own_texts = list(rows.values_list("pk", "content_hash", "replaces_id"))
        first = {replaced for item_id, _, replaced in own_texts if item_id in corrections} - {None}
        hidden.update(item_id for item_id, text, _ in own_texts if text in words)
        hidden.update(item_id for item_id, _, replaced in own_texts if item_id in first or replaced in first)
    return hidden


def hidden_datasets(viewer: User, team: Team) -> frozenset[int]:
    """Datasets with at least one hidden item, by id.

    Figures over all their items, such as the stored mean of a run, are withheld as a whole: from the mean of
    one item its verdicts can be read, and from the means before and after one review those of the item
    between them. One query for somebody who rates in no open blind queue, at most three for others.
    """
    asking = asking_of(_unfinished_queues(viewer, team))
    if not asking:
        return frozenset()
    hidden = {one.dataset_id for one in asking}
    # A dataset with an item that waits is hidden already: only the others are searched for the same words.
    others = list(Dataset.objects.filter(team=team).exclude(pk__in=hidden).values_list("pk", flat=True))
    if not others:
        return frozenset(hidden)
    waiting = Waiting.of(viewer, team, asking)
    same_words = Item.objects.filter(waiting.one, content_hash=OuterRef("content_hash"))
    items = Item.objects.filter(dataset__in=others).exclude(content_hash="")
    copies = items.filter(Exists(same_words.order_by())).order_by().values_list("dataset_id", flat=True)
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


def hidden_from_somebody(team: Team) -> list[HiddenRuns]:
    """What `hidden_runs` says for everybody who is still to review something of the team blind; empty where
    nobody is. One query where no blind queue is open, at most nine more for each rater of one that is.
    """
    queues = ReviewQueue.objects.filter(team=team).exclude(state=QueueState.CLOSED).exclude(blind=Blind.NONE)
    raters = User.objects.filter(raters__queues__in=queues).distinct().order_by("pk")
    return [hidden for person in raters if (hidden := hidden_runs(person, team))]


class _Alike(NamedTuple):
    """How queues hide items of one dataset: whether they are over it, and what is as in `Asking`."""

    here: bool
    several_versions: bool
    corrected: bool


def _alike(viewer: User, team: Team, dataset_id: int) -> dict[_Alike, list[Asking]]:
    """The queues that hide something from this person, by how they hide items of this dataset. One query."""
    found = defaultdict(list)
    for one in asking_of(_unfinished_queues(viewer, team)):
        here = one.dataset_id == dataset_id
        found[_Alike(here, one.several_versions, here and one.corrected)].append(one)
    return found


def _left(viewer: User) -> QuerySet[QueueItem]:
    """Queue items this person is asked about and has submitted no review of."""
    return QueueItem.objects.for_person(viewer).filter(Unsubmitted(viewer)).order_by()


def _unfinished_queues(viewer: User, team: Team) -> QuerySet[ReviewQueue]:
    """The open blind queues in which something is left for this person: the others hide nothing."""
    # One that is left is looked for from the end of each queue: people begin at the beginning.
    left = _left(viewer).filter(queue=OuterRef("pk")).order_by("-position").values("pk")[:1]
    return _blind_queues(viewer, team).annotate(one_left=Subquery(left)).filter(one_left__isnull=False)


def is_hidden(viewer: User, team: Team) -> Exists:
    """The condition on items that they are one of `hidden_items`: key, system version and metadata are kept
    from this person with the verdicts, for who answered sways a verdict.
    """
    return Exists(hidden_items(viewer, team, item=OuterRef("pk")))


def case_is_hidden(hidden: Exists) -> Exists:
    """The condition on items that some answer to their case is `hidden`, see `is_hidden`: what is said of the
    case itself, its tags, is kept from this person.
    """
    return Exists(Item.objects.filter(hidden, case=OuterRef("case")).order_by())


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
