"""What an answer's headers say about how often its endpoint may be asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rubricweb.judges.client.failures import retry_after


@dataclass(frozen=True, slots=True)
class Window:
    """A counted allowance: `limit` in all, `remaining` now, back to full (or anew) in `reset_seconds`."""

    limit: float
    remaining: float
    reset_seconds: float | None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an endpoint said of its limits; None where it said nothing that can be read."""

    requests: Window | None = None
    tokens: Window | None = None


def allowance(headers: Mapping[str, str]) -> Allowance | None:
    """Read `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`; None when there is no full pair.

    A limit needs its `remaining` to be of use. `limit-requests: 300`, `remaining-requests: 299` and
    `reset-requests: 200ms` are Window(300, 299, 0.2).
    """
    if "x-ratelimit-remaining-requests" not in headers and "x-ratelimit-remaining-tokens" not in headers:
        return None
    found = Allowance(_window(headers, "requests"), _window(headers, "tokens"))
    return found if found.requests or found.tokens else None


def asked_to_wait(status: int | None, headers: Mapping[str, str]) -> float | None:
    """Seconds the endpoint wants to be left alone; None when it asks for nothing.

    Of a 429, and of a 503 or 529 (overloaded) that carries Retry-After.
    """
    return retry_after(headers) if status in (429, 503, 529) else None


def duration(text: str | None) -> float | None:
    """Seconds of a duration as Go prints it, or of a bare number; None when it is neither, or has more digits
    than a duration needs.

    "1s" is 1, "6m0s" 360, "120ms" 0.12, "2m59.56s" 179.56, "1h2m3s" 3723 and "0.5" 0.5.
    """
    if not text:
        return None
    text = text.strip()
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else None


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ns|us|µs|ms|s|m|h|d)", re.ASCII)


def _window(headers: Mapping[str, str], what: str) -> Window | None:
    limit = _count(headers.get(f"x-ratelimit-limit-{what}"))
    remaining = _count(headers.get(f"x-ratelimit-remaining-{what}"))
    if limit is None or remaining is None or limit < 1:
        return None
    return Window(limit, remaining, duration(headers.get(f"x-ratelimit-reset-{what}")))


def _count(text: str | None) -> float | None:
    """A whole number of at most fifteen digits; some endpoints send -1 for "no limit"."""
    return float(text) if text and re.fullmatch(r"\d{1,15}", text.strip(), re.ASCII) else None
