"""What a dataset file holds, once read: items, what they share, and labels by rater."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rubricweb.engine.errors import Fault, shortened
from rubricweb.engine.formats.label_files import LabelRecord, RaterKind
from rubricweb.engine.formats.label_provenance import LabelProvenance, UsedDecision
from rubricweb.engine.formats.records import FileFormat
from rubricweb.engine.rubric import Rubric

Prompt: TypeAlias = str | list[dict[str, Any]]
"""A task as text, or as a chat array of turns with ``role`` and ``content``."""

LabelRow: TypeAlias = tuple[str | None, ...]
"""One entry per criterion of the rubric in force: a Verdict, an option's own label, or None for a gap."""

ProvenanceRow: TypeAlias = tuple[LabelProvenance | None, ...]
"""One entry per label of the ground truth, None where nothing says where it comes from."""

MACHINES_KEY = "machine_raters"
"""A list of those raters among an item's labels who are programs or models; read only under this name."""

COLUMNS_NAMED = 20
"""So many columns a sentence names."""

MAX_ID = 190
"""Characters of an id in a file; a numbered id (``id#2``) stays within 200."""

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id"),
    "submission": ("submission", "output", "response", "completion", "answer", "reply"),
    "thinking": ("thinking",),
    "prompt": ("prompt", "instruction", "input", "query", "question"),
    "reference": ("reference", "reference_submission", "ideal", "expected", "target"),
    "rubric": ("rubric",),
    "description": ("description",),
    "ground_truth": ("ground_truth",),
    "ground_truth_reasons": ("ground_truth_reasons",),
    "labels": ("labels",),
    "label_reasons": ("label_reasons",),
    "metadata": ("metadata",),
    "case_id": ("case_id",),
    "system": ("system",),
    "attempt": ("attempt",),
    "case_tags": ("case_tags",),
}
"""Per field the keys it may stand under, best first; a second match in one item stays behind as metadata.

``labels`` are raters' labels where they are an object; a list or a text of that name is metadata. ``system``
is one where it says ``name@version`` or stands beside a ``case_id``, ``attempt`` beside one of the two.
"""

SUGGESTIONS: dict[str, tuple[str, ...]] = {
    "case_id": ("example_id", "question_id", "task_id", "prompt_id", "group"),
    "system": ("system", "model", "variant", "build", "run", "assistant"),
    "attempt": ("attempt", "sample", "epoch", "trial"),
    "case_tags": ("tags", "tag"),
}
"""Per field the keys that often hold it and may as well mean something else: a person is asked."""


def plain_column(column: str) -> str:
    """A column's name as it is compared: ``Ground Truth`` and ``ground-truth`` are ``ground_truth``."""
    return column.strip().casefold().replace(" ", "_").replace("-", "_")


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One item as the file has it.

    ``prompt``, ``reference`` and ``rubric`` are the item's own: None means "as the dataset says".
    ``ground_truth`` and its reasons have one entry per criterion of the rubric in force, None where nobody
    decided; None as a whole when the item is not labelled. ``ground_truth_provenance`` says of each by
    which rule it stands, None where the file does not. ``labels`` and ``label_reasons`` hold labels and
    reasons per rater; ``machine_raters`` names those of them who are no people.
    Everything the file says beyond the known fields is ``metadata``. ``case_id`` is what stays when the
    system changes, "" for a case of the item's own; ``system`` the version that answered, ``assistant@v4``,
    or "" where the file names none; ``attempt`` counts its answers to the case from 1. ``case_tags`` are
    tags of the case that stand at this answer, as `read_tags` gives them: the case has those of all of them.
    """

    id: str
    submission: str
    thinking: str | None = None
    prompt: Prompt | None = None
    reference: str | None = None
    rubric: Rubric | None = None
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    ground_truth: LabelRow | None = None
    ground_truth_reasons: LabelRow | None = None
    labels: Mapping[str, LabelRow] = field(default_factory=dict)
    label_reasons: Mapping[str, LabelRow] = field(default_factory=dict)
    ground_truth_provenance: ProvenanceRow | None = None
    machine_raters: tuple[str, ...] = ()
    case_id: str = ""
    system: str = ""
    attempt: int = 1
    case_tags: tuple[str, ...] = ()

    @property
    def group(self) -> str | None:
        """What the item belongs with (``metadata.group``), such as the prompt its rollouts share; or None."""
        group = self.metadata.get("group")
        if isinstance(group, bool) or not isinstance(group, str | int):
            return None
        return str(group)


@dataclass(frozen=True, slots=True)
class ColumnsRead:
    """What a file's columns (or keys) were read as: ``fields`` field by field, all others as ``metadata``.

    ``own_id`` says that the ids are those of a column with another name, whose values are unique.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    metadata: tuple[str, ...] = ()
    own_id: bool = False

    def __str__(self) -> str:
        """``submission ← answer, id ← uid (unique values); metadata: skill``; "" where nothing was read."""
        if not self.fields:
            return ""
        columns = [name if name == column else f"{name} ← {column}" for name, column in self.fields.items()]
        if "id" in self.fields and self.own_id:
            place = list(self.fields).index("id")
            columns[place] += " (unique values)"
        words = ", ".join(columns)
        if not {"id", "case_id"} & self.fields.keys():
            words += "; ids are made from the content"
        if self.metadata:
            more = len(self.metadata) - COLUMNS_NAMED
            names = ", ".join(shortened(name) for name in self.metadata[:COLUMNS_NAMED])
            words += f"; metadata: {names}{f' and {more:,} more' if more > 0 else ''}"
        return words


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A dataset as the file has it; what the file does not say is None (``name``: empty).

    ``recognised`` names the other program's format it was translated from, empty for our own. ``left_out``
    is what of such a file was not read, and why, where that was asked for; ``more_left_out`` counts the rest.
    ``label_decisions`` are those by which its ground truth counts labels given to earlier words. ``columns``
    says what the columns of a file of ours were read as.
    """

    name: str
    prompt: Prompt | None
    rubric: Rubric | None
    reference: str | None
    items: tuple[ItemRecord, ...]
    recognised: str = field(default="", compare=False)
    label_decisions: tuple[UsedDecision, ...] = ()
    left_out: tuple[Fault, ...] = field(default=(), compare=False)
    more_left_out: int = field(default=0, compare=False)
    columns: ColumnsRead = field(default_factory=ColumnsRead, compare=False)

    def rubric_for(self, item: ItemRecord) -> Rubric | None:
        """The rubric in force for an item: its own, else the dataset's."""
        return self.rubric if item.rubric is None else item.rubric

    def prompt_for(self, item: ItemRecord) -> Prompt | None:
        """The prompt in force for an item: its own, else the dataset's."""
        return self.prompt if item.prompt is None else item.prompt

    def reference_for(self, item: ItemRecord) -> str | None:
        """The reference in force for an item: its own, else the dataset's."""
        return self.reference if item.reference is None else item.reference

    @property
    def labels(self) -> tuple[LabelRecord, ...]:
        """Every rater's labels in long form, as ``read_labels`` gives them, item by item; gaps are left out.

        ``line`` is 0: these labels came with their items. Items without a rubric in force have none, because
        nothing names their criteria.
        """
        found: list[LabelRecord] = []
        for item in self.items:
            rubric = self.rubric_for(item)
            if rubric is None:
                continue
            for rater, row in item.labels.items():
                reasons = item.label_reasons.get(rater) or (None,) * len(row)
                kind: RaterKind = "machine" if rater in item.machine_raters else "human"
                found += [
                    LabelRecord(0, item.id, name, rater, label, reason or "", kind)
                    for name, label, reason in zip(rubric.names, row, reasons, strict=True)
                    if label is not None
                ]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a dataset file: columns, first rows, and the column each field would come from.

    ``machine_raters`` are those the first rows name as programs or models. ``suggestions`` are columns that
    may hold a field and are not read as it until somebody says so. ``own_id`` is as in ColumnsRead, of the
    first rows.

    ``recognised`` is as in DatasetFile; the columns are then those of the translation. ``faults`` are what
    kept rows among the first from being read: those are not in ``rows``, and the file is not imported.
    """

    format: FileFormat
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    mapping: dict[str, str]
    recognised: str = ""
    machine_raters: tuple[str, ...] = ()
    suggestions: dict[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    own_id: bool = False


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """What keeps a file from being read: its faults, and how many more there are.

    ``read_as`` is as in InvalidFile.
    """

    faults: tuple[Fault, ...]
    more: int = 0
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class DatasetHeader:
    """What a file says once for all its items."""

    name: str = ""
    prompt: Prompt | None = None
    rubric: Rubric | None = None
    rubric_is_faulty: bool = False
    reference: str | None = None
    label_decisions: tuple[UsedDecision, ...] = ()
