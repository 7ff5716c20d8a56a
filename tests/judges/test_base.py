"""Judge configurations and errors refuse nonsense and keep secrets."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubricweb.judges.base import ERROR_KINDS, RETRYABLE_KINDS, JudgeConfig, JudgeError
from rubricweb.judges.client.failures import FALLBACK_KINDS


def config(**changed):
    return JudgeConfig(**({"name": "j", "base_url": "http://localhost/v1", "model": "m"} | changed))


def test_the_key_is_not_shown():
    assert "sk-secret" not in repr(config(api_key="sk-secret"))


@pytest.mark.parametrize(
    "changed",
    [
        {"base_url": " "},
        {"model": ""},
        {"max_attempts": 0},
        {"concurrency": 0},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("inf")},
        {"backoff_seconds": -1},
        {"max_wait_seconds": float("nan")},
        {"input_usd_per_million": -0.1},
        {"cached_input_usd_per_million": float("inf")},
        {"temperature": -1},
        {"top_p": 0},
        {"top_p": 1.5},
        {"max_output_tokens": 0},
        {"requests_per_minute": 0},
        {"tokens_per_minute": -5},
        {"reasoning_effort": "as much as it takes"},
    ],
)
def test_values_out_of_range_are_refused_by_name(changed):
    with pytest.raises(ValueError, match=f"JudgeConfig.{next(iter(changed))}"):
        config(**changed)


def test_cost_needs_both_prices_and_both_counts():
    priced = config(input_usd_per_million=2.5, output_usd_per_million=10)
    assert priced.cost_usd(1000, 200) == pytest.approx(0.0045)  # 0.0025 + 0.002
    assert priced.cost_usd(None, 200) is None
    assert config(output_usd_per_million=10).cost_usd(1000, 200) is None
    free = config(input_usd_per_million=0, output_usd_per_million=0)
    assert free.cost_usd(1000, 200) == 0.0


def test_a_judge_whose_prices_are_all_0_costs_nothing_whatever_it_says_of_its_tokens():
    free = config(input_usd_per_million=0, output_usd_per_million=0)
    assert free.cost_usd(None, None) == 0.0
    assert replace(free, cached_input_usd_per_million=0.25).cost_usd(None, None) is None
    assert replace(free, input_usd_per_million=None).cost_usd(None, None) is None


def test_cached_tokens_cost_their_own_price_where_there_is_one():
    priced = config(input_usd_per_million=2.5, cached_input_usd_per_million=0.25, output_usd_per_million=10)
    assert priced.cost_usd(1000, 200, 800) == pytest.approx(0.0027)  # 200×2.5 + 800×0.25 + 200×10, / 10⁶
    assert priced.cost_usd(1000, 200, 5000) == pytest.approx(0.00225)  # never more cached than sent
    one_price = config(input_usd_per_million=2.5, output_usd_per_million=10)
    assert one_price.cost_usd(1000, 200, 800) == pytest.approx(0.0045)


@pytest.mark.parametrize(
    ("headers", "wrong"),
    [
        ([("Authorization", "Bearer s3cret")], "header 1 has a reserved name"),
        ([("X-Ok", "1"), ("host", "s3cret")], "header 2 has a reserved name"),
        ([("Content-Length", "0")], "reserved"),
        ([("Transfer-Encoding", "chunked")], "reserved"),
        ([("X-Team\r\nX-Evil", "s3cret")], "no HTTP header name"),
        ([("", "s3cret")], "no HTTP header name"),
        ([("X-Team", "s3cret\r\nX-Evil: 1")], "cannot be sent"),
        ([("X-Team", "s3cret-é")], "cannot be sent"),
        ([("X-Team", "")], "cannot be sent"),
        ([("X-Team", "s3cret"), ("x-team", "2")], "header 2 repeats"),
    ],
)
def test_headers_that_would_break_or_take_over_a_request_are_refused_unrepeated(headers, wrong):
    with pytest.raises(ValueError, match=f"extra_headers: .*{wrong}") as refused:
        config(extra_headers=tuple(headers))
    assert "s3cret" not in str(refused.value)


def test_extra_headers_are_not_shown():
    assert "s3cret" not in repr(config(extra_headers=(("X-Team", "s3cret"),)))


def test_every_retryable_kind_is_a_kind_and_others_are_refused():
    assert set(ERROR_KINDS) >= RETRYABLE_KINDS
    assert JudgeError("timeout", "").retryable
    assert not JudgeError("unauthorized", "").retryable
    with pytest.raises(ValueError, match="'oops'"):
        JudgeError("oops", "")


def test_the_page_on_judges_lists_every_kind_and_which_fall_back():
    page = (Path(__file__).resolve().parents[2] / "docs" / "judges.md").read_text()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    rows = {row[0].strip("`"): row[1:] for row in cells if len(row) == 4 and row[0].startswith("`")}
    assert set(rows) == set(ERROR_KINDS)
    assert {kind for kind, (_, _, falls_back) in rows.items() if falls_back} == FALLBACK_KINDS
    assert {
        kind for kind, (_, again, _) in rows.items() if again in ("yes", "on resuming")
    } == RETRYABLE_KINDS
