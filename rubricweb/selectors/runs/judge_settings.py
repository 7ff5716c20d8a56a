"""How a judge was asked: the settings that shape its answers besides its model."""

from typing import Any

from rubricweb.models import JudgeSnapshot

_CONFIG = {
    "temperature": "Temperature",
    "top_p": "Top p",
    "seed": "Seed of the judge",
    "reasoning_effort": "Reasoning effort",
    "max_output_tokens": "Most tokens of a reply",
    "logprobs": "Probabilities of tokens",
    "fallback_model": "Fallback model",
}


def judge_settings(judge: JudgeSnapshot) -> dict[str, Any]:
    """Title → value, whoever answered first; the same titles for every judge, none where nobody was asked."""
    config = judge.config
    if config is None:
        return {}
    settings = {title: getattr(config, name) for name, title in _CONFIG.items()}
    return {"Asked at": config.answered_by, **settings}


def setting_words(value: Any) -> str:
    """1.0 is "1", True "asked for", None and nothing "not set"."""
    if isinstance(value, bool):
        return "asked for" if value else "not asked for"
    if isinstance(value, float):
        return f"{value:g}"
    return "not set" if value is None or value == "" else str(value)
