"""Whether providers were found to cache the beginnings that prompts share, for people: decision 0047."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rubricweb.errors import Invalid
from rubricweb.judges.client.reply_formats import SHORTEST_CACHED_TOKENS, EndpointCapabilities
from rubricweb.judges.rate_limit.store import key_of
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import memory
from rubricweb.services.shared.encryption import decrypt


@dataclass(frozen=True)
class Caching:
    """What is known of one endpoint and model. `caches` is None as long as nothing is known; `tokens` is from
    how many on a beginning is expected in the cache, or tried.
    """

    caches: bool | None
    tokens: int

    @property
    def sentence(self) -> str:
        what = "beginnings that prompts share"
        if self.caches is None:
            return f"Whether its provider caches {what} is not known yet: runs find out."
        if self.caches:
            return f"Its provider was found to cache {what}, from about {self.tokens:,} tokens on."
        tried = f"only those of {self.tokens:,} tokens or more are still tried"
        return f"Its provider was not found to cache {what}: {tried}."


def caching_of(rows: Sequence[JudgeEndpoint], *, now: datetime) -> list[Caching]:
    """What is known of each of these endpoints, in their order. One query.

    Nothing is known of one whose key can no longer be opened: what was learned is kept by address, key and
    model.
    """
    known = memory.known_by([_key(row) for row in rows], now=now)
    return [Caching(_found(one), one.cached_from) for one in known]


def _key(row: JudgeEndpoint) -> str:
    try:
        return key_of(row.base_url, decrypt(row.sealed_key), row.model)
    except Invalid:
        return ""


def _found(known: EndpointCapabilities) -> bool | None:
    if known.has_cached:
        return True
    return False if known.cached_from > SHORTEST_CACHED_TOKENS else None
