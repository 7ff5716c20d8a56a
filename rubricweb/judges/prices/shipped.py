"""What common models cost at their makers, as of one day: a start, which a team corrects for itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

AS_OF = date(2026, 11, 28)
"""The day on which the list was last compared: with the makers' public prices as litellm 1.110.2 has them.

To renew it, have `rubricweb prices check` compare it with a list of today, write what differs into the table
below and the date here; runs keep the prices they started with.
"""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; `cached_input_usd_per_million` None bills cached input like the rest."""

    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None


# input, cached input, output. Standard service, prompts of ordinary length, the makers' own addresses: models
# with open weights cost what their host asks, and so are not here.
_LISTED: dict[str, tuple[float, float | None, float]] = {
    # OpenAI
    "gpt-4o": (2.5, 1.25, 10.0),
    "gpt-4o-mini": (0.15, 0.075, 0.6),
    "gpt-4.1": (2.0, 0.5, 8.0),
    "gpt-4.1-mini": (0.4, 0.1, 1.6),
    "o3": (2.0, 0.5, 8.0),
    "gpt-5": (1.25, 0.125, 10.0),
    "gpt-5-mini": (0.25, 0.025, 2.0),
    "gpt-5-nano": (0.05, 0.005, 0.4),
    "gpt-5.1": (1.25, 0.125, 10.0),
    "gpt-5.2": (1.75, 0.175, 14.0),
    "gpt-5.4": (2.5, 0.25, 15.0),
    "gpt-5.4-mini": (0.75, 0.075, 4.5),
    "gpt-5.4-nano": (0.2, 0.02, 1.25),
    "gpt-5.5": (5.0, 0.5, 30.0),
    "gpt-5.6": (4.0, 0.4, 20.0),
    "gpt-5.6-luna": (0.2, 0.02, 1.2),
    "gpt-5.6-sol": (4.0, 0.4, 20.0),
    "gpt-5.6-terra": (2.0, 0.2, 12.0),
    "gpt-6-astra": (10.0, 1.0, 50.0),
    "gpt-6-luna": (0.1, 0.01, 0.5),
    "gpt-6-sol": (2.0, 0.2, 10.0),
    "gpt-6.1-sol": (2.0, 0.1, 10.0),
    "gpt-6.1-terra": (1.0, 0.05, 5.0),
    # Anthropic
    "claude-haiku-4-5": (1.0, 0.1, 5.0),
    "claude-haiku-5-5": (0.1, 0.01, 0.5),
    "claude-sonnet-4-5": (3.0, 0.3, 15.0),
    "claude-sonnet-4-6": (3.0, 0.3, 15.0),
    "claude-sonnet-5": (2.0, 0.2, 10.0),
    "claude-sonnet-5-5": (2.0, 0.1, 10.0),
    "claude-opus-4-5": (5.0, 0.5, 25.0),
    "claude-opus-4-6": (5.0, 0.5, 25.0),
    "claude-opus-4-7": (5.0, 0.5, 25.0),
    "claude-opus-4-8": (5.0, 0.5, 25.0),
    "claude-opus-5": (5.0, 0.5, 25.0),
    "claude-opus-5-5": (4.0, 0.2, 20.0),
    # Google
    "gemini-2.5-flash": (0.3, 0.03, 2.5),
    "gemini-2.5-flash-lite": (0.1, 0.01, 0.4),
    "gemini-2.5-pro": (1.25, 0.125, 10.0),
    "gemini-3-flash-preview": (0.5, 0.05, 3.0),
    "gemini-3.1-flash-lite": (0.25, 0.025, 1.5),
    "gemini-3.1-pro-preview": (2.0, 0.2, 12.0),
    "gemini-3.5-flash": (1.5, 0.15, 9.0),
    "gemini-3.5-flash-lite": (0.3, 0.03, 2.5),
    "gemini-3.6-flash": (0.75, 0.075, 3.75),
    "gemini-3.7-flash": (0.75, 0.075, 3.75),
    "gemini-3.8-flash": (0.75, 0.075, 3.75),
    "gemini-4-argon": (2.0, 0.1, 10.0),
    "gemini-flash-latest": (0.75, 0.075, 3.75),
    "gemini-flash-lite-latest": (0.3, 0.03, 2.5),
    "gemini-pro-latest": (2.0, 0.2, 12.0),
    # Mistral
    "mistral-small-2603": (0.15, 0.015, 0.6),
    "mistral-small-latest": (0.15, 0.015, 0.6),
    "mistral-medium-3.5": (1.5, 0.15, 7.5),
    "mistral-medium-2604": (1.5, 0.15, 7.5),
    "mistral-medium-latest": (1.5, 0.15, 7.5),
    "mistral-large-2512": (0.5, 0.05, 1.5),
    "mistral-large-latest": (0.5, 0.05, 1.5),
    "mistral-large-4": (0.7, 0.07, 2.1),
    "magistral-medium-latest": (1.5, 0.15, 7.5),
    "magistral-small-latest": (0.15, 0.015, 0.6),
    # DeepSeek
    "deepseek-flash": (0.3, 0.006, 1.2),
    "deepseek-v4-flash": (0.3, 0.006, 1.2),
    "deepseek-v4-pro": (1.32, 0.044, 3.96),
    # xAI
    "grok-4.3": (1.25, 0.2, 2.5),
    "grok-4.5": (2.0, 0.3, 6.0),
    "grok-4.6": (2.0, 0.5, 6.0),
    "grok-4.7": (2.0, 0.5, 6.0),
    "grok-4.20": (1.25, 0.2, 2.5),
}

SHIPPED: dict[str, Price] = {
    model: Price(price_in, price_out, cached) for model, (price_in, cached, price_out) in _LISTED.items()
}
"""Prices by model name, in the order of their makers."""

# What a maker adds to a name without changing the model: a date, `latest`. Anything else ("-mini", "-pro") is
# another model at another price.
_SAME_MODEL = re.compile(r"(?:[-@](?:latest|\d{4}|\d{6}|\d{8}|\d{4}-\d{2}-\d{2}))?")


def shipped_price(model: str) -> Price | None:
    """The listed price of a model; None when it is not listed, which is not free.

    The longest listed name counts that the model's begins with, whatever a provider puts before it
    ("openai/") and a maker behind it (a date, "-latest"): "openai/gpt-5-mini-2025-08-07" costs what
    "gpt-5-mini" does, and "gpt-5-enormous" is unknown. Dots and dashes in version numbers are alike.
    """
    name = normal_name(model.rsplit("/", 1)[-1])
    for listed in sorted(_BY_NORMAL_NAME, key=len, reverse=True):
        if name.startswith(listed) and _SAME_MODEL.fullmatch(name[len(listed) :]):
            return _BY_NORMAL_NAME[listed]
    return None


def normal_name(name: str) -> str:
    """The name by which models are compared: without case, dots as dashes."""
    return name.strip().lower().replace(".", "-")


_BY_NORMAL_NAME = {normal_name(model): price for model, price in SHIPPED.items()}
