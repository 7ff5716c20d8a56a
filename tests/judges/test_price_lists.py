"""The shipped prices beside a list that others keep."""

import json
from typing import Any

import pytest

from rubricweb.engine.errors import Invalid
from rubricweb.judges.prices.lists import PriceDifference, compare_prices, read_price_list
from rubricweb.judges.prices.shipped import Price


def litellm(**changed: Any) -> dict[str, Any]:
    """One model as litellm lists it: 2 dollars a million in, 0.2 cached, 8 out."""
    about = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 2e-06,
        "cache_read_input_token_cost": 2e-07,
        "output_cost_per_token": 8e-06,
    }
    return about | changed


def openrouter(name: str, **pricing: str) -> dict[str, Any]:
    return {"id": name, "pricing": {"prompt": "0.000002", "completion": "0.000008"} | pricing}


def test_a_list_of_litellm_is_read_for_chat_models_of_their_makers_alone() -> None:
    found = read_price_list(
        json.dumps(
            {
                "sample_spec": {"mode": "one of: chat, embedding", "litellm_provider": "one of …"},
                "big-1": litellm(),
                "gemini/little-2": litellm(litellm_provider="gemini", cache_read_input_token_cost=None),
                "azure/big-1": litellm(litellm_provider="azure", input_cost_per_token=9e-06),
                "openai/eu/big-1": litellm(input_cost_per_token=9e-06),
                "embeds": litellm(mode="embedding"),
                "by the page": {"litellm_provider": "openai", "mode": "chat"},
                "broken": "a text",
                "nonsense": litellm(input_cost_per_token="NaN"),
            }
        )
    )
    assert found == {"big-1": Price(2.0, 8.0, 0.2), "little-2": Price(2.0, 8.0, None)}


def test_a_list_of_openrouter_is_read_likewise() -> None:
    listed = [
        openrouter("openai/big-1", input_cache_read="0.0000002"),
        openrouter("openai/big-1:free", prompt="0"),
        openrouter("somebody/big-1", prompt="0.000009"),
        openrouter("x-ai/other-3", prompt="-1"),
        {"id": "openai/no-price"},
        "a text",
    ]
    assert read_price_list(json.dumps({"data": listed})) == {"big-1": Price(2.0, 8.0, 0.2)}


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "3", "{}", '{"data": []}', '{"data": {"id": 1}}', "[" * 9999]
)
def test_what_is_no_such_list_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="no list of models with prices"):
        read_price_list(text)


def test_prices_that_differ_are_told_one_by_one() -> None:
    shipped = {"same-1": Price(2.0, 8.0, 0.2), "dear-1.5": Price(3.0, 8.0, 0.3), "gone": Price(1.0, 1.0)}
    listed = {"same-1": Price(2.0, 8.0), "dear-1-5": Price(2.0, 8.0, 0.25), "new": Price(1.0, 1.0)}
    found = compare_prices(listed, shipped)
    # A cached price that is not listed is not known, and no difference; dots and dashes are alike.
    assert found.differences == (
        PriceDifference("dear-1.5", "input", 3.0, 2.0),
        PriceDifference("dear-1.5", "cached_input", 0.3, 0.25),
    )
    assert (found.compared, found.not_listed, found.not_shipped) == (2, ("gone",), ("new",))


def test_a_cached_price_that_only_the_list_has_is_a_difference() -> None:
    found = compare_prices({"m": Price(2.0, 8.0, 0.2)}, {"m": Price(2.0, 8.0)})
    assert found.differences == (PriceDifference("m", "cached_input", None, 0.2),)
