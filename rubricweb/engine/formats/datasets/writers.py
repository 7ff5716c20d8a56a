"""Datasets written to files that ``read_dataset`` reads back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.dataset_values import MACHINES_KEY, DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.sources import NEUTRALISED
from rubricweb.engine.formats.formulas import neutralised
from rubricweb.engine.formats.label_provenance import PROVENANCE_KEY, decision_fields, provenance_fields
from rubricweb.engine.formats.parquet_files import write_parquet
from rubricweb.engine.formats.records import FileFormat
from rubricweb.engine.parsers.yaml_text import MAX_VALUES, dump_yaml


def write_dataset(file: DatasetFile, format: FileFormat) -> Iterator[bytes]:
    """The dataset as a file, in pieces: UTF-8 text, for Parquet its bytes.

    JSON, YAML and Parquet keep the dataset whole: ``read_dataset`` gives an equal one. JSONL and CSV have no
    place for what items share, so every line carries what is in force for it; the dataset's name is not in
    them. In CSV and Parquet an empty text (in CSV a blank one) reads back as missing, and a prompt that is a
    conversation written as JSON as that conversation. Raises InvalidFile for more than YAML is read with,
    other ValueErrors for another format or without pyarrow.
    """
    if format not in DATASET_FORMATS:
        raise ValueError(f"unknown dataset format {format!r}; allowed: {', '.join(DATASET_FORMATS)}")
    # Before the first piece: who writes a file while it is made could not take it back.
    if format == "yaml" and (values := _yaml_values(_whole(file))) > MAX_VALUES:
        allowed = f"at most {MAX_VALUES:,} in YAML, or the dataset as JSONL"
        raise InvalidFile([Fault("", f"{values:,} values", allowed)])
    return DATASET_FORMATS[format](file)


def header_fields(file: DatasetFile) -> dict[str, Any]:
    """What the items share, as the dataset object says it: autorubric's keys, prompt and rubric always."""
    fields: dict[str, Any] = {"name": file.name} if file.name else {}
    fields |= {"prompt": file.prompt, "rubric": None if file.rubric is None else file.rubric.to_nested_dict()}
    fields |= decision_fields(file.label_decisions)
    return fields if file.reference is None else fields | {"reference_submission": file.reference}


def item_fields(item: ItemRecord) -> dict[str, Any]:
    """One item as plain data with what is its own; what it does not have is left out."""
    fields: dict[str, Any] = {
        "id": item.id,
        "submission": item.submission,
        "description": item.description,
        "thinking": item.thinking,
        "prompt": item.prompt,
        "reference_submission": item.reference,
        "rubric": None if item.rubric is None else item.rubric.to_nested_dict(),
        "ground_truth": None if item.ground_truth is None else list(item.ground_truth),
        "ground_truth_reasons": (
            None if item.ground_truth_reasons is None else list(item.ground_truth_reasons)
        ),
        PROVENANCE_KEY: (
            None if item.ground_truth_provenance is None else provenance_fields(item.ground_truth_provenance)
        ),
        "labels": {rater: list(row) for rater, row in item.labels.items()} or None,
        "label_reasons": {rater: list(row) for rater, row in item.label_reasons.items()} or None,
        MACHINES_KEY: list(item.machine_raters) or None,
        "metadata": item.metadata or None,
        "case_id": item.case_id or None,
        "system": item.system or None,
        "attempt": item.attempt if item.attempt > 1 else None,
        "case_tags": list(item.case_tags) or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _in_force(file: DatasetFile, item: ItemRecord) -> dict[str, Any]:
    rubric = file.rubric_for(item)
    shared = {
        "prompt": file.prompt_for(item),
        "reference_submission": file.reference_for(item),
        "rubric": None if rubric is None else rubric.to_nested_dict(),
    }
    return item_fields(item) | {key: value for key, value in shared.items() if value is not None}


def _json(file: DatasetFile) -> Iterator[bytes]:
    yield b"{\n"
    for key, value in header_fields(file).items():
        yield f"{_text(key)}: {_text(value)},\n".encode()
    yield b'"items": ['
    separator = "\n"
    for item in file.items:
        yield (separator + _text(item_fields(item))).encode()
        separator = ",\n"
    yield b"\n]\n}\n"


def _jsonl(file: DatasetFile) -> Iterator[bytes]:
    for item in file.items:
        yield (_text(_in_force(file, item)) + "\n").encode()


def _csv(file: DatasetFile) -> Iterator[bytes]:
    rows = [_cells(_in_force(file, item)) for item in file.items]
    columns = [*dict.fromkeys(name for row in rows for name in row), NEUTRALISED]
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line([*(neutralised(row.get(name, "")) for name in columns[:-1]), "neutralised"])


def _whole(file: DatasetFile) -> dict[str, Any]:
    return header_fields(file) | {"items": [item_fields(item) for item in file.items]}


def _yaml_values(value: Any) -> int:
    """How many values plain data is as a YAML document, keys among them: ``{"a": [1, 2]}`` is 5."""
    if isinstance(value, dict):
        return 1 + sum(1 + _yaml_values(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return 1 + sum(map(_yaml_values, value))
    return 1


def _yaml(file: DatasetFile) -> Iterator[bytes]:
    # Through JSON, so that no two places share an object: YAML would write the second one as an alias.
    yield dump_yaml(json.loads(_text(_whole(file)))).encode()


def _parquet(file: DatasetFile) -> Iterator[bytes]:
    yield write_parquet([_cells(item_fields(item)) for item in file.items], header_fields(file))


DATASET_FORMATS: dict[FileFormat, Callable[[DatasetFile], Iterator[bytes]]] = {
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    "yaml": _yaml,
    "parquet": _parquet,
}
"""The formats a dataset can be written in, by the name of what they are read as."""


def _cells(fields: dict[str, Any]) -> dict[str, str]:
    """The fields as texts, lists and objects as JSON; what is empty is left out."""
    return {
        key: value if isinstance(value, str) else _text(value)
        for key, value in fields.items()
        if value not in ("", None)
    }


def _csv_line(cells: list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
