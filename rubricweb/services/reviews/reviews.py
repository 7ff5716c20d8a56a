"""Work of people: reviews with their verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from rubricweb.engine.errors import Fault
from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    Criterion,
    Judgement,
    QueueItem,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
)
from rubricweb.selectors.labels.reasons import incomplete, lacks_reason
from rubricweb.services.labels import allowed_answers, checked_label
from rubricweb.services.reviews import assignments, calibration, extra_raters
from rubricweb.services.reviews.evidence import Span, checked_evidence
from rubricweb.services.reviews.leads import gold_pauses
from rubricweb.services.shared.journal import record

REASON_MAX = 10_000
SECONDS_MAX = 24 * 3600.0


@dataclass(frozen=True)
class SeenAnswer:
    """One answer as its sender has seen or sent it; where `verdict` or `reason` is None the rest is not
    compared.
    """

    verdict: Label | None
    reason: str | None = ""
    evidence: tuple[Span, ...] = ()


class AnsweredElsewhere(Conflict):
    """Other answers are stored than their sender knows, from another tab; `criterion_ids` says to what."""

    def __init__(self, stored: Mapping[Criterion, SeenAnswer]) -> None:
        said = (
            f"{criterion.name} was answered elsewhere meanwhile: {answer.verdict or 'no answer'}."
            for criterion, answer in stored.items()
        )
        super().__init__(" ".join(said))
        self.criterion_ids = [criterion.pk for criterion in stored]


@transaction.atomic
def save_verdict(
    review: Review,
    criterion_id: int,
    *,
    verdict: Label | None,
    reason: str | None = None,
    evidence: Sequence[Span] | None = None,
    seconds: float | None = None,
    known: Iterable[SeenAnswer] | None = None,
) -> Judgement | None:
    """Stores one label of a draft at once; `verdict=None` takes it back, what else is None stays as it is.

    `verdict` is MET, UNMET or CANNOT_ASSESS, or an option's label where the criterion is a choice. `seconds`
    is how long the criterion was open so far; it never goes back. Safe to repeat: the newest call wins.
    `known` are the answers the sender has seen or sent: with it, one stored meanwhile from another tab is
    AnsweredElsewhere. Raises Invalid naming what is allowed, Conflict once the review is
    submitted.
    """
    _open_draft(review)
    criterion = _asked_criterion(review, criterion_id)
    found = Judgement.objects.filter(review=review, criterion=criterion).first()
    label = None if verdict is None else checked_label(criterion, verdict)
    stored = _stored(found)
    sent = SeenAnswer(
        label,
        stored.reason if reason is None else reason,
        stored.evidence if evidence is None else tuple(evidence),
    )
    if _is_unknown(stored, sent, known):
        raise AnsweredElsewhere({criterion: stored})
    if label is None:
        if found is not None:
            found.delete()
        return None
    judgement = found or Judgement(review=review, criterion=criterion, item=review.item)
    _store(judgement, label, reason, evidence, seconds)
    return judgement


def _stored(judgement: Judgement | None) -> SeenAnswer:
    if judgement is None:
        return SeenAnswer(None)
    spans = tuple(Span(**span) for span in judgement.evidence or ())
    return SeenAnswer(judgement.verdict, judgement.reason, spans)


def _is_unknown(stored: SeenAnswer, sent: SeenAnswer, known: Iterable[SeenAnswer] | None) -> bool:
    """Whether `sent` would replace an answer that its sender does not know."""
    return known is not None and not any(_is_same(stored, one) for one in (sent, *known))


def _is_same(stored: SeenAnswer, seen: SeenAnswer) -> bool:
    if seen.reason is None:
        return stored.verdict == seen.verdict
    return _comparable(stored) == _comparable(seen)


def _comparable(answer: SeenAnswer) -> SeenAnswer:
    """An answer without what gets lost or added on the way from a page into the row."""
    if answer.verdict is None:
        return SeenAnswer(None)
    reason = _without_nul(answer.reason or "").replace("\r\n", "\n")
    return SeenAnswer(answer.verdict, reason, tuple(dict.fromkeys(answer.evidence)))


def save_reason(review: Review, criterion_id: int, *, reason: str) -> Judgement:
    """Stores the reason beside a verdict that stays as it is; Invalid where none was given yet."""
    _open_draft(review)
    criterion = _asked_criterion(review, criterion_id)
    judgement = Judgement.objects.filter(review=review, criterion=criterion).first()
    if judgement is None:
        raise Invalid("A reason is kept together with a verdict: choose one for it.")
    judgement.reason = _storable_reason(reason)
    judgement.save(update_fields=["reason"])
    return judgement


def _store(
    judgement: Judgement,
    label: str,
    reason: str | None,
    evidence: Sequence[Span] | None,
    seconds: float | None,
) -> None:
    judgement.verdict = label
    if reason is not None:
        judgement.reason = _storable_reason(reason)
    if evidence is not None:
        judgement.evidence = checked_evidence(judgement.item, evidence)
    judgement.seconds = _longer(judgement.seconds, seconds)
    judgement.save()


def _asked_criterion(review: Review, criterion_id: int) -> Criterion:
    criterion = criteria_of(review).filter(pk=criterion_id).first()
    if criterion is None:
        raise NotFound("criterion in this review")
    return criterion


def _longer(stored: float | None, seconds: float | None) -> float | None:
    """The longer of two times on one thing: saves that come late or twice do not shorten it."""
    said = min(max(seconds, 0.0), SECONDS_MAX) if seconds is not None and isfinite(seconds) else None
    return max((one for one in (stored, said) if one is not None), default=None)


def _storable_reason(reason: str) -> str:
    if len(reason) > REASON_MAX:
        why = f"A reason has at most {REASON_MAX} characters, not {len(reason)}."
        raise Invalid.about("reason", why, found=f"{len(reason)} characters")
    return _without_nul(reason)


def _without_nul(text: str) -> str:
    return text.replace("\x00", "")  # PostgreSQL stores no NUL characters


@dataclass(frozen=True)
class SubmittedAnswer:
    """What a whole form says about one criterion; `verdict` None is one left open, `known` as in
    `save_verdict`.
    """

    criterion_id: int
    verdict: Label | None
    reason: str
    evidence: Sequence[Span] | None = None
    seconds: float | None = None
    known: Sequence[SeenAnswer] | None = None


@transaction.atomic
def save_answers(
    review: Review,
    answers: Sequence[SubmittedAnswer],
    *,
    note: str | None = None,
    seconds: float | None = None,
) -> None:
    """Stores a whole form of a draft at once, all or nothing; criteria left open keep what they had.

    Raises AnsweredElsewhere naming every criterion whose stored answer the form does not know.
    """
    _open_draft(review)
    asked = {criterion.pk: criterion for criterion in criteria_of(review)}
    found = {one.criterion_id: one for one in Judgement.objects.filter(review=review)}
    elsewhere = {}
    for answer in answers:
        if answer.verdict is None:
            continue
        if answer.criterion_id not in asked:
            raise NotFound("criterion in this review")
        criterion = asked[answer.criterion_id]
        label, stored = checked_label(criterion, answer.verdict), _stored(found.get(criterion.pk))
        evidence = stored.evidence if answer.evidence is None else tuple(answer.evidence)
        if _is_unknown(stored, SeenAnswer(label, answer.reason, evidence), answer.known):
            elsewhere[criterion] = stored
            continue
        judgement = found.setdefault(
            criterion.pk, Judgement(review=review, criterion=criterion, item=review.item)
        )
        _store(judgement, label, answer.reason, answer.evidence, answer.seconds)
    if elsewhere:
        raise AnsweredElsewhere(elsewhere)
    if note is not None:
        save_note(review, note=note)
    if seconds is not None:
        save_seconds(review, seconds)


@transaction.atomic
def save_seconds(review: Review, seconds: float) -> None:
    """How long the page was in front of its reader so far; it never goes back."""
    _open_draft(review)
    review.refresh_from_db(fields=["seconds"])  # it was read before the row was locked
    review.seconds = _longer(review.seconds, seconds)
    review.save(update_fields=["seconds"])


@transaction.atomic
def save_note(review: Review, *, note: str | None = None, flagged: bool | None = None) -> None:
    """Stores the note and the flag of a review; None leaves either as it is."""
    _open_draft(review)
    changes = []  # another request may say the other one at the same moment
    if note is not None:
        review.note = _without_nul(note)[:REASON_MAX]
        changes.append("note")
    if flagged is not None:
        review.flagged = flagged
        changes.append("flagged")
    review.save(update_fields=changes)


@transaction.atomic
def submit(review: Review, *, now: datetime) -> None:
    """Ends the draft. Raises Invalid naming the criteria without an answer, or without a reason where the
    queue asks for one; a second call is a no-op.

    Checks need no answer: they are computed from the submission.
    """
    locked = Review.objects.select_for_update().get(pk=review.pk)
    if locked.state == ReviewState.SUBMITTED:
        review.refresh_from_db()
        return
    _open_draft(review)
    if not assignments.take_again(review, now=now):
        place = QueueItem.objects.filter(queue=review.queue_id, item=review.item_id)
        if place.filter(withdrawn=True).exists():
            raise Conflict(
                "This item was retired from its dataset meanwhile. Your draft is kept, but nobody is asked "
                "for the review any more."
            )
        raise Conflict(
            "You were away for so long that others reviewed this item. Your draft is kept, but it can "
            "no longer be submitted."
        )
    _require_complete(review)
    review.state, review.submitted_at, review.held_until = ReviewState.SUBMITTED, now, None
    review.save(update_fields=["state", "submitted_at", "held_until"])
    record(review.queue.team, review.rater.user, "submitted", review, **_place(review))
    extra_raters.ask_for_one_more(review)
    calibration.count_round(review)
    gold_pauses.count(review, now=now)


def _require_complete(review: Review) -> None:
    judgements = {judgement.criterion_id: judgement for judgement in Judgement.objects.filter(review=review)}
    asked = list(criteria_of(review).exclude(kind="check").order_by("position"))
    missing = [criterion for criterion in asked if criterion.pk not in judgements]
    unreasoned = [
        criterion
        for criterion in asked
        if criterion.pk in judgements
        and lacks_reason(
            criterion,
            judgements[criterion.pk].verdict,
            judgements[criterion.pk].reason,
            review.queue.rationale,
        )
    ]
    if not missing and not unreasoned:
        return
    faults = [Fault(str(one.name), "nothing", allowed_answers(one)) for one in missing]
    faults += [
        Fault(str(one.name), f"{judgements[one.pk].verdict} without a reason", "a reason")
        for one in unreasoned
    ]
    raise Invalid(incomplete(len(missing), len(unreasoned)), faults)


@transaction.atomic
def skip(review: Review, *, reason: str) -> None:
    """Gives the item back for somebody else; the verdicts and the note so far are kept with the skipped
    review.
    """
    _open_draft(review)
    if not reason.strip():
        raise Invalid("Say in a few words why you skip this item.")
    assignments.give_back(review)
    assignments.give_to_anybody(review.queue, review.rater, item_id=review.item_id)
    review.state, review.skip_reason = ReviewState.SKIPPED, _without_nul(reason).strip()[:REASON_MAX]
    review.save(update_fields=["state", "skip_reason"])
    record(review.queue.team, review.rater.user, "skipped", review, **_place(review))


def _place(review: Review) -> dict[str, str]:
    """What the audit log says about where a review was: never anything about its verdicts."""
    return {"item": str(review.item), "queue": review.queue.name}


def _open_draft(review: Review) -> None:
    """Locks the review's row, refuses what is no draft in an open queue, and keeps its assignment."""
    rates = ReviewQueue.raters.through.objects.filter(reviewqueue=OuterRef("queue"), rater=OuterRef("rater"))
    state, queue_state, still_rates = (
        Review.objects.select_for_update(of=("self",))
        .filter(pk=review.pk)
        .values_list("state", "queue__state", Exists(rates))
        .get()
    )
    if state != ReviewState.DRAFT:
        raise Conflict(f"This review is already {state}; it can no longer change.")
    if queue_state != QueueState.OPEN:
        raise Conflict(f"The queue is {queue_state}; your draft is kept but can not change now.")
    if not still_rates:
        raise Conflict("You are no longer a rater of this queue; your draft is kept but can not change.")
    assignments.renew(review, now=timezone.now())


def criteria_of(review: Review) -> QuerySet[Criterion]:
    """The criteria this review answers: of its item's own rubric, else those its queue asks about."""
    return review.queue.criteria_asked(review.item.rubric_version_id)
