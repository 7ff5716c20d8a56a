"""Deciding what becomes of labels that were given to other words: carried, given again, or probed first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from rubricweb.engine.errors import Fault, nearest
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import LabelDecision, LabelDecisionKind, Rubric, RubricVersion, User
from rubricweb.selectors.probes import changes_with_probes
from rubricweb.selectors.rubrics.label_changes import (
    GUIDELINES,
    LabelChange,
    LabelChanges,
)
from rubricweb.services.rubrics.meanings import assign_meanings
from rubricweb.services.shared.journal import record

LATER = "later"
"""No decision: the labels count for nothing under the new words, and are shown as waiting."""
KINDS = (*LabelDecisionKind.values, LATER)
REASON_MAX = 2_000


@dataclass(frozen=True)
class NewLabelDecision:
    """What somebody decides: one of KINDS, and what each earlier option counts as where options changed.

    None stands for an option whose labels do not count.
    """

    kind: str
    options: Mapping[str, str | None] | None = None
    reason: str = ""


@transaction.atomic
def decide(
    version: RubricVersion, uid: str, chosen: NewLabelDecision, *, by: User | None, seen: int | None = None
) -> None:
    """Decides about the labels of one reworded criterion, by its uid, or of all others by GUIDELINES.

    The decision takes the place of the current one, which must be the one that was `seen` (its id, None for
    none): else Conflict. Raises Invalid where nothing was reworded, and where labels cannot be carried so.
    """
    rubric = rubric_of(version)
    Rubric.objects.select_for_update().get(pk=rubric.pk)
    change = require_change(changes_with_probes(version, viewer=None), uid)
    current = change.decision
    if (current.pk if current is not None else None) != seen:
        raise Conflict(
            "Somebody else has decided about these labels meanwhile. Look at their decision before yours."
        )
    _store(version, change, chosen, by=by)
    assign_meanings(rubric)


def decide_at_publication(
    version: RubricVersion, chosen: Mapping[str, NewLabelDecision], *, by: User | None
) -> None:
    """The first decisions about a version that was published in the same transaction, by uid."""
    assert version.rubric is not None  # it was published
    changes = changes_with_probes(version, viewer=None)
    for uid, one in chosen.items():
        _store(version, require_change(changes, uid), one, by=by)
    if chosen:
        assign_meanings(version.rubric)


def rubric_of(version: RubricVersion) -> Rubric:
    """The rubric of a version; Invalid for one that an item brought."""
    if version.rubric is None:
        raise Invalid("The rubric came with an item: it has no other versions.")
    return version.rubric


def require_change(changes: LabelChanges, uid: str) -> LabelChange:
    """The change about one reworded criterion. Raises Invalid, naming those there are."""
    change = changes.about(uid)
    if change is None:
        known = ", ".join(one.uid for one in changes.changes) or "none: no criterion was reworded"
        raise Invalid.at(f"decisions.{uid}", "a criterion that was not reworded", known)
    return change


def _store(version: RubricVersion, change: LabelChange, chosen: NewLabelDecision, *, by: User | None) -> None:
    options = _checked(change, chosen)
    if change.decision is not None:
        LabelDecision.objects.filter(pk=change.decision.pk).update(superseded_at=timezone.now())
    if chosen.kind != LATER:
        LabelDecision.objects.create(
            version=version,
            criterion=change.criterion,
            previous=change.previous,
            kind=chosen.kind,
            options=options,
            reason=chosen.reason.strip()[:REASON_MAX],
            evidence=_evidence(change),
            decided_by=by,
        )
    assert version.rubric is not None  # numbered versions alone are decided about
    details = {"reason": chosen.reason.strip()[:REASON_MAX]} if chosen.reason.strip() else {}
    if change.probe is not None:
        details["probe"] = f"{change.probe.answered} of {change.probe.asked} labelled again"
    record(
        version.rubric.team,
        by,
        "decided about labels of",
        version,
        criterion=change.name or GUIDELINES,
        decision=chosen.kind,
        labels=change.labels,
        **details,
    )


def _evidence(change: LabelChange) -> dict[str, Any]:
    """What stood on the earlier words, and what a probe had found, when it was decided."""
    stands = {"labels": change.labels, "reviews": change.reviews, "decisions": change.decisions}
    if change.probe is None:
        return stands
    queues = [one.queue.pk for one in change.queues]
    return stands | {"probe": change.probe.as_evidence() | {"queues": queues}}


def _checked(change: LabelChange, chosen: NewLabelDecision) -> dict[str, Any] | None:
    """What to store of an option map. Raises Invalid with every fault."""
    place = f"decisions.{change.uid}"
    if chosen.kind not in KINDS:
        raise Invalid.at(f"{place}.kind", repr(chosen.kind[:40]), nearest(chosen.kind, KINDS))
    if chosen.kind != LabelDecisionKind.CARRY:
        if chosen.options is not None:
            raise Invalid.at(f"{place}.options", f"options with {chosen.kind!r}", "options with carry alone")
        return None
    if not change.may_carry:
        raise Invalid.at(
            f"{place}.kind", "carry, to a criterion of another kind", "label_again, probe or later"
        )
    if not change.needs_map:
        if chosen.options:
            raise Invalid.at(f"{place}.options", "a map of options", "none: the options are the same")
        return None
    return _option_map(change, chosen.options or {}, place)


def _option_map(change: LabelChange, given: Mapping[str, str | None], place: str) -> dict[str, Any]:
    earlier = [one.label for one in change.earlier]
    faults = [
        Fault(f"{place}.options.{old}", "no option of the earlier words", nearest(old, earlier))
        for old in given
        if old not in earlier
    ]
    faults += [
        Fault(f"{place}.options.{old}", f"{new!r}, no option any more", nearest(new, change.options))
        for old, new in given.items()
        if old in earlier and new is not None and new not in change.options
    ]
    allowed = f"one of {', '.join(change.options)}, or null where they do not count"
    faults += [
        Fault(f"{place}.options.{label}", "nothing", allowed) for label in earlier if label not in given
    ]
    if faults:
        raise Invalid("Labels cannot be carried to these options.", faults)
    # A judge's or person's "cannot assess" stays what it is.
    return {"CANNOT_ASSESS": "CANNOT_ASSESS", **{label: given.get(label) for label in earlier}}
