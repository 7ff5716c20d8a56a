"""The shipped list of prices: which line a model's name finds."""

import pytest

from rubricweb.judges.prices.shipped import SHIPPED, Price, shipped_price

MINI = Price(0.25, 2.0, 0.025)


@pytest.mark.parametrize(
    "model",
    ["gpt-5-mini", "GPT-5-mini", "openai/gpt-5-mini", "gpt-5-mini-2025-08-07", "gpt-5-mini-latest"],
)
def test_what_surrounds_a_models_name_does_not_change_its_price(model: str) -> None:
    assert shipped_price(model) == MINI


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("gpt-5", "gpt-5"),
        ("gpt-5.4-nano-2026-03-17", "gpt-5.4-nano"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("grok-4.20-0309", "grok-4.20"),
    ],
)
def test_the_longest_listed_name_counts(model: str, listed: str) -> None:
    assert shipped_price(model) == SHIPPED[listed]


@pytest.mark.parametrize(
    "model",
    ["gpt-5-pro", "gpt-5-enormous", "gpt-50", "claude-opus-5-6", "gpt-4o-mini:free", "tiny", "", "o3-pro"],
)
def test_another_model_has_another_price_and_an_unknown_one_has_none(model: str) -> None:
    assert shipped_price(model) is None


def test_every_listed_name_finds_its_own_line() -> None:
    assert {model: shipped_price(model) for model in SHIPPED} == SHIPPED


def test_cached_input_is_never_dearer_than_input() -> None:
    for price in SHIPPED.values():
        assert price.cached_input_usd_per_million is not None
        assert price.cached_input_usd_per_million < price.input_usd_per_million < price.output_usd_per_million
