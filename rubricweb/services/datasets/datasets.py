"""Bringing submissions in: a file becomes a whole dataset, or more items of one, or nothing at all."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from rubricweb import engine
from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.dataset_values import DatasetFile
from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.engine.formats.datasets.files import read_dataset, read_dataset_in_part
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    NOT_RETIRED,
    Case,
    ChangeKind,
    Dataset,
    Item,
    RubricVersion,
    Team,
    User,
)
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import cases, columns, systems
from rubricweb.services.datasets.intake import CheckedItems, Intake, NewItem, parts
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.file_reading import read_limited
from rubricweb.services.labels import free_queue_name, store_labels
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared import archiving, bulk_rows
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken


@dataclass(frozen=True)
class StoredItems:
    """What an import brought: the dataset, how many items, and the first faults of what was left out of
    another program's file, with how many more there are.
    """

    dataset: Dataset
    items: int
    left_out: tuple[Fault, ...] = ()
    more_left_out: int = 0


def import_dataset_file(
    team: Team,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    name: str = "",
    system: str = "",
    columns: Mapping[str, str] | None = None,
    strict: bool = True,
) -> StoredItems:
    """Reads a dataset file and stores it in one transaction.

    A rubric in the file becomes version 1 of a new rubric, items' own rubrics become frozen versions,
    ground truth becomes submitted reviews by the rater "ground truth", labels by rater become submitted
    reviews of those raters, and the grades of a machine an imported run. `system`, as assistant@v5, is the
    version that answered where the rows name none; a row that names another is a fault. Raises Invalid with
    every fault, Conflict when the name is taken. What of another program's file has no counterpart here is a
    fault when `strict`, else left out.
    """
    file = read_file(data, filename, columns, system=system, strict=strict)
    name = dataset_name(file, filename, name)
    intake = Intake(None)
    batches = [intake.take(part) for part in parts(file)]
    if intake.faults:
        raise _refused(filename, intake.faults)
    with transaction.atomic():
        dataset = new_dataset(team, file, name, by=by)
        count = store(dataset, batches, by=by, filename=filename)
        stored = StoredItems(dataset, count, file.left_out, file.more_left_out)
        record(team, by, "imported", dataset, **journal_details(stored, filename))
    return stored


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
    with every fault, Conflict for a half of a split, whose seal covers its items, and where a queue that is
    not closed would have items without a rubric.
    """
    require_unsealed(dataset)
    file = read_file(data, filename, columns, rubric=own_rubric(dataset), strict=strict)
    with transaction.atomic():
        hold_with_rubric(dataset)
        return add_read_items(dataset, file, by=by, filename=filename)


def add_read_items(dataset: Dataset, file: DatasetFile, *, by: User | None, filename: str) -> StoredItems:
    """Stores the items of a file that was read, as `add_items_of_file` does; it is on `hold_with_rubric`."""
    intake = Intake(dataset)
    batches = [intake.take(part) for part in parts(file)]
    if intake.faults:
        raise _refused(filename, intake.faults)
    count = store(dataset, batches, by=by, filename=filename)
    stored = StoredItems(dataset, count, file.left_out, file.more_left_out)
    record(dataset.team, by, "added items to", dataset, **journal_details(stored, filename))
    return stored


def hold_with_rubric(dataset: Dataset) -> None:
    """`dataset_versions.hold` for who adds items: nor does anybody delete the rubric that came with the
    dataset's file, by which their labels are stored. A rubric is held before a dataset.

    Raises Conflict where the rubric was deleted since the dataset was read.
    """
    version = dataset.rubric_version
    if version is not None and version.rubric is not None:
        try:
            archiving.hold_rubric(version.rubric)
        except NotFound as error:
            refusal = f"The rubric of {dataset} was deleted just now, and nothing was added: try again."
            raise Conflict(refusal) from error
    dataset_versions.hold(dataset)


def require_unsealed(dataset: Dataset) -> None:
    if dataset.sealed_as:
        raise Conflict(
            f"{dataset} is sealed as the {dataset.sealed_as} half of a split: the seal covers its items, "
            "which stay as they are. Change the dataset it came from, or import another."
        )


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
    system: str = "",
    strict: bool = True,
) -> DatasetFile:
    """What a dataset file holds. Raises Invalid with every fault; see `import_dataset_file` for `system` and
    `strict`.
    """
    read = read_dataset if strict else read_dataset_in_part
    version = systems.read_system_name(system) if system else UNNAMED
    try:
        return read_limited(read, data, filename=filename, columns=columns, rubric=rubric, version=version)
    except InvalidFile as error:
        raise _refused(filename, error.faults) from error


def _refused(filename: str, faults: Sequence[Fault]) -> Invalid:
    count = len(faults)
    return Invalid(f"{filename}: {counted(count, 'fault')}, nothing was imported.", faults)


# ── Storing ──────────────────────────────────────────────────────────────────────────────────────


def new_dataset(team: Team, file: DatasetFile, name: str, *, by: User | None) -> Dataset:
    """A dataset without items yet, as a file describes it. Raises Conflict when the name is taken."""
    require_free_name(team, name)
    rubric_version = _own_rubric(team, by, file, name)
    with saved_unless_taken(name_taken(name)):
        return Dataset.objects.create(
            team=team,
            name=name,
            prompt=file.prompt,
            reference=file.reference,
            rubric_version=rubric_version,
            created_by=by,
        )


def require_free_name(team: Team, name: str) -> None:
    if Dataset.objects.filter(team=team, name=name).exists():
        raise Conflict(name_taken(name))


def name_taken(name: str) -> str:
    return f"The team already has a dataset called {name!r}; give this one another name."


def store(dataset: Dataset, batches: Iterable[CheckedItems], *, by: User | None, filename: str) -> int:
    """Stores items with everything that is said of them, in a transaction of the caller's; how many.

    Items stand behind those there are, in their order; those with the same rubric share a frozen version.
    They make the next version of the dataset. Queues over the whole dataset that are not closed take them in,
    or refuse them as `queues.take_in` does. The dataset is on `hold_with_rubric`, or new.
    """
    writer = _Writer(dataset)
    truth: list[LabelRecord] = []
    labels: list[LabelRecord] = []
    for batch in batches:
        writer.write(batch.items)
        truth += batch.truth
        labels += batch.labels
    count = writer.position - writer.first
    if count:
        dataset_versions.made(dataset, writer.version, ChangeKind.APPEND, items=count, by=by, note=filename)
    columns.take_in(dataset, first=writer.first)
    new = Item.objects.filter(dataset=dataset, position__gte=writer.first).order_by("position")
    queues.take_in(dataset, new)
    _store_labels(dataset, truth, by=by, queue_name=f"Ground truth of {dataset.name}")
    _store_labels(dataset, labels, by=by, queue_name=f"Labels of {dataset.name}", filename=filename)
    return count


class _Writer:
    """Writes items batch by batch, and the cases, versions and rubrics they need and nobody has yet."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.version = dataset_versions.next_version(dataset)
        self.first = self.position = cases.next_position(Item, dataset)
        self._case_position = cases.next_position(Case, dataset)
        self._cases: dict[str, int] = {}
        self._rubrics: dict[str, int] = {}
        self._systems: dict[str, int] = {}
        self._now = timezone.now()

    def write(self, items: Sequence[NewItem]) -> None:
        self._make_what_is_new(items)
        ids = bulk_rows.reserve_ids(Item, len(items))
        bulk_rows.insert(Item, _COLUMNS, [self._values(pk, one) for pk, one in zip(ids, items, strict=True)])
        tags: dict[int, set[str]] = defaultdict(set)
        for item in items:
            if item.case_tags:
                tags[self._case(item)].update(item.case_tags)
        if tags:
            tagging.give(tags)

    def _make_what_is_new(self, items: Sequence[NewItem]) -> None:
        keys = dict.fromkeys(item.case_key for item in items if item.case_id is None)
        new = [key for key in keys if key not in self._cases]
        self._cases |= cases.store_cases(self.dataset, new, first=self._case_position)
        self._case_position += len(new)
        names = {item.system for item in items} - self._systems.keys()
        if names:
            systems.require_listed(self.dataset.team, names)
            versions = systems.named_versions(self.dataset.team, names)
            self._systems |= {name: version.pk for name, version in versions.items()}
        texts = dict.fromkeys(item.rubric for item in items if item.rubric is not None)
        unknown = [text for text in texts if text not in self._rubrics]
        made = rubrics.store_versions([engine.Rubric.from_json(text) for text in unknown])
        self._rubrics |= {text: version.pk for text, version in zip(unknown, made, strict=True)}

    def _case(self, item: NewItem) -> int:
        return self._cases[item.case_key] if item.case_id is None else item.case_id

    def _values(self, pk: int, item: NewItem) -> tuple[Any, ...]:
        position, self.position = self.position, self.position + 1
        rubric_version_id = item.rubric_version_id if item.rubric is None else self._rubrics[item.rubric]
        return (
            pk,
            self.dataset.pk,
            self._case(item),
            item.wording,
            self._systems[item.system],
            item.attempt,
            item.key,
            position,
            item.submission,
            item.thinking,
            item.prompt,
            item.reference,
            item.description,
            item.metadata,
            item.content_hash,
            rubric_version_id,
            self.version,
            NOT_RETIRED,
            self._now,
        )


_COLUMNS = (
    "id",
    "dataset_id",
    "case_id",
    "wording",
    "system_version_id",
    "attempt",
    "key",
    "position",
    "submission",
    "thinking",
    "prompt",
    "reference",
    "description",
    "metadata",
    "content_hash",
    "rubric_version_id",
    "added_in",
    "retired_in",
    "created_at",
)


def journal_details(stored: StoredItems, filename: str) -> dict[str, Any]:
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


def _store_labels(
    dataset: Dataset, labels: Sequence[LabelRecord], *, by: User | None, queue_name: str, filename: str = ""
) -> None:
    if labels:
        queue_name = free_queue_name(dataset, queue_name)
        store_labels(dataset, dataset.rubric_version, labels, by=by, queue_name=queue_name, filename=filename)
