"""What stands: one criterion of one item decided, taken back, or accepted where everybody agrees."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from rubricweb.engine.ground_truth import majority
from rubricweb.engine.origin import Origin
from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    ACCEPTED,
    Adjudication,
    Cause,
    Criterion,
    Item,
    Judgement,
    ReviewQueue,
    Run,
    User,
)
from rubricweb.selectors.adjudication.inbox import agreed, other_queues
from rubricweb.selectors.adjudication.waiting import forget_waiting
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.adjudications import judge_runs_for_queues, labelling_queues
from rubricweb.selectors.labels.people import Unit, decisions, people_labels
from rubricweb.services.labels import checked_label
from rubricweb.services.reviews.reviews import REASON_MAX
from rubricweb.services.shared.journal import record

ACCEPTED_AT_ONCE = 500
REPLACED_KEPT = 20
"""So many decisions on a unit can be gone back to, one by one; the audit log has all."""


def adjudicate(
    item: Item,
    criterion: Criterion,
    *,
    by: User,
    verdict: Label,
    cause: str,
    reason: str = "",
    seen: datetime | None = None,
    queue: ReviewQueue | None = None,
) -> Adjudication:
    """Decides one criterion of one item, and keeps the labels it was decided from.

    `verdict` is a label as `reviews.save_verdict` takes it. A reason is required when it goes against the
    majority of people's final labels. Deciding again replaces one's own decision, and another person's only
    when `seen`, its time, shows that one knew it: else Conflict says what they decided meanwhile. What was
    replaced is kept: see `withdraw`. Sent again, one's own decision from the same labels writes nothing.
    Withheld while the decider is still to review the item blind.
    """
    require_visible(by, item)
    if cause not in Cause.values:
        raise Invalid(f"{cause!r} is not a cause. Allowed: {', '.join(Cause.values)}.")
    label = checked_label(criterion, verdict)
    labels = _labels(item, criterion)
    most = majority(str(one["verdict"]) for one in labels if not one["is_judge"])
    if most is not None and most != label and not reason.strip():
        raise Invalid(f"Most raters said {most}. To decide {label}, give the reason.")
    decision = Adjudication(
        item=item,
        criterion=criterion,
        verdict=label,
        cause=cause,
        reason=reason.strip().replace("\x00", "")[:REASON_MAX],
        labels=labels,
        queue=queue,
        decided_by=by,
    )
    try:
        return _store(decision, by=by, seen=seen)
    except IntegrityError:
        # It was decided between our look and our write, by somebody else or by ourselves: look again.
        return _store(decision, by=by, seen=seen)


@transaction.atomic
def _store(decision: Adjudication, *, by: User, seen: datetime | None) -> Adjudication:
    """Takes the place of the decision there is, if it may; the one that stands then.

    One that was made on other words with the same meaning stays with them.
    """
    earlier = _standing(decision.item, decision.criterion)
    if earlier is not None:
        if earlier.decided_by_id != by.pk and not _knew(earlier, seen):
            raise _meanwhile(earlier, decision)
        if _is_the_same(earlier, decision):
            return earlier
        if earlier.criterion_id == decision.criterion_id:
            decision.pk = earlier.pk
            decision.replaced = [*earlier.replaced, _as_replaced(earlier)][-REPLACED_KEPT:]
    decision.save()
    record(
        decision.item.dataset.team,
        by,
        "adjudicated",
        decision.item,
        criterion=decision.criterion.name,
        verdict=decision.verdict,
        cause=decision.cause,
        **_reason(decision),
    )
    forget_waiting(decision.item.dataset.team, by)
    return decision


def _as_replaced(decision: Adjudication) -> dict[str, object]:
    """A decision as the one that takes its place keeps it."""
    return {
        "verdict": decision.verdict,
        "cause": decision.cause,
        "reason": decision.reason,
        "labels": decision.labels,
        "queue": decision.queue_id,
        "decided_by": decision.decided_by_id,
        "decided_at": decision.decided_at.isoformat(),
    }


def _put_back(decision: Adjudication) -> None:
    """The decision that one replaced stands again in its row, by whom and when it was made."""
    *replaced, last = decision.replaced
    # Not saved: that would be a decision of this moment.
    Adjudication.objects.filter(pk=decision.pk).update(
        verdict=last["verdict"],
        cause=last["cause"],
        reason=last["reason"],
        labels=last["labels"],
        replaced=replaced,
        queue=ReviewQueue.objects.filter(pk=last["queue"]).first(),
        decided_by=User.objects.filter(pk=last["decided_by"]).first(),
        decided_at=datetime.fromisoformat(last["decided_at"]),
    )


def _reason(decision: Adjudication) -> dict[str, str]:
    return {"reason": decision.reason} if decision.reason else {}


def _standing(item: Item, criterion: Criterion) -> Adjudication | None:
    """The decision that stands on a unit, on whichever words with its meaning it was made; locked."""
    applied = decisions([], version=criterion.version_id, items=[item.pk]).get((item.pk, criterion.pk))
    if applied is None:
        return None
    return Adjudication.objects.filter(pk=applied.adjudication_id).select_for_update().first()


def _is_the_same(earlier: Adjudication, decision: Adjudication) -> bool:
    """The same person's same word about the same labels: sent twice, it is decided once."""
    said = ("decided_by_id", "verdict", "cause", "reason", "labels")
    return all(getattr(earlier, name) == getattr(decision, name) for name in said)


def _knew(decision: Adjudication, seen: datetime | None) -> bool:
    """Whether `seen` is the decision's time, to the millisecond: finer ones do not survive JSON."""
    return seen is not None and abs(decision.decided_at - seen) < timedelta(milliseconds=1)


def _meanwhile(theirs: Adjudication, mine: Adjudication) -> Conflict:
    why = f" ({theirs.get_cause_display()})" if theirs.cause else ""
    return Conflict(
        f"Somebody else has decided {theirs.verdict}{why} meanwhile; you were about to decide "
        f"{mine.verdict}. Theirs stands unless you decide again."
    )


@transaction.atomic
def withdraw(
    item: Item, criterion: Criterion, *, by: User, seen: datetime | None = None
) -> Adjudication | None:
    """Takes the decision back that stands on the unit, on whichever version's words it was made: the one it
    replaced stands again, else what people said; the decision that stands then. Without a decision it does
    nothing, nor where `seen`, the time of the one that is meant, is later: that one was taken back before.

    Conflict where `seen` is earlier, since another took its place; another person's decision is only taken
    back by who has `seen` it.
    """
    require_visible(by, item)
    decided = _standing(item, criterion)
    if decided is None:
        return None
    is_own = decided.decided_by_id == by.pk
    if not _knew(decided, seen):
        if seen is not None and decided.decided_at < seen:
            return decided
        if seen is not None or not is_own:
            who = "You have" if is_own else "Somebody else has"
            raise Conflict(f"{who} decided {decided.verdict} meanwhile. Look at it before you undo it.")
    if decided.replaced:
        _put_back(decided)
    else:
        decided.delete()
    record(
        item.dataset.team,
        by,
        "withdrew a decision on",
        item,
        criterion=criterion.name,
        verdict=decided.verdict,
        cause=decided.cause,
        **_reason(decided),
    )
    forget_waiting(item.dataset.team, by)
    return _standing(item, criterion)


def note_names_shown(item: Item, *, by: User) -> None:
    """Writes down that somebody looked who said what on an item."""
    record(item.dataset.team, by, "looked at the names on", item)


@transaction.atomic
def accept_agreed(queue: ReviewQueue, *, by: User) -> int:
    """Decides every unit of the queue on which all people and the judge say the same; how many those were,
    without what somebody decided meanwhile.

    Each keeps its labels, those of other queues too, gets no cause, and stands as unanimous. See
    selectors.adjudication.inbox.agreed.
    """
    ReviewQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)  # one acceptance at a time
    accepted = Adjudication.objects.filter(queue=queue, decided_by=by, cause="")
    before = accepted.count()
    units = agreed(queue, by)
    runs, others = judge_runs_for_queues(queue.team, [queue]), other_queues(queue)
    for start in range(0, len(units), ACCEPTED_AT_ONCE):
        chunk = units[start : start + ACCEPTED_AT_ONCE]
        labels = _labels_of({unit.item_id for unit in chunk}, [queue], runs, also_in=others)
        Adjudication.objects.bulk_create(
            [
                Adjudication(
                    item_id=unit.item_id,
                    criterion_id=unit.criterion_id,
                    verdict=unit.label,
                    labels=labels[unit.item_id, unit.criterion_id],
                    queue=queue,
                    decided_by=by,
                )
                for unit in chunk
            ],
            ignore_conflicts=True,  # what somebody decided meanwhile stays
        )
    new = accepted.count() - before
    if new:
        record(queue.team, by, ACCEPTED, queue, decisions=new)
        forget_waiting(queue.team, by)
    return new


def _labels(item: Item, criterion: Criterion) -> list[dict[str, object]]:
    """Everybody's label as it is now: people's final ones, and those of the judges beside them."""
    queues = labelling_queues([item])[item.pk]
    runs = judge_runs_for_queues(item.dataset.team, queues)
    return _labels_of({item.pk}, queues, runs, version=criterion.version_id)[item.pk, criterion.pk]


def _labels_of(
    items: set[int],
    queues: Sequence[ReviewQueue],
    runs: Sequence[Run],
    *,
    version: int | None = None,
    also_in: Sequence[ReviewQueue] = (),
) -> dict[Unit, list[dict[str, object]]]:
    """Unit → its labels as an adjudication keeps them, people before judges."""
    found: dict[Unit, list[dict[str, object]]] = defaultdict(list)
    for label in people_labels(
        queues, runs=runs, version=version, items=items, detailed=True, also_in=also_in
    ):
        found[label.unit].append(_kept(label.rater, label.final, label.origin, is_judge=False))
    origins = {run.pk: run.origin for run in runs}
    judged = Judgement.objects.filter(item__in=items, verdict__isnull=False, run__in=runs, repeat=0)
    for item_id, criterion_id, judge, verdict, run_id in judged.order_by("run_id", "pk").values_list(
        "item_id", "criterion_id", "judge", "verdict", "run_id"
    ):
        assert run_id is not None  # asked for
        found[item_id, criterion_id].append(_kept(judge, str(verdict), origins[run_id], is_judge=True))
    return found


def _kept(rater: str, label: str, origin: Origin | None, *, is_judge: bool) -> dict[str, object]:
    return {"rater": rater, "is_judge": is_judge, "verdict": label, "origin": origin}
