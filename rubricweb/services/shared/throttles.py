"""How often a token, or somebody without one, may ask: counted for all processes together."""

from datetime import datetime

from django.conf import settings
from django.core.cache import cache

from rubricweb.models import ApiToken

WINDOW_SECONDS = 60
OPENINGS_PER_MINUTE = 60
"""How many shared links one address on the network may open in a minute, those that are none among them."""


def count_request(token: ApiToken, *, now: datetime) -> int | None:
    """Counts one request of the token. None where it is allowed, else after how many seconds the next one is.

    A token has API_REQUESTS_PER_MINUTE in every minute of the clock (UTC); 0 counts nothing. With 3 a minute
    the fourth at 12:00:50 is refused, for 10 seconds.
    """
    allowed = settings.API_REQUESTS_PER_MINUTE
    return _count(f"api:{token.pk}", allowed, now) if allowed else None


def count_opening(ip_address: str, *, now: datetime) -> int | None:
    """Counts one opening of a shared link from there. None or seconds, as `count_request`."""
    return _count(f"shared:{ip_address}", OPENINGS_PER_MINUTE, now)


def _count(who: str, allowed: int, now: datetime) -> int | None:
    minute, second = divmod(int(now.timestamp()), WINDOW_SECONDS)
    key = f"{who}:{minute}"
    try:
        used = cache.incr(key)
    except ValueError:  # the first in this minute, or the second at the very same moment
        used = 1 if cache.add(key, 1, 2 * WINDOW_SECONDS) else cache.incr(key)
    return WINDOW_SECONDS - second if used > allowed else None
