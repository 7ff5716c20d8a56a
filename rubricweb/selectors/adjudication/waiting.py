"""How much waits for an adjudicator: the number on the navigation."""

import time

from django.core.cache import cache

from rubricweb.models import Team, User
from rubricweb.selectors.adjudication.inbox import inbox, scope

KEPT_SECONDS = 60
# Counting takes longer the more people labelled. It is kept for so many times as long as it took.
KEPT_RATIO = 200


def waiting_units(team: Team, viewer: User) -> int:
    """How many units of the inbox this person could decide; as of up to a minute ago.

    In a team with so many labels that counting takes over 0.3 s, as of up to 200 times that long ago. A
    decision of the person's own has it counted anew: see `forget_waiting`.
    """
    key = _key(team, viewer)
    known = cache.get(key)
    if known is not None:
        return int(known)
    began = time.monotonic()
    units = len(inbox(scope(team, viewer)))
    took_seconds = time.monotonic() - began
    cache.set(key, units, max(KEPT_SECONDS, KEPT_RATIO * took_seconds))
    return units


def forget_waiting(team: Team, viewer: User) -> None:
    """Has the next page count anew."""
    cache.delete(_key(team, viewer))


def _key(team: Team, viewer: User) -> str:
    return f"waiting-units:{team.pk}:{viewer.pk}"
