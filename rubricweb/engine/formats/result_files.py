"""Verdicts and ground truth as files, written line by line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.formats.formulas import neutralised
from rubricweb.engine.formats.label_provenance import (
    LINEAGE_COLUMNS,
    PROVENANCE_COLUMNS,
    PROVENANCE_KEY,
    LabelProvenance,
    UsedDecision,
    decision_fields,
    provenance_fields,
)
from rubricweb.engine.origin import Origin, origin_of
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.scoring.effect import Effect, effect_of
from rubricweb.engine.scoring.outcomes import label_outcome, value_of
from rubricweb.engine.submission import Query
from rubricweb.engine.verdict import Label

GROUND_TRUTH_RATER = "ground_truth"
"""The rater's name in long form for labels that are settled."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One rater's result on one criterion of one item.

    ``verdict`` is the label: a Verdict or an option's own, None for a check and when the rater gave none, and
    ``error`` then says why. ``value`` is the number the answer counts as: 1 for MET, 0 for UNMET, an option's
    value, what a check found; None for an abstention. ``rater_kind`` is what the rater is (human,
    machine, settled, judge, adjudication, ground_truth), ``imported`` whether the label came in a file;
    ``origin`` follows from both, ``effect`` from value and weight. ``kind`` (binary, choice, check),
    ``weight`` and ``group`` are the criterion's; ``run`` names the run of a judge; ``recorded_at`` is an ISO
    8601 time. ``evidence`` is what was quoted: words, or where they stand too (field, start, end, text;
    offsets in characters). ``rubric_version`` is the number of the version it was given to, ``counts_by`` by
    what a person's label counts for the version the export is read by: "same words", decisions ("carry 12")
    or "not counted". ``case_id``, ``system`` and ``attempt`` are the item's, as in ItemRecord; ``split`` is
    dev or test where the cases of the dataset are split. ``final_verdict`` is what a person said after they
    saw the others' verdicts, whether they changed theirs or not, ``final_reason`` what they said of it; empty
    where they said nothing. ``criterion_id`` is the criterion's id, ``rubric`` the rubric and version whose
    criterion it is, which need not be the one the label was given to. ``judge_version`` is the version of the
    judge that gave it, ``support-judge@v3``. What does not apply is None.
    """

    item_id: str
    criterion: str
    rater: str
    verdict: Label | None
    reason: str = ""
    rater_kind: str | None = None
    error: str | None = None
    group: str | None = None
    weight: float | None = None
    run: str | None = None
    recorded_at: str | None = None
    evidence: tuple[str | dict[str, Any], ...] = ()
    kind: str | None = None
    value: float | None = None
    imported: bool | None = None
    rubric_version: int | None = None
    counts_by: str | None = None
    case_id: str | None = field(default=None, kw_only=True)
    system: str | None = field(default=None, kw_only=True)
    attempt: int | None = field(default=None, kw_only=True)
    split: str | None = field(default=None, kw_only=True)
    final_verdict: Label | None = field(default=None, kw_only=True)
    final_reason: str | None = field(default=None, kw_only=True)
    criterion_id: str | None = field(default=None, kw_only=True)
    rubric: str | None = field(default=None, kw_only=True)
    judge_version: str | None = field(default=None, kw_only=True)

    @property
    def origin(self) -> Origin | None:
        """Who gave the label; None for the verdict of a run, and where nothing says what the rater is."""
        if self.rater_kind not in ("human", "machine", "settled"):
            return None
        return origin_of(self.rater_kind, imported=bool(self.imported))

    @property
    def effect(self) -> Effect | None:
        """What the answer did to the score: helped, hurt or neither; None where it has no value."""
        return None if self.weight is None else effect_of(self.value, self.weight)


@dataclass(frozen=True, slots=True)
class GroundTruthItem:
    """One item with its settled labels, one per criterion of the rubric in force, None where none is.

    A label is a Verdict, or an option's own label where the criterion is a choice; a check has none.

    ``rubric``, ``prompt`` and ``reference`` are the item's own; None means "as the dataset says".
    ``case_id``, ``system``, ``attempt`` and ``case_tags`` are as in ItemRecord, ``split`` as in VerdictRow.
    """

    id: str
    submission: str
    ground_truth: tuple[Label | None, ...] | None
    ground_truth_reasons: tuple[str | None, ...] | None = None
    ground_truth_provenance: tuple[LabelProvenance | None, ...] | None = field(default=None, kw_only=True)
    thinking: str | None = None
    prompt: Query | None = None
    reference: str | None = None
    rubric: Rubric | None = None
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    case_id: str = field(default="", kw_only=True)
    system: str = field(default="", kw_only=True)
    attempt: int = field(default=1, kw_only=True)
    case_tags: tuple[str, ...] = field(default=(), kw_only=True)
    split: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class DatasetHead:
    """What the items of an export share; None is "not given".

    ``criteria`` are the names of all criteria in the order of a table's columns, for tables that have one
    per criterion; empty means those of ``rubric``. ``changed`` are those of them on which somebody changed
    their verdict after the reveal. ``label_decisions`` are those its labels count by.
    """

    name: str = ""
    prompt: Query | None = None
    rubric: Rubric | None = None
    reference: str | None = None
    criteria: tuple[str, ...] = ()
    label_decisions: tuple[UsedDecision, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The criteria of a table, in order."""
        return self.criteria or (() if self.rubric is None else tuple(self.rubric.names))


CASE_COLUMNS = ("case_id", "system", "attempt", "split")
VERDICT_COLUMNS = (
    "item_id",
    "criterion",
    "rater",
    "verdict",
    "reason",
    "kind",
    "value",
    "rater_kind",
    "error",
    "group",
    "weight",
    "run",
    "recorded_at",
    "evidence",
    "imported",
    "effect",
    "rubric_version",
    "counts_by",
    "origin",
    *CASE_COLUMNS,
    "final_verdict",
    "final_reason",
    "criterion_id",
    "rubric",
    "judge_version",
)


def verdicts_csv(rows: Iterable[VerdictRow]) -> Iterator[str]:
    """Long CSV: a header, then one line per item, criterion and rater; missing is an empty cell.

    Cells a spreadsheet would run are neutralised with a leading ``'``; evidence is a JSON list. Its first
    five columns and what was said last are what ``read_labels`` reads, which also takes the ``'`` away again.
    """
    yield csv_line(VERDICT_COLUMNS)
    for row in rows:
        evidence = json.dumps(row.evidence, ensure_ascii=False) if row.evidence else None
        yield csv_line([evidence if name == "evidence" else getattr(row, name) for name in VERDICT_COLUMNS])


def verdicts_jsonl(rows: Iterable[VerdictRow]) -> Iterator[str]:
    """One JSON object per item, criterion and rater, every field as it is: the lossless form."""
    for row in rows:
        yield _json_line({name: getattr(row, name) for name in VERDICT_COLUMNS})


def ground_truth_csv(items: Iterable[GroundTruthItem], head: DatasetHead) -> Iterator[str]:
    """The settled labels in long form, as ``read_labels`` reads them, with ``ground_truth`` as the rater.

    Criteria without a settled label have no line. ``rule`` to ``labels`` (a JSON list) say where a label
    comes from, ``effect`` what it does to the score, the two after it to which versions it was given and by
    what it counts, the last four which case the item answers for which system, and its split. Raises
    ValueError as ``ground_truth_jsonl`` does.
    """
    yield csv_line((*VERDICT_COLUMNS[:7], *PROVENANCE_COLUMNS, "effect", *LINEAGE_COLUMNS, *CASE_COLUMNS))
    for item in items:
        rubric = rubric_of(item, head)
        nothing = (None,) * len(rubric.names)
        reasons = item.ground_truth_reasons or nothing
        origins = item.ground_truth_provenance or nothing
        for criterion, label, reason, origin in zip(
            rubric.criteria, item.ground_truth or (), reasons, origins, strict=False
        ):
            if label is not None:
                value = value_of(label_outcome(criterion, label))
                said = (item.id, criterion.name, GROUND_TRUTH_RATER, label, reason, criterion.kind, value)
                effect = effect_of(value, criterion.weight)
                attempt = item.attempt if item.case_id else None
                case = (item.case_id or None, item.system or None, attempt, item.split)
                yield csv_line([*said, *_provenance_cells(origin), effect, *_pin_cells(origin), *case])


def _provenance_cells(origin: LabelProvenance | None) -> tuple[object, ...]:
    if origin is None:
        return (None,) * len(PROVENANCE_COLUMNS)
    labels = json.dumps(origin.labels, ensure_ascii=False) if origin.labels else None
    return (origin.rule, origin.decided_by, origin.decided_at, labels)


def _pin_cells(origin: LabelProvenance | None) -> tuple[str | None, ...]:
    if origin is None:
        return (None,) * len(LINEAGE_COLUMNS)
    return tuple(", ".join(map(str, getattr(origin, name))) for name in LINEAGE_COLUMNS)


def ground_truth_jsonl(items: Iterable[GroundTruthItem], head: DatasetHead) -> Iterator[str]:
    """One JSON object per item with what is in force for it: lossless, read by ``read_dataset``.

    Raises ValueError for an item without a rubric, or with another number of labels than criteria.
    """
    for item in items:
        rubric = rubric_of(item, head)
        in_force = {
            "prompt": head.prompt if item.prompt is None else item.prompt,
            "reference": head.reference if item.reference is None else item.reference,
            "rubric": rubric.to_nested_dict(),
        }
        yield _json_line({"id": item.id} | _item_fields(item) | in_force)


def autorubric_dataset(items: Iterable[GroundTruthItem], head: DatasetHead) -> Iterator[str]:
    """autorubric's dataset JSON: the head, then every item with what is its own.

    Beyond that format's own keys an item carries id, prompt, thinking, metadata and reasons. A criterion
    nobody labelled is null in ``ground_truth``, which that package's loader refuses: export labelled items
    for it. Raises ValueError as ``ground_truth_jsonl`` does.
    """
    shared = {
        "name": head.name,
        "prompt": "" if head.prompt is None else head.prompt,
        "rubric": None if head.rubric is None else head.rubric.to_nested_dict(),
        "reference_submission": head.reference,
        **decision_fields(head.label_decisions),
    }
    yield "{\n"
    for key, value in shared.items():
        if key != "reference_submission" or value is not None:
            yield f"{_json(key)}: {_json(value)},\n"
    yield '"items": ['
    separator = "\n"
    for item in items:
        rubric_of(item, head)
        own = {
            "prompt": item.prompt,
            "reference_submission": item.reference,
            "rubric": None if item.rubric is None else item.rubric.to_nested_dict(),
        }
        fields = {"id": item.id} | _item_fields(item) | {k: v for k, v in own.items() if v is not None}
        yield separator + _json(fields)
        separator = ",\n"
    yield "\n]\n}\n"


def _item_fields(item: GroundTruthItem) -> dict[str, Any]:
    fields: dict[str, Any] = {"submission": item.submission, "description": item.description}
    if item.thinking is not None:
        fields["thinking"] = item.thinking
    fields["ground_truth"] = item.ground_truth
    if item.ground_truth_reasons is not None:
        fields["ground_truth_reasons"] = item.ground_truth_reasons
    if item.ground_truth_provenance is not None:
        fields[PROVENANCE_KEY] = provenance_fields(item.ground_truth_provenance)
    if item.metadata:
        fields["metadata"] = item.metadata
    if item.case_id:
        fields["case_id"] = item.case_id
    if item.system:
        fields["system"] = item.system
    if item.attempt > 1:
        fields["attempt"] = item.attempt
    if item.case_tags:
        fields["case_tags"] = item.case_tags
    return fields


def rubric_of(item: GroundTruthItem, head: DatasetHead) -> Rubric:
    rubric = head.rubric if item.rubric is None else item.rubric
    if rubric is None:
        raise ValueError(f"item {item.id!r} has no rubric and neither has the dataset; one of them needs it")
    for name, values in (("labels", item.ground_truth), ("reasons", item.ground_truth_reasons)):
        if values is not None and len(values) != len(rubric.criteria):
            raise ValueError(f"item {item.id!r} has {len(values)} {name} for {len(rubric.criteria)} criteria")
    return rubric


def csv_line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def csv_header(names: Sequence[str]) -> str:
    """The line of names; all stand in quotes where one holds a semicolon, which parts cells elsewhere."""
    if not any(";" in name for name in names):
        return csv_line(names)
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([_cell(name) for name in names])
    return line.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    return neutralised(value) if isinstance(value, str) else str(value)


def _json_line(value: object) -> str:
    return _json(value) + "\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
