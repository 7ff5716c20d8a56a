"""Where ground truth comes from: by which rule a label stands, from which labels, by whom and when."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.engine.origin import Origin
from rubricweb.models import Adjudication, Criterion, Item, ReviewQueue, User
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.adjudications import labelling_queues
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.labels.people import Unit, decided_rows, decisions, people_labels


@dataclass(frozen=True)
class SaidLabel:
    """What one rater had said when a label came to stand; `origin` is None for a judge here, and where a
    decision of an earlier release does not say it.
    """

    rater: str
    is_judge: bool
    verdict: str
    origin: str | None = None


@dataclass(frozen=True)
class Provenance:
    """How one unit came to its label; `verdict` None while people are tied.

    `rule` is one of the engine's RULES. `decided_by` is the user name of who decided it, "" where their
    account is deleted and where nobody had to: then `decided_at` is when the last of the `labels` was given.
    `given_to` are the criteria the labels were given to, in their order; of a decision the one it was decided
    on.
    """

    verdict: str | None
    rule: str
    decided_by: str
    decided_at: datetime | None
    labels: tuple[SaidLabel, ...]
    given_to: tuple[int, ...]
    is_decided: bool = False
    cause: str = ""
    reason: str = ""


def provenances(
    queues: Sequence[ReviewQueue],
    *,
    items: Iterable[int] | None = None,
    version: int | None = None,
    datasets: Collection[int] = (),
) -> dict[Unit, Provenance]:
    """The provenance of every labelled unit of these queues, and every decided one of their datasets and of
    further `datasets`; or of those on some items.

    An adjudication carries the labels it was decided from; else they are people's final labels. Six queries.
    """
    items = None if items is None else list(items)
    said: dict[Unit, list[SaidLabel]] = defaultdict(list)
    given_to: dict[Unit, list[int]] = defaultdict(list)
    last: dict[Unit, datetime] = {}
    for one in people_labels(queues, version=version, items=items, detailed=True):
        assert one.at is not None  # submitted labels have a time
        said[one.unit].append(SaidLabel(one.rater, False, one.final, one.origin))
        given_to[one.unit].append(one.given_to)
        last[one.unit] = max(one.at, last.get(one.unit, one.at))
    applied = decisions(queues, version=version, items=items, datasets=datasets)
    found = {unit: _by_vote(labels, given_to[unit], last[unit]) for unit, labels in said.items()}
    # Also where no label is left of those it was decided from.
    for unit, decision in decided_rows(applied).items():
        found[unit] = _by_decision(decision, tuple(said.get(unit, ())))
    return found


def _by_vote(labels: Sequence[SaidLabel], given_to: Sequence[int], at: datetime) -> Provenance:
    verdicts = [one.verdict for one in labels]
    settled = all(one.origin == Origin.SETTLED_BY_FILE for one in labels)
    rule = vote_rule(verdicts, settled=settled)
    return Provenance(majority(verdicts), rule, "", at, tuple(labels), tuple(given_to))


def _by_decision(decision: Adjudication, labels: tuple[SaidLabel, ...]) -> Provenance:
    kept = tuple(
        SaidLabel(str(one["rater"]), bool(one["is_judge"]), str(one["verdict"]), one.get("origin"))
        for one in decision.labels
    )
    return Provenance(
        verdict=decision.verdict,
        rule="adjudicated" if decision.cause else "unanimous",
        decided_by=decision.decided_by.username if decision.decided_by else "",
        decided_at=decision.decided_at,
        labels=kept or labels,
        given_to=(decision.criterion_id,),
        is_decided=True,
        cause=decision.cause,
        reason=decision.reason,
    )


def item_provenance(item: Item, *, viewer: User) -> list[tuple[Criterion, Provenance]]:
    """Every labelled or decided criterion of an item in rubric order; Withheld while the viewer reviews it
    blind.
    """
    require_visible(viewer, item)
    return items_provenance([item]).get(item.pk, [])


def items_provenance(items: Sequence[Item]) -> dict[int, list[tuple[Criterion, Provenance]]]:
    """The same of several items, by their ids, to somebody who may see it; those without are left out.

    Items labelled in the same queues are looked up together.
    """
    together: dict[tuple[ReviewQueue, ...], list[int]] = defaultdict(list)
    for item_id, queues in labelling_queues(items).items():
        together[tuple(queues)].append(item_id)
    found: dict[Unit, Provenance] = {}
    for shared, ids in together.items():
        found |= provenances(people_first(shared), items=ids)
    criteria = Criterion.objects.filter(pk__in={criterion_id for _, criterion_id in found})
    by_item: dict[int, list[tuple[Criterion, Provenance]]] = defaultdict(list)
    for criterion in criteria.order_by("-version_id", "position"):
        for item in items:
            if (item.pk, criterion.pk) in found:
                by_item[item.pk].append((criterion, found[item.pk, criterion.pk]))
    return by_item
