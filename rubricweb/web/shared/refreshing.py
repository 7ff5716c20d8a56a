"""Result pages that renew themselves on a screen nobody touches: how often, as the address asks."""

from dataclasses import dataclass
from datetime import datetime

from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.web.http import now

EVERY = {60: "1 minute", 300: "5 minutes", 900: "15 minutes"}
"""Seconds → words; nothing renews itself more often, so that many screens cost little."""


@dataclass(frozen=True)
class Refresh:
    """`seconds` between two looks, None where the page stays as it is; `at` is when it was made."""

    seconds: int | None
    at: datetime

    @property
    def choices(self) -> list[tuple[int, str]]:
        return list(EVERY.items())

    @property
    def words(self) -> str:
        """What is between two looks; "" where there is one only."""
        return EVERY[self.seconds] if self.seconds is not None else ""


def read_refresh(query: QueryDict) -> Refresh:
    """`?refresh=60`. Raises Invalid for any other number than those of EVERY."""
    asked = query.get("refresh", "")
    if asked not in ("", *map(str, EVERY)):
        allowed = ", ".join(map(str, EVERY))
        raise Invalid.at("refresh", repr(asked[:40]), f"{allowed} seconds, or nothing")
    return Refresh(int(asked) if asked else None, now())
