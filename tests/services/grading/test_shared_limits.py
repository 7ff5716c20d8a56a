"""The pace of an endpoint as several workers share it: in Redis where there is one, in the database."""

import asyncio
import json
import os
import time
import uuid

import pytest
import redis
from django.db import connection

from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.record import ProcessReport, Record
from rubricweb.judges.rate_limit.store import FallbackStore, StoreAway
from rubricweb.models import EndpointMemory
from rubricweb.services.grading import shared_limits
from rubricweb.services.grading.shared_limits import DatabaseStore, RedisStore

pytestmark = pytest.mark.django_db(transaction=True)

REDIS = os.environ.get("CELERY_BROKER_URL", "redis://127.0.0.1:6379/3")


def redis_answers():
    try:
        return REDIS.startswith("redis") and redis.Redis.from_url(REDIS, socket_connect_timeout=0.5).ping()
    except redis.RedisError:
        return False


needs_redis = pytest.mark.skipif(not redis_answers(), reason="no Redis at CELERY_BROKER_URL or 127.0.0.1")
# An SQLite database in memory is one connection's alone, and the store has a connection of its own.
needs_file = pytest.mark.skipif(
    connection.vendor == "sqlite"
    and "memory" in str(connection.settings_dict["TEST"].get("NAME") or "memory"),
    reason="the test database is in memory",
)


@pytest.fixture(params=[pytest.param("redis", marks=needs_redis), pytest.param("database", marks=needs_file)])
def make_store(request):
    """make_store() is one worker's store; all of a test share one place."""
    made = []

    def make():
        made.append(RedisStore(REDIS) if request.param == "redis" else DatabaseStore())
        return made[-1]

    yield make
    for store in made:
        store.close()
        store._thread.shutdown(wait=True)


@pytest.fixture
def key():
    """A fresh endpoint's."""
    name = uuid.uuid4().hex * 2
    yield name
    if redis_answers():
        redis.Redis.from_url(REDIS).delete(shared_limits.PREFIX + name)


def test_turns_of_one_limit_are_given_to_each_worker_once(make_store, key):
    first, second = make_store(), make_store()
    # 600 per minute, of which 98.5 % are used: one every 60 / 591 = 0.1015 s. Two workers ask for three each.
    wanted = {"wanted": 3, "requests_per_minute": 600.0}

    async def scene():
        began = time.monotonic()
        mine = await first.exchange(key, ProcessReport("one", **wanted))
        theirs = await second.exchange(key, ProcessReport("two", **wanted))
        return mine, theirs, time.monotonic() - began

    mine, theirs, took = asyncio.run(scene())
    assert mine.turns == pytest.approx([0, 0.1015, 0.2030], abs=0.001)
    # What the exchange itself took is no longer to be waited for.
    assert theirs.turns[0] == pytest.approx(0.3046, abs=0.01 + took)
    assert theirs.turns[1] - theirs.turns[0] == pytest.approx(0.1015, abs=0.001)
    assert theirs.workers == 2


def test_a_run_of_refusals_of_one_worker_stops_the_others(make_store, key):
    first, second = make_store(), make_store()

    async def scene():
        before = await second.exchange(key, ProcessReport("two", answered=300, sent=300))
        began = time.monotonic()
        refused = {"sent": 5, "refused": 5, "run": 5.0, "wait_seconds": 20.0}
        await first.exchange(key, ProcessReport("one", epoch=before.epoch, **refused))
        after = await second.exchange(key, ProcessReport("two", wanted=1, epoch=before.epoch))
        return before, after, time.monotonic() - began

    before, after, took = asyncio.run(scene())
    assert before.unlimited
    assert not after.unlimited
    assert after.epoch == before.epoch + 1
    assert 19.9 - took < after.paused_seconds < 20.1


def test_reports_at_the_same_time_are_all_counted(make_store, key):
    workers = [make_store() for _ in range(6)]

    async def scene():
        for _ in range(5):
            await asyncio.gather(
                *(
                    store.exchange(key, ProcessReport(f"worker {number}", sent=2, answered=2))
                    for number, store in enumerate(workers)
                )
            )
        return await workers[0].exchange(key, ProcessReport("worker 0", wanted=1, in_flight=0))

    # 6 workers × 5 times × 2 requests = 60: nothing was overwritten.
    last = asyncio.run(scene())
    assert last.workers == 6
    assert last.unlimited
    assert record_of(make_store, key)["allowed"] == 60


def test_a_restarted_worker_goes_on_at_the_pace_that_is_stored(make_store, key):
    async def scene():
        before = make_store()
        lease = await before.exchange(key, ProcessReport("before", sent=100, answered=100, concurrency=12))
        refused = {"sent": 5, "refused": 5, "run": 5.0, "wanted": 1}
        lease = await before.exchange(
            key, ProcessReport("before", epoch=lease.epoch, **refused, concurrency=12)
        )
        # The one request that is tried is let through.
        await before.exchange(
            key, ProcessReport("before", epoch=lease.epoch, sent=1, answered=1, concurrency=12)
        )
        before.close()
        return await make_store().exchange(key, ProcessReport("after", wanted=1))

    lease = asyncio.run(scene())
    assert not lease.unlimited
    assert lease.requests_per_minute > 0
    assert lease.concurrency == 12


@pytest.mark.parametrize("old", [{"version": 1, "ceiling": 5.0, "answers": 300}, {"rate": 5}, {}])
def test_what_an_earlier_release_stored_is_begun_anew(make_store, key, old):
    store = make_store()
    if isinstance(store, DatabaseStore):
        EndpointMemory.objects.create(key=key, pace=old)
    else:
        redis.Redis.from_url(REDIS).set(shared_limits.PREFIX + key, json.dumps(old))
    assert asyncio.run(store.exchange(key, ProcessReport("one", wanted=1))).unlimited
    assert record_of(make_store, key)["version"] == 2


def record_of(make_store, key):
    """The stored record."""
    if isinstance(make_store(), DatabaseStore):
        return EndpointMemory.objects.get(key=key).pace
    return json.loads(redis.Redis.from_url(REDIS).get(shared_limits.PREFIX + key))


@needs_file
def test_habits_and_pace_share_a_row(key):
    EndpointMemory.objects.create(key=key, habits={"rung": "text"})
    store = DatabaseStore()
    asyncio.run(store.exchange(key, ProcessReport("one", wanted=1)))
    store.close()
    store._thread.shutdown(wait=True)
    row = EndpointMemory.objects.get(key=key)
    assert row.habits == {"rung": "text"}
    assert row.pace["version"] == 2


def test_a_redis_that_is_away_leaves_each_worker_its_part_of_the_limit(key, caplog):
    away = RedisStore("redis://127.0.0.1:1/0")
    store = FallbackStore(away, guess_workers=4)

    async def scene():
        with pytest.raises(StoreAway):
            await away.exchange(key, ProcessReport("one"))
        return [
            await store.exchange(key, ProcessReport("one", wanted=4, requests_per_minute=2400.0))
            for _ in range(3)
        ]

    grants = asyncio.run(scene())
    away.close()
    # A quarter of 2,400 × 98.5 % is 591 per minute.
    assert grants[0].requests_per_minute == pytest.approx(591)
    assert store.sharing == "alone"
    assert sum("the pace is not shared" in record.message for record in caplog.records) == 1


def test_a_record_that_is_none_of_ours_is_begun_anew():
    assert shared_limits._decoded(b"\xff not json") == Record()
    assert shared_limits._decoded(b'{"version": 99, "epoch": 5}') == Record()
    assert shared_limits._decoded(b'{"version": 2, "epoch": 5, "unheard_of": 1}') == Record(epoch=5)


def test_the_knobs_of_the_settings_are_used(settings, key):
    settings.RATE_LIMIT_KNOBS = Knobs.read({"used_share": 0.5})
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # nobody is there: the worker keeps to its part
    settings.WORKER_PROCESSES = 1
    store = shared_limits.shared_store()
    lease = asyncio.run(store.exchange(key, ProcessReport("one", wanted=1, requests_per_minute=600.0)))
    store.close()
    assert lease.requests_per_minute == pytest.approx(300)


@pytest.mark.parametrize(
    ("redis_url", "kind"), [("", DatabaseStore), ("redis://127.0.0.1:6379/3", RedisStore)]
)
def test_where_it_is_shared_is_what_the_settings_say(settings, redis_url, kind):
    settings.REDIS_URL = redis_url
    store = shared_limits.shared_store()
    assert isinstance(store._shared, kind)
    store.close()
