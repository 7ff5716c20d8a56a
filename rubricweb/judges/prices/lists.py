"""Price lists that others keep, and where the one shipped differs from them.

Two forms are read, both JSON. litellm's `model_prices_and_context_window.json` is an object of models:
`{"gpt-5-mini": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 2.5e-07, …}}`. What
OpenRouter answers to `GET /api/v1/models` is a list: `{"data": [{"id": "openai/gpt-5-mini", "pricing":
{"prompt": "0.00000025", …}}]}`. Both count US dollars per token.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import Fault, Invalid
from rubricweb.judges.prices.shipped import SHIPPED, Price, normal_name

MAKERS = frozenset(
    {"openai", "anthropic", "gemini", "google", "mistral", "mistralai", "deepseek", "xai", "x-ai"}
)
"""Who makes the models of the shipped list, as either list calls them. What others host has other prices."""

_CHAT = frozenset({"chat", "responses"})


@dataclass(frozen=True, slots=True)
class PriceDifference:
    """One price of one model, in US dollars per million tokens: as shipped, and as listed elsewhere."""

    model: str
    price: str
    shipped: float | None
    listed: float


@dataclass(frozen=True, slots=True)
class PriceComparison:
    """The shipped list beside another one: prices that differ, models that one of them lacks."""

    differences: tuple[PriceDifference, ...]
    compared: int
    not_listed: tuple[str, ...]
    not_shipped: tuple[str, ...]


def compare_prices(listed: Mapping[str, Price], shipped: Mapping[str, Price] = SHIPPED) -> PriceComparison:
    """Where the shipped prices differ from listed ones. A price of cached input that is not listed is no
    difference: lists leave it out where they do not know it.
    """
    by_name = {normal_name(model): price for model, price in listed.items()}
    differences: list[PriceDifference] = []
    found = []
    for model, ours in shipped.items():
        theirs = by_name.get(normal_name(model))
        if theirs is None:
            continue
        found.append(model)
        for price in ("input", "cached_input", "output"):
            one, other = (getattr(of, f"{price}_usd_per_million") for of in (ours, theirs))
            if other is not None and (
                one is None or not math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
            ):
                differences.append(PriceDifference(model, price, one, other))
    known = {normal_name(model) for model in shipped}
    return PriceComparison(
        tuple(differences),
        len(found),
        tuple(model for model in shipped if model not in found),
        tuple(sorted(model for model in listed if normal_name(model) not in known)),
    )


def read_price_list(text: str) -> dict[str, Price]:
    """The prices of the makers' own models in a list, by the names their makers give them.

    Raises engine.errors.Invalid for what is neither form, or holds no model of theirs.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and isinstance(data.get("data"), list):
        found = dict(_of_openrouter(data["data"]))
    elif isinstance(data, dict):
        found = dict(_of_litellm(data))
    else:
        found = {}
    if not found:
        allowed = "litellm's model_prices_and_context_window.json, or OpenRouter's answer to /api/v1/models"
        raise Invalid([Fault("", "no list of models with prices", allowed)])
    return found


def _of_litellm(models: Mapping[str, Any]) -> Iterator[tuple[str, Price]]:
    for name, about in models.items():
        if not isinstance(about, dict) or about.get("mode") not in _CHAT:
            continue
        if about.get("litellm_provider") not in MAKERS or name.count("/") > 1:
            continue
        price = _price(about, "input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
        if price is not None:
            yield name.rpartition("/")[2], price


def _of_openrouter(models: list[Any]) -> Iterator[tuple[str, Price]]:
    for about in models:
        if not isinstance(about, dict) or not isinstance(about.get("pricing"), dict):
            continue
        maker, _, name = str(about.get("id")).partition("/")
        # "model:free" and the like are other offers of the same model.
        if maker in MAKERS and ":" not in name:
            price = _price(about["pricing"], "prompt", "input_cache_read", "completion")
            if price is not None:
                yield name, price


def _price(about: Mapping[str, Any], of_input: str, of_cached: str, of_output: str) -> Price | None:
    """None where input or output have no price."""
    price_in, cached, price_out = (_per_million(about.get(name)) for name in (of_input, of_cached, of_output))
    return None if price_in is None or price_out is None else Price(price_in, price_out, cached)


def _per_million(per_token: object) -> float | None:
    """A number, or one written as a text; None for anything else, and for what is no price."""
    if isinstance(per_token, bool) or not isinstance(per_token, int | float | str):
        return None
    try:
        found = float(per_token) * 1e6
    except (ValueError, OverflowError):
        return None
    return round(found, 9) if math.isfinite(found) and found >= 0 else None
