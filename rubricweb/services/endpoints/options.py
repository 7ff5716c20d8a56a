"""What an owner may say about an endpoint, and what is wrong with what was said."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings

from rubricweb.engine.errors import Fault, shortened
from rubricweb.engine.judging.sampling import Sampling, wrong_options
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.addresses import BlockedAddress, check_url
from rubricweb.models import JudgeEndpoint

MAX_CONCURRENCY = 1000
MAX_COUNT = 2**31 - 1
MAX_USD = 1e6
MAX_HEADERS = 20
MAX_KEY = 4000
SENDABLE = f"one line of up to {MAX_KEY:,} ASCII characters"


COLUMNS = (
    "fallback_model",
    "cache_marks",
    "batches",
    "max_concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "input_usd_per_million",
    "cached_input_usd_per_million",
    "output_usd_per_million",
)
OPTIONS = (*Sampling.model_fields, *COLUMNS)
"""What an owner may say about an endpoint beside its name, address, model and secrets: options of its
sampling and columns of `JudgeEndpoint`. Fields of forms and of the API have these names.

None, and "" for texts, leaves a value out of requests, or says that a limit or price is not known.
"""

_PRICE = "US dollars per million tokens, from 0 to below a million, or nothing"
_RANGES: Mapping[str, tuple[float, float, str]] = {
    "max_concurrency": (1, MAX_CONCURRENCY, f"a whole number from 1 to {MAX_CONCURRENCY}, or nothing"),
    "requests_per_minute": (1, MAX_COUNT, "a whole number from 1, or nothing when it is not known"),
    "tokens_per_minute": (1, MAX_COUNT, "a whole number from 1, or nothing when it is not known"),
    "input_usd_per_million": (0, math.nextafter(MAX_USD, 0), _PRICE),
    "cached_input_usd_per_million": (0, math.nextafter(MAX_USD, 0), _PRICE),
    "output_usd_per_million": (0, math.nextafter(MAX_USD, 0), _PRICE),
}
_PRICES = tuple(name for name in _RANGES if _RANGES[name][2] == _PRICE)
_TEXTS = {"name": (1, 80), "base_url": (1, 500), "model": (1, 200), "fallback_model": (0, 200)}


def sampling_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that are of the sampling."""
    return {name: value for name, value in options.items() if name in Sampling.model_fields}


def options_of(endpoint: JudgeEndpoint) -> dict[str, Any]:
    """Every option by its name, as it is set."""
    return {**endpoint.sampling.model_dump(), **{name: getattr(endpoint, name) for name in COLUMNS}}


def require_valid(
    options: Mapping[str, Any],
    headers: Mapping[str, str],
    api_key: str = "",
    stored: JudgeEndpoint | None = None,
) -> None:
    """Refuses what no endpoint can be: Invalid with a fault for every field that is wrong.

    `options` holds any of OPTIONS, name, address and model, texts without white space around them; those not
    named are as `stored`. An address that may not be called is the `__cause__` of the refusal.
    """
    faults = [*_wrong_texts(options), *wrong_options(sampling_in(options))]
    faults += [*_wrong_numbers(options)] or _half_price(options, stored)
    faults += _wrong_headers(headers)
    if not is_sendable(api_key):
        faults.append(Fault("api_key", "characters that no request can carry", SENDABLE))
    blocked = None
    if options.get("base_url"):
        try:
            check_url(options["base_url"], allow_private_hosts=settings.JUDGE_ALLOW_PRIVATE_HOSTS)
        except BlockedAddress as error:
            blocked = error
            wrong, _, allowed = str(error).partition("; allowed ")
            faults.append(Fault("base_url", wrong, allowed.removeprefix("is ").removeprefix("are ")))
    if faults:
        message = str(blocked) if blocked and len(faults) == 1 else "; ".join(map(str, faults))
        raise Invalid(message, faults) from blocked


def is_sendable(api_key: str) -> bool:
    """Whether a key can stand in a header: a pasted ellipsis, line end or accent cannot."""
    return api_key.isascii() and api_key.isprintable() and len(api_key) <= MAX_KEY


def _wrong_texts(options: Mapping[str, Any]) -> Iterator[Fault]:
    for name, (least, most) in _TEXTS.items():
        text = options.get(name, " ")
        if not least <= len(text) <= most:
            found = f"{len(text)} characters" if text else "nothing"
            yield Fault(name, found, f"{least} to {most} characters" if least else f"up to {most} characters")
        elif any(ord(character) < 32 or character == "\x7f" for character in text):
            yield Fault(name, "a control character", "one line of text")


def _wrong_numbers(options: Mapping[str, Any]) -> Iterator[Fault]:
    for name, (least, most, allowed) in _RANGES.items():
        number = options.get(name)
        if number is not None and not least <= number <= most:  # of what is no number either is false
            yield Fault(name, f"{number:g}" if isinstance(number, float) else shortened(str(number)), allowed)


def _half_price(options: Mapping[str, Any], stored: JudgeEndpoint | None) -> Iterator[Fault]:
    """The price that lacks beside another: an endpoint with one alone would count as one without a price.

    What is stored already may stay so.
    """
    before = {name: getattr(stored, name, None) for name in _PRICES}
    prices = {name: options.get(name, before[name]) for name in _PRICES}
    if prices == before or set(prices.values()) == {None}:
        return
    for name in ("input_usd_per_million", "output_usd_per_million"):
        if prices[name] is None:
            yield Fault(name, "nothing", "both prices, of input and of output, or none")


def _wrong_headers(headers: Mapping[str, str]) -> Iterator[Fault]:
    """By the client's own rules; what was typed is never repeated, for it may be a secret."""
    if len(headers) > MAX_HEADERS:
        yield Fault("extra_headers", f"{len(headers)} headers", f"up to {MAX_HEADERS}")
    try:
        JudgeConfig("", "https://localhost", "any", extra_headers=tuple(headers.items()))
    except ValueError as error:
        wrong, _, allowed = str(error).removeprefix("JudgeConfig.extra_headers: ").partition("; ")
        yield Fault("extra_headers", wrong, allowed.removeprefix("allowed is ").removeprefix("allowed are "))
