"""Encrypting the secrets of every endpoint again, under today's SECRET_KEY."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from rubricweb.errors import Invalid
from rubricweb.models import JudgeEndpoint
from rubricweb.services.shared.encryption import reencrypt
from rubricweb.services.shared.journal import record


@dataclass(frozen=True)
class Reencryption:
    """What became of the endpoints that keep secrets.

    `current` were under today's key already. `unreadable` are under no known key and were left as they are:
    (id, team, name) of each.
    """

    reencrypted: int
    current: int
    unreadable: tuple[tuple[int, str, str], ...]


def reencrypt_endpoints() -> Reencryption:
    """Encrypts the key and headers of every team's endpoints under today's SECRET_KEY.

    One row, one transaction: killed half-way it can be run again and goes on with what is left. Runs and
    other processes may go on meanwhile.
    """
    reencrypted, current = 0, 0
    unreadable: list[tuple[int, str, str]] = []
    with_secrets = JudgeEndpoint.objects.exclude(Q(sealed_key="") & Q(sealed_headers="")).order_by("pk")
    last = 0
    while True:
        with transaction.atomic():
            row = (
                with_secrets.filter(pk__gt=last)
                .select_related("team")
                .select_for_update(of=("self",))
                .first()
            )
            if row is None:
                return Reencryption(reencrypted, current, tuple(unreadable))
            last = row.pk
            try:
                changed = _reencrypt(row)
            except Invalid:
                unreadable.append((row.pk, row.team.slug, row.name))
            else:
                reencrypted, current = reencrypted + changed, current + (not changed)


def _reencrypt(endpoint: JudgeEndpoint) -> bool:
    """Whether anything was under another key. Raises Invalid if a part cannot be read; nothing changes."""
    before = endpoint.sealed_key, endpoint.sealed_headers
    after = reencrypt(endpoint.sealed_key), reencrypt(endpoint.sealed_headers)
    if after == before:
        return False
    endpoint.sealed_key, endpoint.sealed_headers = after
    endpoint.save(update_fields=["sealed_key", "sealed_headers"])
    record(endpoint.team, None, "re-encrypted the secrets of", endpoint)
    return True
