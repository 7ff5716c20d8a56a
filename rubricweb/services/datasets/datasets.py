"""Bringing submissions in: a file becomes a whole dataset, or more items of one, or nothing at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Max

from rubricweb import engine
from rubricweb.engine.autograders.examples.few_shot import content_digest
from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.files import read_dataset, read_dataset_in_part
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.limited_reading import read_limited
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Item, QueueState, ReviewQueue, RubricVersion, Team, User
from rubricweb.selectors.labels.ground_truth import SETTLED_RATER
from rubricweb.services.datasets import cases, systems
from rubricweb.services.labels import store_labels
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared.journal import record


@dataclass(frozen=True)
class StoredItems:
    """A dataset with items of a file, and what of another program's file was left out: the first faults of it
    and how many more there are.
    """

    dataset: Dataset
    items: int
    left_out: tuple[Fault, ...] = ()
    more_left_out: int = 0


def import_dataset(team: Team, **given: Any) -> Dataset:
    """`import_dataset_file` for whoever wants the whole file or nothing."""
    return import_dataset_file(team, **given).dataset


def import_dataset_file(
    team: Team,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    strict: bool = True,
) -> StoredItems:
    """Reads a dataset file and stores it in one transaction.

    A rubric in the file becomes version 1 of a new rubric, items' own rubrics become frozen versions,
    ground truth becomes submitted reviews by the rater "ground truth", labels by rater become submitted
    reviews of those raters, and the grades of a machine an imported run. Raises Invalid with every fault,
    Conflict when the name is taken. What of another program's file has no counterpart here is a fault when
    `strict`, else left out.
    """
    file = read_file(data, filename, columns, strict=strict)
    name = dataset_name(file, filename, name)
    with transaction.atomic():
        if Dataset.objects.filter(team=team, name=name).exists():
            raise Conflict(f"The team already has a dataset called {name!r}; give this one another name.")
        dataset = Dataset.objects.create(
            team=team,
            name=name,
            prompt=file.prompt,
            reference=file.reference,
            rubric_version=_own_rubric(team, by, file, name),
            created_by=by,
        )
        stored = _store(dataset, file, {}, by=by, filename=filename)
        record(team, by, "imported", dataset, **_journal_details(stored, filename))
    return stored


def add_items(dataset: Dataset, **given: Any) -> int:
    """`add_items_of_file` for whoever wants the whole file or nothing; how many items."""
    return add_items_of_file(dataset, **given).items


def add_items_of_file(
    dataset: Dataset,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    columns: Mapping[str, str] | None = None,
    strict: bool = True,
) -> StoredItems:
    """Reads a file as `import_dataset_file` does and puts its items behind those the dataset has.

    Every id must be new to the dataset. A prompt or reference for the whole file becomes that of its items,
    where the dataset's is another. Ground truth and labels come along as in an import. Open queues hand the
    new items out after the others; runs take them in when they are extended. All or nothing: raises Invalid
    with every fault, Conflict for a half of a split, whose seal covers its items, and where an open queue
    would have items without a rubric.
    """
    require_unsealed(dataset)
    file = read_file(data, filename, columns, rubric=own_rubric(dataset), strict=strict)
    with transaction.atomic():
        hold(dataset)
        return add_read_items(dataset, file, by=by, filename=filename)


def add_read_items(dataset: Dataset, file: DatasetFile, *, by: User | None, filename: str) -> StoredItems:
    """Stores the items of a file that was read, as `add_items_of_file` does; the dataset is on `hold`."""
    known = cases.known_cases(dataset, [cases.case_key(item) for item in file.items])
    _check_addition(dataset, file, own_rubric(dataset), filename, known)
    stored = _store(dataset, _with_own_texts(dataset, file), known, by=by, filename=filename)
    record(dataset.team, by, "added items to", dataset, **_journal_details(stored, filename))
    return stored


def require_unsealed(dataset: Dataset) -> None:
    if dataset.sealed_as:
        raise Conflict(
            f"{dataset} is sealed as the {dataset.sealed_as} half of a split: the seal covers its items. "
            "Add them to the dataset it came from, or import them as another."
        )


def hold(dataset: Dataset) -> None:
    """Until the items stand: positions are given once, and a run planned meanwhile would miss them."""
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)


def own_rubric(dataset: Dataset) -> engine.Rubric | None:
    """The rubric that came with the dataset's file, if one did."""
    return None if dataset.rubric_version is None else dataset.rubric_version.to_engine()


def dataset_name(file: DatasetFile, filename: str, wanted: str = "") -> str:
    """What a dataset is called: as wanted, else as the file says, else like the file."""
    stem = filename.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return (wanted.strip() or file.name.strip() or stem or "Imported dataset")[:200]


def read_file(
    data: bytes,
    filename: str,
    columns: Mapping[str, str] | None = None,
    *,
    rubric: engine.Rubric | None = None,
    strict: bool = True,
) -> DatasetFile:
    """What a dataset file holds. Raises Invalid with every fault; see `import_dataset_file` for `strict`."""
    read = read_dataset if strict else read_dataset_in_part
    try:
        return read_limited(read, data, filename=filename, columns=columns, rubric=rubric)
    except InvalidFile as error:
        raise _refused(filename, error.faults) from error


def _refused(filename: str, faults: Sequence[Fault]) -> Invalid:
    count = len(faults)
    return Invalid(f"{filename}: {counted(count, 'fault')}, nothing was imported.", faults)


# ── Adding to a dataset ──────────────────────────────────────────────────────────────────────────


def _check_addition(
    dataset: Dataset, file: DatasetFile, own: engine.Rubric | None, filename: str, known: dict[str, Item]
) -> None:
    faults = []
    if file.rubric is not None and (own is None or _rules(file.rubric) != _rules(own)):
        allowed = "the dataset's own rubric, or none: an item may bring one of its own"
        faults.append(Fault("rubric", "a rubric for all items of the file", allowed))
    # All of them rather than those of the file: a database takes only so many parameters.
    taken = set(Item.objects.filter(dataset=dataset).values_list("key", flat=True))
    faults += [
        Fault(f"items[{i}].id", repr(item.id), f"an id that {dataset} does not have yet")
        for i, item in enumerate(file.items)
        if item.id in taken
    ]
    faults = faults or cases.case_faults(dataset, file, known)
    if faults:
        raise _refused(filename, faults)
    if any(item.rubric is None for item in file.items):
        bare = ReviewQueue.objects.filter(dataset=dataset, state=QueueState.OPEN, rubric_version=None).first()
        if bare is not None:
            raise Conflict(
                f"The open queue {bare} reviews every item by its own rubric, and some of these bring none. "
                "Give each a rubric, or close the queue first."
            )


def _rules(rubric: engine.Rubric) -> dict[str, Any]:
    """A rubric without its title: what an answer depends on."""
    return {field: value for field, value in rubric.to_dict(ids=False).items() if field != "title"}


def _with_own_texts(dataset: Dataset, file: DatasetFile) -> DatasetFile:
    """The file with its prompt and reference at every item, where the dataset's are not the same."""
    prompt = file.prompt if file.prompt != dataset.prompt else None
    reference = file.reference if file.reference != dataset.reference else None
    if prompt is None and reference is None:
        return file
    items = tuple(
        replace(
            item,
            prompt=item.prompt if item.prompt is not None else prompt,
            reference=item.reference if item.reference is not None else reference,
        )
        for item in file.items
    )
    return replace(file, items=items)


# ── Storing ──────────────────────────────────────────────────────────────────────────────────────


def _store(
    dataset: Dataset, file: DatasetFile, known: Mapping[str, Item], *, by: User | None, filename: str
) -> StoredItems:
    """Items with everything that is said of them."""
    items = _store_items(dataset, file, known)
    queues.take_in(dataset, items)
    _store_ground_truth(dataset, file, by=by)
    _store_labels(dataset, file.labels, by=by, queue_name=f"Labels of {dataset.name}", filename=filename)
    return StoredItems(dataset, len(items), file.left_out, file.more_left_out)


def _journal_details(stored: StoredItems, filename: str) -> dict[str, Any]:
    """What the audit log says of an import."""
    left_out = len(stored.left_out) + stored.more_left_out
    details = {"items": stored.items, "file": filename}
    return details | ({"left_out": left_out} if left_out else {})


def _own_rubric(team: Team, by: User | None, file: DatasetFile, name: str) -> RubricVersion | None:
    if file.rubric is None:
        return None
    title = file.rubric.title or f"{name} rubric"[:200]
    return rubrics.publish(
        rubrics.create_rubric(team, by=by, title=title, draft=file.rubric.to_dict()), by=by
    )


def _store_items(dataset: Dataset, file: DatasetFile, known: Mapping[str, Item]) -> list[Item]:
    """Item rows in file order, behind those there are; items with the same rubric share a frozen version.

    Answers to `known` cases are asked what those are: their words stay as they were first written.
    """
    last = Item.objects.filter(dataset=dataset).aggregate(last=Max("position"))["last"]
    texts = [record.rubric.to_json() if record.rubric else None for record in file.items]
    distinct: dict[str, engine.Rubric] = {}
    for text, item in zip(texts, file.items, strict=True):
        if text is not None and item.rubric is not None:
            distinct.setdefault(text, item.rubric)
    versions = dict(zip(distinct, rubrics.store_versions(distinct.values()), strict=True))
    stored_cases = cases.store_cases(dataset, file.items, known)
    system_versions = systems.named_versions(dataset.team, [item.system for item in file.items])
    rows = [
        _row(dataset, item, position, known.get(cases.case_key(item)), versions.get(text or ""))
        for position, (text, item) in enumerate(
            zip(texts, file.items, strict=True), start=0 if last is None else last + 1
        )
    ]
    for row, item in zip(rows, file.items, strict=True):
        row.case = stored_cases[cases.case_key(item)]
        row.wording = row.case.wording
        row.system_version = system_versions[item.system]
        row.content_hash = content_digest(row.to_engine())
    return Item.objects.bulk_create(rows, batch_size=500)


def _row(
    dataset: Dataset, item: ItemRecord, position: int, asked: Item | None, version: RubricVersion | None
) -> Item:
    """The item as a row; `asked` is one that answers the same case already."""
    return Item(
        dataset=dataset,
        attempt=item.attempt,
        key=item.id,
        position=position,
        submission=item.submission,
        thinking=item.thinking,
        prompt=asked.prompt if asked else item.prompt,
        reference=asked.reference if asked else item.reference,
        description=item.description or (asked.description if asked else ""),
        metadata=item.metadata,
        rubric_version=asked.rubric_version if asked else version,
    )


def _store_ground_truth(dataset: Dataset, file: DatasetFile, *, by: User | None) -> None:
    labels = []
    for item in file.items:
        rubric = file.rubric_for(item)
        if item.ground_truth is None or rubric is None:
            continue
        reasons = item.ground_truth_reasons or (None,) * len(item.ground_truth)
        labels += [
            LabelRecord(0, item.id, name, SETTLED_RATER, label, reason or "", "settled")
            for name, label, reason in zip(rubric.names, item.ground_truth, reasons, strict=True)
            if label is not None
        ]
    _store_labels(dataset, labels, by=by, queue_name=f"Ground truth of {dataset.name}")


def _store_labels(
    dataset: Dataset, labels: Sequence[LabelRecord], *, by: User | None, queue_name: str, filename: str = ""
) -> None:
    if labels:
        queue_name = _free_queue_name(dataset, queue_name)
        store_labels(dataset, dataset.rubric_version, labels, by=by, queue_name=queue_name, filename=filename)


def _free_queue_name(dataset: Dataset, wanted: str) -> str:
    """The name, or "name (2)" and so on: labels of a dataset may come with several files."""
    taken = set(
        ReviewQueue.objects.filter(team=dataset.team, name__startswith=wanted[:190]).values_list(
            "name", flat=True
        )
    )
    names = (wanted[:200], *(f"{wanted[:190]} ({number})" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)
