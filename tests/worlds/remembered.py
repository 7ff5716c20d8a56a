"""What services made once in a test process, put back row by row for the tests after it.

Who is in a team, and how a small run was graded, is where most tests begin and what few are about.
"""

import dataclasses
import pickle
from collections.abc import Callable, Hashable, Iterator
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeVar

import time_machine
from django.apps import apps
from django.core.management.color import no_style
from django.db import IntegrityError, connection, transaction
from django.db.models import DateTimeField, Model
from django.utils import timezone

T = TypeVar("T")
_kept: dict[Hashable, "_Kept[Any]"] = {}


def remembered(key: Hashable, make: Callable[[], T]) -> T:
    """What `make` returns: a row, or a dataclass, list or tuple of rows. The second time they are put back,
    with the ids they had, and with times as if they were made now.

    Made anew where nothing is undone at the end, since something may wait for the commit; where a test stops
    the clock; and where other rows have the ids. The key names what is made, and whose it is.
    """
    if not connection.in_atomic_block or time_machine.escape_hatch.is_travelling():
        return make()
    if key in _kept:
        kept: _Kept[T] = _kept[key]
        try:
            with transaction.atomic():
                return kept.put_back()
        except IntegrityError:
            return make()
    before = {model: set(model._base_manager.values_list("pk", flat=True)) for model in _models()}
    made = make()
    rows = {
        model: [row for row in model._base_manager.order_by("pk") if row.pk not in before[model]]
        for model in _models()
    }
    new = {model: found for model, found in rows.items() if found}
    _kept[key] = _Kept(timezone.now(), new, pickle.dumps(made))
    return made


def _models() -> list[type[Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


@dataclasses.dataclass
class _Kept(Generic[T]):
    """The rows of `made`, whose times are as if they were made at `at`."""

    at: datetime
    rows: dict[type[Model], list[Model]]
    made: bytes
    """Pickled: a copy is read much faster than `deepcopy` makes one."""

    def put_back(self) -> T:
        now = timezone.now()
        for model, rows in self.rows.items():
            for row in rows:
                for name in _times(model):
                    if (time := getattr(row, name)) is not None:
                        setattr(row, name, time + (now - self.at))
        self.at = now
        for model, rows in self.rows.items():
            model._base_manager.bulk_create(rows)
        # On PostgreSQL ids that were given are not counted.
        if statements := connection.ops.sequence_reset_sql(no_style(), list(self.rows)):
            with connection.cursor() as cursor:
                cursor.execute("".join(statements))
        made: T = pickle.loads(self.made)
        for own in _rows_in(made):
            for row in self.rows.get(type(own), []):
                if row.pk == own.pk:
                    vars(own).update({name: getattr(row, name) for name in _times(type(own))})
        return made


@cache
def _times(model: type[Model]) -> list[str]:
    return [field.attname for field in model._meta.fields if isinstance(field, DateTimeField)]


def _rows_in(made: Any) -> Iterator[Model]:
    if isinstance(made, Model):
        yield made
    elif dataclasses.is_dataclass(made):
        for field in dataclasses.fields(made):
            yield from _rows_in(getattr(made, field.name))
    elif isinstance(made, list | tuple):
        for one in made:
            yield from _rows_in(one)
