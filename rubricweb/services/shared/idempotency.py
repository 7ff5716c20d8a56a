"""Requests that start paid work or keep a version of a judge: sent twice, they do it once."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from rubricweb.errors import Invalid
from rubricweb.models import IdempotencyKey, JudgeVersion, Run, RunState, Team, User

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
# Two clicks on the same button that come so close together are one wish.
SECOND_CLICK = timedelta(seconds=3)
# A run, and how many of its items are to be worked on.
Done = tuple[Run, int]


@dataclass(frozen=True)
class Key:
    """What a request is known by: two of a team with one `name` are the same, or `asked`, a digest, differs.

    It is forgotten once it is older than `kept`; a `click` also once its run was cancelled.
    """

    name: str
    asked: str
    kept: timedelta = KEPT
    click: bool = False


def sent_key(name: str, request: str) -> Key:
    """The key a program sends with a request; `request` is all that it asks for."""
    return Key(name, _digest(request))


def click_key(by: User, form: str) -> Key:
    """The key of a form this person sends by a click; no program's key is like it, for those are ASCII."""
    return Key(f"click · {by.pk} · {_digest(form)}", "", SECOND_CLICK, click=True)


def done_once(team: Team, key: Key, do: Callable[[], Done], *, now: datetime) -> Done:
    """What `do` does and returns; for a key that was sent before, what it returned then.

    Of two such requests at the same moment the second waits for the first. What raises is not kept: nothing
    was done, and the key may be sent again. Raises what `do` raises, and Invalid for a key that came with
    another request.
    """

    def start(row: IdempotencyKey) -> None:
        row.run, row.items = do()

    row = _row(team, key, start, now)
    assert row.run is not None, "it is written in the transaction that writes the key"
    return row.run, row.items


def kept_once(team: Team, key: Key, do: Callable[[], JudgeVersion], *, now: datetime) -> JudgeVersion:
    """The version of a judge that `do` keeps; for a key that was sent before, the one kept then. Otherwise as
    `done_once`.
    """

    def keep(row: IdempotencyKey) -> None:
        row.items = do().pk

    row = _row(team, key, keep, now)
    return JudgeVersion.objects.select_related("judge__team").get(pk=row.items)


@transaction.atomic
def _row(team: Team, key: Key, do: Callable[[IdempotencyKey], None], now: datetime) -> IdempotencyKey:
    """The row of the key, in which `do` wrote what it made, now or when the key was first sent."""
    of_name = IdempotencyKey.objects.filter(team=team, name=key.name)
    over = Q(created_at__lte=now - key.kept)
    if key.click:
        over |= Q(run__state=RunState.CANCELLED)
    of_name.filter(over).delete()
    row, is_new = of_name.select_related("run").get_or_create(
        defaults={"team": team, "name": key.name, "asked": key.asked, "created_at": now}
    )
    if is_new:
        do(row)
        row.save(update_fields=["run", "items"])
    elif row.asked != key.asked:
        raise Invalid.at(
            f"header.{HEADER}",
            "a key that came with another request in the last 24 hours",
            "the very same request again, or a new key for a new one",
        )
    return row


def forget_keys(now: datetime) -> int:
    """Takes away the keys nobody may send again; how many."""
    return IdempotencyKey.objects.filter(created_at__lte=now - KEPT).delete()[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
