"""What others said: beside one's own verdicts once they are submitted, and not before."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Q

from rubricweb.errors import Withheld
from rubricweb.models import (
    Blind,
    Criterion,
    Item,
    Judgement,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    RevisionChoice,
    Run,
    RunState,
    User,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_items, require_visible
from rubricweb.selectors.labels.adjudications import labelling_queues
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.labels.provenance import provenances
from rubricweb.selectors.reviews.reviews import Measured, Quote, RaterAnswer, questions, quotes


@dataclass(frozen=True)
class RevealedAnswer(RaterAnswer):
    """An answer with what it rests on; `changed_to` is a peer's final label where they changed theirs."""

    changed_to: str | None = None
    evidence: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class Revealed:
    """One criterion after submitting: mine beside everybody else's, and what stands as ground truth.

    `mine` is the initial label, `revision` what I said after I saw the others. A check has nobody's label,
    only what was `measured`.
    """

    criterion: Criterion
    mine: str | None
    my_reason: str
    others: tuple[RevealedAnswer, ...]
    decided: str | None
    by_adjudication: bool
    measured: Measured | None = None
    revision: Revision | None = None
    my_evidence: tuple[Quote, ...] = ()

    @property
    def disagrees(self) -> bool:
        return any(answer.verdict is not None and answer.verdict != self.mine for answer in self.others)

    @property
    def is_open(self) -> bool:
        """Whether somebody differs and I have not said yet what I make of it."""
        return self.disagrees and self.revision is None


@dataclass(frozen=True)
class AgreementWith:
    """How often one other rater gave my verdict: `same` of the `both` criteria both of us answered."""

    name: str
    is_judge: bool
    same: int
    both: int
    errors: int


def agreement_with_others(rows: Sequence[Revealed]) -> list[AgreementWith]:
    """My agreement with everybody else on one item, judges first: MET, UNMET against MET, MET is 1 of 2.

    A check, which has a value and no verdict, is nobody to agree with.
    """
    same: Counter[tuple[str, bool]] = Counter()
    both: Counter[tuple[str, bool]] = Counter()
    errors: Counter[tuple[str, bool]] = Counter()
    for row in rows:
        for answer in row.others:
            if answer.value is not None:
                continue
            who = (answer.name, answer.is_judge)
            errors[who] += bool(answer.error)
            both[who] += answer.verdict is not None
            same[who] += answer.verdict is not None and answer.verdict == row.mine
    everybody = sorted(both, key=lambda who: (not who[1], who[0]))
    return [
        AgreementWith(name, is_judge, same[name, is_judge], both[name, is_judge], errors[name, is_judge])
        for name, is_judge in everybody
    ]


@dataclass(frozen=True)
class Differences:
    """Of `asked` criteria, on how many a judge, and on how many a person, said something else than I did."""

    asked: int
    from_judge: int
    from_people: int


def differences(review: Review) -> Differences | None:
    """How much of a submitted review differs from what others said; None where nothing may be shown of it."""
    if not has_reveal(review):
        return None
    rows = [row for row in reveal(review) if row.measured is None]

    def differing(*, judges: bool) -> int:
        return sum(
            any(one.is_judge == judges and one.verdict not in (None, row.mine) for one in row.others)
            for row in rows
        )

    return Differences(len(rows), differing(judges=True), differing(judges=False))


def has_reveal(review: Review) -> bool:
    """Whether a judge or a peer has verdicts on the item of a submitted review that nothing else hides."""
    viewer = review.rater.user
    if viewer is None or not _others_spoke(review):
        return False
    return not hidden_items(viewer, review.queue.team, item=review.item_id).exists()


def will_reveal(review: Review) -> bool:
    """Whether submitting a draft leads to a reveal, as far as is known by now: see `has_reveal`. A run that
    is under way may have judged the item by then.
    """
    viewer, run = review.rater.user, review.queue.run
    is_grading = run is not None and run.state == RunState.RUNNING
    if viewer is None or not (is_grading or _others_spoke(review)):
        return False
    return not hidden_items(viewer, review.queue.team, item=review.item_id, submitting=review).exists()


def _others_spoke(review: Review) -> bool:
    # The item is named twice: by it the peers' reviews are found in an index.
    peers = in_reviews(queue=review.queue, item=review.item)
    source = peers & ~Q(review=review)
    if review.queue.run is not None:
        asked = review.queue.criteria_asked(review.item.rubric_version_id)
        source |= Q(run__in=review.queue.run.launched_with, criterion__in=asked)
    return Judgement.objects.filter(source, item=review.item).exists()


def reveal(review: Review) -> list[Revealed]:
    """Everybody's verdicts beside the rater's own; Withheld until submitted and not hidden elsewhere.

    `decided` is what stands: an adjudication, else the majority of final labels, of all queues that label the
    item.
    """
    require_revealed(review)
    queues = people_first(labelling_queues([review.item])[review.item_id])
    version = review.item.rubric_version_id or review.queue.rubric_version_id
    stands = provenances(queues, items=[review.item_id], version=version)
    mine = {
        row.criterion_id: row for row in Judgement.objects.filter(review=review).select_related("revision")
    }
    answers = _answers(review.item, review.queue, review.queue.run)
    rows = []
    for question in questions(review):
        pk = question.criterion.pk
        said = answers.get(pk, [])
        own, truth = mine.get(pk), stands.get((review.item_id, pk))
        rows.append(
            Revealed(
                criterion=question.criterion,
                mine=question.verdict,
                my_reason=question.reason,
                others=tuple(answer for rater, answer in said if rater != review.rater_id),
                decided=truth.verdict if truth else None,
                by_adjudication=bool(truth and truth.is_decided),
                measured=question.measured,
                revision=getattr(own, "revision", None),
                my_evidence=quotes(own) if own is not None else (),
            )
        )
    return rows


def require_revealed(review: Review) -> None:
    """Refuses what belongs to the reveal until the review is submitted and nothing else hides the item."""
    viewer = review.rater.user
    if review.state != ReviewState.SUBMITTED or viewer is None:
        raise Withheld("Verdicts of judges and other people appear once you have submitted yours.")
    require_visible(viewer, review.item)


def _answers(
    item: Item, queue: ReviewQueue | None, run: Run | None
) -> dict[int, list[tuple[int | None, RevealedAnswer]]]:
    """What was said about an item: by the run's judge, or that of one started with it, then in the queue's
    submitted reviews.
    """
    source = Q(pk__in=[])
    if queue is not None:
        source |= in_reviews(queue=queue)
    if run is not None:
        source |= Q(run__in=run.launched_with)
    answers: dict[int, list[tuple[int | None, RevealedAnswer]]] = {}
    rows = (
        Judgement.objects.filter(source, item=item)
        .select_related("review__rater", "revision", "run")
        .order_by(F("run_id").asc(nulls_last=True), "review__rater__name", "repeat")
    )
    for row in rows:
        rater = row.review.rater if row.review else None
        revision = getattr(row, "revision", None)
        answer = RevealedAnswer(
            name=rater.name if rater else row.judge,
            is_judge=rater is None,
            verdict=row.verdict,
            reason=row.reason,
            error=row.error_kind or "",
            value=row.value,
            origin=row.origin,
            changed_to=revision.verdict if revision and revision.choice == RevisionChoice.CHANGE else None,
            evidence=quotes(row),
        )
        answers.setdefault(row.criterion_id, []).append((rater.pk if rater else None, answer))
    return answers


def advice(review: Review) -> dict[int, list[RevealedAnswer]]:
    """Criterion id → what a queue shows beside the sheet before submitting: its judge, its raters, or nobody.

    Another blind queue over the same item hides it here too.
    """
    viewer, queue = review.rater.user, review.queue
    if queue.blind in (Blind.BOTH, Blind.SELF) or viewer is None or _is_hidden_elsewhere(review, viewer):
        return {}
    with_judge = queue.blind in (Blind.PEERS, Blind.NONE)
    with_peers = queue.blind in (Blind.JUDGE, Blind.NONE)
    said = _answers(review.item, queue if with_peers else None, queue.run if with_judge else None)
    return {
        criterion_id: [answer for rater, answer in found if rater != review.rater_id]
        for criterion_id, found in said.items()
    }


def _is_hidden_elsewhere(review: Review, viewer: User) -> bool:
    return hidden_items(viewer, review.queue.team, item=review.item_id, besides=review.queue).exists()
