"""Bytes of any readable format as one stream of records under a header."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rubricweb.engine.errors import Fault, FaultList, InvalidFile, InvalidText, join_place, nearest, shown
from rubricweb.engine.formats.dataset_values import DatasetHeader
from rubricweb.engine.formats.datasets.item_provenance import read_decisions
from rubricweb.engine.formats.field_values import read_prompt, read_text
from rubricweb.engine.formats.foreign import recognised_document, recognised_records
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.label_provenance import DECISIONS_KEY
from rubricweb.engine.formats.parquet_files import is_parquet, parquet_header, parquet_records
from rubricweb.engine.formats.records import (
    SUFFIXES,
    FileFormat,
    PlacedRecord,
    csv_records,
    format_of,
    jsonl_records,
    named,
)
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import check_text_file, decode
from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.engine.rubric import MAX_TITLE, check_rubric

DATASET_KEYS = ("name", "prompt", "rubric", "reference", "reference_submission", DECISIONS_KEY, "items")
"""What a dataset object may say."""

_ZIP = b"PK\x03\x04"

NEUTRALISED = "csv_cells"
"""The column by which our own CSV says that its formula-like cells carry a leading ``'``."""


READ_AS: dict[FileFormat, str] = {
    "json": "JSON of items",
    "jsonl": "JSON Lines of items",
    "csv": "a table of items",
    "yaml": "YAML of items",
    "parquet": "Parquet of items",
}
"""What a file of each format is taken for, in words."""

_SNIFFED_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An opened file: its format, what it says once, its records still to be read.

    ``recognised`` names another program's format, the records are then its translation; ``cells`` says that
    lists and objects stand as JSON in text cells, ``broken`` that some records were none.
    """

    format: FileFormat
    header: DatasetHeader
    records: Iterator[PlacedRecord]
    recognised: str = ""
    cells: bool = False
    broken: bool = False


def taken_for(data: bytes | Path, filename: str) -> str:
    """What a file is read as, in words: by its name, or by its content when the name does not say.

    "" for a file of no format of ours.
    """
    if isinstance(data, Path):
        with data.open("rb") as file:
            data = file.read(_SNIFFED_BYTES)
    if is_parquet(data) or data.startswith(_ZIP):
        return READ_AS["parquet"] if is_parquet(data) else ""
    format = format_of(filename) or _sniffed(data[:_SNIFFED_BYTES].decode("utf-8-sig", "ignore"))
    return "" if format is None or format == "parquet" else READ_AS[format]


def open_source(
    data: bytes | Path,
    filename: str,
    max_bytes: int,
    faults: FaultList,
    needs: Iterable[str] = (),
    *,
    may_be_empty: bool = False,
    translated: bool = True,
) -> OpenedFile:
    """Open a dataset file in the format its name says, or its content when the name does not.

    ``needs`` are keys a dataset object must have; where it ``may_be_empty``, one with ``rubric`` may leave
    out ``items``. Other programs' files are translated unless records are wanted as they are. Raises
    InvalidFile for what is no such file at all; faults inside go to ``faults``. Of a path, CSV and JSONL are
    read as their records are asked for, other formats at once.
    """
    if isinstance(data, Path):
        if (format := _streamed_format(data, filename)) is not None:
            return _streamed(data, format, max_bytes, faults)
        data = data.read_bytes()
    if is_parquet(data):
        return _parquet(data, max_bytes, faults)
    _refuse_archives(data, filename)
    try:
        text = decode(data, max_bytes=max_bytes)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    format = format_of(filename) or _sniffed(text)
    if format is None or format == "parquet":
        allowed = f"a name ending in {', '.join(SUFFIXES)}" if format is None else "a Parquet file"
        _refuse(f"a file named {filename!r}", allowed)
    if format == "csv":
        return OpenedFile(
            "csv", DatasetHeader(), _restored(csv_records(text, faults, InvalidFile)), cells=True
        )
    if format == "jsonl":
        records = jsonl_records(text, faults)
        return (
            _records("jsonl", records, faults)
            if translated
            else OpenedFile("jsonl", DatasetHeader(), records)
        )
    try:
        whole = parse_json(text) if format == "json" else parse_yaml(text)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    if isinstance(whole, list):
        listed = _listed(whole, faults)
        return _records(format, listed, faults) if translated else OpenedFile(format, DatasetHeader(), listed)
    return _document(format, whole, faults, needs, may_be_empty)


def _streamed_format(path: Path, filename: str) -> FileFormat | None:
    """CSV or JSONL, where the name says so and the content nothing else."""
    with path.open("rb") as file:
        beginning = file.read(8)
    format = format_of(filename)
    is_other = is_parquet(beginning) or beginning.startswith(_ZIP)
    return format if format in ("csv", "jsonl") and not is_other else None


def _streamed(path: Path, format: FileFormat, max_bytes: int, faults: FaultList) -> OpenedFile:
    try:
        check_text_file(path, max_bytes=max_bytes)
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    if format == "jsonl":
        lines = path.open(encoding="utf-8-sig", newline="\n")
        return _records("jsonl", _closing(jsonl_records(lines, faults), lines), faults)
    lines = path.open(encoding="utf-8-sig", newline="")
    records = _restored(csv_records(lines, faults, InvalidFile))
    return OpenedFile("csv", DatasetHeader(), _closing(records, lines), cells=True)


def _closing(records: Iterator[PlacedRecord], file: TextIO) -> Iterator[PlacedRecord]:
    with file:
        yield from records


def _records(format: FileFormat, records: Iterator[PlacedRecord], faults: FaultList) -> OpenedFile:
    """Records as they are, or their translation when the first one has another program's shape."""
    first = next(records, None)
    if first is None:
        return OpenedFile(format, DatasetHeader(), iter(()))
    everything = itertools.chain([first], records)
    foreign = recognised_records(first.data)
    if foreign is None:
        return OpenedFile(format, DatasetHeader(), everything)
    objects = list(everything)
    broken = bool(faults)
    translation = foreign.translate(objects, faults)
    translated = iter(translation.records)
    return OpenedFile(format, translation.header, translated, foreign.title, broken=broken)


def _document(
    format: FileFormat, whole: Any, faults: FaultList, needs: Iterable[str], may_be_empty: bool
) -> OpenedFile:
    if isinstance(whole, dict) and "items" not in whole:
        foreign = recognised_document(whole)
        if foreign is not None:
            translation = foreign.translate(whole, faults)
            return OpenedFile(format, translation.header, iter(translation.records), foreign.title)
        if may_be_empty and "rubric" in whole:
            whole = {**whole, "items": []}
    if not isinstance(whole, dict) or "items" not in whole:
        _refuse(shown(whole), "a list of items, or a dataset object with items")
    for key in needs:
        if key not in whole and not (key == "prompt" and _all_have_prompts(whole["items"])):
            faults.add(key, "nothing", f"the key {key} (null where it has none)")
    header = read_header(whole, faults)
    items = whole["items"]
    if not isinstance(items, list):
        faults.add("items", shown(items), "a list of items")
        items = []
    return OpenedFile(format, header, _listed(items, faults))


def _listed(items: Iterable[Any], faults: FaultList) -> Iterator[PlacedRecord]:
    for i, item in enumerate(items):
        place = f"items[{i}]"
        if not isinstance(item, dict):
            faults.add(place, shown(item), "an object with a submission")
            continue
        record = {str(key): value for key, value in item.items()}
        if len(record) == len(item):
            yield PlacedRecord(place, named(record))
            continue
        for key, count in Counter(map(str, item)).items():
            if count > 1:
                faults.add(join_place(place, key), "this key twice", "each key once")


def read_header(whole: Mapping[Any, Any], faults: FaultList) -> DatasetHeader:
    """What a dataset object says beside its items; unknown keys are refused into ``faults``."""
    for key in whole:
        if key not in DATASET_KEYS:
            faults.add(str(key), "an unknown key", nearest(str(key), DATASET_KEYS))
    reference_key = "reference" if whole.get("reference") is not None else "reference_submission"
    rubric_data = whole.get("rubric")
    rubric = None if rubric_data is None else check_rubric(rubric_data, faults, "rubric")
    return DatasetHeader(
        name=_name(whole.get("name"), faults),
        # autorubric's files have a prompt in any case: an empty text where there is none.
        prompt=read_prompt(whole.get("prompt"), "prompt", faults) or None,
        rubric=rubric,
        rubric_is_faulty=rubric is None and rubric_data is not None,
        reference=read_text(whole.get(reference_key), reference_key, faults),
        label_decisions=read_decisions(whole.get(DECISIONS_KEY), DECISIONS_KEY, faults),
    )


def _name(value: Any, faults: FaultList) -> str:
    name = (read_text(value, "name", faults) or "").strip()
    if len(name) > MAX_TITLE:
        faults.add("name", f"{len(name):,} characters", f"at most {MAX_TITLE}")
    return name


def _parquet(data: bytes, max_bytes: int, faults: FaultList) -> OpenedFile:
    whole = parquet_header(data, max_bytes)
    header = DatasetHeader() if whole is None else read_header(whole, faults)
    return OpenedFile("parquet", header, parquet_records(data, max_bytes), cells=True)


def _restored(records: Iterator[PlacedRecord]) -> Iterator[PlacedRecord]:
    for record in records:
        if NEUTRALISED in record.data:
            cells = {name: restored(cell) for name, cell in record.data.items() if name != NEUTRALISED}
            yield PlacedRecord(record.place, cells)
        else:
            yield record


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


def _refuse_archives(data: bytes, filename: str) -> None:
    if not data.startswith(_ZIP):
        return
    if filename.casefold().endswith(".eval"):
        _refuse(
            "an Inspect log in its archive form (.eval)",
            "the same log as JSON (inspect log convert --to json)",
        )
    _refuse("a zip archive", f"one file with a name ending in {', '.join(SUFFIXES)}")


def _refuse(found: str, allowed: str) -> NoReturn:
    raise InvalidFile([Fault("", found, allowed)])


def _all_have_prompts(items: Any) -> bool:
    """Whether no item needs the dataset's prompt, as autorubric 1.6 leaves it out."""
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, dict) and item.get("prompt") is not None for item in items)
    )
