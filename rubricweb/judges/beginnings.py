"""Beginnings that prompts share, and which of them the provider has just been sent.

A provider keeps the beginning of a prompt in its cache once it has begun to answer, and bills it at a tenth
when the next prompt begins alike. Ten questions about one item that are sent at once are all paid in full: so
one goes ahead, and the others wait until it is answered, or until its answer must have begun. Decision 0047.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.client.reply_formats import SHORTEST_CACHED_TOKENS, EndpointCapabilities
from rubricweb.judges.client.request_body import BYTES_PER_TOKEN

KEPT_SECONDS = 240.0
"""How long after its last use a beginning counts as cached; providers keep them for five minutes or more."""

FIRST_TOKEN_SECONDS, TOKENS_PER_SECOND = 2.0, 10_000
"""When the answer to a prompt has begun for certain: after so long, and a second for every so many tokens. We
do not stream, so that an answer which takes longer than that to be whole is not waited for."""

T = TypeVar("T")


class Beginning(NamedTuple):
    """What a prompt begins with; equal texts have equal keys. `tokens` is a guess, `ends` the number of
    characters of the user's message in it.
    """

    key: int
    tokens: int
    ends: int


def beginnings_of(config: JudgeConfig, question: Question) -> tuple[Beginning, ...]:
    """What other prompts may begin with too, the shortest first: what the autograder says is shared, and the
    whole of a prompt that may be asked again; each longer than the one before by what a provider would keep.

    A judge that costs nothing has none. Providers put the schema of the reply before the prompt, so that
    prompts with different ones share nothing.
    """
    if config.is_free:
        return ()
    prompt = question.prompt
    if len(prompt.system) + len(prompt.user) < SHORTEST_CACHED_TOKENS:
        return ()  # not even with four bytes to a character
    found: list[Beginning] = []
    for end in (prompt.shared, len(prompt.user)):
        text = prompt.user[:end].encode(errors="surrogatepass")
        tokens = (len(prompt.system) + len(text)) // BYTES_PER_TOKEN
        if tokens - (found[-1].tokens if found else 0) >= SHORTEST_CACHED_TOKENS:
            found.append(
                Beginning(hash((prompt.schema, prompt.reply_format, prompt.system, text)), tokens, end)
            )
    return tuple(found)


@dataclass(slots=True)
class _Sent(Generic[T]):
    """A beginning that was sent: whose answer is waited for, who waits, and what is known of the cache."""

    ahead: bool
    kept_until: float
    # Whether a prompt that begins so was answered: only then is it known to be in the cache.
    answered: bool = False
    waiting: list[T] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Going:
    """A question that is being asked: the beginnings it went ahead with, and how many tokens the provider
    had been sent, and had answered, before it went.
    """

    leads: tuple[Beginning, ...] = ()
    cached_tokens: int = 0

    @property
    def first_token_seconds(self) -> float:
        """How long after it was sent its answer has begun."""
        return FIRST_TOKEN_SECONDS + max((one.tokens for one in self.leads), default=0) / TOKENS_PER_SECOND


class Beginnings(Generic[T]):
    """What one endpoint and model was sent lately, and what waits because another went ahead.

    `T` is what waits and comes back. For the event loop's thread alone. `clock` counts seconds.
    """

    def __init__(
        self, capabilities: EndpointCapabilities, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._capabilities = capabilities
        self._clock = clock
        # Those used longest ago stand first.
        self._sent: dict[int, _Sent[T]] = {}

    def waits(self, beginnings: Sequence[Beginning], thing: T) -> bool:
        """Whether this is to wait for one that went ahead with the same beginning; it then comes back later.

        Only where that one makes what is cached longer by as much as a provider would keep.
        """
        cached = 0
        longest: _Sent[T] | None = None
        for one in beginnings:
            sent = self._sent.get(one.key)
            if sent is None:
                break
            if not sent.ahead:
                cached = one.tokens
            elif (
                self._capabilities.cached_from <= one.tokens and one.tokens - cached >= SHORTEST_CACHED_TOKENS
            ):
                longest = sent
        if longest is None:
            return False
        longest.waiting.append(thing)
        return True

    def goes(self, beginnings: Sequence[Beginning]) -> Going:
        """This is asked now: others that begin with what was not sent lately wait for it."""
        now = self._clock()
        self._forget(now)
        leads, cached = [], 0
        for one in beginnings:
            sent = self._sent.pop(one.key, None)
            if sent is None:
                leads.append(one)
                sent = _Sent(ahead=True, kept_until=0.0)
            elif sent.answered:
                cached = one.tokens
            sent.kept_until = now + KEPT_SECONDS
            self._sent[one.key] = sent
        return Going(tuple(leads), cached)

    def has_begun(self, going: Going) -> list[T]:
        """Its answer must have begun: what waited for it, in order."""
        released: list[T] = []
        for one in going.leads:
            sent = self._sent.get(one.key)
            if sent is not None and sent.ahead:
                sent.ahead = False
                released += sent.waiting
                sent.waiting = []
        return released

    def over(self, going: Going, beginnings: Sequence[Beginning], reply: Reply | None) -> list[T]:
        """It was answered, failed or broke off (None): what waited for it. The others go on in any case."""
        released = self.has_begun(going)
        if reply is not None and reply.prompt_tokens is not None and not reply.fallback:
            for one in beginnings:
                if one.key in self._sent:
                    self._sent[one.key].answered = True
            cached = reply.cached_prompt_tokens or 0
            if going.cached_tokens or cached:
                self._capabilities.learn_cached(going.cached_tokens, cached)
        return released

    def take_out(self, of: Callable[[T], bool]) -> list[T]:
        """All of these that wait, which wait no more."""
        taken: list[T] = []
        for sent in self._sent.values():
            if sent.waiting:
                taken += [thing for thing in sent.waiting if of(thing)]
                sent.waiting = [thing for thing in sent.waiting if not of(thing)]
        return taken

    def _forget(self, now: float) -> None:
        """Drops what no provider keeps any more."""
        while self._sent:
            key, oldest = next(iter(self._sent.items()))
            if oldest.ahead or oldest.kept_until > now:
                return
            del self._sent[key]
