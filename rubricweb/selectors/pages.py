"""Keyset pages: stable while rows are added, equally fast on the last page as on the first."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

from rubricweb.errors import Invalid

Row = TypeVar("Row", bound=Model)
NOT_OURS = "The page cursor is not one this server gave out; start from the first page."


@dataclass(frozen=True)
class Page(Generic[Row]):
    """`rows` of one page; `next_cursor` opens the following page, None on the last one."""

    rows: tuple[Row, ...]
    next_cursor: str | None


def keyset_page(
    rows: QuerySet[Row], *, order: Sequence[str], cursor: str | None = None, size: int = 50
) -> Page[Row]:
    """The page of `rows` after `cursor`, ordered by `order` (not-null fields, the last one unique).

    `order` comes from code, never from a request. Raises Invalid for a cursor that is not ours.
    """
    if not 1 <= size <= 500:
        raise Invalid(f"A page holds 1 to 500 rows, not {size}.")
    if cursor:
        try:
            rows = rows.filter(_after(order, _decode(cursor, len(order))))
        except (ValueError, TypeError, RecursionError, ValidationError) as error:
            # A made-up cursor holds what the fields it is compared with cannot.
            raise Invalid(NOT_OURS) from error
    found = list(rows.order_by(*order)[: size + 1])
    more = len(found) > size
    found = found[:size]
    return Page(tuple(found), _encode(found[-1], order) if more else None)


def _after(order: Sequence[str], values: Sequence[Any]) -> Q:
    condition = Q()
    equal = Q()
    for field, value in zip(order, values, strict=True):
        name, direction = field.lstrip("-"), "lt" if field.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name}__{direction}": value})
        equal &= Q(**{name: value})
    return condition


def _encode(row: Model, order: Sequence[str]) -> str:
    values = []
    for field in order:
        value: Any = row
        for part in field.lstrip("-").split("__"):
            value = getattr(value, part)
        values.append({"t": value.isoformat()} if isinstance(value, datetime) else value)
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _decode(cursor: str, length: int) -> list[Any]:
    """The values `_encode` put in. Raises ValueError or TypeError for anything else."""
    values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(cursor)
    return [
        datetime.fromisoformat(str(value.get("t"))) if isinstance(value, dict) else value for value in values
    ]
