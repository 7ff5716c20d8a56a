"""Calls whose answers can be used again, by what was asked."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from uuid import UUID

from django.db.models import QuerySet

from rubricweb.models import JudgeCall, TriedCall

# How many keys one query asks about: few enough for SQLite's limit of parameters and for short plans.
KEYS_PER_QUERY = 500


def answered_calls(team_id: int, keys: Collection[UUID]) -> QuerySet[JudgeCall]:
    """The team's calls that answered one of these questions; without errors and pruned replies."""
    return (
        JudgeCall.objects.filter(content_key__in=keys, error_kind=None, run__team_id=team_id)
        .exclude(reply="")
        .order_by()
    )


def tried_calls(team_id: int, keys: Collection[UUID]) -> QuerySet[TriedCall]:
    """What the team was answered to one of these questions when somebody tried a judge."""
    return TriedCall.objects.filter(content_key__in=keys, team_id=team_id).order_by()


def known_keys(team_id: int, keys: Iterable[UUID]) -> set[UUID]:
    """Those of the questions that have an answer. Two queries per 500 different keys, no replies read."""
    known: set[UUID] = set()
    for some in batches(dict.fromkeys(keys)):
        for calls in (answered_calls(team_id, some), tried_calls(team_id, some)):
            known.update(key for key in calls.values_list("content_key", flat=True).distinct() if key)
    return known


def batches(keys: Iterable[UUID]) -> Iterator[Sequence[UUID]]:
    """The keys in parts of one query each."""
    upcoming = iter(keys)
    while batch := list(islice(upcoming, KEYS_PER_QUERY)):
        yield batch
