"""The cache all processes share."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from rubricweb import tasks
from rubricweb.models import CacheEntry
from rubricweb.services.shared import shared_cache

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_a_value_is_there_until_it_expires(db: None) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        cache.set("tries", [1.5, 2.5], 60)
        assert cache.get("tries") == [1.5, 2.5]
        assert not cache.add("tries", [], 60)
        clock.shift(60)
        assert cache.get("tries", "none") == "none"
        with pytest.raises(ValueError, match="nothing to count"):
            cache.incr("tries")
        assert cache.add("tries", 1, 60)
        assert cache.incr("tries", 2) == 3
        assert cache.delete("tries")
        assert cache.get("tries") is None


@pytest.mark.django_db(transaction=True)
def test_everybody_who_counts_at_the_same_moment_is_counted() -> None:
    cache.add("tries", 0, 60)

    def count(_: int) -> int:
        try:
            return cache.incr("tries")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(count, range(20))) == list(range(1, 21))


def test_what_has_expired_is_cleared_away_the_oldest_first_and_so_much_at_a_time(db: None) -> None:
    now = timezone.now()
    for number in range(7):
        CacheEntry.objects.create(name=f"old {number}", value=1, expires_at=now - timedelta(days=number))
    cache.set("fresh", 1, 3600)
    assert shared_cache.forget_expired(now, at_most=4, at_once=2) == 4
    assert set(CacheEntry.objects.filter(name__startswith="old").values_list("name", flat=True)) == {
        "old 0",
        "old 1",
        "old 2",
    }
    tasks.tidy()
    assert [row.name for row in CacheEntry.objects.all()] == [":1:fresh"]
