"""Queues and reviews; and the one place that knows whose verdicts a person may not see yet."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from rubricweb.engine.checks import run_check
from rubricweb.engine.ground_truth import majority
from rubricweb.engine.report import GradingError
from rubricweb.engine.submission import Submission
from rubricweb.errors import NotFound, Withheld
from rubricweb.models import (
    Adjudication,
    Criterion,
    Dataset,
    Item,
    Judgement,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Role,
    RubricVersion,
    Run,
    Team,
    User,
)

# ── Blinding ─────────────────────────────────────────────────────────────────────────────────────


def hidden_items(viewer: User, team: Team) -> QuerySet[Item, Any]:
    """Items whose verdicts by others this person must not see: those of open blind queues they rate in,
    until they have submitted their own review of the item there; and the same words in other datasets of the
    team, such as the halves of a split or the dataset a half came from.

    It does not matter which run, queue or rubric version a verdict comes from, nor the person's role.
    """
    blind = ReviewQueue.objects.filter(
        team=team, state=QueueState.OPEN, blind=True, raters__user=viewer, dataset=OuterRef("dataset")
    )
    submitted = Review.objects.filter(
        queue=OuterRef("pk"), item=OuterRef(OuterRef("pk")), rater__user=viewer, state=ReviewState.SUBMITTED
    )
    still_to_review = Exists(blind.exclude(Exists(submitted)))
    same_words = (
        Item.objects.filter(still_to_review, content_hash=OuterRef("content_hash"))
        .exclude(content_hash="")
        .exclude(dataset=OuterRef("dataset"))
    )
    hidden = Item.objects.filter(still_to_review | Exists(same_words), dataset__team=team)
    return hidden.order_by().values("pk")


def require_visible(viewer: User, item: Item) -> None:
    """Refuses to show verdicts on an item this person is still to review blind."""
    if hidden_items(viewer, item.dataset.team).filter(pk=item.pk).exists():
        raise Withheld(
            f"You are a rater of {item} in an open blind queue. "
            "Verdicts of judges and other people appear once you have submitted yours."
        )


def require_nothing_hidden(viewer: User, team: Team, dataset_id: int) -> None:
    """Refuses a whole export or list that would hold verdicts hidden from this person."""
    hidden = hidden_items(viewer, team).filter(dataset_id=dataset_id).count()
    if hidden:
        raise Withheld(
            f"You are still to review {hidden} items of this dataset blind, so their verdicts cannot be "
            "handed to you. Submit your reviews, or ask somebody who is not a rater."
        )


# ── Queues ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class QueueProgress:
    """`wanted` reviews are items × raters per item; `mine_left` is how many this person could still take."""

    items: int
    wanted: int
    submitted: int
    drafts: int
    skipped: int
    my_submitted: int
    my_draft: bool
    mine_left: int

    @property
    def share(self) -> float:
        return self.submitted / self.wanted if self.wanted else 0.0


@dataclass(frozen=True)
class QueueRow:
    queue: ReviewQueue
    progress: QueueProgress
    i_rate: bool


HOLD_MINUTES = 30


def holds(now: datetime | None = None) -> Q:
    """Reviews that take one of their item's places, as a condition on reviews.

    Skipped ones give it back, and so do drafts that were opened HOLD_MINUTES ago and never answered: somebody
    who only looked keeps nobody else from the item.
    """
    since = (now or timezone.now()) - timedelta(minutes=HOLD_MINUTES)
    answered = Exists(Judgement.objects.filter(review=OuterRef("pk")))
    return ~Q(state=ReviewState.SKIPPED) & ~(Q(state=ReviewState.DRAFT, started_at__lt=since) & ~Q(answered))


def holding(queue: ReviewQueue, now: datetime | None = None) -> QuerySet[Review]:
    """The reviews of a queue that take a place."""
    return Review.objects.filter(holds(now), queue=queue).order_by()


def queues(team: Team, viewer: User) -> list[QueueRow]:
    """The team's queues, open ones first, each with its progress and the viewer's own. Five queries."""
    rows = list(
        ReviewQueue.objects.filter(team=team)
        .select_related("dataset", "rubric_version", "run")
        .order_by("-state", "-created_at", "-pk")
    )
    mine = _rated_by(viewer, rows)
    progress = _progress(rows, viewer, mine)
    return [QueueRow(queue, progress[queue.pk], queue.pk in mine) for queue in rows]


def queue_progress(queue: ReviewQueue, viewer: User) -> QueueProgress:
    return _progress([queue], viewer, _rated_by(viewer, [queue]))[queue.pk]


def open_reviews_count(team: Team, viewer: User) -> int:
    """How many reviews wait for this person: the number on the navigation."""
    mine = list(ReviewQueue.objects.filter(team=team, state=QueueState.OPEN, raters__user=viewer))
    if not mine:
        return 0
    return sum(one.mine_left for one in _progress(mine, viewer, {queue.pk for queue in mine}).values())


def rates(queue: ReviewQueue, viewer: User) -> bool:
    """Whether this person is one of the queue's raters."""
    return queue.pk in _rated_by(viewer, [queue])


def _rated_by(viewer: User, queues: Sequence[ReviewQueue]) -> set[int]:
    links = ReviewQueue.raters.through.objects.filter(reviewqueue__in=queues, rater__user=viewer)
    return set(links.values_list("reviewqueue_id", flat=True))


def _progress(queues: Sequence[ReviewQueue], viewer: User, mine: set[int]) -> dict[int, QueueProgress]:
    """Queue id → progress, in three queries however many queues. `mine` are the queues the viewer rates in.

    Left for a rater are their drafts and the items they have not taken that still have room for one more.
    """
    items = dict(
        Item.objects.filter(dataset__in={queue.dataset_id for queue in queues})
        .order_by()
        .values("dataset_id")
        .annotate(n=Count("pk"))
        .values_list("dataset_id", "n")
    )
    reviews = Review.objects.filter(queue__in=queues).order_by()
    counts = {
        row["queue_id"]: row
        for row in reviews.values("queue_id").annotate(
            submitted=Count("pk", filter=Q(state=ReviewState.SUBMITTED)),
            drafts=Count("pk", filter=Q(state=ReviewState.DRAFT)),
            skipped=Count("pk", filter=Q(state=ReviewState.SKIPPED)),
            mine=Count("pk", filter=Q(rater__user=viewer)),
            my_submitted=Count("pk", filter=Q(state=ReviewState.SUBMITTED, rater__user=viewer)),
            my_drafts=Count("pk", filter=Q(state=ReviewState.DRAFT, rater__user=viewer)),
        )
    }
    filled_by_others = Counter(
        reviews.values("queue_id", "item_id", "queue__raters_per_item")
        .annotate(
            taken=Count("pk", filter=holds()),
            my=Count("pk", filter=Q(rater__user=viewer)),
        )
        .filter(my=0, taken__gte=F("queue__raters_per_item"))
        .values_list("queue_id", flat=True)
    )
    nothing = dict.fromkeys(("submitted", "drafts", "skipped", "mine", "my_submitted", "my_drafts"), 0)
    found = {}
    for queue in queues:
        row, total = counts.get(queue.pk, nothing), items.get(queue.dataset_id, 0)
        left = 0
        if queue.pk in mine and queue.state == QueueState.OPEN:
            left = row["my_drafts"] + max(0, total - row["mine"] - filled_by_others[queue.pk])
        found[queue.pk] = QueueProgress(
            items=total,
            wanted=row["submitted"] if queue.imported else total * queue.raters_per_item,
            submitted=row["submitted"],
            drafts=row["drafts"],
            skipped=row["skipped"],
            my_submitted=row["my_submitted"],
            my_draft=row["my_drafts"] > 0,
            mine_left=left,
        )
    return found


@dataclass(frozen=True)
class RaterProgress:
    name: str
    submitted: int
    drafts: int
    skipped: int


def rater_progress(queue: ReviewQueue) -> list[RaterProgress]:
    """Who has done how much of a queue."""
    rows = queue.raters.annotate(
        submitted=Count("reviews", filter=Q(reviews__queue=queue, reviews__state=ReviewState.SUBMITTED)),
        drafts=Count("reviews", filter=Q(reviews__queue=queue, reviews__state=ReviewState.DRAFT)),
        skipped=Count("reviews", filter=Q(reviews__queue=queue, reviews__state=ReviewState.SKIPPED)),
    ).order_by("name")
    return [RaterProgress(row.name, row.submitted, row.drafts, row.skipped) for row in rows]


REMARKS_MAX = 100


def remarks(queue: ReviewQueue, viewer: User) -> list[Review]:
    """Reviews with a flag, a note or a reason for skipping, newest first, at most REMARKS_MAX of them.

    Other people's on items the viewer is still to review blind are left out: a note may tell a verdict.
    """
    said = Review.objects.filter(queue=queue).filter(Q(flagged=True) | ~Q(note=""))
    visible = Q(rater__user=viewer) | ~Q(item__in=hidden_items(viewer, queue.team))
    rows = said.filter(visible).select_related("item", "rater").order_by("-pk")
    return list(
        rows.defer("item__submission", "item__thinking", "item__prompt", "item__reference")[:REMARKS_MAX]
    )


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
        datasets=Dataset.objects.filter(team=team).order_by("-created_at", "-pk"),
        versions=RubricVersion.objects.filter(rubric__team=team).order_by("-published_at", "-pk"),
        runs=Run.objects.filter(team=team).select_related("dataset").order_by("-created_at", "-pk"),
        people=reviewers(team),
    )


# ── One review ───────────────────────────────────────────────────────────────────────────────────


def review_for(team: Team, review_id: int, viewer: User) -> Review:
    """The door to a review: only its own rater comes in."""
    review = (
        Review.objects.filter(queue__team=team, rater__user=viewer, pk=review_id)
        .select_related(
            "queue__dataset",
            "queue__run",
            "queue__rubric_version",
            "queue__team",
            "item__dataset",
            "item__rubric_version",
            "rater__user",
        )
        .first()
        if 0 < review_id < 2**63
        else None
    )
    if review is None:
        raise NotFound("review")
    return review


@dataclass(frozen=True)
class Voice:
    """What one other rater said about a criterion: a peer or a judge.

    `value` is what a check found in the judge's run; then there is neither `verdict` nor `error`.
    """

    name: str
    is_judge: bool
    verdict: str | None
    reason: str
    error: str
    value: float | None = None


@dataclass(frozen=True)
class Measured:
    """What a check found: a value with its reason, or the error (its kind and message) in place of both."""

    value: float | None
    reason: str
    error: str = ""
    message: str = ""


@dataclass(frozen=True)
class Question:
    """One criterion on the review page with the person's own answer so far.

    `advice` is what the queue's judge said, for queues that are not blind; else it is empty. A check is
    answered already: `measured` says how, and nobody is asked.
    """

    criterion: Criterion
    verdict: str | None
    reason: str
    advice: tuple[Voice, ...] = ()
    measured: Measured | None = None

    @property
    def is_asked(self) -> bool:
        """Whether a person answers it."""
        return self.measured is None


def questions(review: Review) -> list[Question]:
    """The criteria of a review in rubric order, with the rater's own answers only.

    Checks are computed here and now: they are facts about the submission, not a judge's opinion of it.
    """
    version_id = review.item.rubric_version_id or review.queue.rubric_version_id
    mine = {judgement.criterion_id: judgement for judgement in Judgement.objects.filter(review=review)}
    submission = review.item.to_engine()
    found = []
    for criterion in Criterion.objects.filter(version_id=version_id).order_by("position"):
        if criterion.kind == "check":
            found.append(Question(criterion, None, "", measured=measured(criterion, submission)))
            continue
        answer = mine.get(criterion.pk)
        found.append(Question(criterion, answer.verdict if answer else None, answer.reason if answer else ""))
    return found


def measured(criterion: Criterion, submission: Submission) -> Measured:
    """What a check finds in a submission."""
    answer = run_check(criterion.to_engine(), submission)
    if isinstance(answer, GradingError):
        return Measured(None, "", answer.kind, answer.message)
    return Measured(answer.value, answer.reason)


@dataclass(frozen=True)
class Sheet:
    """What the review page asks; `open_id` is the criterion to begin with, None without any to answer.

    `total`, `answered` and `missing` are about the questions people answer, not about checks.
    """

    questions: tuple[Question, ...]
    guidelines: str
    instructions: str

    @property
    def total(self) -> int:
        return sum(question.is_asked for question in self.questions)

    @property
    def answered(self) -> int:
        return sum(question.verdict is not None for question in self.questions)

    @property
    def missing(self) -> list[Criterion]:
        return [
            question.criterion
            for question in self.questions
            if question.is_asked and question.verdict is None
        ]

    @property
    def open_id(self) -> int | None:
        asked = (question.criterion for question in self.questions if question.is_asked)
        first = next(iter([*self.missing, *asked]), None)
        return first.pk if first else None


def sheet(review: Review, typed: Mapping[int, tuple[str | None, str]] | None = None) -> Sheet:
    """The rater's own sheet; `typed` (criterion id → verdict, reason) goes over what is stored."""
    version = review.item.rubric_version or review.queue.rubric_version
    advice, typed = _advice(review), typed or {}
    asked = []
    for one in questions(review):
        verdict, reason = typed.get(one.criterion.pk, (one.verdict, one.reason))
        said = tuple(advice.get(one.criterion.pk, ()))
        asked.append(replace(one, verdict=verdict or one.verdict, reason=reason, advice=said))
    return Sheet(tuple(asked), version.guidelines if version else "", review.queue.instructions)


def _advice(review: Review) -> dict[int, list[Voice]]:
    """Criterion id → what the queue's judge said, for queues that are not blind; else nothing.

    Another blind queue over the same item hides it here too.
    """
    viewer, queue = review.rater.user, review.queue
    if queue.blind or queue.run is None or viewer is None:
        return {}
    try:
        found = voices(review.item, None, queue.run, viewer=viewer)
    except Withheld:
        return {}
    return found


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
    mine = {
        review.item_id: review
        for review in Review.objects.filter(queue=queue, rater__user=viewer)
        .annotate(answered=Count("judgements"))
        .only("pk", "item_id", "state", "flagged")
    }
    first = max(0, around.position - size // 2)
    rows = (
        Item.objects.filter(dataset_id=queue.dataset_id, position__gte=first)
        .annotate(taken=Count("reviews", filter=Q(reviews__in=holding(queue))))
        .filter(Q(taken__lt=queue.raters_per_item) | Q(pk__in=list(mine)))
        .order_by("position")
        .values_list("pk", "key", "description")[:size]
    )
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


@dataclass(frozen=True)
class Revealed:
    """One criterion after submitting: mine beside everybody else's, and what stands as ground truth.

    A check has nobody's label, only what was `measured`.
    """

    criterion: Criterion
    mine: str | None
    my_reason: str
    others: tuple[Voice, ...]
    decided: str | None
    by_adjudication: bool
    measured: Measured | None = None

    @property
    def disagrees(self) -> bool:
        return any(voice.verdict is not None and voice.verdict != self.mine for voice in self.others)


@dataclass(frozen=True)
class AgreementWith:
    """How often one other rater gave my verdict: `same` of the `both` criteria both of us answered."""

    name: str
    is_judge: bool
    same: int
    both: int
    errors: int


def agreement_with_others(rows: Sequence[Revealed]) -> list[AgreementWith]:
    """My agreement with everybody else on one item, judges first: MET, UNMET against MET, MET is 1 of 2."""
    same: Counter[tuple[str, bool]] = Counter()
    both: Counter[tuple[str, bool]] = Counter()
    errors: Counter[tuple[str, bool]] = Counter()
    for row in rows:
        for voice in row.others:
            who = (voice.name, voice.is_judge)
            errors[who] += bool(voice.error)
            both[who] += voice.verdict is not None
            same[who] += voice.verdict is not None and voice.verdict == row.mine
    everybody = sorted(both, key=lambda who: (not who[1], who[0]))
    return [
        AgreementWith(name, is_judge, same[name, is_judge], both[name, is_judge], errors[name, is_judge])
        for name, is_judge in everybody
    ]


def has_reveal(review: Review) -> bool:
    """Whether a judge or a peer has verdicts on the item of a submitted review that nothing else hides."""
    source = Q(review__queue=review.queue, review__state=ReviewState.SUBMITTED) & ~Q(review=review)
    if review.queue.run_id is not None:
        source |= Q(run_id=review.queue.run_id)
    viewer = review.rater.user
    if viewer is None or not Judgement.objects.filter(source, item=review.item).exists():
        return False
    return not hidden_items(viewer, review.queue.team).filter(pk=review.item_id).exists()


def reveal(review: Review) -> list[Revealed]:
    """Everybody's verdicts beside the rater's own; Withheld until submitted and not hidden elsewhere."""
    viewer = review.rater.user
    if review.state != ReviewState.SUBMITTED or viewer is None:
        raise Withheld("Verdicts of judges and other people appear once you have submitted yours.")
    require_visible(viewer, review.item)
    voices = _voices(review.item, review.queue, review.queue.run)
    adjudicated = dict(Adjudication.objects.filter(item=review.item).values_list("criterion_id", "verdict"))
    rows = []
    for question in questions(review):
        pk = question.criterion.pk
        said = voices.get(pk, [])
        people = [voice.verdict for rater, voice in said if rater is not None and voice.verdict]
        decided = adjudicated.get(pk) or majority(people)
        rows.append(
            Revealed(
                criterion=question.criterion,
                mine=question.verdict,
                my_reason=question.reason,
                others=tuple(voice for rater, voice in said if rater != review.rater_id),
                decided=decided,
                by_adjudication=pk in adjudicated,
                measured=question.measured,
            )
        )
    return rows


def _voices(item: Item, queue: ReviewQueue, run: Run | None) -> dict[int, list[tuple[int | None, Voice]]]:
    """Criterion id → (rater id or None for a judge, what they said): submitted reviews, then the run."""
    source = Q(review__queue=queue, review__state=ReviewState.SUBMITTED)
    if run is not None:
        source |= Q(run=run)
    voices: dict[int, list[tuple[int | None, Voice]]] = {}
    rows = (
        Judgement.objects.filter(source, item=item)
        .select_related("review__rater")
        .order_by(F("run_id").asc(nulls_first=True), "review__rater__name", "repeat")
    )
    for row in rows:
        rater = row.review.rater if row.review else None
        voice = Voice(
            name=rater.name if rater else row.judge,
            is_judge=rater is None,
            verdict=row.verdict,
            reason=row.reason,
            error=row.error_kind or "",
            value=row.value,
        )
        voices.setdefault(row.criterion_id, []).append((rater.pk if rater else None, voice))
    return voices


def voices(item: Item, queue: ReviewQueue | None, run: Run | None, *, viewer: User) -> dict[int, list[Voice]]:
    """Criterion id → what everybody said about the item, for people who may see it (else Withheld)."""
    require_visible(viewer, item)
    if queue is not None:
        found = _voices(item, queue, run)
        return {criterion_id: [voice for _, voice in said] for criterion_id, said in found.items()}
    if run is None:
        return {}
    judged: dict[int, list[Voice]] = {}
    for row in Judgement.objects.filter(run=run, item=item).order_by("repeat"):
        judged.setdefault(row.criterion_id, []).append(
            Voice(row.judge, True, row.verdict, row.reason, row.error_kind or "", row.value)
        )
    return judged
