"""What the database reads of the judgements to answer the queries of a piece of code."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection
from django.db.models import Model

from rubricweb.models import Judgement

TABLE = Judgement._meta.db_table


def statements(work: Callable[[], object], table: str = TABLE) -> list[tuple[str, Any]]:
    """The SELECTs `work` made that name the table, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith("SELECT") and f'"{table}"' in sql:
            seen.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        work()
    return seen


def first_plan(work: Callable[[], object], table: str) -> str:
    """How the database comes by what the first SELECT of `work` that names the table asks for."""
    [(sql, params), *_] = statements(work, table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # few rows are read faster without
            cursor.execute(f"EXPLAIN {sql}", params)
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        return "\n".join(str(row) for row in cursor.fetchall())


def rows_read(work: Callable[[], object]) -> int:
    """Judgements PostgreSQL read for the SELECTs of `work`: those it kept and those it threw away."""
    return sum(map(_read, _steps(work)))


def entries_read(work: Callable[[], object]) -> int:
    """Entries of indexes and rows of the judgements that PostgreSQL read for the SELECTs of `work`."""
    steps = _steps(work)
    looked_up = [node for node in steps if node["Node Type"] == "Bitmap Index Scan"]
    entries = sum(round(node["Actual Rows"] * node["Actual Loops"]) for node in looked_up)
    return sum(map(_read, steps)) + int(entries)


def indexes(work: Callable[[], object]) -> set[str]:
    """The indexes in PostgreSQL's plans for the SELECTs of `work` that read judgements."""
    return {node["Index Name"] for node in _steps(work) if "Index Name" in node}


def ways(work: Callable[[], object]) -> set[tuple[str, str]]:
    """How PostgreSQL comes by the judgements in the SELECTs of `work`: ("Index Scan", its index), …"""
    steps = [node for node in _steps(work) if node.get("Relation Name") == TABLE]
    return {(node["Node Type"], node.get("Index Name", "")) for node in steps}


def _steps(work: Callable[[], object]) -> list[dict[str, Any]]:
    """Every step of PostgreSQL's plans for the SELECTs of `work` that read judgements."""
    found: list[dict[str, Any]] = []
    for sql, params in statements(work):
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
            [plans] = cursor.fetchone()
        plans = json.loads(plans) if isinstance(plans, str) else plans
        found += [node for plan in plans for node in _nodes(plan["Plan"])]
    return found


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def _read(node: dict[str, Any]) -> int:
    if node.get("Relation Name") != TABLE:
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    rows: int = round((node["Actual Rows"] + removed) * node["Actual Loops"])
    return rows


def scans(work: Callable[[], object]) -> list[str]:
    """How SQLite comes by the judgements in the SELECTs of `work`: "SEARCH … USING INDEX …", "SCAN …"."""
    found = []
    for sql, params in statements(work):
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
            found += [str(row[3]) for row in cursor.fetchall() if TABLE in str(row[3])]
    return found


def copy_often(row: Model, times: int, **changed: str) -> None:
    """Stores the row again so many times; `changed` are SQL expressions over `n`, from 1, by column."""
    kept = [field.column for field in row._meta.concrete_fields if field.column and not field.primary_key]
    columns = ", ".join(f'"{column}"' for column in kept)
    values = ", ".join(changed.get(column, f'"{column}"') for column in kept)
    numbers = "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < %s)"
    table = row._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f'{numbers} INSERT INTO "{table}" ({columns}) SELECT {values} FROM "{table}", many WHERE id = %s',
            [times, row.pk],
        )
