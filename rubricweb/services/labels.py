"""Labels: what answers a criterion, and people's labels stored as closed queues."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Q

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.label_files import RaterKind as FileRaterKind
from rubricweb.engine.scoring.outcomes import own_label
from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Blind,
    Criterion,
    Dataset,
    Item,
    Judgement,
    QueueState,
    Rater,
    Review,
    ReviewQueue,
    ReviewState,
    RubricVersion,
    Team,
    User,
)
from rubricweb.selectors.labels.ground_truth import SETTLED_RATERS
from rubricweb.services.shared.journal import record


def checked_label(criterion: Criterion, label: Label) -> str:
    """A label as the criterion itself writes it. Raises Invalid, naming what is allowed, for any other."""
    if criterion.kind == "check":
        fault = Fault("verdict", f"a label for the check {criterion.name}", "no label: it answers for itself")
        raise Invalid(f"{criterion.name} is a check: it is computed from the submission.", [fault])
    try:
        return str(own_label(criterion.to_engine(), label))
    except ValueError:
        allowed = allowed_answers(criterion)
        fault = Fault("verdict", repr(label), allowed)
        raise Invalid(f"{label!r} is no answer to {criterion.name}. Allowed: {allowed}.", [fault]) from None


def allowed_answers(criterion: Criterion) -> str:
    """The labels a person can give, as a sentence for refusals."""
    if criterion.kind == "choice":
        return ", ".join(option["label"] for option in criterion.options)
    return "MET, UNMET or CANNOT_ASSESS"


def require_rubric(dataset: Dataset, rubric_version: RubricVersion | None) -> None:
    """Refuses a dataset in which some items would have no rubric at all."""
    items = Item.objects.filter(dataset=dataset)
    if not items.exists():
        raise refused("dataset", f"{dataset} has no items.")
    if rubric_version is None:
        missing = items.filter(rubric_version=None).count()
        if missing:
            raise refused(
                "rubric_version",
                f"{missing} items of {dataset} bring no rubric of their own; choose a rubric version.",
            )


def refused(place: str, message: str) -> Invalid:
    """A refusal about one argument, named as the fault's place so that a form can answer beside it."""
    return Invalid(message, [Fault(place, "this value", message)])


@dataclass(frozen=True)
class ResolvedLabels:
    """Labels with the rows they are about, and the raters of the team behind the names of a file."""

    labels: list[tuple[LabelRecord, Item, Criterion]]
    raters: Mapping[tuple[str, FileRaterKind], Rater]

    def by_pair(self) -> list[tuple[tuple[int, int], LabelRecord, Criterion]]:
        """Each label under its item and rater."""
        return [
            ((item.pk, self.raters[label.rater, label.rater_kind].pk), label, criterion)
            for label, item, criterion in self.labels
        ]


def resolve_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    labels: Sequence[LabelRecord],
    queue_name: str,
) -> ResolvedLabels:
    """Finds items, criteria and raters, and makes the raters who are new.

    Raises Conflict for a queue name that is taken, Invalid with all labels that do not fit the dataset.
    """
    team = dataset.team
    if ReviewQueue.objects.filter(team=team, name=queue_name).exists():
        raise Conflict(f"The team already has a queue called {queue_name!r}; give these labels another name.")
    require_rubric(dataset, rubric_version)
    items = {item.key: item for item in Item.objects.filter(dataset=dataset).only("key", "rubric_version_id")}
    versions = {
        item.rubric_version_id or (rubric_version.pk if rubric_version else None) for item in items.values()
    }
    criteria: dict[tuple[int | None, str], Criterion] = {
        (criterion.version_id, criterion.name.strip().casefold()): criterion
        for criterion in Criterion.objects.filter(version_id__in=versions)
    }
    # One person may stand under a rater's name and a user name: from here on, only who it is counts.
    named = sorted({(label.rater, label.rater_kind) for label in labels})
    raters = {(name, kind): _named_rater(team, name, kind) for name, kind in named}
    return ResolvedLabels(_resolve(labels, items, criteria, rubric_version, raters), raters)


@transaction.atomic
def store_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    labels: Sequence[LabelRecord],
    *,
    by: User | None,
    queue_name: str,
    filename: str = "",
    detail: Mapping[str, Any] | None = None,
) -> ReviewQueue:
    """Labels as submitted reviews of a closed queue, one review per (item, rater); all or nothing.

    `detail` goes into the journal beside what it says of every import.
    """
    team = dataset.team
    queue_name = queue_name.strip()[:200] or "Imported labels"
    resolved = resolve_labels(dataset, rubric_version, labels, queue_name)
    rows = resolved.by_pair()
    per_item: dict[int, set[int]] = defaultdict(set)
    for (item_id, rater_id), _, _ in rows:
        per_item[item_id].add(rater_id)
    queue = ReviewQueue.objects.create(
        team=team,
        name=queue_name,
        dataset=dataset,
        rubric_version=rubric_version,
        raters_per_item=max((len(several) for several in per_item.values()), default=1),
        blind=Blind.NONE,
        imported=True,
        state=QueueState.CLOSED,
        created_by=by,
    )
    queue.raters.set(set(resolved.raters.values()))
    pairs = sorted({pair for pair, _, _ in rows})
    reviews = Review.objects.bulk_create(
        [
            Review(
                queue=queue,
                item_id=item_id,
                rater_id=rater_id,
                state=ReviewState.SUBMITTED,
                submitted_at=queue.created_at,
                imported=True,
            )
            for item_id, rater_id in pairs
        ],
        batch_size=500,
    )
    by_pair = dict(zip(pairs, reviews, strict=True))
    Judgement.objects.bulk_create(
        [
            Judgement(
                review=by_pair[pair],
                item_id=pair[0],
                criterion=criterion,
                verdict=str(label.verdict),
                reason=label.reason,
            )
            for pair, label, criterion in rows
        ],
        batch_size=500,
    )
    count, raters = len(rows), len(resolved.raters)
    record(team, by, "imported labels", queue, labels=count, raters=raters, file=filename, **(detail or {}))
    return queue


def _resolve(
    labels: Iterable[LabelRecord],
    items: dict[str, Item],
    criteria: dict[tuple[int | None, str], Criterion],
    rubric_version: RubricVersion | None,
    raters: Mapping[tuple[str, FileRaterKind], Rater],
) -> list[tuple[LabelRecord, Item, Criterion]]:
    """Each label, as its criterion writes it, with the rows it is about; refuses all faults at once."""
    resolved: list[tuple[LabelRecord, Item, Criterion]] = []
    faults: list[Fault] = []
    seen: dict[tuple[int, int, int], int] = {}
    for label in labels:
        place = f"line {label.line}"
        item = items.get(label.item_id)
        if item is None:
            found = repr(label.item_id)
            faults.append(Fault(f"{place}: item_id", found, "the id of an item in the dataset"))
            continue
        version_id = item.rubric_version_id or (rubric_version.pk if rubric_version else None)
        criterion = criteria.get((version_id, label.criterion.strip().casefold()))
        if criterion is None:
            faults.append(
                Fault(f"{place}: criterion", repr(label.criterion), "the name of a criterion of the rubric")
            )
            continue
        try:
            said = checked_label(criterion, label.verdict)
        except Invalid as error:
            faults += [Fault(f"{place}: verdict", fault.found, fault.allowed) for fault in error.faults]
            continue
        unit = (item.pk, criterion.pk, raters[label.rater, label.rater_kind].pk)
        if unit in seen:
            found = f"the same item, criterion and rater as line {seen[unit]}"
            faults.append(Fault(place, found, "one label each"))
            continue
        seen[unit] = label.line
        resolved.append((replace(label, verdict=said), item, criterion))
    if faults:
        raise Invalid(f"{len(faults)} labels do not fit the dataset; nothing was imported.", faults[:200])
    if not resolved:
        raise Invalid("The file holds no labels.")
    return resolved


def _named_rater(team: Team, name: str, kind: FileRaterKind) -> Rater:
    """The rater of this name and kind; a member is found by rater name, user name or shown name.

    Who is called like the ground truth of a dataset file, or of our exports, is that.
    """
    name = name[:120]
    if name in SETTLED_RATERS:
        kind = "settled"
    raters = Rater.objects.filter(team=team, kind=kind)
    found = raters.filter(Q(name=name) | Q(user__username=name)).first()
    return found or Rater.objects.create(team=team, name=name, kind=kind)
