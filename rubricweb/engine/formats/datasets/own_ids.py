"""A column of ids that its users have given under a name of their own, such as ``question_id``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rubricweb.engine.errors import FaultList
from rubricweb.engine.formats.dataset_values import ALIASES, plain_column
from rubricweb.engine.formats.field_values import read_id
from rubricweb.engine.formats.records import PlacedRecord

PREFERRED = ("uid", "uuid", "guid", "key", "example_id", "sample_id", "question_id", "prompt_id", "task_id")
"""Names of such columns, best first; then any that ends like an id, in the order of the file.

Counters of rows (``index``, ``row_id``) are none: they begin anew in every file.
"""

_ENDS_LIKE_AN_ID = re.compile(r".+(?:_(?:id|uid|uuid|guid|key)|[a-z](?:Id|ID))\Z")
_COUNTERS = ("row_id", "line_id")
_GIVEN = (*ALIASES["id"], *ALIASES["case_id"])


def own_id_candidates(record: Mapping[str, Any], explicit: Mapping[str, str]) -> list[str]:
    """The columns of a record that may be such ids by their names; none where it has an id or a case."""
    if "id" in explicit or explicit.get("case_id"):
        return []
    names = {column: plain_column(column) for column in record}
    if any(name in _GIVEN for name in names.values()):
        return []
    taken = set(explicit.values())
    found = [
        column
        for column, name in names.items()
        if column not in taken
        and name not in _COUNTERS
        and (name in PREFERRED or _ENDS_LIKE_AN_ID.match(name) or _ENDS_LIKE_AN_ID.match(column.strip()))
    ]
    order = {name: place for place, name in enumerate(PREFERRED)}
    return sorted(found, key=lambda column: order.get(names[column], len(order)))


def own_id_column(records: Iterable[PlacedRecord], candidates: Iterable[str]) -> str:
    """The first of these columns that says an id in every record and none of them twice; "" for none."""
    seen: dict[str, set[str]] = {column: set() for column in candidates}
    for record in records:
        for column in [*seen]:
            faults = FaultList()
            id = read_id(record.data.get(column), "", faults)
            if id is None or faults or id in seen[column]:
                del seen[column]
            else:
                seen[column].add(id)
        if not seen or any(plain_column(key) in _GIVEN for key in record.data):
            return ""
    return next(iter(seen), "")
