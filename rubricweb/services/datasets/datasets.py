"""Bringing submissions in: a file becomes a whole dataset, or more items of one, or nothing at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from django.db import transaction

from rubricweb import engine
from rubricweb.engine.errors import Fault, InvalidFile, named_as
from rubricweb.engine.formats.dataset_values import ColumnsRead, DatasetFile
from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.engine.formats.datasets.files import read_import
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    Dataset,
    RubricVersion,
    Team,
    User,
)
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import systems
from rubricweb.services.datasets.intake import CheckedItems, Intake, parts
from rubricweb.services.datasets.previews import (
    AS_ASKED,
    ImportChoices,
    ItemsPreview,
    preview_of,
    require_confirmed,
    require_untold,
    tells_who_answered,
    without_skipped,
)
from rubricweb.services.datasets.storing import store
from rubricweb.services.file_reading import read_limited
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared import archiving
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken


@dataclass(frozen=True)
class StoredItems:
    """What an import brought: the dataset, how many items, and the first faults of what was left out of
    another program's file, with how many more there are. `preview` is what the file came to, None where all
    of it was stored before. `columns` says what the file's columns were read as, `recognised` which other
    program's file it is.
    """

    dataset: Dataset
    items: int
    left_out: tuple[Fault, ...] = ()
    more_left_out: int = 0
    preview: ItemsPreview | None = None
    columns: ColumnsRead = field(default_factory=ColumnsRead)
    recognised: str = ""

    @classmethod
    def of(cls, dataset: Dataset, items: int, file: DatasetFile, preview: ItemsPreview | None = None) -> Self:
        """What came of a file."""
        left_out = (file.left_out, file.more_left_out)
        return cls(dataset, items, *left_out, preview, file.columns, file.recognised)


def said_columns(pairs: Iterable[str]) -> dict[str, str] | None:
    """Where fields are found, said as FIELD=COLUMN at the terminal and in the API; None leaves it to names.

    said_columns(["submission=reply_text", "id="]) is {"submission": "reply_text", "id": ""}: no column is the
    id. Raises Invalid for a text that is no pair; whether there is such a column shows when the file is read.
    """
    columns = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not (field and equals):
            allowed = "FIELD=COLUMN, as in submission=reply_text; id= where no column is the id"
            raise Invalid.at("columns", repr(pair[:80]), allowed)
        columns[field] = column
    return columns or None


def import_dataset_file(
    team: Team,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    name: str = "",
    system: str = "",
    columns: Mapping[str, str] | None = None,
    choices: ImportChoices = AS_ASKED,
) -> StoredItems:
    """Reads a dataset file and stores it in one transaction.

    A rubric in the file becomes version 1 of a new rubric, items' own rubrics become frozen versions,
    ground truth becomes submitted reviews by the rater "ground truth", labels by rater become submitted
    reviews of those raters, and the grades of a machine an imported run. `system`, as assistant@v5, is the
    version that answered where the rows name none; a row that names another is a fault. Raises Invalid with
    every fault, Conflict when the name is taken and where something has to be asked that `choices` do not
    say: see `previews`.
    """
    file = read_file(data, filename, columns, system=system, strict=choices.strict)
    name = dataset_name(file, filename, name)
    intake = Intake(None)
    batches = _taken(intake, file, filename)
    preview = preview_of(intake, team)
    require_free_name(team, name)
    require_confirmed(preview, choices)
    with transaction.atomic():
        dataset = new_dataset(team, file, name, by=by)
        count = store(dataset, without_skipped(batches, choices), by=by, filename=filename)
        stored = StoredItems.of(dataset, count, file, preview)
        record(team, by, "imported", dataset, **audit_details(stored, filename))
    return stored


def plan_dataset_file(
    team: Team,
    *,
    data: bytes,
    filename: str,
    name: str = "",
    system: str = "",
    columns: Mapping[str, str] | None = None,
    strict: bool = True,
) -> ItemsPreview:
    """What `import_dataset_file` would store, refused as it would be; nothing is stored or asked."""
    file = read_file(data, filename, columns, system=system, strict=strict)
    intake = Intake(None)
    _taken(intake, file, filename)
    require_free_name(team, dataset_name(file, filename, name))
    return preview_of(intake, team)


def add_items_of_file(
    dataset: Dataset,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    columns: Mapping[str, str] | None = None,
    choices: ImportChoices = AS_ASKED,
) -> StoredItems:
    """Reads a file as `import_dataset_file` does and puts its items behind those the dataset has.

    Every id must be new to the dataset. A prompt or reference for the whole file becomes that of its items,
    where the dataset's is another. Ground truth and labels come along as in an import. Open queues hand the
    new items out after the others; runs take them in when they are extended. All or nothing: raises Invalid
    with every fault, Conflict for a half of a split, whose seal covers its items, where something has to be
    asked that `choices` do not say, and where a queue that is not closed would have items without a rubric;
    Withheld to whom duplicates would tell who answered.
    """
    require_unsealed(dataset)
    require_untold(dataset, choices.duplicates, by)
    file = read_file(data, filename, columns, rubric=own_rubric(dataset), strict=choices.strict)
    with transaction.atomic():
        hold_with_rubric(dataset)
        return add_read_items(dataset, file, by=by, filename=filename, choices=choices)


def plan_items(
    dataset: Dataset,
    *,
    viewer: User | None,
    data: bytes,
    filename: str,
    columns: Mapping[str, str] | None = None,
    strict: bool = True,
) -> ItemsPreview:
    """What `add_items_of_file` would store, refused as it would be; nothing is stored or asked."""
    require_unsealed(dataset)
    file = read_file(data, filename, columns, rubric=own_rubric(dataset), strict=strict)
    intake = Intake(dataset, compares=not tells_who_answered(dataset, viewer))
    _taken(intake, file, filename)
    return preview_of(intake, dataset.team)


def add_read_items(
    dataset: Dataset, file: DatasetFile, *, by: User | None, filename: str, choices: ImportChoices
) -> StoredItems:
    """Stores the items of a file that was read, as `add_items_of_file` does; it is on `hold_with_rubric`."""
    intake = Intake(dataset, compares=not tells_who_answered(dataset, by))
    batches = _taken(intake, file, filename)
    preview = preview_of(intake, dataset.team)
    require_confirmed(preview, choices)
    count = store(dataset, without_skipped(batches, choices), by=by, filename=filename)
    stored = StoredItems.of(dataset, count, file, preview)
    record(dataset.team, by, "added items to", dataset, **audit_details(stored, filename))
    return stored


def _taken(intake: Intake, file: DatasetFile, filename: str) -> list[CheckedItems]:
    """The items of a whole file, checked. Raises Invalid with every fault."""
    batches = [intake.take(part) for part in parts(file)]
    if intake.faults:
        raise _refused(filename, intake.faults)
    return batches


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
            f"{dataset} is sealed as the {dataset.sealed_as} split: the seal covers its items, "
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
    version = systems.read_system_name(system) if system else UNNAMED
    try:
        given = {"filename": filename, "columns": columns, "rubric": rubric, "version": version}
        return read_limited(read_import, data, **given, in_part=not strict)
    except InvalidFile as error:
        raise _refused(named_as(filename, error.read_as), error.faults) from error


def _refused(file: str, faults: Sequence[Fault]) -> Invalid:
    return Invalid(f"{file}: {counted(len(faults), 'fault')}, nothing was imported.", faults)


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


def audit_details(stored: StoredItems, filename: str) -> dict[str, Any]:
    """What the audit log says of an import."""
    left_out = len(stored.left_out) + stored.more_left_out
    details: dict[str, Any] = {"items": stored.items, "file": filename}
    if left_out:
        details["left_out"] = left_out
    if stored.preview is not None:
        new = [one.name for one in stored.preview.new_names if one.what != "case"]
        details |= {"new_systems": new} if new else {}
        details |= {"duplicates": stored.preview.duplicates} if stored.preview.duplicates else {}
    return details


def _own_rubric(team: Team, by: User | None, file: DatasetFile, name: str) -> RubricVersion | None:
    if file.rubric is None:
        return None
    title = file.rubric.title or f"{name} rubric"[:200]
    return rubrics.publish(
        rubrics.create_rubric(team, by=by, title=title, draft=file.rubric.to_dict()), by=by
    )
