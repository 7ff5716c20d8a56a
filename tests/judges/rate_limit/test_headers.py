"""What headers say about limits."""

import pytest

from rubricweb.judges.rate_limit.headers import Allowance, Window, allowance, asked_to_wait, duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("120ms", 0.12),
        ("2m59.56s", 179.56),
        ("1h2m3s", 3723),
        ("0.5", 0.5),
        ("17", 17),
        ("", None),
        (None, None),
        ("soon", None),
        ("-1s", None),
        ("1s later", None),
        ("1e9", None),
        ("nan", None),
    ],
)
def test_durations(text, seconds):
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


def test_a_limit_needs_what_remains_of_it():
    full = {
        "x-ratelimit-limit-requests": "300",
        "x-ratelimit-remaining-requests": "299",
        "x-ratelimit-reset-requests": "200ms",
    }
    assert allowance(full) == Allowance(requests=Window(300, 299, 0.2))
    assert allowance({"x-ratelimit-limit-requests": "300"}) is None
    assert allowance({}) is None


@pytest.mark.parametrize("nonsense", ["-1", "many", "", "1" * 40, "3.5"])
def test_nonsense_is_no_limit(nonsense):
    assert allowance({"x-ratelimit-limit-tokens": nonsense, "x-ratelimit-remaining-tokens": "5"}) is None


def test_only_refusals_and_overload_ask_to_wait():
    headers = {"retry-after": "7"}
    assert asked_to_wait(429, headers) == asked_to_wait(503, headers) == 7
    assert asked_to_wait(200, headers) is None
    assert asked_to_wait(429, {}) is None
    assert asked_to_wait(None, {}) is None


@pytest.mark.parametrize("text", ["9" * 400, "9" * 400 + "s", "1e999", "nan", "1.5.5s", "٣s", "-1s"])
def test_a_duration_that_is_none_or_has_too_many_digits_is_not_known(text):
    assert duration(text) is None
