"""Where ground truth comes from: by which rule a label stands, from which labels, by whom and when."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest

from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.models import Adjudication, Criterion, Item, ReviewQueue, User
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.adjudications import labelling_queues
from rubricweb.selectors.labels.ground_truth import Unit, labels_that_count, people_first


@dataclass(frozen=True)
class SaidLabel:
    """What one rater had said when a label came to stand."""

    rater: str
    is_judge: bool
    verdict: str


@dataclass(frozen=True)
class Provenance:
    """How one unit came to its label; `verdict` None while people are tied.

    `rule` is one of the engine's RULES. `decided_by` is the user name of who decided it, "" where nobody had
    to: then `decided_at` is when the last of the `labels` was given.
    """

    verdict: str | None
    rule: str
    decided_by: str
    decided_at: datetime | None
    labels: tuple[SaidLabel, ...]
    cause: str = ""
    reason: str = ""


def provenances(
    queues: Sequence[ReviewQueue], *, items: Iterable[int] | None = None
) -> dict[Unit, Provenance]:
    """The provenance of every labelled unit of these queues, or of those on some items of theirs.

    An adjudication carries the labels it was decided from; else they are people's final labels. Two queries.
    """
    rows = labels_that_count(queues)
    decided = Adjudication.objects.filter(item__dataset__in={queue.dataset_id for queue in queues})
    if items is not None:
        items = list(items)
        rows, decided = rows.filter(item__in=items), decided.filter(item__in=items)
    said: dict[Unit, list[SaidLabel]] = defaultdict(list)
    last: dict[Unit, datetime] = {}
    for item_id, criterion_id, rater, label, at in (
        rows.annotate(
            label=Coalesce("revision__verdict", "verdict"),
            rater=F("review__rater__name"),
            at=Greatest("review__submitted_at", Coalesce("revision__revised_at", "review__submitted_at")),
        )
        .order_by("item_id", "criterion_id", "review__rater_id", "pk")
        .values_list("item_id", "criterion_id", "rater", "label", "at")
    ):
        unit = (item_id, criterion_id)
        said[unit].append(SaidLabel(rater, False, label))
        last[unit] = max(at, last.get(unit, at))
    decisions = {
        (one.item_id, one.criterion_id): one for one in decided.select_related("decided_by").defer("item")
    }
    found = {}
    for unit, labels in said.items():
        decision = decisions.get(unit)
        found[unit] = (
            _by_vote(labels, last[unit]) if decision is None else _by_decision(decision, tuple(labels))
        )
    return found


def _by_vote(labels: Sequence[SaidLabel], at: datetime) -> Provenance:
    verdicts = [one.verdict for one in labels]
    return Provenance(majority(verdicts), vote_rule(verdicts), "", at, tuple(labels))


def _by_decision(decision: Adjudication, labels: tuple[SaidLabel, ...]) -> Provenance:
    kept = tuple(
        SaidLabel(str(one["rater"]), bool(one["is_judge"]), str(one["verdict"])) for one in decision.labels
    )
    return Provenance(
        verdict=decision.verdict,
        rule="adjudicated" if decision.cause else "unanimous",
        decided_by=decision.decided_by.username if decision.decided_by else "",
        decided_at=decision.decided_at,
        labels=kept or labels,
        cause=decision.cause,
        reason=decision.reason,
    )


def item_provenance(item: Item, *, viewer: User) -> list[tuple[Criterion, Provenance]]:
    """Every labelled criterion of an item in rubric order; Withheld while the viewer reviews it blind."""
    require_visible(viewer, item)
    found = provenances(people_first(labelling_queues(item)), items=[item.pk])
    criteria = Criterion.objects.filter(pk__in={criterion_id for _, criterion_id in found})
    return [(one, found[item.pk, one.pk]) for one in criteria.order_by("-version_id", "position")]
