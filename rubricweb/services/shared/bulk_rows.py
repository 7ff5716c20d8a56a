"""Many rows written at once, by the cheapest way the database has.

PostgreSQL takes them by binary COPY, SQLite by executemany. Django's own `bulk_create` makes an instance, and
prepares every value of it, for each row; here rows are tuples (see decision 0011 for what each costs).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, connection, models, transaction

Row = Sequence[Any]


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """Ids that no other row of the model will get.

    On SQLite that holds until the end of the transaction, which must be one already.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        newest = cursor.fetchone()
    first = (newest[0] if newest else 0) + 1
    return list(range(first, first + count))


def insert(model: type[models.Model], columns: tuple[str, ...], rows: Sequence[Row]) -> None:
    """Inserts rows of these attributes (`run_id` rather than `run`), in their order; JSON as plain data."""
    if rows:
        _insert(_plan(connection.vendor, model, columns), rows)


def insert_new(model: type[models.Model], columns: tuple[str, ...], rows: Sequence[Row]) -> bool:
    """Inserts rows save those that are there already; whether all of them were new."""
    if not rows:
        return True
    plan = _plan(connection.vendor, model, columns)
    if connection.vendor == "postgresql":
        # COPY knows no conflicts, and they are rare: two workers at the same item.
        try:
            with transaction.atomic():
                _insert(plan, rows)
        except IntegrityError:
            pass
        else:
            return True
    statement = f"{plan.insert} ON CONFLICT DO NOTHING"
    with connection.cursor() as cursor:
        cursor.executemany(statement, plan.prepared(rows))
        return bool(cursor.rowcount == len(rows))


def insert_for_each(
    model: type[models.Model], source: models.QuerySet[Any], **values: models.expressions.Combinable
) -> int:
    """Inserts one row for each of `source`, in its order, by a single statement; how many.

    `values` are expressions over the rows of `source`, by attribute (`item_id` rather than `item`); the other
    columns have the model's defaults. Nothing is read into memory, however many rows there are.
    """
    fields = {field.attname: field for field in model._meta.concrete_fields if not field.primary_key}
    usual: dict[str, models.expressions.Combinable] = {
        name: models.Value(field.get_default(), output_field=field)
        for name, field in fields.items()
        if name not in values and not field.null
    }
    # Names of their own, since a column of the source may be called the same.
    chosen = {f"to_{name}": value for name, value in {**values, **usual}.items()}
    rows = source.annotate(**chosen).values_list(*chosen)
    selected, parameters = rows.query.sql_with_params()
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(fields[name].column)) for name in (*values, *usual))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({columns}) {selected}"
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def update(model: type[models.Model], columns: tuple[str, ...], rows: Sequence[Row]) -> None:
    """Sets these attributes of rows; each row ends with its id."""
    if not rows:
        return
    plan = _plan(connection.vendor, model, columns)
    with connection.cursor() as cursor:
        cursor.executemany(plan.update, plan.prepared(rows))


@dataclass(frozen=True)
class _Plan:
    """How rows of some columns are written to one table."""

    insert: str
    update: str
    copy: str
    types: tuple[str, ...]
    # Values that the database's driver does not take as they are: place and conversion.
    conversions: tuple[tuple[int, Callable[[Any], Any]], ...]

    def prepared(self, rows: Sequence[Row]) -> Sequence[Any]:
        if not self.conversions:
            return rows
        return [self._converted(row) for row in rows]

    def _converted(self, row: Row) -> Row:
        values = list(row)
        for place, convert in self.conversions:
            if values[place] is not None:
                values[place] = convert(values[place])
        return values


def _insert(plan: _Plan, rows: Sequence[Row]) -> None:
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.executemany(plan.insert, plan.prepared(rows))
            return
        with connection.wrap_database_errors, cursor.copy(plan.copy) as copy:
            copy.set_types(plan.types)
            for row in rows:
                copy.write_row(row)


@functools.cache
def _plan(vendor: str, model: type[models.Model], columns: tuple[str, ...]) -> _Plan:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    chosen = [fields[name] for name in columns]
    quote = connection.ops.quote_name
    table, names = quote(model._meta.db_table), [quote(str(field.column)) for field in chosen]
    conversions = []
    if vendor == "sqlite":
        for place, field in enumerate(chosen):
            if isinstance(field, models.UUIDField):
                conversions.append((place, lambda value: value.hex))
            elif isinstance(field, models.DateTimeField):
                conversions.append((place, connection.ops.adapt_datetimefield_value))
            elif isinstance(field, models.JSONField):
                conversions.append((place, functools.partial(json.dumps, ensure_ascii=False)))
    places = ", ".join(["%s"] * len(names))
    return _Plan(
        # Names of tables and columns are those of models.
        insert=f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})",  # noqa: S608  see above
        update=f"UPDATE {table} SET {', '.join(f'{name} = %s' for name in names)} WHERE id = %s",  # noqa: S608  see above
        copy=f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)",
        types=tuple(str(field.db_type(connection)).partition("(")[0] for field in chosen),
        conversions=tuple(conversions),
    )
