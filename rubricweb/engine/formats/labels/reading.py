"""Files of labels in the usual shapes, read against a rubric: what they say, and what is left out."""

# Long because a row of labels is followed from its cells to the answers it gives.

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from rubricweb.engine.errors import Fault, FaultList, InvalidFile, encodable, join_place, nearest, shown
from rubricweb.engine.formats.datasets.known_keys import KnownItems
from rubricweb.engine.formats.datasets.sources import open_source
from rubricweb.engine.formats.label_files import (
    FIELDS,
    MAX_KEYS,
    RATER_KINDS,
    LabelCell,
    LabelChoices,
    LabelColumns,
    LabelRecord,
    RaterKind,
    says,
)
from rubricweb.engine.formats.label_provenance import NOT_COUNTED
from rubricweb.engine.formats.labels.answers import (
    CriterionValueReader,
    allowed_labels,
    number_of,
    value_text,
)
from rubricweb.engine.formats.labels.choices import composed_choices
from rubricweb.engine.formats.labels.items import answer_of, no_item
from rubricweb.engine.formats.labels.left_out import LeftOut, LeftOutRows, RowProblem, line_number
from rubricweb.engine.formats.labels.recognition import KnownNames, recognised
from rubricweb.engine.formats.labels.restoring import is_own_export, restored_choices, restored_rows
from rubricweb.engine.formats.labels.rubrics import Rubrics
from rubricweb.engine.formats.labels.said import SAMPLE_CHARACTERS, SaidCell, leave_out_uncounted, sample_of
from rubricweb.engine.formats.records import MAX_FILE_BYTES, PlacedRecord
from rubricweb.engine.parsers.plain_text import composed, unstorable
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Label, Verdict

SAMPLE_ROWS = 2_000
"""The columns of a file are those of so many first rows, and are recognised by what stands there."""
MAX_UNKNOWN = 100
"""Different values without a meaning that are listed; the labels with further ones are left out."""

BROKEN_FILE = "a broken row"
"""What csv_records says of a row behind which nothing can be read."""


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value that is no answer to these criteria, how often it stands there, and what may be answered."""

    value: str
    labels: int
    criteria: tuple[str, ...]
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelsReading:
    """A file of labels as it would be imported.

    ``found`` is None where the columns say nothing: then ``refused`` says so, once. ``refused`` also says
    where a file breaks off; such a file is never imported in part. ``faults`` (and ``more`` of them) are
    everything that is left out, row by row, as a strict import refuses it; ``left_out`` is the same in groups
    and ``left_out_rows`` at length. ``fields`` says of columns
    what they are read as, or of some what they may be; ``examples`` has a first value of each.
    """

    columns: tuple[str, ...]
    found: LabelColumns | None
    labels: tuple[LabelRecord, ...]
    left_out: tuple[LeftOut, ...] = ()
    left_out_rows: tuple[Fault, ...] = ()
    unknown_values: tuple[UnknownValue, ...] = ()
    refused: tuple[Fault, ...] = ()
    faults: tuple[Fault, ...] = ()
    more: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)


def read_label_table(
    data: bytes,
    *,
    filename: str,
    choices: LabelChoices | None = None,
    rubric: Rubric | None = None,
    own_rubrics: Mapping[str, Rubric] | None = None,
    items: KnownItems | Collection[str] | None = None,
    exact: bool = False,
    max_bytes: int = MAX_FILE_BYTES,
) -> LabelsReading:
    """Read a CSV, JSONL, JSON or Parquet file of labels in any of the shapes.

    ``rubric`` (or ``own_rubrics`` by item id, which come first) has the criteria; without one only verdicts
    of long files are taken. ``items`` are those there are, or their ids, where that is known: labels then
    have the ids as they are there, see ``KnownKeys``. ``exact`` takes answers only as the criteria write
    them, not yes, pass or 1. Raises InvalidFile for what is no table at all.
    """
    choices = composed_choices(choices or LabelChoices())
    known_items = KnownItems(items) if isinstance(items, Collection) else items
    unread = FaultList()
    source = open_source(data, filename, max_bytes, unread, translated=False)
    beginning = list(itertools.islice(source.records, SAMPLE_ROWS))
    first = list(restored_rows(beginning)) if source.format == "csv" else beginning
    if not first:
        if not unread:
            unread.add("", "no labels", f"rows with {', '.join(FIELDS[:5])}")
        unread.raise_as(InvalidFile)
    rubrics = Rubrics(rubric, own_rubrics or {})
    criteria = [pair for one in rubrics.every for pair in one.by_name.items()]
    known = KnownNames.of(criteria, choices, known_items)
    columns = tuple(dict.fromkeys(str(key) for record in first for key in record.data))
    if source.format == "csv":
        choices = restored_choices(choices, columns)
    unclear = FaultList()
    sample = sample_of(first, columns)
    examples = {column: values[0] for column, values in sample.items() if values}
    found, fields = recognised(sample, known, choices, unclear)
    if found is None:
        return LabelsReading(columns, None, (), refused=tuple(unclear), fields=fields, examples=examples)
    reader = _RowReader(found, rubrics, choices, known_items, PurePath(filename).stem.strip(), exact=exact)
    records: Iterator[PlacedRecord] = itertools.chain(beginning, source.records)
    if source.format == "csv":
        # A reason of another program may begin with a quotation mark of its own.
        records = restored_rows(records, but=() if is_own_export(data) else found.reasons)
    for record in records:
        reader.take(record)
    return replace(reader.reading(columns, unread), fields=fields, examples=examples)


class _RowReader:
    """Takes rows one after the other; values are read at the end, when all of a criterion's are known."""

    def __init__(
        self,
        columns: LabelColumns,
        rubrics: Rubrics,
        choices: LabelChoices,
        items: KnownItems | None,
        stem: str,
        *,
        exact: bool,
    ) -> None:
        self._found, self._rubrics, self._choices, self._items = columns, rubrics, choices, items
        self._rater = (choices.rater.strip() or stem)[: MAX_KEYS["rater"]]
        self._exact = exact
        self._said: list[SaidCell] = []
        # Keys and values come again and again; what was found to be one is not looked at twice.
        self._keys: dict[str, dict[str, str]] = {field: {} for field in MAX_KEYS}
        self._values: dict[int, set[str]] = {}
        self._answers: dict[int, CriterionValueReader] = {}
        self._out = LeftOutRows()
        self._refused = FaultList()
        self._unknown: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}

    # ── First look: who said what about which item ───────────────────────────────────────────────

    def take(self, record: PlacedRecord) -> None:
        columns = self._found
        problems: list[RowProblem] = []
        item_id = self._item(record, problems)
        named = ""
        if columns.criterion:
            named = self._key(record, "criterion", columns.criterion, "criterion", problems)
        rater = self._rater
        if columns.rater:
            rater = composed(self._key(record, "rater", columns.rater, "no_rater", problems))
        kind = self._kind(record, rater, problems)
        spoken = columns.shape == "long"
        cells = columns.cells if spoken else [one for one in columns.cells if one.is_filled(record.data)]
        if not spoken and problems:
            if cells:
                self._out.add(problems)
            return
        for cell in cells:
            about = cell.criterion or named
            by = cell.rater or rater
            here = kind if not cell.rater else self._kind(record, by, problems)
            self._said.append(self._say(record, cell, (item_id, about, by), here, list(problems)))

    def _item(self, record: PlacedRecord, problems: list[RowProblem]) -> str:
        """The id of the item a row is about, as the dataset has it; with a problem where it has no such."""
        columns, items = self._found, self._items
        field = "item_id" if columns.item_id else "case_id"
        column = columns.item_id or columns.case_id
        text = self._key(record, field, column, "no_item", problems)
        if not text:
            return ""
        system = value_text(record.data.get(columns.system)) or "" if columns.system else ""
        attempt = value_text(record.data.get(columns.attempt)) or "" if columns.attempt else ""
        found: str | tuple[str, str] = text
        if field == "case_id":
            found = answer_of(items, text, system, attempt)
        elif items is not None:
            found = items.ids.find(text) or no_item(items, text)
        if isinstance(found, str):
            return found
        fault = Fault(join_place(record.place, column), *found)
        problems.append(RowProblem("item", fault, " of ".join(filter(None, (text, system)))[:200]))
        return text

    def _say(
        self,
        record: PlacedRecord,
        cell: LabelCell,
        key: tuple[str, str, str],
        kind: RaterKind,
        problems: list[RowProblem],
    ) -> SaidCell:
        item_id, about, rater = key
        criteria = self._rubrics.of(item_id)
        known: Criterion | None = None
        if criteria is not None and about:
            own = criteria.find(about)
            if own is None:
                place = join_place(record.place, self._found.criterion or cell.column)
                fault = Fault(place, shown(about), nearest(about, criteria.by_name))
                problems.append(RowProblem("criterion", fault, about))
            else:
                about, known = own, criteria.by_name[own]
        found = []
        uncounted = record.data.get("counts_by") == NOT_COUNTED  # as our own exports say it
        for one in cell.in_order(record.data):
            value, reason = record.data.get(one.column), self._reason(record, one.reason, problems)
            if known is not None:
                self._values.setdefault(id(known), set()).add(value_text(value) or "")
            said = (record.place, one.column, item_id, about, rater, kind, value, reason, known, problems)
            found.append(SaidCell(*said, uncounted=uncounted))
        return replace(found[0], final=found[1]) if found[1:] else found[0]

    def _key(
        self, record: PlacedRecord, field: str, column: str, why: Any, problems: list[RowProblem]
    ) -> str:
        """What names a label, as text; empty with a problem where there is none."""
        value = record.data.get(column)
        good = self._keys[field].get(value) if type(value) is str else None
        if good is not None:
            return good
        place = join_place(record.place, column)
        text = None if isinstance(value, bool) else value_text(value)
        if value is None or not text:
            found = "nothing" if value is None else shown(value)
            problems.append(RowProblem(why, Fault(place, found, "a text")))
            return ""
        limit = MAX_KEYS[field]
        broken = unstorable(text)
        if broken or len(text) > limit:
            fault = Fault(place, broken or f"{len(text):,} characters", f"a text of at most {limit}")
            problems.append(RowProblem("text", fault))
        elif type(value) is str:
            self._keys[field][value] = text
        return text

    def _kind(self, record: PlacedRecord, rater: str, problems: list[RowProblem]) -> RaterKind:
        value = record.data.get(self._found.rater_kind) if self._found.rater_kind else None
        if value is None or value == "":
            unsaid = self._choices.rater_kind or self._choices.known_kinds.get(rater, "human")
            return self._kind_of(rater, unsaid)
        kind = RATER_KINDS.get(str(value).strip().casefold())
        if kind is None:
            place = join_place(record.place, self._found.rater_kind)
            problems.append(
                RowProblem("kind", Fault(place, shown(value), ", ".join(RATER_KINDS)), str(value))
            )
            return self._choices.rater_kind or "human"
        return self._kind_of(rater, kind)

    def _kind_of(self, rater: str, otherwise: RaterKind) -> RaterKind:
        return self._choices.rater_kinds.get(rater, otherwise)

    def _reason(self, record: PlacedRecord, column: str, problems: list[RowProblem]) -> str:
        value = record.data.get(column) if column else None
        if value is None:
            return ""
        if isinstance(value, str) and ((value.isascii() and "\0" not in value) or not unstorable(value)):
            return value
        found = str(unstorable(value)) if isinstance(value, str) else shown(value)
        problems.append(RowProblem("text", Fault(join_place(record.place, column), found, "text")))
        return ""

    # ── Second look: what the values mean ────────────────────────────────────────────────────────

    def reading(self, columns: tuple[str, ...], unread: FaultList) -> LabelsReading:
        """Everything, once all rows were taken."""
        labels: dict[tuple[str, str, str, str], LabelRecord] = {}
        first: dict[tuple[str, str, str, str], tuple[SaidCell, Label, Label | None]] = {}
        contradicted: set[tuple[str, str, str, str]] = set()
        leave_out_uncounted(self._said)
        for said in self._said:
            answer = self._answer(said)
            final = self._answer(said.final) if said.final and answer is not None else None
            if said.problems or answer is None:
                self._out.add(said.problems)
                continue
            key = said.key
            if key in first:
                is_other = first[key][1:] != (answer, final)
                self._out.add([said.second(first[key][0].place, is_other=is_other)])
                # Nobody can say which of the two is meant, so the first one is left out as well.
                if is_other and key not in contradicted:
                    contradicted.add(key)
                    del labels[key]
                    self._out.add([first[key][0].second(said.place, is_other=True)])
                continue
            first[key] = (said, answer, final)
            later = (final, said.final.reason) if said.final else ()
            labels[key] = LabelRecord(*said.named, answer, said.reason, said.kind, *later)
        for fault in unread:
            if fault.found.startswith(BROKEN_FILE):
                self._refused.add(fault.place, fault.found, fault.allowed)
        self._out.unread(unread, unread.total)
        if not labels and not self._out.faults:
            self._out.faults.add("", "no labels", f"rows with {', '.join(FIELDS[:5])}")
        faults = sorted(self._out.faults, key=lambda fault: line_number(fault.place))
        return LabelsReading(
            columns,
            self._found,
            tuple(labels.values()),
            self._out.groups(),
            tuple(sorted(self._out.rows, key=lambda fault: line_number(fault.place))),
            self._unknown_values(),
            tuple(self._refused),
            tuple(faults),
            self._out.faults.total - len(faults),
        )

    def _answer(self, cell: SaidCell) -> Label | None:
        """The answer, or None and a problem more."""
        if cell.known is None:
            if self._rubrics.every and any(problem.why == "criterion" for problem in cell.problems):
                return None
            return self._verdict(cell, join_place(cell.place, cell.column))
        if cell.known.is_check:
            place = join_place(cell.place, cell.column)
            fault = Fault(
                place, f"a label for the check {cell.known.name}", "no line: a check answers for itself"
            )
            cell.problems.append(RowProblem("check", fault, cell.criterion))
            return None
        answers = self._answers.get(id(cell.known))
        if answers is None:
            values = self._values.get(id(cell.known), set())
            numbers = {number for value in values if (number := number_of(value)) is not None}
            answers = CriterionValueReader(cell.criterion, cell.known, self._choices.values, numbers)
            self._answers[id(cell.known)] = answers
        answer = answers.read(cell.value, exact=self._exact)
        if answer is None:
            allowed = ALLOWED_VERDICTS if cell.known.is_binary else ", ".join(allowed_labels(cell.known))
            self._no_answer(cell, join_place(cell.place, cell.column), allowed)
        return answer

    def _verdict(self, cell: SaidCell, place: str) -> Verdict | None:
        """Without a rubric only verdicts are known."""
        try:
            return Verdict.parse(cell.value)
        except (ValueError, AttributeError):  # what is no text has no strip()
            self._no_answer(cell, place, ALLOWED_VERDICTS)
            return None

    def _no_answer(self, cell: SaidCell, place: str, allowed: str) -> None:
        if not says(cell.value):
            found = "nothing" if cell.value is None else shown(cell.value)
            cell.problems.append(RowProblem("empty", Fault(place, found, allowed)))
            return
        text = value_text(cell.value)
        name = shown(cell.value) if text is None else text[:SAMPLE_CHARACTERS]
        if text is not None and cell.known is not None and not cell.problems:
            key = (name, (*allowed_labels(cell.known), "-" if cell.known.weight < 0 else "+"))
            if key in self._unknown or len(self._unknown) < MAX_UNKNOWN:
                self._unknown.setdefault(key, Counter())[cell.criterion] += 1
        cell.problems.append(RowProblem("value", Fault(place, shown(cell.value), allowed), name))

    def _unknown_values(self) -> tuple[UnknownValue, ...]:
        found = [
            UnknownValue(encodable(value), sum(criteria.values()), tuple(criteria), allowed[:-1])
            for (value, allowed), criteria in self._unknown.items()
        ]
        return tuple(sorted(found, key=lambda one: -one.labels))
