"""What rate limiting promises, counted in simulations: virtual time, seeded, nothing measured by the clock.

An allowance is what a client that knew the limit could have had: of a bucket its burst and what flows in, of
a window all of the first and its part of the last.
"""

import asyncio

import pytest

from tests.judges.rate_limit.virtual_time import (
    Endpoint,
    FixedWindow,
    Moody,
    SlowStore,
    TokenBucket,
    Unlimited,
    Worker,
    ask_for,
    judge_of,
    run,
)

MINUTES_10 = 600.0
WHOLE_WINDOWS = 20.0  # simulations begin at second 1000: windows of a minute begin with it


def uses(outcome, used, refused):
    said = f"{outcome.used:.1%} used, {outcome.refused} of {outcome.allowed + outcome.refused} refused"
    assert outcome.used >= used, said
    assert outcome.refused_share < refused, said


# ── Limits that are configured, or told by headers: 95 % used, less than 1 % refused ────────────────


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    "limit",
    [lambda: TokenBucket(300, 5), lambda: FixedWindow(300, offset=WHOLE_WINDOWS)],
    ids=["bucket", "window"],
)
def test_a_configured_limit_is_used_and_not_exceeded(limit, workers):
    store = SlowStore() if workers > 1 else None
    outcome = ask_for(MINUTES_10, Endpoint(limit()), workers=workers, store=store, requests_per_minute=300)
    uses(outcome, 0.95, 0.01)


def test_a_configured_limit_is_spread_over_time():
    endpoint = Endpoint(TokenBucket(10_000, 10_000))
    ask_for(120.0, endpoint, requests_per_minute=120)
    assert endpoint.most_in(60.0) <= 120
    # 98.5 % of two a second leave 0.508 s apart; arrivals differ by at most 2 ms.
    gaps = [after - before for before, after in zip(endpoint.allowed, endpoint.allowed[1:], strict=False)]
    assert min(gaps) > 0.5


def test_configured_tokens_are_used_and_not_exceeded_although_the_guess_is_bad():
    # Guessed are 100 a request, used 400: 48,000 a minute are 120 requests. One of them is kept back, since
    # it may begin in one minute and count in the next: 119 of 120, of which 98.5 % are 97.7 %.
    endpoint = Endpoint(TokenBucket(10_000, 10_000), tokens_each=400)
    outcome = ask_for(MINUTES_10, endpoint, tokens_per_minute=48_000)
    assert 400 * endpoint.most_in(60.0) <= 48_000
    assert outcome.allowed >= 0.95 * 1200


@pytest.mark.parametrize(("workers", "concurrency"), [(1, 16), (1, 64), (3, 16)])
@pytest.mark.parametrize(
    "limit",
    [lambda: TokenBucket(300, 300, headers=True), lambda: FixedWindow(300, headers=True)],
    ids=["bucket", "window"],
)
def test_a_limit_that_headers_tell_is_used_and_not_exceeded(limit, workers, concurrency):
    store = SlowStore() if workers > 1 else None
    outcome = ask_for(MINUTES_10, Endpoint(limit()), workers=workers, concurrency=concurrency, store=store)
    uses(outcome, 0.95, 0.01)


# ── Limits that nobody configured and no header tells: 80 % used, less than 5 % refused ─────────────


@pytest.mark.parametrize("concurrency", [16, 64])
@pytest.mark.parametrize("told", [None, "whole"])
@pytest.mark.parametrize(
    "limit",
    [
        lambda told: TokenBucket(300, 300, told=told),
        lambda told: TokenBucket(300, 10, told=told),
        lambda told: FixedWindow(300, told=told),
        lambda told: FixedWindow(300, offset=WHOLE_WINDOWS, told=told),
    ],
    ids=["bucket", "small bucket", "window", "whole windows"],
)
def test_an_unknown_limit_is_found_and_used(limit, told, concurrency):
    uses(ask_for(MINUTES_10, Endpoint(limit(told), latency=0.2), concurrency=concurrency), 0.8, 0.05)


def test_a_bucket_without_burst_is_used():
    uses(ask_for(MINUTES_10, Endpoint(TokenBucket(300, 1))), 0.8, 0.05)


def test_a_high_limit_is_found_soon():
    uses(ask_for(60.0, Endpoint(TokenBucket(6000, 100)), concurrency=64), 0.8, 0.05)


def test_judges_that_think_for_seconds_are_asked_many_at_once():
    def latency(in_flight, random):
        return random.lognormvariate(1.5, 0.4)  # 4.5 s in the middle, one in twenty over 8.7 s

    endpoint = Endpoint(TokenBucket(300, 10), latency=latency)
    uses(ask_for(MINUTES_10, endpoint, concurrency=64), 0.8, 0.05)


@pytest.mark.parametrize(
    "limit", [lambda: TokenBucket(300, 300), lambda: FixedWindow(300)], ids=["bucket", "window"]
)
def test_workers_share_an_unknown_limit(limit):
    store = SlowStore()
    outcome = ask_for(MINUTES_10, Endpoint(limit()), workers=3, store=store)
    uses(outcome, 0.8, 0.05)
    # No worker starves: none has less than half of its third.
    assert min(outcome.by_worker) >= outcome.allowed / 6
    # A lease is for half a second or the next turn: a few exchanges a second, whatever the pace.
    assert store.exchanges <= 3 * MINUTES_10 * 4


def test_what_eight_workers_have_in_flight_when_a_limit_is_met_first_is_refused_and_little_later():
    endpoint = Endpoint(FixedWindow(300))
    outcome = ask_for(MINUTES_10, endpoint, workers=8, store=SlowStore())
    assert outcome.used >= 0.8
    # 8 × 16 at once; afterwards as with one worker.
    first = [at for at in endpoint.refused if at < 1010]
    assert len(first) <= 8 * 16 + 5  # and five tries within ten seconds, after 0.25, 0.5, 1, 2 and 4
    assert len(endpoint.refused) - len(first) < 0.05 * outcome.allowed


def test_unknown_limits_of_tokens_are_found_too():
    # 30,000 tokens a minute at 100 each are 300 requests a minute; requests alone would be 6,000.
    tokens = TokenBucket(30_000, 3_000)
    endpoint = Endpoint(TokenBucket(6000, 100), tokens=tokens, tokens_each=100, latency=0.2)
    outcome = ask_for(MINUTES_10, endpoint)
    # 3,000 tokens at once and 500 a second for 600 s: 303,000, or 3,030 requests.
    assert outcome.allowed >= 0.8 * 3030
    assert outcome.refused_share < 0.05


class Raised(TokenBucket):
    """300 a minute, from the second minute on 600."""

    def take(self, now, amount=1.0):
        self.rate = 10.0 if now >= 1060 else 5.0
        return super().take(now, amount)


def test_a_limit_that_is_raised_is_found_again():
    endpoint = Endpoint(Raised(300, 10))
    ask_for(MINUTES_10, endpoint)
    assert sum(at >= 1300 for at in endpoint.allowed) >= 0.8 * 3000


# ── Refusals at random: at most a quarter of the pace, and nobody is stopped ────────────────────────

# Of all requests, as in the test that kills everything.
FAULTS = {"429": 0.10, "500": 0.05, "reset": 0.03, "garbage": 0.03, "hang": 0.02}


def share_of_pace(moods, *, asks=None, latency=0.05, hang=2.0, workers=1, concurrency=16, calls=4000):
    """How fast so many calls are, as a share of what they are without limits; and what was decided."""

    def outcome(**how):
        endpoint = Moody(Unlimited(), latency=latency, moods=moods, asks=asks, hang=hang)
        return ask_for(None, endpoint, calls=calls, concurrency=concurrency, workers=workers, **how)

    limited = outcome(store=SlowStore() if workers > 1 else None)
    return outcome(without_limits=True).seconds / limited.seconds, limited.decisions


@pytest.mark.parametrize("asks", [None, "1"])
@pytest.mark.parametrize(("workers", "concurrency"), [(1, 16), (1, 64), (3, 16)])
def test_one_random_429_in_ten_costs_little_and_stops_nobody(workers, concurrency, asks):
    share, decisions = share_of_pace({"429": 0.1}, asks=asks, workers=workers, concurrency=concurrency)
    assert share >= 0.75
    assert not [decision.words for decision in decisions if "stopped" in decision.words]


@pytest.mark.parametrize("concurrency", [16, 64])
def test_random_429s_of_a_judge_that_thinks_long_cost_little(concurrency):
    share, _ = share_of_pace({"429": 0.1}, latency=5.0, concurrency=concurrency, calls=1500)
    assert share >= 0.75


@pytest.mark.parametrize(("latency", "hang"), [(0.05, 2.0), (5.0, 30.0)])
def test_faults_of_all_kinds_cost_little(latency, hang):
    share, _ = share_of_pace(FAULTS, latency=latency, hang=hang, calls=1500)
    assert share >= 0.75


def test_a_random_429_delays_its_own_question_alone():
    # The tenth request is told to come again in a minute; the other fifteen go on.
    class Once(Endpoint):
        async def answer(self, tokens):
            if len(self.allowed) == 10 and not self.refused:
                self.refused.append(asyncio.get_running_loop().time())
                return 429, {"retry-after": "60"}, None, 0.001
            return await super().answer(tokens)

    outcome = ask_for(10.0, Once(Unlimited()))
    # Fifteen at once, 51 ms each, for ten seconds: 2,941.
    assert outcome.allowed >= 0.9 * 2941
    assert outcome.decisions == []


def test_a_limit_beside_random_429s_is_used():
    endpoint = Moody(TokenBucket(300, 10), moods={"429": 0.05})
    assert ask_for(MINUTES_10, endpoint).used >= 0.75


# ── Restarts: at pace within seconds ────────────────────────────────────────────────────────────────


def restarted(endpoint, *, down, seconds, before=120.0, concurrency=16):
    """Requests allowed in so many seconds, by a worker that begins after another one was killed and nobody
    asked for a while. All it knows is in the store.
    """

    async def scene():
        store = SlowStore()
        killed = Worker(store, endpoint, judge_of(concurrency), name="killed")
        await asyncio.sleep(before)
        await killed.kill()
        await asyncio.sleep(down)
        allowed = len(endpoint.allowed)
        again = Worker(store, endpoint, judge_of(concurrency), name="again")
        await asyncio.sleep(seconds)
        await again.kill()
        return len(endpoint.allowed) - allowed

    return run(scene)


@pytest.mark.parametrize("down", [1, 45, 420])
@pytest.mark.parametrize("limit", [lambda: TokenBucket(300, 1), lambda: TokenBucket(300, 10)])
def test_a_restarted_worker_is_at_its_pace_within_seconds(limit, down):
    # 300 a minute are 50 in ten seconds.
    assert restarted(Endpoint(limit()), down=down, seconds=10.0) >= 0.8 * 50


def test_a_restarted_worker_asks_as_many_at_once_as_the_one_before():
    # 64 at once, 5 s each: 640 in ten seconds and a bit. Beginning with 8 it would be 8 + 64 at most.
    endpoint = Endpoint(Unlimited(), latency=5.0)
    assert restarted(endpoint, down=10, seconds=10.5, concurrency=64) >= 0.9 * 2 * 64


@pytest.mark.parametrize("down", [10, 420])
@pytest.mark.parametrize("limit", [lambda: TokenBucket(300, 10), lambda: FixedWindow(300)])
def test_a_kill_while_a_limit_is_looked_for_is_no_evidence_of_a_low_one(limit, down):
    # Killed within the first seconds; time in which nobody asked is left out of what is measured.
    assert restarted(Endpoint(limit(), latency=0.2), before=4.0, down=down, seconds=420.0) >= 0.8 * 2100


# ── What an endpoint may do besides ─────────────────────────────────────────────────────────────────


class Shut(Unlimited):
    """Lets nothing through for so long, and then whatever comes."""

    def __init__(self, seconds):
        self.opens_at = 1000.0 + seconds

    def take(self, now, amount=1.0):
        return now >= self.opens_at


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("seconds", [3.0, 25.0])
def test_an_endpoint_that_was_shut_at_first_is_asked_freely_once_it_answers(seconds, workers):
    # Tries are at most 10 s apart; asked freely 16 at once come to 320 answers a second.
    outcome = ask_for(seconds + 20, Endpoint(Shut(seconds)), workers=workers)
    assert outcome.allowed > 1000
    assert outcome.refused < 60


def test_an_endpoint_that_takes_seconds_to_refuse_is_used_all_the_same():
    # A try whose refusal is still on its way is no try that was let through.
    outcome = ask_for(300.0, Endpoint(FixedWindow(300), latency=2.0, refusal=2.0))
    uses(outcome, 0.8, 0.2)


def test_an_endpoint_that_holds_is_asked_as_much_as_configured():
    endpoint = Endpoint(Unlimited(), latency=0.05)
    outcome = ask_for(None, endpoint, calls=4000, concurrency=64)
    assert endpoint.most_in_flight == 64
    # 4,000 calls, 64 at once at 51 ms each: 3.2 s; finding out that 64 are welcome costs a tenth at most.
    assert outcome.seconds <= 1.1 * 4000 / 64 * 0.051


def test_a_judge_that_thinks_for_half_a_minute_is_not_asked_for_half_a_minute():
    # 8 at once and one more each second come to 38 in half a minute, and each answer brings another one: 64
    # are answered in little more than a minute. Those in flight then take half a minute more.
    outcome = ask_for(None, Endpoint(Unlimited(), latency=30.0), concurrency=64, calls=64)
    assert outcome.seconds <= 3 * 30.0 + 5.0


def test_where_a_limit_is_first_met_few_are_on_their_way():
    # In bursts up to 64 would be refused at once. Spread over the 0.2 s to an answer they leave 3.1 ms apart:
    # some seven more while the first refusal comes back in 20 ms, and five make a run.
    for limit in range(200, 500, 71):
        endpoint = Endpoint(FixedWindow(limit), latency=0.2)
        ask_for(15.0, endpoint, concurrency=64)
        assert len([at for at in endpoint.refused if at < endpoint.refused[0] + 0.2]) <= 24


def test_the_same_seed_gives_the_same_calls():
    first, second = (Endpoint(TokenBucket(300, 10), seed=7) for _ in range(2))
    ask_for(30.0, first)
    ask_for(30.0, second)
    assert first.allowed == second.allowed
