"""Limits that nobody configured, found and used: simulated endpoints, in virtual time, seeded.

The promise is 90 % of the allowance with less than 3 % of calls answered 429, over two minutes. An allowance
is what a client that knew the limit could have had: of a bucket its burst and what flows in, of a window all
of the first and its part of the last.
"""

import pytest

from tests.judges.rate_limit.virtual_time import (
    Endpoint,
    FixedWindow,
    SlowStore,
    TokenBucket,
    Unlimited,
    ask_for,
)

MINUTES_2 = 120.0


def keeps_the_promise(outcome, used=0.9, refused=0.03):
    said = (
        f"{outcome.used:.1%} used, {outcome.share_429:.1%} refused ({outcome.refused} of {outcome.allowed})"
    )
    assert outcome.used >= used, said
    assert outcome.share_429 < refused, said


@pytest.mark.parametrize("told", [None, "exact"])
@pytest.mark.parametrize("burst", [300, 10, 1])
def test_a_bucket_of_300_a_minute_is_used_and_not_overrun(burst, told):
    keeps_the_promise(ask_for(MINUTES_2, Endpoint(TokenBucket(300, burst, told=told))))


@pytest.mark.parametrize("concurrency", [16, 64])
@pytest.mark.parametrize("told", [None, "whole"])
def test_a_window_of_300_a_minute_is_used_and_not_overrun(told, concurrency):
    endpoint = Endpoint(FixedWindow(300, told=told), latency=0.2)
    keeps_the_promise(ask_for(MINUTES_2, endpoint, concurrency=concurrency))


@pytest.mark.parametrize("latency", [0.2, 1.0])
@pytest.mark.parametrize("limit", range(200, 500, 23))
def test_where_a_limit_is_first_met_few_are_on_their_way(limit, latency):
    endpoint = Endpoint(FixedWindow(limit), latency=latency)
    ask_for(15.0, endpoint, concurrency=64)
    assert endpoint.most_in_flight == 64
    # 64 in flight at 0.2 s leave 2.8 ms apart: seven more while the first refusal comes back in 20 ms. With
    # the four that may make up for lost moments 11. In bursts it would be up to 64.
    assert len([at for at in endpoint.refused if at < endpoint.refused[0] + 0.2]) <= 11


@pytest.mark.parametrize("concurrency", [16, 64])
@pytest.mark.parametrize("offset", [0.0, 20.0, 40.0])
def test_an_endpoint_that_takes_seconds_to_refuse_is_used_all_the_same(offset, concurrency):
    # A probe whose refusal is still on its way is no probe that was answered.
    endpoint = Endpoint(FixedWindow(300, offset=offset), latency=2.0, refusal=2.0)
    keeps_the_promise(ask_for(180.0, endpoint, concurrency=concurrency), used=0.85, refused=0.2)


def test_pauses_in_whole_seconds_cost_a_bucket_without_burst_a_little():
    # Each refusal costs a second where a fifth of one would have done; that is the endpoint's wish.
    limit = TokenBucket(300, 1, told="whole")
    keeps_the_promise(ask_for(MINUTES_2, Endpoint(limit)), used=0.8)


@pytest.mark.parametrize("limit", [TokenBucket, FixedWindow])
def test_headers_spare_the_refusals(limit):
    endpoint = Endpoint(
        TokenBucket(300, 300, headers=True) if limit is TokenBucket else FixedWindow(300, headers=True)
    )
    keeps_the_promise(ask_for(MINUTES_2, endpoint, concurrency=64), refused=0.02)
    if limit is TokenBucket:
        assert len(endpoint.refused) == 0


@pytest.mark.parametrize("workers", [2, 8])
@pytest.mark.parametrize("limit", ["bucket", "window", "window, told"])
def test_workers_share_one_limit(workers, limit):
    # What eight have in flight together when they meet the limit is refused: little, over four minutes.
    seconds = 60.0 * max(2, workers / 2)
    limits = {
        "bucket": TokenBucket(300, 300),
        "window": FixedWindow(300),
        "window, told": FixedWindow(300, told="whole"),
    }
    store = SlowStore()
    outcome = ask_for(seconds, Endpoint(limits[limit]), workers=workers, store=store)
    keeps_the_promise(outcome)
    # Four exchanges a second at most while the rate is known; a few more while it is being found out.
    assert store.exchanges <= workers * seconds * 5


def test_no_worker_starves_where_all_share_one_limit():
    outcome = ask_for(240.0, Endpoint(TokenBucket(300, 10)), workers=4, store=SlowStore())
    # Of about 1,200 calls in four minutes a fair share is 300; none has less than half of it.
    assert all(share >= 150 for share in outcome.by_worker), outcome.by_worker


def test_a_judge_that_thinks_for_half_a_minute_is_not_asked_for_half_a_minute():
    # 16 at once by time alone, 48 more with their answers; the third round trip is of what left meanwhile.
    # Requests leave at most 20 ms apart: 64 of them within 1.3 s, three times; a second for what else comes.
    outcome = ask_for(None, Endpoint(Unlimited(), latency=30.0), concurrency=64, calls=64)
    assert 90.0 <= outcome.seconds <= 90.0 + 3 * 64 * 0.02 + 1.0


def test_judges_that_think_for_seconds_are_asked_many_at_once():
    def latency(in_flight, random):
        return random.lognormvariate(1.5, 0.4)  # 4.5 s in the middle, one in twenty over 8.7 s

    keeps_the_promise(ask_for(MINUTES_2, Endpoint(TokenBucket(300, 10), latency=latency), concurrency=64))


def test_a_high_limit_is_found_soon():
    keeps_the_promise(ask_for(60.0, Endpoint(TokenBucket(6000, 100)), concurrency=64))


def test_a_window_of_six_seconds_is_found_as_one_of_a_minute():
    # Every window that ends too early costs a few tenths of its six seconds until the next probe.
    keeps_the_promise(ask_for(MINUTES_2, Endpoint(FixedWindow(300, 6.0))), used=0.85)


def test_tokens_are_limited_too_without_a_word_about_them():
    # 30,000 tokens a minute at 100 each are 300 requests a minute; requests alone would be 6,000.
    tokens = TokenBucket(30_000, 3_000)
    endpoint = Endpoint(TokenBucket(6000, 100), tokens=tokens, tokens_each=100, latency=0.2)
    outcome = ask_for(MINUTES_2, endpoint)
    # 3,000 tokens at once and 500 a second for 120 s: 63,000, or 630 requests.
    assert outcome.allowed >= 0.9 * 630
    assert outcome.share_429 < 0.03


@pytest.mark.parametrize("workers", [1, 3])
def test_configured_requests_per_minute_are_never_overrun(workers):
    endpoint = Endpoint(TokenBucket(10_000, 10_000))
    store = SlowStore() if workers > 1 else None
    outcome = ask_for(MINUTES_2, endpoint, workers=workers, store=store, requests_per_minute=120)
    assert outcome.refused == 0
    assert endpoint.most_in(60.0) <= 120
    assert outcome.allowed >= 0.9 * 240


def test_configured_tokens_per_minute_are_never_overrun_although_the_guess_is_bad():
    # Guessed are 100 a request, used 400: 48,000 a minute are 120 requests.
    endpoint = Endpoint(TokenBucket(10_000, 10_000), tokens_each=400)
    outcome = ask_for(MINUTES_2, endpoint, tokens_per_minute=48_000)
    assert 400 * endpoint.most_in(60.0) <= 48_000
    assert outcome.allowed >= 0.9 * 240


def test_a_queueing_server_is_not_flooded():
    # Eight at a time, half a second each; what is more waits: 64 at once would take 4 s.
    def latency(in_flight, random):
        return 0.5 * max(1.0, in_flight / 8)

    endpoint = Endpoint(Unlimited(), latency=latency)
    outcome = ask_for(MINUTES_2, endpoint, concurrency=64)
    # 8 / 0.5 s × 120 s = 1,920 is all it can answer. Latency holds up to twice the lowest: 16 at once, and
    # the root of that for growing.
    assert outcome.allowed >= 0.9 * 1920
    assert 8 <= outcome.states[0].limit <= 24


def test_an_endpoint_that_holds_is_asked_as_much_as_configured():
    endpoint = Endpoint(Unlimited(), latency=0.05)
    outcome = ask_for(0, endpoint, calls=2000, concurrency=64)
    assert endpoint.most_in_flight == 64
    # 2,000 calls, 64 at once at 51 ms each: 1.6 s; finding out that 64 are welcome costs a fifth at most.
    assert outcome.seconds <= 1.2 * 2000 / 64 * 0.051


class Shut(Unlimited):
    """Lets nothing through for so long, and then whatever comes."""

    def __init__(self, seconds):
        self.seconds, self.first_at = seconds, None

    def take(self, now, amount=1.0):
        self.first_at = now if self.first_at is None else self.first_at
        return now - self.first_at >= self.seconds


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("seconds", [3.0, 10.0, 25.0])
def test_an_endpoint_that_was_shut_at_first_is_asked_freely_once_it_answers(seconds, workers):
    # Probes are at most 12 s apart; asked freely 16 at once come to 320 answers a second.
    outcome = ask_for(seconds + 20, Endpoint(Shut(seconds)), workers=workers)
    assert outcome.allowed > 1000
    assert outcome.refused < 40


def test_a_limit_that_is_raised_is_found_again():
    endpoint = Endpoint(TokenBucket(60, 5))
    ask_for(MINUTES_2, endpoint)
    slow = len(endpoint.allowed)
    raised = Endpoint(_Raised(60, 5, at=60.0, to=600))
    outcome = ask_for(300.0, raised)
    # One a second for 300 s would be 300. Ten a second for the last four minutes are 2,400 more, of which a
    # good third is got: a rate that held for a minute is left slowly.
    assert outcome.allowed > 800
    assert outcome.states[0].requests_per_minute > 500
    assert slow < 140


class _Raised(TokenBucket):
    def __init__(self, per_minute, burst, *, at, to):
        super().__init__(per_minute, burst)
        self.raised_at, self.to = 1000.0 + at, to / 60

    def take(self, now, amount=1.0):
        if now >= self.raised_at:
            self.rate = self.to
        return super().take(now, amount)


def test_the_same_seed_gives_the_same_calls():
    first, second = (Endpoint(TokenBucket(300, 10), seed=7) for _ in range(2))
    ask_for(30.0, first)
    ask_for(30.0, second)
    assert first.allowed == second.allowed
