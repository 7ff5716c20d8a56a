"""Judge configurations and errors refuse nonsense and keep secrets."""

import pytest

from rubricweb.judges.base import ERROR_KINDS, RETRYABLE_KINDS, JudgeConfig, JudgeError


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
    assert config(input_usd_per_million=0, output_usd_per_million=0).cost_usd(1000, 200) == 0.0


def test_every_retryable_kind_is_a_kind_and_others_are_refused():
    assert set(ERROR_KINDS) >= RETRYABLE_KINDS
    assert JudgeError("timeout", "").retryable
    assert not JudgeError("unauthorized", "").retryable
    with pytest.raises(ValueError, match="'oops'"):
        JudgeError("oops", "")
