"""Datasets as files: autorubric's JSON, plain lists of items, JSONL, CSV, YAML."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rubricweb.engine.errors import FaultList, InvalidFile, InvalidText, join_place, nearest, shown
from rubricweb.engine.formats.records import (
    MAX_FILE_BYTES,
    SUFFIXES,
    FileFormat,
    PlacedRecord,
    csv_records,
    format_of,
    jsonl_records,
)
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode, unstorable
from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.engine.rubric import MAX_TITLE, Rubric, check_rubric
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Verdict

Prompt: TypeAlias = str | list[dict[str, Any]]
"""A task as text, or as a chat array of turns with ``role`` and ``content``."""

MAX_ID = 190
"""Characters of an id in a file; a numbered id (``id#2``) stays within 200."""

ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "item_id"),
    "submission": ("submission", "output", "response", "completion", "answer"),
    "thinking": ("thinking",),
    "prompt": ("prompt", "input", "query", "question"),
    "reference": ("reference", "reference_submission", "ideal", "expected", "target"),
    "rubric": ("rubric",),
    "description": ("description",),
    "ground_truth": ("ground_truth",),
    "ground_truth_reasons": ("ground_truth_reasons",),
    "metadata": ("metadata",),
}
"""Per field the keys it may stand under, best first; a second match in one item stays behind as metadata."""

_STRUCTURED = ("prompt", "rubric", "metadata", "ground_truth", "ground_truth_reasons")
"""Fields whose values are lists or objects, which a CSV cell holds as JSON."""

_DATASET_KEYS = ("name", "prompt", "rubric", "reference", "reference_submission", "items")


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One item as the file has it.

    ``prompt``, ``reference`` and ``rubric`` are the item's own: None means "as the dataset says".
    ``ground_truth`` and its reasons have one entry per criterion of the rubric in force, None where nobody
    decided; None as a whole when the item is not labelled. Everything the file says beyond the known fields
    is ``metadata``.
    """

    id: str
    submission: str
    thinking: str | None = None
    prompt: Prompt | None = None
    reference: str | None = None
    rubric: Rubric | None = None
    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    ground_truth: tuple[str | None, ...] | None = None
    ground_truth_reasons: tuple[str | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A dataset as the file has it; what the file does not say is None (``name``: empty)."""

    name: str
    prompt: Prompt | None
    rubric: Rubric | None
    reference: str | None
    items: tuple[ItemRecord, ...]

    def rubric_for(self, item: ItemRecord) -> Rubric | None:
        """The rubric in force for an item: its own, else the dataset's."""
        return self.rubric if item.rubric is None else item.rubric

    def prompt_for(self, item: ItemRecord) -> Prompt | None:
        """The prompt in force for an item: its own, else the dataset's."""
        return self.prompt if item.prompt is None else item.prompt

    def reference_for(self, item: ItemRecord) -> str | None:
        """The reference in force for an item: its own, else the dataset's."""
        return self.reference if item.reference is None else item.reference


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a dataset file: columns, first rows, and the column each field would come from."""

    format: FileFormat
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    mapping: dict[str, str]


def read_dataset(
    data: bytes,
    *,
    filename: str,
    columns: Mapping[str, str] | None = None,
    max_bytes: int = MAX_FILE_BYTES,
) -> DatasetFile:
    """Read a whole dataset file, in the format its name says, or its content when the name does not.

    ``columns`` says field by field (the keys of ALIASES) which column to read it from, an empty text that
    it is not in the file; fields it leaves out are found by their usual names. Items without an id get one
    derived from their content, the same on every import. A submission that comes again under another
    rubric of its own may repeat its id: such items are numbered ``id#2``, ``id#3``.

    Raises InvalidFile with all faults at once, each placed by line or ``items[i]``: what is no text, no
    submission, repeated ids, rubrics with faults, ground truth of the wrong length or with unknown labels.
    """
    text, format = _text_and_format(data, filename, max_bytes)
    faults = FaultList()
    explicit = _checked_columns(columns, faults)
    header, records = _opened(text, format, faults)
    reader = _ItemReader(header, explicit, cells=format == "csv", faults=faults)
    items = tuple(item for record in records if (item := reader.read(record)) is not None)
    reader.check_whole(empty=not items)
    faults.raise_as(InvalidFile)
    return DatasetFile(header.name, header.prompt, header.rubric, header.reference, items)


def preview(data: bytes, filename: str, rows: int = 5, *, max_bytes: int = MAX_FILE_BYTES) -> Preview:
    """Show the first ``rows`` records as they are written, with a guess which column is which field.

    Raises InvalidFile when not even that can be read; faults further down are left to ``read_dataset``.
    """
    text, format = _text_and_format(data, filename, max_bytes)
    faults = FaultList()
    _, records = _opened(text, format, faults)
    first = tuple(record.data for record in itertools.islice(records, rows))
    if not first:
        faults.raise_as(InvalidFile)
    columns = tuple(dict.fromkeys(str(key) for record in first for key in record))
    return Preview(format, columns, first, _guessed(columns, {}))


@dataclass(frozen=True, slots=True)
class _Header:
    name: str = ""
    prompt: Prompt | None = None
    rubric: Rubric | None = None
    rubric_is_faulty: bool = False
    reference: str | None = None


def _text_and_format(data: bytes, filename: str, max_bytes: int) -> tuple[str, FileFormat]:
    try:
        text = decode(data, max_bytes=max_bytes)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    format = format_of(filename) or _sniffed(text)
    if format is None:
        faults = FaultList()
        faults.add("", f"a file named {filename!r}", f"a name ending in {', '.join(SUFFIXES)}")
        faults.raise_as(InvalidFile)
        raise AssertionError  # raise_as has raised
    return text, format


def _sniffed(text: str) -> FileFormat | None:
    start = text.lstrip()
    if start.startswith("["):
        return "json"
    if not start.startswith("{"):
        return None
    try:
        parse_json(start.split("\n", 1)[0])
    except InvalidText:
        return "json"
    return "jsonl" if "\n" in start.rstrip() else "json"


def _opened(text: str, format: FileFormat, faults: FaultList) -> tuple[_Header, Iterator[PlacedRecord]]:
    if format == "csv":
        return _Header(), csv_records(text, faults, InvalidFile)
    if format == "jsonl":
        return _Header(), jsonl_records(text, faults)
    try:
        whole = parse_json(text) if format == "json" else parse_yaml(text)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    if isinstance(whole, list):
        return _Header(), _listed(whole, faults)
    if not isinstance(whole, dict) or "items" not in whole:
        faults.add("", shown(whole), "a list of items, or a dataset object with items")
        faults.raise_as(InvalidFile)
    header = _header(whole, faults)
    items = whole["items"]
    if not isinstance(items, list):
        faults.add("items", shown(items), "a list of items")
        items = []
    return header, _listed(items, faults)


def _listed(items: Iterable[Any], faults: FaultList) -> Iterator[PlacedRecord]:
    for i, item in enumerate(items):
        if isinstance(item, dict):
            yield PlacedRecord(f"items[{i}]", {str(key): value for key, value in item.items()})
        else:
            faults.add(f"items[{i}]", shown(item), "an object with a submission")


def _header(whole: Mapping[Any, Any], faults: FaultList) -> _Header:
    for key in whole:
        if key not in _DATASET_KEYS:
            faults.add(str(key), "an unknown key", nearest(str(key), _DATASET_KEYS))
    reference_key = "reference" if whole.get("reference") is not None else "reference_submission"
    rubric_data = whole.get("rubric")
    rubric = None if rubric_data is None else check_rubric(rubric_data, faults, "rubric")
    return _Header(
        name=_name(whole.get("name"), faults),
        prompt=_prompt(whole.get("prompt"), "prompt", faults),
        rubric=rubric,
        rubric_is_faulty=rubric is None and rubric_data is not None,
        reference=_text(whole.get(reference_key), reference_key, faults),
    )


def _name(value: Any, faults: FaultList) -> str:
    name = (_text(value, "name", faults) or "").strip()
    if len(name) > MAX_TITLE:
        faults.add("name", f"{len(name):,} characters", f"at most {MAX_TITLE}")
    return name


class _ItemReader:
    """Turns records into items one by one, remembering what must hold for all of them together."""

    def __init__(
        self, header: _Header, explicit: Mapping[str, str], *, cells: bool, faults: FaultList
    ) -> None:
        self.header = header
        self.explicit = explicit
        self.cells = cells
        self.faults = faults
        self.places_by_id: dict[str, str] = {}
        self.graded_by_id: dict[str, object] = {}
        self.columns_seen: set[str] = set()
        self.any_record = False

    def read(self, record: PlacedRecord) -> ItemRecord | None:
        before = self.faults.total
        self.any_record = True
        self.columns_seen.update(record.data)
        mapping = _guessed(record.data, self.explicit)
        place = record.place
        values: dict[str, Any] = {name: record.data.get(column) for name, column in mapping.items()}
        if self.cells:
            values = {name: self._cell(name, value, place) for name, value in values.items()}

        submission, thinking = self._submission(values, mapping, place)
        prompt = _prompt(values.get("prompt"), _at(place, mapping, "prompt"), self.faults)
        reference = _text(values.get("reference"), _at(place, mapping, "reference"), self.faults)
        description = _text(values.get("description"), _at(place, mapping, "description"), self.faults)
        rubric, rubric_is_faulty = self._rubric(values.get("rubric"), _at(place, mapping, "rubric"))
        in_force = rubric or (None if rubric_is_faulty else self.header.rubric)
        labels_unchecked = rubric_is_faulty or (rubric is None and self.header.rubric_is_faulty)
        truth = self._ground_truth(values.get("ground_truth"), in_force, labels_unchecked, place)
        reasons = self._reasons(values.get("ground_truth_reasons"), truth, labels_unchecked, place)
        metadata = self._metadata(values.get("metadata"), record, set(mapping.values()), place)
        id_place = _at(place, mapping, "id")
        given_id = self._given_id(values.get("id"), id_place)
        graded = (submission, thinking, _canonical(prompt), reference) if rubric is not None else None
        id = self._own_id(given_id, graded, place, id_place)
        if self.faults.total > before or submission is None:
            return None
        if id is None:
            id = self._content_id(submission, thinking, prompt, reference, rubric)
            self.places_by_id[id] = place
        return ItemRecord(
            id, submission, thinking, prompt, reference, rubric, description or "", metadata, truth, reasons
        )

    def check_whole(self, *, empty: bool) -> None:
        """What only shows at the end: no items at all, columns named by the caller that no item has."""
        if empty and not self.faults:
            self.faults.add("items", "no items", "at least one item")
        if not self.any_record:
            return
        for name, column in self.explicit.items():
            if name in ALIASES and column and column not in self.columns_seen:
                self.faults.add(
                    f"columns.{name}", f"the column {column!r}", nearest(column, sorted(self.columns_seen))
                )

    def _cell(self, name: str, value: Any, place: str) -> Any:
        """A CSV cell as the value it stands for: lists and objects are written into cells as JSON."""
        if value is None or name not in _STRUCTURED:
            return value
        text = str(value).strip()
        if name == "prompt" and not (text.startswith("[") and _is_chat_text(text)):
            return value
        if name == "ground_truth" and not text.startswith("["):
            mark = next((mark for mark in ("|", ";", ",") if mark in text), ",")
            return [label.strip() or None for label in text.split(mark)]
        try:
            return parse_json(text)
        except InvalidText as error:
            self.faults.add(join_place(place, name), error.faults[0].found, "JSON in this cell")
            return None

    def _submission(
        self, values: Mapping[str, Any], mapping: Mapping[str, str], place: str
    ) -> tuple[str | None, str | None]:
        value: Any = values.get("submission")
        thinking: Any = values.get("thinking")
        here = _at(place, mapping, "submission")
        if isinstance(value, dict) and set(value) <= {"thinking", "output"} and thinking is None:
            value, thinking = value.get("output"), value.get("thinking")
        if value is None:
            self.faults.add(here, "nothing", f"the text to grade, as {' or '.join(ALIASES['submission'])}")
        elif isinstance(value, str) and not value.strip():
            self.faults.add(here, "an empty text", "the text to grade")
        elif not isinstance(value, str):
            self.faults.add(here, shown(value), "text (structured data as a JSON text)")
        submission = _text(value, here, self.faults) if isinstance(value, str) else None
        return submission, _text(thinking, _at(place, mapping, "thinking"), self.faults)

    def _rubric(self, value: Any, place: str) -> tuple[Rubric | None, bool]:
        if value is None:
            return None, False
        rubric = check_rubric(value, self.faults, place)
        return rubric, rubric is None

    def _ground_truth(
        self, value: Any, rubric: Rubric | None, unchecked: bool, place: str
    ) -> tuple[str | None, ...] | None:
        place = join_place(place, "ground_truth")
        if value is None or unchecked:
            return None
        if not isinstance(value, list):
            self.faults.add(place, shown(value), f"a list of {ALLOWED_VERDICTS} or null, one per criterion")
            return None
        if rubric is not None and len(value) != len(rubric.criteria):
            self.faults.add(place, f"{len(value)} labels", f"{len(rubric.criteria)}, one per criterion")
        labels: list[str | None] = []
        for i, label in enumerate(value):
            try:
                labels.append(None if label is None else Verdict.parse(label))
            except (ValueError, AttributeError):  # a label that is no text has no strip()
                self.faults.add(f"{place}[{i}]", shown(label), f"{ALLOWED_VERDICTS} or null")
        return tuple(labels)

    def _reasons(
        self, value: Any, truth: tuple[str | None, ...] | None, unchecked: bool, place: str
    ) -> tuple[str | None, ...] | None:
        place = join_place(place, "ground_truth_reasons")
        if value is None or unchecked:
            return None
        if not isinstance(value, list):
            self.faults.add(place, shown(value), "a list of texts or null, one per criterion")
            return None
        if truth is None:
            self.faults.add(place, "reasons without ground_truth", "reasons beside the labels they explain")
        elif len(value) != len(truth):
            self.faults.add(place, f"{len(value)} reasons", f"{len(truth)}, one per label")
        return tuple(_text(reason, f"{place}[{i}]", self.faults) for i, reason in enumerate(value))

    def _metadata(self, value: Any, record: PlacedRecord, used: set[str], place: str) -> dict[str, Any]:
        metadata = {key: extra for key, extra in record.data.items() if key not in used and extra is not None}
        if value is not None and not isinstance(value, dict):
            self.faults.add(join_place(place, "metadata"), shown(value), "an object")
        elif value is not None:
            for key, given in value.items():
                if str(key) in metadata:
                    twice = f"{str(key)!r} both here and in the item itself"
                    self.faults.add(join_place(place, "metadata"), twice, "each key in one place")
                metadata[str(key)] = given
        return {
            key: _storable(given, join_place(place, f"metadata.{key}"), self.faults)
            for key, given in metadata.items()
        }

    def _given_id(self, value: Any, place: str) -> str | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.faults.add(place, shown(value), "a text or a whole number")
            return None
        id = str(value).strip()
        if not id:
            self.faults.add(place, "an empty text", "a text or a whole number, or no id at all")
        elif len(id) > MAX_ID:
            self.faults.add(place, f"{len(id):,} characters", f"at most {MAX_ID}")
        elif unstorable(id):
            self.faults.add(place, str(unstorable(id)), "text")
        return id or None

    def _own_id(self, id: str | None, graded: object, place: str, id_place: str) -> str | None:
        """The id, numbered ``id#2``, ``id#3`` where a submission comes again under a rubric of its own.

        An id names a submission, so it may only come again with that very submission (``graded``, None for
        items without a rubric of their own); anything else under a used id is a fault.
        """
        if id is None:
            return None
        if id not in self.places_by_id:
            self.places_by_id[id] = place
            self.graded_by_id[id] = graded
            return id
        if graded is None or self.graded_by_id.get(id) != graded:
            allowed = (
                "ids that occur once (the same submission may come again with another rubric of its own), "
                "or no id column: ids then follow from the content"
            )
            self.faults.add(id_place, f"{shown(id)} again (as {self.places_by_id[id]})", allowed)
            return id
        numbered = next(
            one for number in itertools.count(2) if (one := f"{id}#{number}") not in self.places_by_id
        )
        self.places_by_id[numbered] = place
        return numbered

    def _content_id(
        self,
        submission: str,
        thinking: str | None,
        prompt: Prompt | None,
        reference: str | None,
        rubric: Rubric | None,
    ) -> str:
        """An id that only depends on what is graded; items of equal content are numbered in file order."""
        content = [submission, thinking, prompt, reference, None if rubric is None else rubric.to_dict()]
        base = "auto-" + hashlib.sha256(_canonical(content).encode()).hexdigest()[:16]
        numbered = (base if number == 1 else f"{base}-{number}" for number in itertools.count(1))
        return next(id for id in numbered if id not in self.places_by_id)


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _checked_columns(columns: Mapping[str, str] | None, faults: FaultList) -> dict[str, str]:
    for name in columns or {}:
        if name not in ALIASES:
            faults.add(f"columns.{name}", "an unknown field", nearest(name, ALIASES))
    return dict(columns or {})


def _guessed(columns: Iterable[str], explicit: Mapping[str, str]) -> dict[str, str]:
    """Which column each field is read from: the one named explicitly, else the first alias that is there."""
    by_alias: dict[str, str] = {}
    for column in columns:
        by_alias.setdefault(column.strip().casefold().replace(" ", "_").replace("-", "_"), column)
    named = set(explicit.values())
    mapping: dict[str, str] = {}
    for name, aliases in ALIASES.items():
        if name in explicit:
            if explicit[name]:
                mapping[name] = explicit[name]
            continue
        found = next((by_alias[alias] for alias in aliases if alias in by_alias), None)
        if found is not None and found not in named:
            mapping[name] = found
    return mapping


def _at(place: str, mapping: Mapping[str, str], name: str) -> str:
    return join_place(place, mapping.get(name) or name)


def _text(value: Any, place: str, faults: FaultList) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        faults.add(place, shown(value), "text")
        return None
    broken = unstorable(value)
    if broken:
        faults.add(place, broken, "text")
        return None
    return value


def _prompt(value: Any, place: str, faults: FaultList) -> Prompt | None:
    if not isinstance(value, list):
        return _text(value, place, faults)
    if not value:
        faults.add(place, "an empty list", "a text, or a list of turns with role and content")
        return None
    turns: list[dict[str, Any]] = []
    for i, turn in enumerate(value):
        here = f"{place}[{i}]"
        if not isinstance(turn, dict):
            faults.add(here, shown(turn), "an object with role and content")
            continue
        role, content = turn.get("role"), turn.get("content")
        if not isinstance(role, str) or not role.strip():
            faults.add(join_place(here, "role"), shown(role), "who speaks, such as user or assistant")
        if not isinstance(content, str | list | None):
            faults.add(join_place(here, "content"), shown(content), "text, or a list of parts")
        turns.append(_storable(turn, here, faults))
    return turns


def _is_chat_text(text: str) -> bool:
    try:
        value = parse_json(text)
    except InvalidText:
        return False
    return isinstance(value, list) and all(isinstance(turn, dict) and "role" in turn for turn in value)


def _storable(value: Any, place: str, faults: FaultList) -> Any:
    """The value with text keys throughout; what JSON columns refuse (NaN, infinities, NUL) is a fault."""
    if isinstance(value, dict):
        return {
            str(key): _storable(inner, join_place(place, str(key)), faults) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_storable(inner, f"{place}[{i}]", faults) for i, inner in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        faults.add(place, shown(value), "a finite number or null")
    elif isinstance(value, str) and (broken := unstorable(value)):
        faults.add(place, broken, "text")
    return value
