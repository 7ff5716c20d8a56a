"""Which column of a file each field of an item is read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rubricweb.engine.formats.dataset_values import ALIASES, SUGGESTIONS, plain_column


def guessed_columns(columns: Iterable[str], explicit: Mapping[str, str]) -> dict[str, str]:
    """Which column each field is read from: the one named explicitly, else the first alias that is there."""
    by_alias: dict[str, str] = {}
    for column in columns:
        by_alias.setdefault(plain_column(column), column)
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


def preview_columns(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Which column each field of these first rows is read from."""
    mapping = guessed_columns(columns, {})
    read: set[str] = set()
    for row in rows:
        of_row = guessed_columns(row, {})
        leave_unsure(of_row, row, {})
        read |= of_row.keys()
    return {field: column for field, column in mapping.items() if field in read or field not in _UNSURE}


_UNSURE = ("system", "attempt")


def leave_unsure(mapping: dict[str, str], row: Mapping[str, Any], explicit: Mapping[str, str]) -> None:
    """Takes out what alone is metadata: a column "system" often holds a prompt, and "attempt" anything."""
    system = row.get(mapping.get("system", ""))
    names_version = isinstance(system, str) and "@" in system
    if "system" not in explicit and "case_id" not in mapping and not names_version:
        mapping.pop("system", None)
    if "attempt" not in explicit and not {"case_id", "system"} & mapping.keys():
        mapping.pop("attempt", None)


def suggested_columns(columns: Iterable[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Per field that no column is read as, a column that may be it by its name."""
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(plain_column(column), column)
    free = {
        field: next((by_name[name] for name in names if name in by_name), None)
        for field, names in SUGGESTIONS.items()
        if field not in mapping
    }
    return {field: column for field, column in free.items() if column and column not in mapping.values()}
