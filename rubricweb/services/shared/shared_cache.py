"""Django's cache in the database: one for all processes, so that a throttle counts whoever was asked.

The backends Django ships count per process, or not atomically in a database.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.utils import timezone

from rubricweb.models import CacheEntry

TIDIED_AT_ONCE = 1000
TIDIED_MAX = 100_000
"""How many expired rows one statement takes away, and how many one tidying."""
NEVER = datetime(9999, 1, 1, tzinfo=UTC)


class SharedCache(BaseCache):
    """A cache whose values are JSON. Of several processes that `add` at the same moment one does, and every
    `incr` counts.
    """

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        rows = CacheEntry.objects.filter(name=self._name(key, version), expires_at__gt=timezone.now())
        return next(iter(rows.values_list("value", flat=True)), default)

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        row = CacheEntry(name=self._name(key, version), value=value, expires_at=self._until(timeout))
        CacheEntry.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=["name"], update_fields=["value", "expires_at"]
        )

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Stores the value where there is none; whether it did."""
        name, until = self._name(key, version), self._until(timeout)
        over = CacheEntry.objects.filter(name=name, expires_at__lte=timezone.now())
        if over.update(value=value, expires_at=until):
            return True
        return CacheEntry.objects.get_or_create(name=name, defaults={"value": value, "expires_at": until})[1]

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """The number after adding `delta`. Raises ValueError where there is none."""
        rows = CacheEntry.objects.filter(name=self._name(key, version), expires_at__gt=timezone.now())
        while (found := rows.values_list("pk", "value").first()) is not None:
            pk, before = found
            # Nothing is changed where somebody else counted in between: then what they left is read anew.
            if CacheEntry.objects.filter(pk=pk, value=before).update(value=before + delta):
                return int(before + delta)
        raise ValueError(f"There is nothing to count up under {key!r}.")

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        rows = CacheEntry.objects.filter(name=self._name(key, version), expires_at__gt=timezone.now())
        return bool(rows.update(expires_at=self._until(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(CacheEntry.objects.filter(name=self._name(key, version)).delete()[0])

    def clear(self) -> None:
        CacheEntry.objects.all().delete()

    def _name(self, key: str, version: int | None) -> str:
        return str(self.make_and_validate_key(key, version=version))

    def _until(self, timeout: Any) -> datetime:
        seconds = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        return NEVER if seconds is None else timezone.now() + timedelta(seconds=float(seconds))


def forget_expired(now: datetime, *, at_most: int = TIDIED_MAX, at_once: int = TIDIED_AT_ONCE) -> int:
    """Takes away what has expired, the oldest first, `at_once` rows with a statement; how many."""
    gone = 0
    while gone < at_most:
        oldest = CacheEntry.objects.filter(expires_at__lte=now).order_by("expires_at")
        some = list(oldest.values_list("pk", flat=True)[:at_once])
        if not some:
            break
        gone += CacheEntry.objects.filter(pk__in=some, expires_at__lte=now).delete()[0]
    return gone
