"""Parquet files as records, through the optional pyarrow."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from rubricweb.engine.errors import Fault, InvalidFile, InvalidText
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.parsers.json_text import parse_json

EXTRA = "the extra parquet (rubricweb[parquet])"
"""What to install to read and write Parquet."""

HEADER_KEY = b"rubricweb.dataset"
"""Where in the file's key-value metadata the dataset's own name, prompt, rubric and reference stand."""

MAX_EXPANSION = 20
"""How many times its own size a file may take when decoded: dictionaries can stand for far more."""

_BATCH_ROWS = 64
_PLAIN_COLUMNS = "columns of text, numbers, lists and structs"


def is_parquet(data: bytes) -> bool:
    """Whether the bytes begin as every Parquet file does."""
    return data.startswith(b"PAR1")


def parquet_header(data: bytes, max_bytes: int) -> Mapping[str, Any] | None:
    """The dataset object without its items that our writer left in the file, or None in others' files.

    Raises InvalidFile when the file is too large or cannot be read, or when pyarrow is not installed.
    """
    raw = (_opened(data, max_bytes).schema_arrow.metadata or {}).get(HEADER_KEY)
    if raw is None:
        return None
    try:
        whole = parse_json(raw.decode("utf-8", "replace"))
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    return whole if isinstance(whole, dict) else None


def parquet_records(data: bytes, max_bytes: int) -> Iterator[PlacedRecord]:
    """One record per row, placed ``items[3]``; nulls are left out, dates become ISO 8601 texts.

    Raises InvalidFile for broken or over-expanding files.
    """
    pa, _ = _pyarrow()
    file = _opened(data, max_bytes)
    names = file.schema_arrow.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        _refuse(f"the column {twice[0]!r} twice", "each name once")
    budget = max(1_000_000, min(max_bytes, MAX_EXPANSION * len(data)))
    position = 0
    try:
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
            budget -= batch.nbytes
            if budget < 0:
                _refuse("rows that expand far beyond the file", f"at most {MAX_EXPANSION} times its size")
            for row in batch.to_pylist():
                plain = {str(name): _plain(value) for name, value in row.items() if value is not None}
                yield PlacedRecord(f"items[{position}]", plain)
                position += 1
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidFile):
            raise
        _refuse(f"a broken Parquet file ({type(error).__name__})", "a whole Parquet file")


def write_parquet(records: Iterable[Mapping[str, Any]], header: Mapping[str, Any]) -> bytes:
    """Records of texts (or None) as one Parquet file with the dataset's header inside.

    Every column is text; lists and objects must come as JSON texts. What would be packed tighter than
    ``parquet_records`` opens, the same long prompt in every row, is not packed. Raises ValueError without
    pyarrow.
    """
    pa, parquet = _pyarrow()
    rows = list(records)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    schema = pa.schema(
        [pa.field(name, pa.string()) for name in columns],
        metadata={HEADER_KEY: json.dumps(header, ensure_ascii=False, allow_nan=False).encode()},
    )
    table = pa.table({name: [row.get(name) for row in rows] for name in columns}, schema=schema)
    written = _written(parquet, pa, table)
    # Half of what is read, which takes it batch by batch and so for a little more.
    if table.nbytes > MAX_EXPANSION // 2 * len(written):
        return _written(parquet, pa, table, compression="none", use_dictionary=False)
    return written


def _written(parquet: Any, pa: Any, table: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, **options)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _opened(data: bytes, max_bytes: int) -> Any:
    if len(data) > max_bytes:
        _refuse(f"{len(data):,} bytes", f"at most {max_bytes:,} bytes")
    try:
        pa, parquet = _pyarrow()
    except ValueError as error:
        _refuse("a Parquet file", str(error))
    try:
        return parquet.ParquetFile(pa.BufferReader(data))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        _refuse(f"a broken Parquet file ({type(error).__name__})", "a whole Parquet file")


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # it ships no types
        import pyarrow.parquet as parquet  # type: ignore[import-untyped]  # it ships no types
    except ImportError:
        raise ValueError(f"Parquet needs pyarrow: install {EXTRA}") from None
    return pa, parquet


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | datetime.timedelta | uuid.UUID):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            _refuse("a column of bytes that are no text", _PLAIN_COLUMNS)
    if value is not None and not isinstance(value, str | int | float):
        _refuse(f"a column of {type(value).__name__}", _PLAIN_COLUMNS)
    return value


def _refuse(found: str, allowed: str) -> NoReturn:
    raise InvalidFile([Fault("", found, allowed)])
