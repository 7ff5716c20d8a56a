"""Rubrics as files: JSON, YAML and tables; TOML is only read."""

from __future__ import annotations

import tomllib
from typing import Any, Literal, TypeAlias

from rubricweb.engine.errors import Fault, InvalidRubric, InvalidText
from rubricweb.engine.formats.foreign.verifiers_rubrics import as_our_rubric, is_verifiers_rubric
from rubricweb.engine.formats.tables.rubric_table_writer import write_rubric_table
from rubricweb.engine.formats.tables.rubric_tables import RubricTable, read_rubric_table
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.engine.rubric import MAX_SOURCE_BYTES, Rubric

RubricFormat: TypeAlias = Literal["json", "yaml", "csv"]


def read_rubric(data: bytes | str, *, filename: str = "") -> Rubric:
    """Read a rubric, as JSON, YAML, TOML or a table (CSV, TSV) by the file's name, by its first character
    when the name does not say. One of verifiers is read as ``as_our_rubric`` has it.

    Raises InvalidRubric with all faults, syntax errors by line and column.
    """
    if is_table(filename):
        return read_rubric_table(data)[0]
    try:
        text = decode(data, max_bytes=MAX_SOURCE_BYTES)
        parse = {"JSON": parse_json, "TOML": parse_toml, "YAML": parse_yaml}[taken_for(data, filename)]
        whole = parse(text)
    except InvalidText as error:
        raise InvalidRubric(error.faults) from None
    return Rubric.from_dict(as_our_rubric(whole) if is_verifiers_rubric(whole) else whole)


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML text says. Raises InvalidText with the place of what is none."""
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found, _, place = str(error).rstrip(")").partition(" (at ")
        raise InvalidText([Fault(place, found[:200], "valid TOML")]) from None


def rubric_columns(data: bytes | str, *, filename: str) -> RubricTable | None:
    """What the columns of a table were read as; None for a file that is none."""
    return read_rubric_table(data)[1] if is_table(filename) else None


def taken_for(data: bytes | str, filename: str) -> str:
    """The format a file is read as, in words."""
    if is_table(filename):
        return "a table"
    if filename.casefold().endswith(".toml"):
        return "TOML"
    return "JSON" if _is_json(data, filename) else "YAML"


def is_table(filename: str) -> bool:
    """Whether a file's name says that it is a table."""
    return filename.casefold().endswith((".csv", ".tsv"))


def write_rubric(rubric: Rubric, format: RubricFormat) -> str:
    """Write a rubric that ``read_rubric`` reads back as it was, a table (csv) as far as it can hold it, which
    ``write_rubric_table`` tells. Raises ValueError for another format.
    """
    if format == "json":
        return rubric.to_json()
    if format == "yaml":
        return rubric.to_yaml()
    if format == "csv":
        return write_rubric_table(rubric)[0]
    raise ValueError(f"unknown rubric format {format!r}; allowed: json, yaml, csv")


def _is_json(data: bytes | str, filename: str) -> bool:
    name = filename.casefold()
    if name.endswith((".json", ".yaml", ".yml")):
        return name.endswith(".json")
    start = data[:1000].decode("utf-8", "ignore") if isinstance(data, bytes) else data[:1000]
    return start.removeprefix("\ufeff").lstrip().startswith(("{", "["))
