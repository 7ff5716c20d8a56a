"""Very many rows as arrays, one per column, instead of as objects."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Reader: TypeAlias = Callable[[Sequence[Any]], NDArray[Any]]

AT_ONCE = 2_000
"""Rows that are objects at the same time."""


def ints(column: Sequence[Any]) -> Ints:
    return np.array(column, dtype=np.int64)


def floats(column: Sequence[Any]) -> Floats:
    """NaN for None."""
    return np.array(column, dtype=np.float64)


def present(column: Sequence[Any]) -> Bools:
    """False for None."""
    return np.array([value is not None for value in column], dtype=np.bool_)


def columns(rows: QuerySet[Any, Any], *readers: Reader) -> list[NDArray[Any]]:
    """The columns of a `values_list`, each as its reader makes it of some rows at a time. One query."""
    parts: list[list[NDArray[Any]]] = [[read(())] for read in readers]
    for some in _batches(rows.iterator(chunk_size=AT_ONCE)):
        for at, (part, read) in enumerate(zip(parts, readers, strict=True)):
            part.append(read([row[at] for row in some]))
    return [np.concatenate(part) for part in parts]


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while some := list(islice(rows, AT_ONCE)):
        yield some
