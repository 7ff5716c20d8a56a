"""What a person says after the reveal: keeps their label, changes it, or finds the rubric unclear."""

from django.db import transaction

from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import Criterion, Judgement, QueueState, Review, ReviewQueue, Revision, RevisionChoice
from rubricweb.selectors.reviews.leads.returns import open_return
from rubricweb.selectors.reviews.reveals import require_revealed, reveal
from rubricweb.services.labels import checked_label
from rubricweb.services.reviews.reviews import REASON_MAX
from rubricweb.services.shared.journal import record


@transaction.atomic
def revise(
    review: Review, criterion_id: int, *, choice: str, verdict: Label | None = None, reason: str = ""
) -> Revision:
    """Stores the final label beside the initial one, with what the judge was shown to have said.

    `choice` is keep, change (then `verdict` and `reason` are needed) or unclear, which keeps the label too.
    Safe to repeat until the queue closes: the newest call wins. Raises Withheld while the others' verdicts
    are, Conflict once the queue is closed.
    """
    _open_reveal(review)
    # By its primary key, which no number is too large for.
    criterion = Criterion.objects.filter(pk=criterion_id)
    judgement = Judgement.objects.filter(review=review, criterion__in=criterion).first()
    if judgement is None:
        raise NotFound("verdict in this review")
    return _stored(judgement, choice=choice, verdict=verdict, reason=reason)


@transaction.atomic
def keep_all(review: Review) -> int:
    """Keeps every label somebody differs from and nothing was said about yet; how many those were."""
    _open_reveal(review)
    waiting = [row.criterion.pk for row in reveal(review) if row.is_open]
    for judgement in Judgement.objects.filter(review=review, criterion__in=waiting):
        _stored(judgement, choice=RevisionChoice.KEEP)
    return len(waiting)


def _open_reveal(review: Review) -> None:
    """Locks the queue's row, so that closing it waits, and refuses what is hidden or over."""
    state = (
        ReviewQueue.objects.select_for_update(of=("self",))
        .filter(pk=review.queue_id)
        .values_list("state", flat=True)
        .get()
    )
    require_revealed(review)
    if state == QueueState.CLOSED:
        raise Conflict("The queue is closed: your final verdicts can no longer change.")


def _stored(judgement: Judgement, *, choice: str, verdict: Label | None = None, reason: str = "") -> Revision:
    if choice not in RevisionChoice.values:
        raise Invalid.at("choice", repr(choice)[:60], ", ".join(RevisionChoice.values))
    review = judgement.review
    assert review is not None, "only people revise"
    initial = str(judgement.verdict)
    final = initial
    reason = reason.strip().replace("\x00", "")
    if len(reason) > REASON_MAX:
        raise Invalid.at("reason", f"{len(reason)} characters", f"at most {REASON_MAX}")
    if choice == RevisionChoice.CHANGE:
        if verdict is None:
            raise Invalid.at("verdict", "nothing", "the label you change to")
        final = checked_label(judgement.criterion, verdict)
        if final == initial:
            raise Invalid.at("verdict", f"{final}, which you said already", "another label, or keep yours")
        if not reason:
            raise Invalid.at("reason", "nothing", "why you change your verdict")
    # What a lead's note asked for tells nothing of what the judge's verdict did: it answers no reveal.
    run = None if open_return(review) is not None else review.queue.run
    judged = ""
    if run is not None:
        # An item of another system version than the run's was judged by one that was started with it.
        shown = Judgement.objects.filter(run__in=run.launched_with, item=judgement.item_id)
        judgements = shown.filter(criterion=judgement.criterion_id, repeat=0, verdict__isnull=False)
        first = judgements.select_related("run").order_by("pk").first()
        if first is not None and first.run is not None:
            run, judged = first.run, str(first.verdict)
    earlier = Revision.objects.filter(judgement=judgement).first()
    revision, _ = Revision.objects.update_or_create(
        judgement=judgement,
        defaults={
            "choice": choice,
            "verdict": final,
            "reason": reason,
            "run": run,
            "judge_verdict": judged,
        },
    )
    if choice != RevisionChoice.KEEP or (earlier is not None and earlier.choice != RevisionChoice.KEEP):
        record(
            review.queue.team,
            review.rater.user,
            "revised",
            judgement.item,
            criterion=judgement.criterion.name,
            choice=revision.choice,
            verdict=final,
            queue=review.queue.name,
        )
    return revision
