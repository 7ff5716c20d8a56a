"""The time in which nobody asked is no evidence of a limit: a pace does not fall by a kill and a pause."""

import pytest

from rubricweb.judges.rate_limit.ledger import settle
from rubricweb.judges.rate_limit.record import Record, Report

from .virtual_time import Endpoint, FixedWindow, TokenBucket, restarted

LIMITS = {
    "a bucket without burst": lambda: TokenBucket(300, 1),
    "a bucket": lambda: TokenBucket(300, 10),
    "a window of a minute": lambda: FixedWindow(300),
    "windows of six seconds": lambda: FixedWindow(30, 6),
}


@pytest.mark.parametrize("down", [10, 45, 420])
@pytest.mark.parametrize("limit", LIMITS)
def test_after_a_kill_the_limit_is_used_as_before_however_long_nobody_asked(limit: str, down: int) -> None:
    # 300 a minute are 2,100 in seven minutes.
    # A bucket without burst let 203 through after 420 s in which nobody asked.
    assert restarted(Endpoint(LIMITS[limit](), latency=0.2), down=down, seconds=420) >= 0.9 * 2_100


def sent(record: Record, now: float, count: int = 0, **said: object) -> None:
    """One report of what was sent and let through, by a worker that wants more."""
    settle(record, Report("w", epoch=record.epoch, wanted=16, sent=count, answered=count, **said), now)


@pytest.mark.parametrize("down", [0.0, 30.0, 600.0])
def test_a_silence_of_our_own_is_left_out_of_what_is_measured(down: float) -> None:
    record = Record()
    for second in range(11):
        sent(record, 1000.0 + second, 5 if second else 0)
    # 50 requests in 10 s, then all workers are gone; the one that comes back is refused and then answered.
    at = 1010.0 + down
    sent(record, at, 1, refused=1)
    sent(record, at + 0.3)
    settle(record, Report("w", epoch=record.epoch, sent=1, answered=1, confirmed=1), at + 0.4)
    # The probe leaves 0.25 s after the refusal. 51 were let through with it; the first began the stretch of
    # 10 + 0.25 s, in which the other 50 came.
    assert record.ceiling == pytest.approx(50 / 10.25)
