"""How often a token may be used: counted for all processes together."""

from datetime import datetime

from django.conf import settings
from django.core.cache import cache

from rubricweb.models import ApiToken

WINDOW_SECONDS = 60


def count_request(token: ApiToken, *, now: datetime) -> int | None:
    """Counts one request of the token. None where it is allowed, else after how many seconds the next one is.

    A token has API_REQUESTS_PER_MINUTE in every minute of the clock (UTC); 0 counts nothing. With 3 a minute
    the fourth at 12:00:50 is refused, for 10 seconds.
    """
    allowed = settings.API_REQUESTS_PER_MINUTE
    if not allowed:
        return None
    minute, second = divmod(int(now.timestamp()), WINDOW_SECONDS)
    key = f"api:{token.pk}:{minute}"
    try:
        used = cache.incr(key)
    except ValueError:  # the first in this minute, or the second at the very same moment
        used = 1 if cache.add(key, 1, 2 * WINDOW_SECONDS) else cache.incr(key)
    return WINDOW_SECONDS - second if used > allowed else None
