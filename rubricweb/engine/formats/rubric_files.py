"""Rubrics as files: JSON and YAML, and tables to read."""

from __future__ import annotations

from typing import Literal, TypeAlias

from rubricweb.engine.formats.tables.rubric_tables import read_rubric_table
from rubricweb.engine.rubric import Rubric

RubricFormat: TypeAlias = Literal["json", "yaml"]


def read_rubric(data: bytes | str, *, filename: str = "") -> Rubric:
    """Read a rubric, as JSON, YAML or a table (CSV, TSV) by the file's name, by its first character when the
    name does not say.

    Raises InvalidRubric with all faults, syntax errors by line and column.
    """
    if is_table(filename):
        return read_rubric_table(data)[0]
    return Rubric.from_json(data) if _is_json(data, filename) else Rubric.from_yaml(data)


def rubric_columns(data: bytes | str, *, filename: str) -> str:
    """What the columns of a table were read as, in words; "" for a file that is none."""
    return read_rubric_table(data)[1] if is_table(filename) else ""


def taken_for(data: bytes | str, filename: str) -> str:
    """The format a file is read as, in words."""
    return "a table" if is_table(filename) else "JSON" if _is_json(data, filename) else "YAML"


def is_table(filename: str) -> bool:
    """Whether a file's name says that it is a table."""
    return filename.casefold().endswith((".csv", ".tsv"))


def write_rubric(rubric: Rubric, format: RubricFormat) -> str:
    """Write a rubric that ``read_rubric`` reads back as it was. Raises ValueError for another format."""
    if format == "json":
        return rubric.to_json()
    if format == "yaml":
        return rubric.to_yaml()
    raise ValueError(f"unknown rubric format {format!r}; allowed: json, yaml")


def _is_json(data: bytes | str, filename: str) -> bool:
    name = filename.casefold()
    if name.endswith((".json", ".yaml", ".yml")):
        return name.endswith(".json")
    start = data[:1000].decode("utf-8", "ignore") if isinstance(data, bytes) else data[:1000]
    return start.removeprefix("\ufeff").lstrip().startswith(("{", "["))
