"""Bringing submissions in: a file becomes a whole dataset or nothing at all."""

from collections.abc import Mapping, Sequence

from django.db import transaction

from rubricweb import engine
from rubricweb.engine.autograders.few_shot import content_digest
from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.dataset_files import DatasetFile, read_dataset
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Item, RubricVersion, Team, User
from rubricweb.selectors.ground_truth import SETTLED_RATER
from rubricweb.services import rubrics
from rubricweb.services.journal import record
from rubricweb.services.labels import store_labels


def import_dataset(
    team: Team,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    name: str = "",
    columns: Mapping[str, str] | None = None,
) -> Dataset:
    """Reads a dataset file and stores it in one transaction.

    A rubric in the file becomes version 1 of a new rubric, items' own rubrics become frozen versions,
    ground truth becomes submitted reviews by the rater "ground truth", labels by rater become submitted
    reviews of those raters. Raises Invalid with every fault, Conflict when the name is taken.
    """
    try:
        file = read_dataset(data, filename=filename, columns=columns)
    except InvalidFile as error:
        count = len(error.faults)
        raise Invalid(
            f"{filename}: {count} fault{'s' * (count != 1)}, nothing was imported.", error.faults
        ) from error
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
        items = _store_items(dataset, file)
        _store_ground_truth(dataset, file, by=by)
        _store_labels(dataset, file.labels, by=by, queue_name=f"Labels of {dataset.name}")
        record(team, by, "imported", dataset, items=len(items), file=filename)
    return dataset


def dataset_name(file: DatasetFile, filename: str, wanted: str = "") -> str:
    """What a dataset is called: as wanted, else as the file says, else like the file."""
    stem = filename.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return (wanted.strip() or file.name.strip() or stem or "Imported dataset")[:200]


def _own_rubric(team: Team, by: User | None, file: DatasetFile, name: str) -> RubricVersion | None:
    if file.rubric is None:
        return None
    title = file.rubric.title or f"{name} rubric"[:200]
    return rubrics.publish(
        rubrics.create_rubric(team, by=by, title=title, draft=file.rubric.to_dict()), by=by
    )


def _store_items(dataset: Dataset, file: DatasetFile) -> list[Item]:
    """Item rows in file order; items that bring the same rubric share one frozen version."""
    texts = [record.rubric.to_json() if record.rubric else None for record in file.items]
    distinct: dict[str, engine.Rubric] = {}
    for text, item in zip(texts, file.items, strict=True):
        if text is not None and item.rubric is not None:
            distinct.setdefault(text, item.rubric)
    versions = dict(zip(distinct, rubrics.store_versions(distinct.values()), strict=True))
    rows = [
        Item(
            dataset=dataset,
            key=item.id,
            position=position,
            submission=item.submission,
            thinking=item.thinking,
            prompt=item.prompt,
            reference=item.reference,
            description=item.description,
            metadata=item.metadata,
            rubric_version=versions[text] if text is not None else None,
        )
        for position, (text, item) in enumerate(zip(texts, file.items, strict=True))
    ]
    for row in rows:
        row.content_hash = content_digest(row.to_engine())
    return Item.objects.bulk_create(rows, batch_size=500)


def _store_ground_truth(dataset: Dataset, file: DatasetFile, *, by: User | None) -> None:
    labels = []
    for item in file.items:
        rubric = file.rubric_for(item)
        if item.ground_truth is None or rubric is None:
            continue
        reasons = item.ground_truth_reasons or (None,) * len(item.ground_truth)
        labels += [
            LabelRecord(0, item.id, name, SETTLED_RATER, label, reason or "")
            for name, label, reason in zip(rubric.names, item.ground_truth, reasons, strict=True)
            if label is not None
        ]
    _store_labels(dataset, labels, by=by, queue_name=f"Ground truth of {dataset.name}")


def _store_labels(
    dataset: Dataset, labels: Sequence[LabelRecord], *, by: User | None, queue_name: str
) -> None:
    if labels:
        store_labels(dataset, dataset.rubric_version, labels, by=by, queue_name=queue_name[:200])
