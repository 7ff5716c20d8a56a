"""Refusals at random are told from a limit's: counted by hand, and simulated in virtual time, seeded."""

import pytest

from rubricweb.judges.rate_limit.strays import Strays, likely, weights
from tests.judges.rate_limit.virtual_time import (
    FixedWindow,
    Moody,
    SlowStore,
    TokenBucket,
    Unlimited,
    ask_for,
)

# Of all requests, as in the test that kills everything.
MOODS = {"429": 0.10, "500": 0.05, "reset": 0.03, "garbage": 0.03, "hang": 0.02}


def limits(strays, numbers):
    """The requests of these numbers are refused, in this order; which of them made it a limit."""
    return [number for number in numbers if strays.refused(number)]


def test_a_refusal_counts_for_more_the_fewer_come_at_random():
    # 1.25 × 0.08 is 0.1: ln(0.5 / 0.1) = 1.609 and ln(0.9 / 0.5) = 0.588.
    assert weights(0.08) == pytest.approx((1.609, 0.588), abs=0.001)
    assert weights(0.02)[0] > weights(0.08)[0]
    assert likely(0, 0) == 0.1
    assert likely(0, 400) == pytest.approx(2 / 420)


def test_refusals_in_a_row_are_a_limit():
    # After some ten requests each adds about 1.8, so that four make the 7 that are enough.
    assert limits(Strays(), [11, 12, 13, 14]) == [14]
    # After 300 without a refusal noise is taken for 1.25 × 2 / 320: each adds 4.2, and two are enough.
    assert limits(Strays(), [301, 302]) == [302]


def test_the_order_of_sending_counts_not_that_of_the_answers():
    assert limits(Strays(), [310, 302, 303]) == [303]


def test_one_in_ten_is_no_limit():
    strays = Strays()
    assert limits(strays, range(7, 2000, 10)) == []
    # Those of the last hundred may yet be followed by others: 1,897 and later are not told.
    assert strays.told() == len(range(7, 1897, 10))
    assert strays.told() == 0


def share_of_an_open_gate(asks, latency, hang, concurrency, workers=1, seed=1):
    """How fast 2,000 calls are, as a share of what gates do that let everything through."""

    def seconds(**how):
        endpoint = Moody(Unlimited(), latency=latency, moods=MOODS, asks=asks, hang=hang, seed=seed)
        return ask_for(0, endpoint, calls=2000, concurrency=concurrency, workers=workers, **how).seconds

    return seconds(open_gates=True) / seconds(store=SlowStore() if workers > 1 else None)


@pytest.mark.long
@pytest.mark.parametrize("asks", [None, "1"])
@pytest.mark.parametrize("concurrency", [16, 64])
@pytest.mark.parametrize(("latency", "hang"), [(0.05, 2.0), (5.0, 30.0)])
def test_where_refusals_come_at_random_it_is_asked_nearly_as_fast_as_without_a_gate(
    latency, hang, concurrency, asks
):
    assert share_of_an_open_gate(asks, latency, hang, concurrency) >= 0.8


@pytest.mark.long
@pytest.mark.parametrize("asks", [None, "1"])
def test_several_workers_are_mostly_as_fast_and_never_stuck(asks):
    shares = sorted(share_of_an_open_gate(asks, 5.0, 30.0, 16, workers=3, seed=seed) for seed in range(1, 12))
    # Four refused in a row among the first requests pass for a limit, until the trial says otherwise. That
    # happens to one in five: of eleven not to the middle one.
    assert shares[5] >= 0.8
    assert shares[0] >= 0.3


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("asks", [None, "1"])
@pytest.mark.parametrize("limit", [TokenBucket(300, 300), FixedWindow(300)], ids=["bucket", "window"])
def test_a_limit_is_found_and_used_beside_refusals_at_random(limit, asks, workers):
    limit = type(limit)(300, 300) if isinstance(limit, TokenBucket) else FixedWindow(300)
    endpoint = Moody(limit, moods={"429": 0.05}, asks=asks)
    outcome = ask_for(600.0, endpoint, workers=workers, store=SlowStore() if workers > 1 else None)
    assert outcome.used >= 0.85
    assert outcome.share_429 <= 0.05 + 0.04
    # It does not fall: the last three minutes are as good as all ten.
    assert sum(at >= 1420 for at in endpoint.allowed) >= 0.8 * 900


def test_an_endpoint_that_begins_to_refuse_at_random_is_asked_freely_again():
    # A limit of 300 a minute is known for two minutes; then there is none, but one in ten is refused.
    class Changed(TokenBucket):
        def take(self, now, amount=1.0):
            return now >= 1120 or super().take(now, amount)

    endpoint = Moody(Changed(300, 10), seed=2)
    answer = endpoint.answer

    async def moody_later(tokens):
        endpoint.moods = {"429": 0.1} if endpoint.allowed and endpoint.allowed[-1] >= 1120 else {}
        return await answer(tokens)

    endpoint.answer = moody_later
    ask_for(420.0, endpoint)
    # In the last minute far more than the 300 that were the limit.
    assert sum(at >= 1360 for at in endpoint.allowed) >= 3000
