"""Versions of a dataset: each change of its items makes the next."""

from rubricweb.errors import NotFound
from rubricweb.models import ChangeKind, Dataset, DatasetChange, Item, User

NOTE_MAX = 200


def hold(dataset: Dataset) -> None:
    """Until the caller's transaction ends nobody else changes the items, or plans a run or queue of them.
    The dataset is in its newest version, archived or not, and has its columns, as it is now.

    Raises NotFound for a dataset that was deleted since it was read.
    """
    there = Dataset.objects.filter(pk=dataset.pk, team=dataset.team_id, team__deleted_at=None)
    held = there.select_for_update(of=("self",), no_key=True).first()
    if held is None:
        raise NotFound("dataset")
    dataset.version, dataset.archived_at, dataset.columns = held.version, held.archived_at, held.columns


def next_version(dataset: Dataset) -> int:
    """The version that a change would make; the dataset is on `hold`, or new."""
    return dataset.version + 1 if Item.objects.filter(dataset=dataset).exists() else dataset.version


def made(
    dataset: Dataset, version: int, kind: ChangeKind, *, items: int, by: User | None, note: str = ""
) -> None:
    """The dataset is in this version now. Call it in the transaction that changed the items."""
    Dataset.objects.filter(pk=dataset.pk).update(version=version)
    dataset.version = version
    DatasetChange.objects.create(
        dataset=dataset, version=version, kind=kind, items=items, created_by=by, note=note.strip()[:NOTE_MAX]
    )
