"""Labels: what answers a criterion, and people's labels stored as closed queues."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.labels.left_out import LeftOut
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring.outcomes import own_label
from rubricweb.engine.verdict import Label
from rubricweb.errors import Invalid
from rubricweb.models import (
    Blind,
    Criterion,
    Dataset,
    Item,
    Judgement,
    QueueState,
    Rater,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    RevisionChoice,
    RubricVersion,
    Run,
    User,
)
from rubricweb.services import dataset_versions, imported_runs
from rubricweb.services.read_labels.named_raters import Named, named_in, named_raters, require_few_raters
from rubricweb.services.read_labels.new_labels import NewLabels, ResolvedLabels, new_labels, taken
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import numbered, saved_unless_taken

NO_REASON = "No reason given."
"""Stands where a file says that a verdict was changed and not why."""


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
    items = Item.objects.current().filter(dataset=dataset)
    if not items.exists():
        raise Invalid.about("dataset", f"{dataset} has no items.")
    if rubric_version is None:
        missing = items.filter(rubric_version=None).count()
        if missing:
            bring = "brings no rubric of its own" if missing == 1 else "bring no rubric of their own"
            why = f"{counted(missing, 'item')} of {dataset} {bring}; choose a rubric version."
            raise Invalid.about("rubric_version", why)


@dataclass(frozen=True)
class StoredLabels:
    """What labels of a file became: a closed queue of people's, a run for each machine; `known` are those
    that had been imported before and were left out.
    """

    queue: ReviewQueue | None
    runs: tuple[Run, ...]
    known: tuple[LeftOut, ...]


def resolve_labels(
    dataset: Dataset, rubric_version: RubricVersion | None, labels: Sequence[LabelRecord], *, make: bool
) -> ResolvedLabels:
    """Finds items, criteria and raters, and makes the raters who are new, or has unsaved ones stand in.

    Raises Invalid with all labels that do not fit the dataset, and for too many raters.
    """
    require_few_raters(labels)
    current = Item.objects.current().filter(dataset=dataset)
    items = {item.key: item for item in current.only("key", "rubric_version_id")}
    versions = {
        item.rubric_version_id or (rubric_version.pk if rubric_version else None) for item in items.values()
    }
    criteria: dict[tuple[int | None, str], Criterion] = {
        (criterion.version_id, criterion.name.strip().casefold()): criterion
        for criterion in Criterion.objects.filter(version_id__in=versions)
    }
    # One person may stand under a rater's name and a user name: from here on, only who it is counts.
    raters = named_raters(dataset.team, named_in(labels), make=make)
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
    history: bool = False,
) -> StoredLabels:
    """Labels of people as submitted reviews of a closed queue, one review per (item, rater); those of a
    machine as a finished run. All or nothing.

    What was imported before is left out. The queue is one of `history` where nobody is to settle what its
    raters differ on. `detail` goes into the audit log beside what it says of every import.
    Raises Conflict where nothing is new, NotFound for a dataset that was deleted since it was read.
    """
    queue_name = queue_name.strip()[:200] or "Imported labels"
    # The same file twice at once: the second one waits here, and finds the first one's labels.
    dataset_versions.hold(dataset)
    resolved = resolve_labels(dataset, rubric_version, labels, make=True)
    new = new_labels(dataset, resolved, queue_name)
    new.require_some(str((detail or {}).get("left_out", "")))
    queue = None
    if new.people:
        queue = _store_reviews(dataset, rubric_version, new, by=by, queue_name=queue_name)
        if history:
            queue.history = True
            queue.save(update_fields=["history"])
    source = filename or queue_name
    runs = [
        imported_runs.store(
            dataset, rubric_version, rater, grades, by=by, source=source, labels_digest=digest
        )
        for rater, grades, digest in new.machines
    ]
    count = len(new.people) + sum(len(grades) for _, grades, _ in new.machines)
    raters = len({rater_id for (_, rater_id), _, _ in new.people}) + len(new.machines)
    details = {"labels": count, "raters": raters, "file": filename, **(detail or {})}
    details |= {"history": True} if history and queue is not None else {}
    record(dataset.team, by, "imported labels", queue or runs[0], **details)
    return StoredLabels(queue, tuple(runs), new.known)


def _store_reviews(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    new: NewLabels,
    *,
    by: User | None,
    queue_name: str,
) -> ReviewQueue:
    per_item: dict[int, set[int]] = defaultdict(set)
    for (item_id, rater_id), _, _ in new.people:
        per_item[item_id].add(rater_id)
    queue = _closed_queue(dataset, rubric_version, by=by, name=queue_name)
    queue.labels_digest = new.people_digest
    queue.raters_per_item = max(len(several) for several in per_item.values())
    queue.save(update_fields=["labels_digest", "raters_per_item"])
    pairs = sorted({pair for pair, _, _ in new.people})
    queue.raters.set({rater_id for _, rater_id in pairs})
    by_pair = _reviews(queue, pairs)
    judgements = Judgement.objects.bulk_create(
        [
            Judgement(
                review=by_pair[pair],
                item_id=pair[0],
                criterion=criterion,
                verdict=str(label.verdict),
                reason=label.reason,
            )
            for pair, label, criterion in new.people
        ],
        batch_size=500,
    )
    labels = [label for _, label, _ in new.people]
    Revision.objects.bulk_create(
        [
            Revision(
                judgement=judgement,
                choice=RevisionChoice.KEEP if _keeps(label) else RevisionChoice.CHANGE,
                verdict=str(label.final_verdict),
                reason=label.final_reason,
            )
            for judgement, label in zip(judgements, labels, strict=True)
            if label.final_verdict is not None
        ],
        batch_size=500,
    )
    return queue


def _keeps(label: LabelRecord) -> bool:
    """Whether the rater said in the end what they had said at first."""
    return str(label.final_verdict) == str(label.verdict)


def _closed_queue(
    dataset: Dataset, rubric_version: RubricVersion | None, *, by: User | None, name: str
) -> ReviewQueue:
    with saved_unless_taken(taken(name)):
        return ReviewQueue.objects.create(
            team=dataset.team,
            name=name,
            dataset=dataset,
            dataset_version=dataset.version,
            rubric_version=rubric_version,
            blind=Blind.NONE,
            imported=True,
            state=QueueState.CLOSED,
            created_by=by,
        )


def _reviews(queue: ReviewQueue, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Review]:
    """(item, rater) → a submitted review that came in a file."""
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
    return dict(zip(pairs, reviews, strict=True))


def queue_of_run(run: Run, *, by: User | None) -> ReviewQueue:
    """Labels of an imported run as reviews, because its rater is no machine after all; the run is gone.

    They join the labels of people that came in a file, where that is one queue, else they are a closed queue
    of their own. Call it in a transaction.
    """
    rater = run.rater
    assert rater is not None  # it was imported
    of_people = ReviewQueue.objects.filter(
        dataset=run.dataset_id,
        rubric_version=run.rubric_version_id,
        imported=True,
        raters__kind=RaterKind.HUMAN,
    ).distinct()
    others = list(of_people[:2])
    if len(others) == 1 and not Review.objects.filter(queue=others[0], rater=rater).exists():
        queue = others[0]
    else:
        name = free_queue_name(run.dataset, run.name)
        queue = _closed_queue(run.dataset, run.rubric_version, by=by, name=name)
    queue.raters.add(rater)
    judgements = Judgement.objects.filter(run=run)
    imported_runs.swap_first_and_last(run, of_a_person=True)
    said = list(judgements.order_by("item_id", "pk").values_list("pk", "item_id"))
    reviews = _reviews(queue, [(item_id, rater.pk) for item_id in dict.fromkeys(item for _, item in said)])
    # By their ids: a database that has not counted the new reviews yet would look through all for each.
    rows = [(reviews[item_id, rater.pk].pk, None, "", pk) for pk, item_id in said]
    bulk_rows.update(Judgement, ("review_id", "run_id", "judge"), rows)
    run.delete()
    return queue


def free_queue_name(dataset: Dataset, wanted: str) -> str:
    """The name, or "name (2)" and so on: labels of a dataset may come with several files."""
    there = ReviewQueue.objects.filter(team=dataset.team, name__startswith=wanted[:190])
    taken = set(there.values_list("name", flat=True))
    return next(name for name in numbered(wanted) if name not in taken)


def _resolve(
    labels: Iterable[LabelRecord],
    items: dict[str, Item],
    criteria: dict[tuple[int | None, str], Criterion],
    rubric_version: RubricVersion | None,
    raters: Mapping[Named, Rater],
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
            label = _as_written(criterion, label)
        except Invalid as error:
            faults += [Fault(f"{place}: verdict", fault.found, fault.allowed) for fault in error.faults]
            continue
        unit = (item.pk, criterion.pk, raters[label.rater, label.rater_kind].pk)
        if unit in seen:
            found = f"the same item, criterion and rater as line {seen[unit]}"
            faults.append(Fault(place, found, "one label each"))
            continue
        seen[unit] = label.line
        resolved.append((label, item, criterion))
    if faults:
        raise Invalid(f"{len(faults)} labels do not fit the dataset; nothing was imported.", faults[:200])
    if not resolved:
        raise Invalid("The file holds no labels.")
    return resolved


def _as_written(criterion: Criterion, label: LabelRecord) -> LabelRecord:
    """The label as its criterion writes it. A changed one has a reason, as a revision needs one."""
    label = replace(label, verdict=checked_label(criterion, label.verdict))
    if label.final_verdict is None:
        return label
    label = replace(label, final_verdict=checked_label(criterion, label.final_verdict))
    return label if label.final_reason.strip() or _keeps(label) else replace(label, final_reason=NO_REASON)
