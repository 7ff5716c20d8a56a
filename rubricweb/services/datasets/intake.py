"""Items of a file on their way into a dataset: checked against it and made rows, a batch at a time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rubricweb import engine
from rubricweb.engine.autograders.examples.few_shot import content_digest
from rubricweb.engine.errors import Fault, FaultList
from rubricweb.engine.formats.dataset_values import MAX_ID, DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.case_tags import MAX_TAGS
from rubricweb.engine.formats.datasets.cases import AnsweredCase
from rubricweb.engine.formats.field_values import read_id
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.number_format import counted
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.engine.submission import Submission
from rubricweb.models import Dataset, Item
from rubricweb.selectors.datasets.systems import require_first_answers
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.selectors.labels.ground_truth import SETTLED_RATER
from rubricweb.services.datasets import cases

BATCH_ITEMS = 500
MOST_FAULTS = 10_000
DUPLICATES_SHOWN = 50


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as it will be stored; every value is plain JSON.

    `rubric` is its own as a text. `case_id`, `wording` and `rubric_version_id` are those of the case it
    answers, where the dataset has that case. `same_as` is the key of an item with the same words before it.
    """

    key: str
    case_key: str
    system: str
    attempt: int
    submission: str
    thinking: str | None
    prompt: Any
    reference: str | None
    description: str
    metadata: dict[str, Any]
    content_hash: str
    rubric: str | None
    case_id: int | None
    wording: int
    rubric_version_id: int | None
    same_as: str
    # Of its case; the case has those of all its answers.
    case_tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CheckedItems:
    """Some items with what is said of them: labels of raters, and those the file settles."""

    items: list[NewItem]
    labels: list[LabelRecord]
    truth: list[LabelRecord]

    def without_duplicates(self) -> "CheckedItems":
        """Without items whose words came before, and the labels of those."""
        left_out = {item.key for item in self.items if item.same_as}
        if not left_out:
            return self
        return CheckedItems(
            [item for item in self.items if not item.same_as],
            [label for label in self.labels if label.item_id not in left_out],
            [label for label in self.truth if label.item_id not in left_out],
        )

    def to_json(self) -> str:
        lists = ([[getattr(one, name) for name in one.__slots__] for one in part] for part in self._parts())
        return json.dumps(dict(zip(("items", "labels", "truth"), lists, strict=True)), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> "CheckedItems":
        data = json.loads(text)
        labels, truth = ([LabelRecord(*row) for row in data[name]] for name in ("labels", "truth"))
        return cls([NewItem(*row) for row in data["items"]], labels, truth)

    def _parts(self) -> tuple[list[Any], list[Any], list[Any]]:
        return self.items, self.labels, self.truth


@dataclass
class Intake:
    """Takes the items of a file batch by batch, remembering what must hold for all of them together.

    `dataset` is the one they come into; None for a new one. It compares them with what is there, unless that
    would tell who answered: then duplicates are of items of the file alone, and answers to cases there are
    refused with Withheld where their version has answered some already.
    """

    dataset: Dataset | None
    compares: bool = True
    taken: int = 0
    # The first of them, as (key, key of the earlier item, first words of both).
    duplicates: list[tuple[str, str, str]] = field(default_factory=list)
    duplicate_count: int = 0
    # The system versions that answer, and of a dataset there is the keys of cases it does not have.
    systems: set[str] = field(default_factory=set)
    new_cases: dict[str, None] = field(default_factory=dict)
    _own: engine.Rubric | None = None
    _id_faults: list[Fault] = field(default_factory=list)
    _case_faults: list[Fault] = field(default_factory=list)
    # Items with labels that no rubric is there for, and the place of the first.
    _unnamed_labels: int = 0
    _first_unnamed: str = ""
    _seen: dict[tuple[Any, ...], str] = field(default_factory=dict)
    # Of cases the dataset has, by id.
    _tags: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dataset is not None and self.dataset.rubric_version is not None:
            self._own = self.dataset.rubric_version.to_engine()

    @property
    def faults(self) -> list[Fault]:
        """What keeps the items from being added; what is wrong with cases only where the ids are right."""
        return self._id_faults or self._case_faults or self._label_faults

    def take(self, file: DatasetFile) -> CheckedItems:
        """The items of this part of the file, in their order."""
        known: dict[str, Item] = {}
        if self.dataset is not None:
            file = _with_own_texts(self.dataset, file)
            known = cases.known_cases(self.dataset, [cases.case_key(item) for item in file.items])
            if not self.compares:
                to_known = {item.system for item in file.items if cases.case_key(item) in known}
                require_first_answers(self.dataset, to_known)
            file = _with_free_ids(self.dataset, file, known)
            self._check(self.dataset, file, known)
        self._count_unnamed_labels(file)
        rows = [self._row(file, item, known.get(cases.case_key(item))) for item in file.items]
        self.taken += len(rows)
        self.systems |= {row.system for row in rows}
        if self.dataset is not None:
            self.new_cases |= dict.fromkeys(row.case_key for row in rows if row.case_id is None)
        rows = self._with_duplicates(rows)
        return CheckedItems(rows, list(file.labels), list(settled_in(file)))

    @property
    def _label_faults(self) -> list[Fault]:
        if not self._unnamed_labels:
            return []
        found = f"labels of {counted(self._unnamed_labels, 'item')}, and no rubric that names their criteria"
        allowed = (
            "labels beside their rubric, in the file or of its items; "
            "or the items without labels: import the rubric, then the labels"
        )
        return [Fault(self._first_unnamed, found, allowed)]

    def _count_unnamed_labels(self, file: DatasetFile) -> None:
        for i, item in enumerate(file.items, start=self.taken):
            if file.rubric_for(item) is None and (labels := _labels_in(item)):
                self._first_unnamed = self._first_unnamed or f"items[{i}].{labels}"
                self._unnamed_labels += 1

    def _check(self, dataset: Dataset, file: DatasetFile, known: dict[str, Item]) -> None:
        is_other = file.rubric is not None and rules(file.rubric) != rules(self._own)
        if is_other and not self.taken:
            allowed = "the dataset's own rubric, or none: an item may bring one of its own"
            self._id_faults.append(Fault("rubric", "a rubric for all items of the file", allowed))
        there = Item.objects.current().filter(dataset=dataset, key__in=[item.id for item in file.items])
        keys = set(there.values_list("key", flat=True))
        if len(self._id_faults) < MOST_FAULTS:
            self._id_faults += [
                Fault(f"items[{i}].id", repr(item.id), f"an id that {dataset} does not have yet")
                for i, item in enumerate(file.items, start=self.taken)
                if item.id in keys
            ]
            for i, item in enumerate(file.items, start=self.taken):
                self._id_faults += made_id_faults(item.id, f"items[{i}].id")
        if len(self._case_faults) < MOST_FAULTS:
            self._case_faults += cases.case_faults(file, known, first=self.taken)
            self._case_faults += self._tag_faults(file, known)

    def _tag_faults(self, file: DatasetFile, known: dict[str, Item]) -> list[Fault]:
        """Items whose tags are too many beside those their case has, and gets from items before them."""
        wanted = [(i, known.get(cases.case_key(item)), item.case_tags) for i, item in enumerate(file.items)]
        tagged = [(i, asked.case_id, tags) for i, asked, tags in wanted if asked is not None and tags]
        there = tags_of({case_id for _, case_id, _ in tagged} - self._tags.keys())
        faults = []
        for i, case_id, tags in tagged:
            together = self._tags.setdefault(case_id, set(there.get(case_id, ())))
            together.update(tags)
            if len(together) > MAX_TAGS:
                found = f"{len(together)} tags, with those the case has"
                place = f"items[{self.taken + i}].case_tags"
                faults.append(Fault(place, found, f"at most {MAX_TAGS} for a case"))
        return faults

    def _row(self, file: DatasetFile, item: ItemRecord, asked: Item | None) -> NewItem:
        """The item as it will be stored; `asked` is one that answers the same case already."""
        if asked is not None:
            query = asked.to_engine().query
        else:
            query = item.prompt if item.prompt is not None else (self.dataset or file).prompt
        return NewItem(
            key=item.id,
            case_key=cases.case_key(item),
            system=item.system,
            attempt=item.attempt,
            submission=item.submission,
            thinking=item.thinking,
            prompt=asked.prompt if asked else item.prompt,
            reference=asked.reference if asked else item.reference,
            description=item.description or (asked.description if asked else ""),
            metadata=item.metadata,
            content_hash=content_digest(Submission(output=item.submission, query=query)),
            rubric=item.rubric.to_json() if item.rubric and not asked else None,
            case_id=asked.case_id if asked else None,
            wording=asked.case.wording if asked else 1,
            rubric_version_id=asked.rubric_version_id if asked else None,
            same_as="",
            case_tags=item.case_tags,
        )

    def _with_duplicates(self, rows: list[NewItem]) -> list[NewItem]:
        """The rows, each with the key of an earlier item of the same words, answered by the same version.

        Another attempt, or the same words under another rubric of their own, is no duplicate.
        """
        stored: dict[tuple[Any, ...], str] = {}
        if self.dataset is not None and self.compares:
            there = (
                Item.objects.current()
                .filter(dataset=self.dataset, content_hash__in=[row.content_hash for row in rows])
                .values_list(
                    "content_hash",
                    "system_version__system__name",
                    "system_version__label",
                    "attempt",
                    "rubric_version",
                    "key",
                )
            )
            for digest, name, label, attempt, rubric_version, key in there:
                version = f"{name}@{label}" if label else name
                stored.setdefault((digest, version, attempt, rubric_version), key)
        marked = []
        for row in rows:
            same = None
            if row.rubric is None:
                same = stored.get((row.content_hash, row.system, row.attempt, row.rubric_version_id))
            words = (
                bytes.fromhex(row.content_hash),
                row.system,
                row.attempt,
                row.rubric_version_id or row.rubric,
            )
            same = same or self._seen.get(words)
            if same is None:
                self._seen[words] = row.key
                marked.append(row)
                continue
            self.duplicate_count += 1
            if len(self.duplicates) < DUPLICATES_SHOWN:
                self.duplicates.append((row.key, same, first_words(row.submission)))
            marked.append(replace(row, same_as=same))
        return marked


def made_id_faults(id: str, place: str) -> list[Fault]:
    """What is wrong with an id that was made of a case and a system version: it may be too long."""
    faults = FaultList()
    if len(id) > MAX_ID:
        read_id(id, place, faults)
    found = f"an id of {len(id):,} characters, made of case and system"
    return [Fault(place, found, f"at most {MAX_ID}, or an id of its own") for _ in faults]


def parts(file: DatasetFile) -> Iterator[DatasetFile]:
    """The file as files of a few items each."""
    for begin in range(0, len(file.items), BATCH_ITEMS):
        yield replace(file, items=file.items[begin : begin + BATCH_ITEMS])


def rules(rubric: engine.Rubric | None) -> dict[str, Any] | None:
    """A rubric without its title: what an answer depends on."""
    if rubric is None:
        return None
    return {name: value for name, value in rubric.to_dict(ids=False).items() if name != "title"}


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


def _with_free_ids(dataset: Dataset, file: DatasetFile, known: dict[str, Item]) -> DatasetFile:
    """The file with other ids where they were made of case and system, the case was corrected, and an answer
    of the same version to the words before has them.
    """
    renamed = {}
    for item in file.items:
        asked = known.get(item.case_id)
        if asked is None or asked.case.wording == 1:
            continue
        if item.id == AnsweredCase(item.case_id, item.system, item.attempt).item_id:
            renamed[item.id] = f"{item.id} (wording {asked.case.wording})"
    there = Item.objects.current().filter(dataset=dataset, key__in=renamed)
    taken = set(there.values_list("key", flat=True))
    renamed = {id: other for id, other in renamed.items() if id in taken}
    if not renamed:
        return file
    items = tuple(replace(item, id=renamed.get(item.id, item.id)) for item in file.items)
    return replace(file, items=items)


def _labels_in(item: ItemRecord) -> str:
    """The field in which the item has labels, if it has any; gaps are none."""
    for name, rows in (("ground_truth", [item.ground_truth or ()]), ("labels", item.labels.values())):
        if any(label is not None for row in rows for label in row):
            return name
    return ""


def settled_in(file: DatasetFile) -> Iterator[LabelRecord]:
    """The labels that the file settles."""
    for item in file.items:
        rubric = file.rubric_for(item)
        if item.ground_truth is None or rubric is None:
            continue
        reasons = item.ground_truth_reasons or (None,) * len(item.ground_truth)
        for name, label, reason in zip(rubric.names, item.ground_truth, reasons, strict=True):
            if label is not None:
                yield LabelRecord(0, item.id, name, SETTLED_RATER, label, reason or "", "settled")


def header_as_data(file: DatasetFile) -> dict[str, Any]:
    """What a file says once for all its items, as plain data."""
    rubric = None if file.rubric is None else file.rubric.to_dict()
    return {
        "name": file.name,
        "prompt": file.prompt,
        "reference": file.reference,
        "rubric": rubric,
        "recognised": file.recognised,
    }
