"""What one process learned about what an endpoint accepts, kept for all others.

A new worker then need not send a request that is known to be refused. `remind` and `keep` are cheap enough to
be called often: one asks the database once per process and endpoint, the other when something was learned.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from rubricweb.judges import event_loop
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.reply_formats import EndpointCapabilities
from rubricweb.judges.rate_limit.store import endpoint_key
from rubricweb.models import EndpointMemory

LASTS = timedelta(days=7)
"""After this long everything is found out anew: providers change, and nothing else would ever tell."""

FORGOTTEN = timedelta(days=60)
"""Rows of endpoints that nobody learned anything about for so long are deleted."""


def remind(configs: Iterable[JudgeConfig], *, now: datetime) -> None:
    """Tells this process what is known about these endpoints and models, where it does not know itself."""
    lacking = {endpoint_key(config): config for config in configs if event_loop.lacks_capabilities(config)}
    if not lacking:
        return
    known = dict(EndpointMemory.objects.filter(key__in=lacking).values_list("key", "habits"))
    for key, config in lacking.items():
        stored = known.get(key, {})
        event_loop.load_capabilities(config, stored if _fresh(stored, now) else {})


def keep(*, now: datetime) -> int:
    """Stores what this process has learned since the last call beside what others did; of how many models."""
    learned = event_loop.new_capabilities()
    for config, capabilities in learned:
        keep_of(config, capabilities, now=now)
    if learned:
        EndpointMemory.objects.filter(updated_at__lt=now - FORGOTTEN).delete()
    return len(learned)


def known_of(config: JudgeConfig, *, now: datetime) -> EndpointCapabilities:
    """What is known about one endpoint and model; nothing that was learned too long ago."""
    [known] = known_by([endpoint_key(config)], now=now)
    return known


def known_by(keys: Sequence[str], *, now: datetime) -> list[EndpointCapabilities]:
    """The same of several, by their keys and in their order. One query."""
    habits = dict(EndpointMemory.objects.filter(key__in=keys).values_list("key", "habits"))
    known = (habits.get(key, {}) for key in keys)
    return [EndpointCapabilities.load(stored if _fresh(stored, now) else {}) for stored in known]


@transaction.atomic
def keep_of(config: JudgeConfig, capabilities: dict[str, Any], *, now: datetime) -> None:
    """Stores what was learned of one endpoint and model, as `EndpointCapabilities.dump` gives it."""
    row, _ = EndpointMemory.objects.select_for_update().get_or_create(key=endpoint_key(config))
    stored, since = row.habits, now
    if _fresh(stored, now):
        known = EndpointCapabilities.load(stored)
        capabilities = known.joined(EndpointCapabilities.load(capabilities)).dump()
        since = datetime.fromisoformat(stored["since"])
    row.habits = {**capabilities, "since": since.isoformat()}
    row.save(update_fields=["habits", "updated_at"])


def _fresh(stored: Any, now: datetime) -> bool:
    """Whether stored capabilities are readable and young enough."""
    try:
        since = datetime.fromisoformat(stored["since"])
        return bool(now - since < LASTS)
    except (TypeError, KeyError, ValueError):
        return False
