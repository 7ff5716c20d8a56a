"""One item of a dataset in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rubricweb.engine.errors import FaultList, InvalidFile
from rubricweb.engine.formats.content_ids import content_id
from rubricweb.engine.formats.dataset_values import ItemRecord, LabelRow, Prompt
from rubricweb.engine.formats.datasets.case_tags import read_tags
from rubricweb.engine.formats.datasets.cases import read_attempt, read_system
from rubricweb.engine.formats.datasets.item_labels import (
    read_label_row,
    read_machine_raters,
    read_rater_reasons,
    read_rater_rows,
    read_reason_row,
)
from rubricweb.engine.formats.field_values import read_id, read_prompt, read_text, storable
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.verdict import Label


@dataclass(frozen=True)
class DataItem:
    """One submission to grade, with what is known about it.

    ``submission``: the text; structured data as a JSON text. ``description``: a few words for people.
    ``ground_truth``: one label per criterion of the rubric in force (a Verdict for a binary criterion, an
    option's label for a choice, None where nobody decided); None as a whole when not labelled. ``rubric``,
    ``reference_submission`` and ``prompt`` are the item's own, None means "as the dataset says".

    ``labels`` and ``label_reasons`` hold the same per rater; ``machine_raters`` names those of them who are
    programs or models. ``group`` is what the item belongs with, such as the prompt its rollouts share.
    ``case_id`` is what stays when the system under test changes, "" for a case of the item's own; ``system``
    the version that answered, as ``assistant@v4``; ``attempt`` counts its answers to the case from 1;
    ``case_tags`` are tags of the case. ``id``, when not given, follows from the content (``content_id``), the
    same on every machine.
    Raises ValueError for a group that ``metadata`` contradicts.
    """

    submission: str
    description: str = ""
    ground_truth: list[Label | None] | None = None
    rubric: Rubric | None = None
    reference_submission: str | None = None
    id: str = field(default="", kw_only=True)
    prompt: Prompt | None = field(default=None, kw_only=True)
    thinking: str | None = field(default=None, kw_only=True)
    ground_truth_reasons: list[str | None] | None = field(default=None, kw_only=True)
    labels: Mapping[str, Sequence[Label | None]] = field(default_factory=dict, kw_only=True)
    label_reasons: Mapping[str, Sequence[str | None]] = field(default_factory=dict, kw_only=True)
    machine_raters: Sequence[str] = field(default=(), kw_only=True)
    metadata: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    group: str | None = field(default=None, kw_only=True)
    case_id: str = field(default="", kw_only=True)
    system: str = field(default="", kw_only=True)
    attempt: int = field(default=1, kw_only=True)
    case_tags: Sequence[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.group is not None and self.metadata.get("group", self.group) != self.group:
            found = self.metadata["group"]
            raise ValueError(f"group is {self.group!r} and metadata.group {found!r}; allowed: one of the two")
        if not self.id:
            object.__setattr__(self, "id", self.content_id)

    @property
    def content_id(self) -> str:
        """The id that follows from what is graded: ``auto-`` and 16 hexadecimal digits."""
        return content_id(self.submission, self.thinking, self.prompt, self.reference_submission, self.rubric)

    @property
    def has_derived_id(self) -> bool:
        """Whether the id follows from the content, perhaps with a number behind it."""
        return self.id == self.content_id or self.id.startswith(f"{self.content_id}-")

    @classmethod
    def from_record(cls, record: ItemRecord) -> DataItem:
        """The item a file holds; ``metadata.group`` becomes the group."""
        metadata = dict(record.metadata)
        if record.group is not None:
            del metadata["group"]
        reasons = record.ground_truth_reasons
        return cls(
            record.submission,
            record.description,
            None if record.ground_truth is None else list(record.ground_truth),
            record.rubric,
            record.reference,
            id=record.id,
            prompt=record.prompt,
            thinking=record.thinking,
            ground_truth_reasons=None if reasons is None else list(reasons),
            labels={rater: list(row) for rater, row in record.labels.items()},
            label_reasons={rater: list(row) for rater, row in record.label_reasons.items()},
            machine_raters=record.machine_raters,
            metadata=metadata,
            group=record.group,
            case_id=record.case_id,
            system=record.system,
            attempt=record.attempt,
            case_tags=record.case_tags,
        )

    def to_record(self, rubric: Rubric | None, place: str = "") -> ItemRecord:
        """The item as files hold it, its labels checked against the rubric in force.

        Raises InvalidFile (a ValueError) with every fault under ``place``: another number of labels than
        criteria, unknown labels, reasons without labels.
        """
        faults = FaultList()
        under = f"{place}." if place else ""
        truth: LabelRow | None = None
        reasons: LabelRow | None = None
        if self.ground_truth is not None:
            truth = read_label_row(self.ground_truth, rubric, f"{under}ground_truth", faults)
        if self.ground_truth_reasons is not None:
            here = f"{under}ground_truth_reasons"
            reasons = read_reason_row(self.ground_truth_reasons, truth, rubric, here, faults)
        labels = read_rater_rows(self.labels, rubric, f"{under}labels", faults)
        explained = read_rater_reasons(self.label_reasons, labels, rubric, f"{under}label_reasons", faults)
        machines = read_machine_raters(
            list(self.machine_raters) or None, labels, f"{under}machine_raters", faults
        )
        for name in ("submission", "description", "thinking", "reference_submission", "group"):
            read_text(getattr(self, name), f"{under}{name}", faults)
        if not self.submission or not str(self.submission).strip():
            faults.add(f"{under}submission", "an empty text", "the text to grade")
        read_id(self.id, f"{under}id", faults)
        read_prompt(self.prompt, f"{under}prompt", faults)
        metadata = storable(dict(self.metadata), f"{under}metadata", faults)
        case_id = read_id(self.case_id or None, f"{under}case_id", faults) or ""
        system = read_system(self.system, f"{under}system", faults) or ""
        attempt = read_attempt(self.attempt, f"{under}attempt", faults)
        case_tags = read_tags(list(self.case_tags), f"{under}case_tags", faults)
        faults.raise_as(InvalidFile)
        metadata |= {} if self.group is None else {"group": self.group}
        return ItemRecord(
            self.id,
            self.submission,
            self.thinking,
            self.prompt,
            self.reference_submission,
            self.rubric,
            self.description,
            metadata,
            truth,
            reasons,
            labels,
            explained,
            machine_raters=machines,
            case_id=case_id,
            system=system,
            attempt=attempt,
            case_tags=case_tags,
        )

    def with_own_labels(self, rubric: Rubric | None, place: str = "") -> DataItem:
        """The item with every label as the rubric spells it. Raises as ``to_record``."""
        record = self.to_record(rubric, place)
        return replace(
            self,
            ground_truth=None if record.ground_truth is None else list(record.ground_truth),
            labels={rater: list(row) for rater, row in record.labels.items()},
        )
