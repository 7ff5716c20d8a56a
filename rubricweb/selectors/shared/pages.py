"""Keyset pages: stable while rows are added, equally fast on the last page as on the first."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from rubricweb.errors import Invalid

Row = TypeVar("Row", bound=Model)
CURSOR_CHARACTERS = 300
"""The longest cursor: numbers and times, never a text, so that an address with one stays short enough.

The longest list of them is the inbox of adjudication: six numbers of at most 24 characters, 208 in base64.
"""
SEARCH_CHARACTERS = 200
"""The longest text to search a list for: it stands in the same address, in up to twelve characters each."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`rows` of one page; `next_cursor` opens the following page, None on the last one."""

    rows: tuple[Row, ...]
    next_cursor: str | None


def keyset_page(
    rows: QuerySet[Row],
    *,
    order: Sequence[str],
    cursor: str | None = None,
    size: int = 50,
    among: QuerySet[Row] | None = None,
) -> Page[Row]:
    """The page of `rows` after `cursor`, ordered by `order` (not-null fields, the last one a unique number).

    `order` comes from code, never from a request. A text to order by stands in no cursor: it is looked up in
    the row the last page ended with, by one query more, and `among` these where that row may be none of
    `rows` by now. Raises Invalid for a cursor that is not ours.
    """
    if not 1 <= size <= 500:
        raise Invalid(f"A page holds 1 to 500 rows, not {size}.")
    if cursor:
        try:
            place = _whole(rows if among is None else among, order, _decode(cursor, len(order)))
            rows = rows.filter(_after(order, place))
        except (ValueError, TypeError, OverflowError, RecursionError, ValidationError) as error:
            # A made-up cursor holds what the fields it is compared with cannot.
            raise not_ours() from error
    found = list(rows.order_by(*order)[: size + 1])
    more = len(found) > size
    found = found[:size]
    return Page(tuple(found), _encode(found[-1], order) if more else None)


def not_ours() -> Invalid:
    """The refusal of a cursor that this list has not given out."""
    return Invalid.about(
        "cursor",
        "The page cursor is not of this list, or was given out by an earlier release; start from the first "
        "page.",
    )


def number_cursor(place: Sequence[float]) -> str:
    """The cursor of a list that was worked out as a whole: the place of the last row given out."""
    return base64.urlsafe_b64encode(json.dumps(list(place)).encode()).decode().rstrip("=")


def numbers_in(cursor: str) -> list[float]:
    """What `number_cursor` was given. Raises Invalid for a cursor that is not ours."""
    try:
        place = _parts(cursor)
        is_ours = all(type(part) in (int, float) and isfinite(part) for part in place)
    except (ValueError, OverflowError, RecursionError) as error:
        raise not_ours() from error
    if not is_ours:
        raise not_ours()
    return place


def _after(order: Sequence[str], values: Sequence[Any]) -> Q:
    condition = Q()
    equal = Q()
    for field, value in zip(order, values, strict=True):
        name, direction = field.lstrip("-"), "lt" if field.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name}__{direction}": value})
        equal &= Q(**{name: value})
    return condition


def _whole(rows: QuerySet[Row], order: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """The values with the texts of the row they are of. Raises ValueError where `rows` has no such row."""
    *fields, unique = (field.lstrip("-") for field in order)
    texts = [field for field, value in zip(fields, values, strict=False) if value is None]
    if not texts:
        return list(values)
    found = rows.filter(**{unique: values[-1]}).values_list(*texts).first()
    if found is None:
        raise ValueError("no such row")
    looked_up = iter(found)
    return [next(looked_up) if value is None else value for value in values]


def _encode(row: Model, order: Sequence[str]) -> str:
    values = []
    for field in order:
        value: Any = row
        for part in field.lstrip("-").split("__"):
            value = getattr(value, part)
        if isinstance(value, datetime):
            value = {"t": value.isoformat()}
        values.append(None if isinstance(value, str) else value)
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _decode(cursor: str, length: int) -> list[Any]:
    """The values `_encode` put in, None for a text. Raises ValueError or TypeError for anything else."""
    values = _parts(cursor)
    if len(values) != length or values[-1] is None or any(isinstance(value, str) for value in values):
        raise ValueError(cursor)
    return [
        # In UTC, as databases compare it: a made-up time may have none.
        datetime.fromisoformat(str(value.get("t"))).astimezone(UTC) if isinstance(value, dict) else value
        for value in values
    ]


def _parts(cursor: str) -> list[Any]:
    """The list a cursor is. Raises ValueError for anything else, RecursionError for a very deep one."""
    parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    if not isinstance(parts, list):
        raise ValueError(cursor)
    return parts
