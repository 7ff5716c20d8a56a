"""The rate limits of an endpoint, shared by all workers: in Redis, else in the database.

`judges.rate_limit.bucket.settle` decides, in both places alike; a store only reads and writes the record
atomically. Every wait for a network happens in a thread of its own, never in the event loop that asks the
judges.
"""

import asyncio
import contextlib
import json
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import redis
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models.functions import Now
from django.db.utils import InterfaceError

from rubricweb.judges import event_loop
from rubricweb.judges.rate_limit.bucket import settle
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.limiters import RateLimiters
from rubricweb.judges.rate_limit.record import Lease, ProcessReport, Record, load
from rubricweb.judges.rate_limit.store import FallbackStore, Store, StoreAway
from rubricweb.models import EndpointMemory

ANSWER_SECONDS = 2.0
"""A store that does not answer within this counts as away."""
KEPT_SECONDS = 7200
"""How long Redis keeps a record that nobody changes: longer than `settle` believes it."""
PREFIX = "rubricweb:pace:"
TRIES = 10


def install() -> None:
    """Lets every endpoint this process asks from now on be limited together with all other workers."""
    event_loop.use_rate_limiters(lambda: RateLimiters(shared_store(), knobs=settings.RATE_LIMIT_KNOBS))


def shared_store() -> Store:
    """Where this deployment shares: REDIS_URL, a broker that is Redis, else the database."""
    knobs = settings.RATE_LIMIT_KNOBS
    store = RedisStore(settings.REDIS_URL, knobs) if settings.REDIS_URL else DatabaseStore(knobs)
    return FallbackStore(store, guess_workers=settings.WORKER_PROCESSES, knobs=knobs)


class _ThreadedStore(ABC):
    """Calls `_settle` in a thread of its own, one at a time, for a bounded time; see `Store`."""

    sharing: str
    pause_seconds: float

    def __init__(self, knobs: Knobs | None = None) -> None:
        self._knobs = knobs or Knobs()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rate limits")
        self._late: asyncio.Future[Lease] | None = None

    async def exchange(self, key: str, report: ProcessReport) -> Lease:
        """See `Store.exchange`."""
        if self._late is not None and not self._late.done():
            raise StoreAway(f"no answer for more than {ANSWER_SECONDS:g} s")
        loop = asyncio.get_running_loop()
        answer = loop.run_in_executor(self._thread, self._settle, key, report)
        done, _ = await asyncio.wait([answer], timeout=ANSWER_SECONDS)
        if not done:
            self._late = answer
            answer.add_done_callback(_forget_outcome)
            raise StoreAway(f"no answer within {ANSWER_SECONDS:g} s")
        return answer.result()

    def close(self) -> None:
        """Let the connection go; an exchange under way is not waited for."""
        with contextlib.suppress(RuntimeError):  # closed before
            self._thread.submit(self._disconnect)
        self._thread.shutdown(wait=False)

    @abstractmethod
    def _settle(self, key: str, report: ProcessReport) -> Lease:
        """Settle a report with the record of this endpoint, atomically. Raises StoreAway."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Let the thread's connection go."""


class RedisStore(_ThreadedStore):
    """Records in Redis, as JSON, changed only if nobody else has changed them since they were read.

    The clock is that of Redis, so that machines need not agree on the time.
    """

    sharing = "redis"
    pause_seconds = 0.1

    def __init__(self, url: str, knobs: Knobs | None = None) -> None:
        super().__init__(knobs)
        self._redis = redis.Redis.from_url(
            url, socket_timeout=ANSWER_SECONDS / 2, socket_connect_timeout=ANSWER_SECONDS / 2
        )
        self._read = self._redis.register_script(_READ)
        self._replace = self._redis.register_script(_REPLACE)

    def _settle(self, key: str, report: ProcessReport) -> Lease:
        name = PREFIX + key
        try:
            for _ in range(TRIES):
                before, seconds, microseconds = cast(Any, self._read(keys=[name]))
                record = _decoded(before)
                lease = settle(record, report, int(seconds) + int(microseconds) / 1e6, self._knobs)
                after = json.dumps(record.dump(), separators=(",", ":"))
                if self._replace(keys=[name], args=[before or b"", after, KEPT_SECONDS]):
                    return lease
        except (redis.RedisError, OSError) as error:
            raise StoreAway(f"Redis: {type(error).__name__}: {error}") from error
        raise StoreAway(f"Redis: others changed the record {TRIES} times while it was being changed")

    def _disconnect(self) -> None:
        self._redis.close()


class DatabaseStore(_ThreadedStore):
    """Records in `EndpointMemory.pace`, changed under the lock of their row; the clock is the database's."""

    sharing = "database"
    pause_seconds = 0.4

    def _settle(self, key: str, report: ProcessReport) -> Lease:
        try:
            close_old_connections()
            with transaction.atomic():
                return self._settle_row(key, report)
        except (DatabaseError, InterfaceError) as error:
            connection.close()
            raise StoreAway(f"the database: {type(error).__name__}") from error

    def _settle_row(self, key: str, report: ProcessReport) -> Lease:
        rows = EndpointMemory.objects.filter(key=key)
        row = rows.select_for_update().annotate(at=Now()).values("pace", "at").first()
        if row is None:
            EndpointMemory.objects.bulk_create([EndpointMemory(key=key)], ignore_conflicts=True)
            row = rows.select_for_update().annotate(at=Now()).values("pace", "at").get()
        record = load(row["pace"])
        lease = settle(record, report, row["at"].timestamp(), self._knobs)
        rows.update(pace=record.dump())
        return lease

    def _disconnect(self) -> None:
        connection.close()


def _decoded(data: bytes | None) -> Record:
    try:
        return load(json.loads(data)) if data else Record()
    except ValueError:
        return Record()


def _forget_outcome(answer: "asyncio.Future[Lease]") -> None:
    if not answer.cancelled():
        answer.exception()


# Two scripts rather than one that decides: what is decided is written once, in Python, and tested in
# virtual time.
_READ = """
local time = redis.call('TIME')
return {redis.call('GET', KEYS[1]), time[1], time[2]}
"""
_REPLACE = """
local found = redis.call('GET', KEYS[1])
if (found or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1
"""
