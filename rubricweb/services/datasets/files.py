"""Files named on the command line: what is stored already is found again, what differs is added."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from django.db import transaction
from django.db.models import Q

from rubricweb import engine
from rubricweb.engine.formats.datasets.files import DatasetFile
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Dataset,
    Duplicates,
    Item,
    Judgement,
    Rubric,
    RubricVersion,
    Team,
    User,
    in_reviews,
)
from rubricweb.selectors.datasets.tags import dataset_tags
from rubricweb.selectors.labels.ground_truth import SETTLED_RATER
from rubricweb.services.datasets import datasets
from rubricweb.services.datasets.cases import case_key
from rubricweb.services.datasets.datasets import StoredItems
from rubricweb.services.datasets.intake import Intake, parts, rules, settled_in
from rubricweb.services.datasets.previews import AS_ASKED, ImportChoices
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared.names import numbered

KEPT_AS_READ = ("attempt", "submission", "thinking", "prompt", "reference", "description", "metadata")
"""What of an item is stored just as its file has it."""

Label = tuple[str, str, str]
"""(item key, criterion name, label)"""


@transaction.atomic
def rubric_from_file(
    team: Team, *, by: User, data: bytes, filename: str, title: str = ""
) -> tuple[RubricVersion, bool]:
    """The version this file describes, and whether it was published just now.

    A version with the same title and content is used again. A changed file becomes the next version of the
    rubric of its title; when that rubric's draft holds unpublished work, a new rubric with a number behind
    the title. Raises Invalid with every fault.
    """
    content = rubrics.read(data, filename=filename)
    title = (title or content.title or PurePath(filename).stem).strip() or "Imported rubric"
    content = engine.Rubric.from_dict({**content.to_dict(), "title": title})
    note = f"imported from {filename}"[:300]
    for candidate in numbered(title):
        rubric = Rubric.objects.filter(team=team, title=candidate).order_by("pk").first()
        if rubric is None:
            made = rubrics.create_rubric(team, by=by, title=candidate, draft=content.to_dict())
            return rubrics.publish(made, by=by, note=note), True
        if (version := _version_like(rubric, content)) is not None:
            return version, False
        if not _has_unpublished_work(rubric):
            draft = {**content.to_dict(), "title": candidate}
            rubrics.save_draft(rubric, by=by, draft=draft, revision=rubric.draft_revision)
            return rubrics.publish(rubric, by=by, note=note), True
    raise AssertionError("names never run out")


def _version_like(rubric: Rubric, content: engine.Rubric) -> RubricVersion | None:
    for version in rubric.versions.prefetch_related("criteria").order_by("-number"):
        if rules(version.to_engine()) == rules(content):
            return version
    return None


def _has_unpublished_work(rubric: Rubric) -> bool:
    try:
        draft = rubrics.checked(rubric.draft)
    except Invalid:
        return True
    return _version_like(rubric, draft) is None


def dataset_from_file(
    team: Team,
    *,
    by: User,
    data: bytes,
    filename: str,
    name: str = "",
    system: str = "",
    columns: Mapping[str, str] | None = None,
    choices: ImportChoices = AS_ASKED,
) -> tuple[StoredItems, bool]:
    """The dataset this file describes, and whether it was stored just now.

    A dataset of the same name is used again when it holds the same items and labels; otherwise the file is
    stored with a number behind its name. Raises Invalid with every fault; see `import_dataset_file` for
    `system` and `choices`.
    """
    given: dict[str, Any] = {"data": data, "filename": filename, "columns": columns}
    given["system"] = system
    file = datasets.read_file(**given, strict=choices.strict)
    kept = _without_skipped(file, choices)
    for candidate in numbered(datasets.dataset_name(file, filename, name)):
        dataset = Dataset.objects.filter(team=team, name=candidate).first()
        if dataset is None:
            try:
                return datasets.import_dataset_file(
                    team, by=by, name=candidate, choices=choices, **given
                ), True
            except Conflict:
                # Somebody else stored one of this name just now, or there is something to ask.
                dataset = Dataset.objects.filter(team=team, name=candidate).first()
                if dataset is None:
                    raise
        if _is_same(dataset, kept):
            return StoredItems.of(dataset, len(file.items), file), False
    raise AssertionError("names never run out")


def _without_skipped(file: DatasetFile, choices: ImportChoices) -> DatasetFile:
    """The file with the items that would be stored of it."""
    if choices.duplicates != Duplicates.SKIP:
        return file
    intake = Intake(None)
    batches = [intake.take(part).without_duplicates() for part in parts(file)]
    keys = {item.key for batch in batches for item in batch.items}
    return replace(file, items=tuple(item for item in file.items if item.id in keys))


def _is_same(dataset: Dataset, file: DatasetFile) -> bool:
    """Whether the file would store what is stored: the items with all it says of them and their cases, and
    the labels. Tags people gave cases since do not count.
    """
    if (dataset.prompt, dataset.reference) != (file.prompt, file.reference):
        return False
    own = rules(dataset.rubric_version.to_engine() if dataset.rubric_version else None)
    if own != rules(file.rubric):
        return False
    rows = Item.objects.current().filter(dataset=dataset).order_by("position")
    if rows.count() != len(file.items):
        return False
    versions: dict[int | None, Any] = {None: None}
    tags = dataset_tags(dataset)
    rows = rows.select_related("rubric_version", "case", "system_version__system")
    for row, item in zip(rows.iterator(chunk_size=500), file.items, strict=True):
        stored = (row.key, row.case.key, str(row.system_version))
        if stored != (item.id, case_key(item), item.system):
            return False
        if any(getattr(row, name) != getattr(item, name) for name in KEPT_AS_READ):
            return False
        if not set(item.case_tags).issubset(tags.get(row.case_id, ())):
            return False
        if row.rubric_version_id not in versions:
            assert row.rubric_version is not None
            versions[row.rubric_version_id] = rules(row.rubric_version.to_engine())
        if versions[row.rubric_version_id] != rules(item.rubric):
            return False
    truth = _counted(settled_in(file))
    if truth and truth != _stored_labels(dataset, of_truth=True):
        return False
    labels = _counted(file.labels)
    return not labels or labels <= _stored_labels(dataset, of_truth=False)


def _counted(labels: Iterable[LabelRecord]) -> Counter[Label]:
    return Counter((label.item_id, label.criterion, str(label.verdict)) for label in labels)


def _stored_labels(dataset: Dataset, *, of_truth: bool) -> Counter[Label]:
    """Labels that came in files: the ground truth, or those of everybody else under whatever name."""
    from_files = in_reviews(queue__dataset=dataset, queue__imported=True)
    is_truth = in_reviews(rater__name=SETTLED_RATER)
    wanted = from_files & is_truth if of_truth else from_files & ~is_truth
    sources = [wanted] if of_truth else [wanted, Q(run__dataset=dataset, run__rater__isnull=False)]
    found: Counter[Label] = Counter()
    for source in sources:
        rows = Judgement.objects.filter(source, verdict__isnull=False)
        labels = rows.values_list("item__key", "criterion__name", "verdict")
        found.update((key, name, str(label)) for key, name, label in labels)
    return found
