"""Removing rows with all that belongs to them, batch by batch: each a short transaction of its own.

What belongs to a row is read from the tables' own definitions, so a table that is added later is emptied as
well. Whatever is killed in between, what is gone is gone and the rest is found again: nothing but the rows
themselves says how far it is.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import PROTECT, SET_NULL, Exists, ForeignKey, Model, OuterRef, Q, Subquery

from rubricweb.models import (
    CaseText,
    Criterion,
    Dataset,
    Deletion,
    Item,
    JournalEntry,
    JudgeCall,
    ReviewQueue,
    Rubric,
    RubricVersion,
    Run,
    RunTally,
    Team,
)

MOST_ROWS = 2_000
FEWEST_ROWS = 100
BATCH_SECONDS = 0.02
"""How long a batch is to take, about: whoever writes the same moment waits for it on SQLite."""
REST = 5.0
"""How long a process waits after a batch, in times of that. On SQLite who waits for one looks every tenth of
a second whether it has ended, and must not meet the next one each time.
"""
TRIES = 5
KEPT = (JournalEntry, RunTally, Deletion)
"""Rows of a team that stay when it is deleted: its audit log and what it has spent."""


ONE_BY_ONE = (Run, ReviewQueue, Dataset, Rubric)
"""What may have a million rows each: read in their order they are read once, and not past what is gone."""


class Remover:
    """Removes rows in batches; `removed` is called in each, before it is committed, with how many they are.

    It raises to stop the removal, and that batch is not removed. `rest` is how a process waits: after each
    batch REST times as long as it took.
    """

    def __init__(self, removed: Callable[[int], None], *, rest: Callable[[float], None] = time.sleep) -> None:
        self._removed = removed
        self._rest = rest
        self._size = FEWEST_ROWS

    def empty(self, team: Team) -> None:
        """Removes everything of a bin, or of a deleted team: all but what is KEPT."""
        self._remove_what_refers(Team, [team.pk], but=KEPT)

    def remove(self, model: type[Model], ids: Sequence[int]) -> None:
        """Removes these rows, and before them what belongs to them."""
        for attempt in range(1, TRIES + 1):
            self._remove_what_refers(model, ids)
            try:
                self._write(partial(_delete, model, ids))
            except IntegrityError:  # somebody who had it in hand added to it
                if attempt == TRIES:
                    raise
            else:
                return

    def _remove_what_refers(
        self, model: type[Model], ids: Sequence[int], but: tuple[type[Model], ...] = ()
    ) -> None:
        for field in _references(model):
            if field.model in but:
                continue
            for some in self._batches(field, ids):
                if _lets_go(field):
                    self._write(partial(_let_go, field, some), removes=False)
                else:
                    self.remove(field.model, some)

    def _batches(self, field: "ForeignKey[Any, Any]", ids: Sequence[int]) -> Iterator[list[int]]:
        """The ids of rows that refer to one of these; they do no more when the next batch is asked for.

        The many rows of a single one are read from the oldest on, so that no row that is gone is met again.
        """
        rows = field.model._base_manager.filter(Q((f"{field.attname}__in", ids))).order_by()
        if len(ids) == 1:
            rows = field.model._base_manager.filter(Q((field.attname, ids[0]))).order_by("pk")
        left = rows
        size = 1 if field.model in ONE_BY_ONE else self._size
        while some := list(left.values_list("pk", flat=True)[:size]):
            yield some
            left = rows.filter(pk__gt=some[-1]) if len(ids) == 1 else rows

    def _write(self, batch: Callable[[], int], *, removes: bool = True) -> None:
        with transaction.atomic():
            began = time.monotonic()  # after it had to wait for others
            n = batch()
            self._removed(n if removes else 0)
        seconds = time.monotonic() - began
        if n >= self._size // 2:
            fitting = int(n * BATCH_SECONDS / max(seconds, 0.001))
            self._size = max(FEWEST_ROWS, min(fitting, 2 * self._size, MOST_ROWS))
        self._rest(REST * seconds)


def _delete(model: type[Model], ids: Sequence[int]) -> int:
    own: list[int] = []
    rows = model._base_manager.filter(pk__in=ids)
    if model in (Item, CaseText):
        brought = RubricVersion.objects.filter(pk__in=rows.values("rubric_version"), rubric=None)
        own = list(brought.values_list("pk", flat=True))
    n = rows._raw_delete(rows.db)
    return n + _delete_unused(own)


def _delete_unused(versions: Sequence[int]) -> int:
    """Rubrics that items and corrections of cases brought along and no other one uses: copies in the halves
    of a split do.
    """
    used = [model.objects.filter(rubric_version=OuterRef("pk")) for model in (Item, CaseText)]
    unused = RubricVersion.objects.filter(*(~Exists(rows) for rows in used), pk__in=versions)
    ids = list(unused.values_list("pk", flat=True))
    criteria = Criterion.objects.filter(version__in=ids)
    return (
        criteria._raw_delete(criteria.db) + unused.filter(pk__in=ids)._raw_delete(criteria.db) if ids else 0
    )


def _let_go(field: "ForeignKey[Any, Any]", ids: Sequence[int]) -> int:
    rows = field.model._base_manager.filter(pk__in=ids)
    if field.model is JudgeCall and field.name == "cached_from":
        # What was asked stands with the call that was made: whoever took its answer gets it before it goes.
        source = JudgeCall.objects.filter(pk=OuterRef("cached_from")).values("request")
        rows.filter(request=None).update(request=Subquery(source))
    return rows.update(**{field.name: None})


def _lets_go(field: "ForeignKey[Any, Any]") -> bool:
    """Whether a row outlives what it refers to. Protected ones do where the field may be empty."""
    on_delete = field.remote_field.on_delete
    return field.null and on_delete in (SET_NULL, PROTECT)


@cache
def _references(model: type[Model]) -> tuple["ForeignKey[Any, Any]", ...]:
    """The foreign keys to a table, those first whose rows refer to rows of the others."""
    found = [
        field
        for other in apps.get_models(include_auto_created=True)
        for field in other._meta.concrete_fields
        if isinstance(field, ForeignKey) and field.related_model is model
    ]
    return tuple(sorted(found, key=lambda field: (-_depth(field.model), field.name)))


@cache
def _depth(model: type[Model]) -> int:
    """How many tables stand between this one and one that refers to none.

    A choice among rows that belong to its own, as a judge's current version, does not count: it goes in a
    circle.
    """
    referred = {
        field.related_model
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
        and field.related_model not in (model, get_user_model())
        and not (field.null and _belongs_to(field.related_model, model))
    }
    return max((_depth(other) + 1 for other in referred), default=0)


def _belongs_to(model: type[Model], whole: type[Model]) -> bool:
    fields = (field for field in model._meta.concrete_fields if isinstance(field, ForeignKey))
    return any(field.related_model is whole and not field.null for field in fields)
