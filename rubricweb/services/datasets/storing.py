"""Storing items that were read and checked, with their cases, versions, rubrics and labels."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from rubricweb import engine
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.models import NOT_RETIRED, Case, ChangeKind, Dataset, Item, User
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import cases, columns, systems
from rubricweb.services.datasets.intake import CheckedItems, NewItem
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.labels import free_queue_name, store_labels
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared import bulk_rows


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


def _store_labels(
    dataset: Dataset, labels: Sequence[LabelRecord], *, by: User | None, queue_name: str, filename: str = ""
) -> None:
    if labels:
        queue_name = free_queue_name(dataset, queue_name)
        store_labels(dataset, dataset.rubric_version, labels, by=by, queue_name=queue_name, filename=filename)
