"""Gold items of a queue, whose labels are known, and what its raters make of them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

import numpy as np
from django.db.models import QuerySet

from rubricweb.engine.agreement.intervals import cluster_sums, share_figure
from rubricweb.models import (
    Adjudication,
    Calibration,
    Criterion,
    GoldPause,
    Item,
    Judgement,
    QueueItem,
    Rater,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    User,
)
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.datasets.items import name_systems
from rubricweb.selectors.datasets.systems import blinded_answers, tells_version
from rubricweb.selectors.labels.people import Unit, reading_by
from rubricweb.selectors.shared.cases import repeated_cases
from rubricweb.selectors.shared.columns import ints

KNOWN_SHOWN = 200
"""So many gold items are named on a page."""
MARK_DIFFERS = 1e-9
"""A mark of two thirds is written in percent and read again: so little it may differ."""

# ── What is known ────────────────────────────────────────────────────────────────────────────────


def known_labels(queue: ReviewQueue, *, only_gold: bool = True) -> dict[Unit, str]:
    """Unit → the label that is known: what was adjudicated, else what came settled in a file.

    Labels of other versions of the rubric count where they were given to the same question. What a majority
    of people said is no such truth: gold is what raters are held against. `only_gold` False looks at all
    items of the queue.
    """
    items = QueueItem.objects.filter(queue=queue)
    if only_gold:
        items = items.filter(gold=True)
    ids = items.order_by().values("item_id")
    settled = Judgement.objects.in_reviews(
        item__in=ids, queue__imported=True, rater__kind=RaterKind.SETTLED
    ).filter(verdict__isnull=False)
    adjudicated = Adjudication.objects.filter(item__in=ids)
    read = reading_by(queue.rubric_version_id)
    known: dict[Unit, str] = {}
    for rows in (settled.order_by("pk"), adjudicated.order_by("pk")):
        labels = rows.values_list("item_id", "criterion_id", "verdict")
        # Labels of the queue's own version come last, and count.
        for item_id, given_to, label in sorted(labels, key=lambda row: read.criterion(row[1]) == row[1]):
            criterion_id, known_label = read.label(given_to, str(label))
            known[item_id, criterion_id] = known_label
    return known


def may_be_gold(queue: ReviewQueue) -> list[int]:
    """The items, by position, in which the label to every criterion people are asked about is known."""
    known: dict[int, set[int]] = defaultdict(set)
    for item_id, criterion_id in known_labels(queue, only_gold=False):
        known[item_id].add(criterion_id)
    versions = dict(Item.objects.filter(pk__in=list(known)).values_list("pk", "rubric_version_id"))
    asked = _asked(queue, set(versions.values()))
    found = []
    rows = QueueItem.objects.filter(queue=queue, withdrawn=False).order_by("position")
    for item_id in rows.values_list("item_id", flat=True):
        if item_id not in known:
            continue
        wanted = asked[versions[item_id]]
        if wanted and wanted <= known[item_id]:
            found.append(item_id)
    return found


def _asked(queue: ReviewQueue, own: set[int | None]) -> dict[int | None, set[int]]:
    """Rubric version of an item, None for that of the queue → the criteria people are asked about."""
    found: dict[int | None, set[int]] = defaultdict(set)
    brought = Criterion.objects.filter(version__in=own - {None}).exclude(kind="check")
    for version_id, criterion_id in brought.values_list("version_id", "pk"):
        found[version_id].add(criterion_id)
    if None in own:
        found[None].update(queue.criteria_asked().exclude(kind="check").values_list("pk", flat=True))
    return found


# ── The round of one rater ───────────────────────────────────────────────────────────────────────


class CalibrationStage(Enum):
    """Where a rater is: no round asked for, in it, or after it."""

    NONE = "none"
    OPEN = "open"
    FAILED = "failed"
    PASSED = "passed"


@dataclass(frozen=True)
class CalibrationRound:
    """The calibration round of one rater: `submitted` of `size` gold items, and `handed` of them at all, with
    drafts and the `skipped` ones.

    `calibration` is there once a round was counted.
    """

    stage: CalibrationStage
    size: int = 0
    handed: int = 0
    submitted: int = 0
    skipped: int = 0
    calibration: Calibration | None = None

    @property
    def is_complete(self) -> bool:
        return self.submitted >= self.size


def round_of(queue: ReviewQueue, rater: Rater) -> CalibrationRound:
    """Where this rater is with the queue's calibration: see `rounds_of`."""
    return rounds_of(queue, [rater])[rater.pk]


def rounds_of(queue: ReviewQueue, raters: Collection[Rater]) -> dict[int, CalibrationRound]:
    """Rater id → where they are with the queue's calibration; nowhere when it has none, or no gold items for
    them. Three queries at most.

    A row that counts no labels is a round begun again: the gold items submitted before it are used up.
    """
    if not queue.calibration_items:
        return {rater.pk: CalibrationRound(CalibrationStage.NONE) for rater in raters}
    stored = Calibration.objects.filter(queue=queue, rater__in=raters).select_related("passed_by")
    rows = {row.rater_id: row for row in stored}
    found = {
        pk: CalibrationRound(
            CalibrationStage.PASSED if row.passed else CalibrationStage.FAILED, calibration=row
        )
        for pk, row in rows.items()
        if row.passed or row.total
    }
    calibrating = [rater.pk for rater in raters if rater.pk not in found]
    if not calibrating:
        return found
    gold = QueueItem.objects.filter(queue=queue, gold=True).count()
    reviews: dict[int, list[tuple[str, datetime | None]]] = defaultdict(list)
    theirs = _gold_reviews(queue).filter(rater__in=calibrating).order_by()
    for rater_id, state, submitted_at in theirs.values_list("rater_id", "state", "submitted_at"):
        reviews[rater_id].append((state, submitted_at))
    return found | {pk: _open_round(queue, gold, rows.get(pk), reviews[pk]) for pk in calibrating}


def _open_round(
    queue: ReviewQueue, gold: int, row: Calibration | None, reviews: Sequence[tuple[str, datetime | None]]
) -> CalibrationRound:
    """The round of a rater with these reviews of the queue's gold items, that is not counted yet."""
    states = Counter(
        state for state, at in reviews if row is None or at is None or at > row.decided_at
    )  # the others are used up
    size = min(queue.calibration_items, gold - (len(reviews) - states.total()))
    if size <= 0:
        return CalibrationRound(CalibrationStage.NONE, calibration=row)
    return CalibrationRound(
        CalibrationStage.OPEN,
        size=size,
        handed=states.total(),
        submitted=states[ReviewState.SUBMITTED],
        skipped=states[ReviewState.SKIPPED],
        calibration=row,
    )


def reaches_mark(queue: ReviewQueue, right: int, total: int) -> bool:
    """Whether so many right labels are enough; 2 of 3 are for a mark of 66.6666666667 percent."""
    return queue.pass_mark is None or right / total >= queue.pass_mark - MARK_DIFFERS


def gold_score(queue: ReviewQueue, rater: Rater, *, since: datetime | None = None) -> tuple[int, int]:
    """(right, total) of the labels a rater gave to gold items, those submitted after `since`."""
    by_item = _scores(queue, since=since, rater=rater).get(rater.pk, {})
    return sum(right for right, _ in by_item.values()), sum(total for _, total in by_item.values())


def _gold_reviews(queue: ReviewQueue, rater: Rater | None = None) -> QuerySet[Review]:
    gold = QueueItem.objects.filter(queue=queue, gold=True).values("item_id")
    reviews = Review.objects.filter(queue=queue, item__in=gold)
    return reviews if rater is None else reviews.filter(rater=rater)


def _scores(
    queue: ReviewQueue,
    *,
    since: datetime | None = None,
    rater: Rater | None = None,
    hidden: Collection[int] = (),
) -> dict[int, dict[int, tuple[int, int]]]:
    """Rater id → item id → (right, total): the initial labels of submitted gold items against the known."""
    known = known_labels(queue)
    reviews = _gold_reviews(queue, rater).filter(state=ReviewState.SUBMITTED)
    if since is not None:
        reviews = reviews.filter(submitted_at__gt=since)
    judgements = Judgement.objects.in_reviews(pk__in=reviews.order_by().values("pk")).filter(
        verdict__isnull=False
    )
    scores: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    rows = judgements.values_list("review__rater_id", "item_id", "criterion_id", "verdict")
    for rater_id, item_id, criterion_id, verdict in rows:
        truth = known.get((item_id, criterion_id))
        if truth is None or item_id in hidden:
            continue
        right, total = scores[rater_id].get(item_id, (0, 0))
        scores[rater_id][item_id] = (right + (verdict == truth), total + 1)
    return scores


# ── What editors see ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class GoldAccuracy:
    """How many of a rater's labels of gold items are like the known ones, with a 95 % interval.

    Labels of one item, and of all answers to a case, fall together and count for less than as many of
    several, see `share_figure`; several of a single one have no interval.
    """

    right: int
    total: int
    low: float | None = None
    high: float | None = None

    @property
    def share(self) -> float | None:
        return self.right / self.total if self.total else None


def _accuracy(by_item: Mapping[int, tuple[int, int]], cases: Mapping[int, int]) -> GoldAccuracy:
    """`cases` are the `repeated_cases` among the items."""
    counts = np.array([*by_item.values()], dtype=np.float64).reshape(-1, 2)
    clusters = ints([cases.get(item_id, item_id) for item_id in by_item])
    right, total = cluster_sums(counts, clusters).T
    figure = share_figure(right, total)
    return GoldAccuracy(int(right.sum()), figure.n, figure.low, figure.high)


def gold_accuracy(queue: ReviewQueue, viewer: User) -> dict[int, GoldAccuracy]:
    """Rater id → accuracy on the gold items whose labels are not hidden from the viewer."""
    hidden = hidden_gold(queue, viewer)
    cases = repeated_cases(Item.objects.filter(queue_items__queue=queue, queue_items__gold=True))
    return {pk: _accuracy(by_item, cases) for pk, by_item in _scores(queue, hidden=hidden).items()}


def hidden_gold(queue: ReviewQueue, viewer: User) -> frozenset[int]:
    """The gold items this person is still to review blind somewhere."""
    gold = QueueItem.objects.filter(queue=queue, gold=True).values("item_id")
    hidden = hidden_items(viewer, queue.team).filter(pk__in=gold)
    return frozenset(hidden.values_list("pk", flat=True))


@dataclass(frozen=True)
class RaterCalibration:
    """One rater's round as an editor sees it; `withheld` where its figures would tell of hidden items."""

    rater: Rater
    round: CalibrationRound
    accuracy: GoldAccuracy
    withheld: bool
    is_me: bool
    pause: GoldPause | None = None


@dataclass(frozen=True)
class GoldOverview:
    """The gold of a queue for editors.

    `items` are those that may be named, KNOWN_SHOWN at most, each with its `shown_key` (`name_systems`): an
    editor who rates in the queue learns of no gold item before having submitted it, and of none of a queue
    about some versions while they must not learn whose answer it is. `more` could be made gold yet.
    """

    gold: int
    more: int
    items: tuple[Item, ...]
    unnamed: int
    raters: tuple[RaterCalibration, ...]


def gold_overview(queue: ReviewQueue, viewer: User) -> GoldOverview:
    gold = Item.objects.filter(queue_items__queue=queue, queue_items__gold=True)
    count = gold.count()
    named = gold
    if queue.raters.filter(user=viewer).exists():
        done = Review.objects.filter(queue=queue, rater__user=viewer, state=ReviewState.SUBMITTED)
        named = gold.filter(pk__in=done.values("item_id"))
    if tells_version(queue.dataset, list(queue.system_versions.values_list("pk", flat=True))):
        named = named.exclude(pk__in=blinded_answers(queue.dataset, viewer))
    shown = named.select_related("case", "system_version__system").defer("submission", "thinking", "prompt")
    items = list(shown.order_by("queue_items__position")[:KNOWN_SHOWN])
    name_systems(items, viewer=viewer, team=queue.team)
    accuracy, hidden = gold_accuracy(queue, viewer), hidden_gold(queue, viewer)
    raters = list(queue.raters.order_by("name"))
    rounds = rounds_of(queue, raters)
    pauses = {one.rater_id: one for one in GoldPause.objects.filter(queue=queue, ended_at=None)}
    rows = [
        RaterCalibration(
            rater=rater,
            round=rounds[rater.pk],
            accuracy=accuracy.get(rater.pk, GoldAccuracy(0, 0)),
            withheld=bool(hidden),
            is_me=rater.user_id == viewer.pk,
            pause=pauses.get(rater.pk),
        )
        for rater in raters
    ]
    return GoldOverview(
        gold=count,
        more=len(set(may_be_gold(queue)) - set(gold.values_list("pk", flat=True))),
        items=tuple(items),
        unnamed=count - len(items),
        raters=tuple(rows),
    )


# ── What a rater sees after the round ────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class KnownAnswer:
    """One label of a rater beside the one that is known; the item has its `shown_key` (`name_systems`)."""

    item: Item
    criterion: Criterion
    mine: str
    truth: str

    @property
    def is_right(self) -> bool:
        return self.mine == self.truth


@dataclass(frozen=True)
class MyCalibration:
    """A rater's own round: how it went, and once it is over every label beside the known one.

    Nothing is said of gold items outside the rounds, nor of items another blind queue hides (`withheld`).
    """

    round: CalibrationRound
    answers: tuple[KnownAnswer, ...] = ()
    withheld: int = 0


def my_calibration(queue: ReviewQueue, viewer: User) -> MyCalibration:
    rater = queue.raters.filter(user=viewer).first()
    if rater is None:
        return MyCalibration(CalibrationRound(CalibrationStage.NONE))
    own_round = round_of(queue, rater)
    if own_round.calibration is None:
        return MyCalibration(own_round)
    reviews = _gold_reviews(queue, rater).filter(
        state=ReviewState.SUBMITTED, submitted_at__lte=own_round.calibration.decided_at
    )
    known, hidden = known_labels(queue), hidden_gold(queue, viewer)
    judgements = Judgement.objects.in_reviews(pk__in=reviews.order_by().values("pk")).filter(
        verdict__isnull=False
    )
    rows = judgements.select_related("item__case", "item__system_version__system", "criterion")
    labels = list(rows.order_by("review__submitted_at", "criterion__position"))
    name_systems([one.item for one in labels], viewer=viewer, team=queue.team)
    answers, withheld = [], set()
    for one in labels:
        truth = known.get((one.item_id, one.criterion_id))
        if one.item_id in hidden:
            withheld.add(one.item_id)
        elif truth is not None:
            answers.append(KnownAnswer(one.item, one.criterion, str(one.verdict), truth))
    return MyCalibration(own_round, tuple(answers), len(withheld))


def whom_to_ask(queue: ReviewQueue) -> str:
    """Who may let a rater go on: the names of the team's editors, three at most."""
    editors = User.objects.filter(
        memberships__team=queue.team_id, memberships__role__gte=Role.EDITOR, is_active=True
    )
    names = [str(user) for user in editors.order_by("-memberships__role", "name")[:3]]
    return " or ".join(dict.fromkeys(names)) or "an owner of the team"
