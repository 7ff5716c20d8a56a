"""Dividing labelled items in two sealed datasets: one to draw examples from, one to judge the judge on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from rubricweb.engine.datasets import RubricDataset, SplitReport, describe_split
from rubricweb.engine.errors import Fault
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Adjudication,
    Blind,
    ChangeKind,
    Dataset,
    Item,
    QueueState,
    ReviewQueue,
    RubricVersion,
    Run,
    User,
)
from rubricweb.selectors.blinding import require_nothing_hidden
from rubricweb.selectors.exports.bundles import dataset_file, item_records
from rubricweb.selectors.exports.exports import require_one_rubric, shared_version
from rubricweb.selectors.exports.ground_truth import settled_labels
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.ground_truth import ground_truth, labels, people_first
from rubricweb.selectors.labels.people import readings
from rubricweb.services import copies, dataset_versions, imported_runs
from rubricweb.services.datasets import cases, columns
from rubricweb.services.datasets.halves.salts import new_salt
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

NAME_MAX = 200


@dataclass(frozen=True)
class Split:
    """The two halves, `dev` with the items asked for and `test` with all other labelled items."""

    dev: Dataset
    test: Dataset
    report: SplitReport


@transaction.atomic
def split_dataset(
    dataset: Dataset, *, n_dev: int, by: User, seed: int = 0, queues: Sequence[ReviewQueue] = ()
) -> Split:
    """Copies the labelled items into two datasets that share none, every label spread alike over both.

    `queues` (all with submitted reviews unless given) say who labelled what; submitted reviews and
    adjudications come along, so that the same ground truth stands in the halves; settled labels of a file,
    which count only where no people labelled, in a queue of their own. The same `seed` gives the same
    halves. Each is sealed: its digest, with a salt, covers items and ground truth. Raises Withheld where
    verdicts on items are hidden from the person who splits, Invalid for an `n_dev` that leaves a half empty
    or labels of several rubrics, Conflict when a name is taken, somebody labels meanwhile or a blind queue
    over the dataset is open: its raters could read the labels in the splits.
    """
    why = "and which split an item falls into would tell of them"
    require_nothing_hidden(by, dataset.team, dataset.pk, why=why)
    # What the seals cover is what is copied: nobody corrects or adds items in between; see below for labels.
    dataset_versions.hold(dataset)
    queues = list(queues) or list(labelled_queues(dataset.pk, team=dataset.team))
    _check(dataset, queues)
    counted = people_first(queues)
    version = shared_version(queues, None)
    settled = settled_labels(counted)
    items = tuple(item_records(dataset, settled, labelled_only=True))
    whole = RubricDataset.from_dataset_file(dataset_file(dataset, version, items))
    if not 1 <= n_dev < len(whole):
        allowed = f"1 to {len(whole) - 1}, with {len(whole)} labelled items"
        raise Invalid(
            f"{n_dev} items for examples cannot be split off {dataset}: allowed are {allowed}.",
            [Fault("n_dev", str(n_dev), allowed)],
        )
    parts = whole.split_train_test(n_dev, seed=seed)
    report = describe_split(*parts)
    decided = _decided(dataset, queues, settled.version)
    dev, test = (
        _stored(dataset, queues, part, sealed_as, decided, by=by, report=_plain(report, seed))
        for part, sealed_as in zip(parts, ("dev", "test"), strict=True)
    )
    # Nobody is kept from labelling or deciding, and what was copied is what was said by then.
    if ground_truth(counted, version=settled.version) != settled.truths:
        raise Conflict(f"Somebody labelled {dataset} meanwhile, so nothing was split: split it again.")
    record(dataset.team, by, "split", dataset, dev=len(parts[0]), test=len(parts[1]), seed=seed)
    return Split(dev, test, report)


def _check(dataset: Dataset, queues: Sequence[ReviewQueue]) -> None:
    for queue in queues:
        if queue.dataset_id != dataset.pk:
            raise Invalid(f"{queue} is over another dataset than {dataset}.")
    if not people_first(queues):
        raise Invalid(f"Nobody has labelled {dataset} yet: label some of its items first.")
    require_one_rubric(queues)
    unclosed = ReviewQueue.objects.filter(dataset=dataset).exclude(state=QueueState.CLOSED)
    blind = unclosed.exclude(blind=Blind.NONE).first()
    if blind is not None:
        raise Conflict(
            f"The blind queue {blind} over {dataset} is open: its raters could read labels in the splits. "
            "Close it first."
        )


def _decided(dataset: Dataset, queues: Sequence[ReviewQueue], version: int | None) -> set[int]:
    """Ids of the decisions on units that somebody labelled in these queues. In a half any other would be
    ground truth that is not sealed: the labels beside it are not copied.
    """
    labelled = labels(queues, version=version)
    read = readings(queues, version=version)[dataset.pk]
    rows = Adjudication.objects.filter(item__dataset=dataset).values_list("pk", "item_id", "criterion_id")
    return {
        pk
        for pk, item_id, given_to in rows
        if (item_id, given_to) in labelled or (item_id, read.criterion(given_to)) in labelled
    }


def _stored(
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    part: RubricDataset,
    sealed_as: str,
    decided: Collection[int],
    *,
    by: User,
    report: dict[str, Any],
) -> Dataset:
    name = f"{dataset.name[: NAME_MAX - 10]} ({sealed_as})"
    salt = new_salt()
    with saved_unless_taken(f"The team already has a dataset called {name!r}; this one was split before."):
        half = Dataset.objects.create(
            team=dataset.team,
            name=name,
            description=dataset.description,
            prompt=dataset.prompt,
            reference=dataset.reference,
            rubric_version=dataset.rubric_version,
            columns=dataset.columns,
            sealed_as=sealed_as,
            seal=part.seal(salt),
            seal_salt=salt,
            split_of=dataset,
            split_report=report,
            created_by=by,
        )
    copied = _copied_items(dataset, half, {item.id for item in part})
    note = f"From version {dataset.version} of {dataset.name}"
    dataset_versions.made(half, half.version, ChangeKind.APPEND, items=len(copied), by=by, note=note)
    columns.take_in(half, first=0)
    _copy_labels(queues, half, copied, by=by, settled=False)
    _copy_labels(queues, half, copied, by=by, settled=True)
    _copy_imported_runs(dataset, half, copied, by=by)
    copies.copy_adjudications(copied, only=decided)
    return half


def _copied_items(dataset: Dataset, half: Dataset, keys: set[str]) -> dict[int, Item]:
    """Item id → its copy in the half, in the order of the dataset."""
    originals = [
        item
        for item in Item.objects.current().filter(dataset=dataset).order_by("position")
        if item.key in keys
    ]
    copied = cases.copy_cases(originals, half)
    return copies.copy_items(
        [
            (
                item,
                copies.Place(
                    copied[item.case_id].pk,
                    item.wording,
                    item.system_version_id,
                    item.attempt,
                    item.key,
                    position,
                ),
            )
            for position, item in enumerate(originals)
        ],
        half,
    )


def _copy_labels(
    queues: Sequence[ReviewQueue], half: Dataset, copied: dict[int, Item], *, by: User, settled: bool
) -> None:
    """Submitted reviews of the copies in closed queues of their own: one for each rubric version."""
    versions = copies.label_rows(queues, settled=settled).filter(item__in=list(copied))
    several = versions.order_by().values("review__queue__rubric_version").distinct().count() > 1

    def queue_for(version: RubricVersion | None) -> ReviewQueue:
        what = "Ground truth" if settled else "Labels"
        if version is not None and several:
            what += f" by v{version.number}"
        name = f"{what} of {half.name}"[:NAME_MAX]
        taken = f"The team already has a queue called {name!r}; the labels of a sealed split need that name."
        with saved_unless_taken(taken):
            return copies.label_queue(half, version, name, by=by)

    copies.copy_labels(queues, copied, queue_for, settled=settled)


def _copy_imported_runs(dataset: Dataset, half: Dataset, copied: dict[int, Item], *, by: User) -> None:
    """What machines said of the copies in files."""
    for run in Run.objects.filter(dataset=dataset, rater__isnull=False).order_by("pk"):
        assert run.rater is not None  # asked for
        grades = copies.imported_grades(run, copied)
        if grades:
            imported_runs.store(half, run.rubric_version, run.rater, grades, by=by, source=str(run))


def _plain(report: SplitReport, seed: int) -> dict[str, Any]:
    """The report as it is stored with both halves."""
    return {
        "seed": seed,
        "n_dev": report.n_train,
        "n_test": report.n_test,
        "largest_difference": report.largest_difference,
        "labels": [
            {"criterion": row.criterion, "label": row.label, "dev": row.train, "test": row.test}
            for row in report.labels
        ],
        "same_content": [{"dev": one, "test": other} for one, other in report.overlap.contents],
        "groups_in_both": list(report.overlap.groups),
    }
