"""Rubrics as files: JSON and YAML."""

from __future__ import annotations

from typing import Literal, TypeAlias

from rubricweb.engine.rubric import Rubric

RubricFormat: TypeAlias = Literal["json", "yaml"]


def read_rubric(data: bytes | str, *, filename: str = "") -> Rubric:
    """Read a rubric, as JSON or YAML by the file's name, by its first character when the name does not say.

    Raises InvalidRubric with all faults, syntax errors by line and column.
    """
    return Rubric.from_json(data) if _is_json(data, filename) else Rubric.from_yaml(data)


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
