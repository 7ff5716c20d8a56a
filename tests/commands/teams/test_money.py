"""`rubricweb prices`, `spending` and `retention` as somebody at a terminal sees them."""

import json
from pathlib import Path
from typing import Any

from tests.installation import Installation


def said(installation: Installation, *arguments: Any) -> str:
    ended = installation.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    return str(ended.stdout)


def refused(installation: Installation, code: int, *arguments: Any) -> str:
    ended = installation.run(*arguments)
    assert ended.returncode == code, ended.stdout
    return str(ended.stderr)


def test_prices_are_listed_set_and_removed(installation: Installation) -> None:
    assert said(installation, "prices", "list", "--json") == ""
    said(installation, "prices", "set", "house-model", "--input", "1.5", "--output", "6", "--cached", "0.5")
    [line] = map(json.loads, said(installation, "prices", "list", "--json").splitlines())
    assert (line["model"], line["price_source"], line["shipped"]) == ("house-model", "team", None)
    assert line["price"] == {
        "input_usd_per_million": 1.5,
        "output_usd_per_million": 6.0,
        "cached_input_usd_per_million": 0.5,
    }
    table = said(installation, "prices", "list")
    assert table.splitlines()[-2].split() == ["house-model", "team", "1.5", "0.5", "6"]
    assert "is removed" in said(installation, "prices", "remove", "house-model")
    assert said(installation, "prices", "list", "--json") == ""
    assert "house-model" in refused(installation, 1, "prices", "remove", "house-model")
    wanted = ("prices", "set", "m", "--output", "1", "--input")
    assert "0 to 1,000,000" in refused(installation, 1, *wanted, "2e6")
    assert "no amount" in refused(installation, 2, *wanted, "much")


def test_the_cap_of_a_month_is_shown_and_changed(installation: Installation) -> None:
    shown = json.loads(said(installation, "spending", "show", "--json"))
    assert (shown["monthly_budget_usd"], shown["runs"]) == (None, [])
    assert shown["spending"]["spent_usd"] == 0.0
    assert "may cost $25.00" in said(installation, "spending", "cap", "25")
    shown = json.loads(said(installation, "spending", "show", "--json"))
    assert (shown["monthly_budget_usd"], shown["spending"]["left_usd"]) == (25.0, 25.0)
    assert "$25.00" in said(installation, "spending", "show")
    assert (shown["spending"]["lost_calls"], shown["spending"]["lost_at_most_usd"]) == (0, 0.0)
    assert "perhaps spent" not in said(installation, "spending", "show")
    assert "has no cap" in said(installation, "spending", "cap", "none")
    assert "no amount" in refused(installation, 2, "spending", "cap", "much")


def test_how_long_calls_are_kept_is_shown_and_changed(installation: Installation) -> None:
    assert "for ever" in said(installation, "retention", "show")
    assert "30 days" in said(installation, "retention", "set", "30")
    shown = json.loads(said(installation, "retention", "show", "--json"))
    assert shown == {"keep_calls_days": 30, "rounds": []}
    assert "36500" in refused(installation, 1, "retention", "set", "36501")
    assert "for ever" in said(installation, "retention", "set", "none")


def test_shipped_prices_are_compared_with_a_list_of_today(installation: Installation, tmp_path: Path) -> None:
    def listed(input_cost: float) -> str:
        about = {"litellm_provider": "openai", "mode": "chat", "output_cost_per_token": 2e-06}
        return json.dumps({"gpt-5-mini": about | {"input_cost_per_token": input_cost}})

    today = tmp_path / "prices.json"
    today.write_text(listed(2.5e-07))  # as shipped: 0.25 a million
    same = said(installation, "prices", "check", today)
    assert same.startswith("0 models differ, of 1 compared. Shipped prices are as of 2")
    today.write_text(listed(5e-07))
    ended = installation.run("prices", "check", today)
    assert ended.returncode == 100
    assert ended.stdout.splitlines()[3].split() == ["gpt-5-mini", "input", "0.25", "0.5"]
    found = json.loads(installation.run("prices", "check", today, "--json").stdout)
    assert found["differences"] == [{"model": "gpt-5-mini", "price": "input", "shipped": 0.25, "listed": 0.5}]
    today.write_text("nothing of the kind")
    assert "no list of models with prices" in refused(installation, 1, "prices", "check", today)
    assert "cannot be read" in refused(installation, 1, "prices", "check", tmp_path / "none.json")
