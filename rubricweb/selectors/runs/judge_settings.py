"""How a judge was asked: the settings that shape its answers besides its model."""

from typing import Any

from rubricweb.models import JudgeSnapshot, Run


def judge_settings(judge: JudgeSnapshot) -> dict[str, Any]:
    """Title → value, whoever answered first; the same titles for every judge, none where nobody was asked."""
    config = judge.config
    if config is None:
        return {}
    sampling = {option.says.title: value for option, value in config.sampling.items()}
    return {"Asked at": config.answered_by, **sampling, "Fallback model": config.fallback_model}


def setting_words(value: Any) -> str:
    """1.0 is "1", True "asked for", None and nothing "not set"."""
    if isinstance(value, bool):
        return "asked for" if value else "not asked for"
    if isinstance(value, float):
        return f"{value:g}"
    return "not set" if value is None or value == "" else str(value)


def told_otherwise(run: Run, other: Run) -> bool:
    """Whether the judge of one run is told something else before it is asked than that of the other."""
    words = [one.judge_version.words_digest if one.judge_version else "" for one in (run, other)]
    return words[0] != words[1]
