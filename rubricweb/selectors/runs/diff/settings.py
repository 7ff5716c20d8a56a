"""What two runs were started with and differ in, so that a difference of scores can be traced to it."""

from dataclasses import dataclass
from typing import Any

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeSnapshot, Run
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.runs.graders import examples_words, panel_words


@dataclass(frozen=True)
class Setting:
    """Something the two runs were started with and differ in, in words."""

    name: str
    run: str
    baseline: str


_CONFIG = {
    "temperature": "Temperature",
    "top_p": "Top p",
    "seed": "Seed of the judge",
    "reasoning_effort": "Reasoning effort",
    "max_output_tokens": "Most tokens of a reply",
    "logprobs": "Probabilities of tokens",
    "fallback_model": "Fallback model",
}
"""What shapes a judge's answers besides its model and whoever answers at its address."""
_RUN = {
    "autograder": "Autograder",
    "reply_format": "Form of the reply",
    "abstention": "What an abstention is worth",
    "on_error": "What an error is worth",
}


def settings_that_differ(run: Run, baseline: Run, partners: MatchedCriteria) -> tuple[Setting, ...]:
    """What a difference may come from, the most telling first; the dataset is the same."""
    found = [Setting("Rubric", _rubric(run), _rubric(baseline))]
    found.append(Setting("Half of the dataset", _half(run), _half(baseline)))
    found.append(Setting("Judge", run.judge.name, baseline.judge.name))
    found.append(Setting("Model", run.judge.model, baseline.judge.model))
    found += _judges(run, baseline)
    found += [
        Setting(name, _words(getattr(run, key)), _words(getattr(baseline, key))) for key, name in _RUN.items()
    ]
    found.append(Setting("Scores", _scores(run), _scores(baseline)))
    found.append(Setting("Panel", _panel(run), _panel(baseline)))
    found.append(Setting("Examples", _examples(run, baseline), examples_words(baseline.few_shot)))
    if any(criterion.kind == "choice" for criterion in partners.everything):
        found.append(Setting("Order of options", _words(run.option_seed), _words(baseline.option_seed)))
    if run.rubric_version_id != baseline.rubric_version_id and found[0].run == found[0].baseline:
        found[0] = Setting("Rubric", f"{found[0].run} (another)", found[0].baseline)
    return tuple(one for one in found if one.run != one.baseline)


def _rubric(run: Run) -> str:
    return "each item's own" if run.rubric_version is None else str(run.rubric_version)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "asked for" if value else "not asked for"
    return "not set" if value is None or value == "" else str(value)


def _scores(run: Run) -> str:
    return "normalised" if run.normalize else "raw sums"


def _half(run: Run) -> str:
    return f"{run.half} cases" if run.half else "all cases"


def _judges(run: Run, baseline: Run) -> list[Setting]:
    """How the judge is asked, of two panels each judge that is in both."""
    before = _by_name(baseline)
    found = []
    for name, judge in _by_name(run).items():
        other = before.get(name)
        if judge.config is None or other is None or other.config is None:
            continue
        of = f" of {name}" if name else ""
        if name:
            found.append(Setting(f"Model{of}", judge.model, other.model))
        found.append(Setting(f"Asked at{of}", _address(judge.config), _address(other.config)))
        found += [
            Setting(f"{title}{of}", _words(getattr(judge.config, key)), _words(getattr(other.config, key)))
            for key, title in _CONFIG.items()
        ]
    return found


def _by_name(run: Run) -> dict[str, JudgeSnapshot]:
    """The judges of a panel by name; a single judge by none, so that another name does not hide the rest."""
    return {one.name: one.judge for one in run.panel.members} if run.panel else {"": run.judge}


def _address(config: JudgeConfig) -> str:
    return config.identity or config.base_url


def _panel(run: Run) -> str:
    return "none" if run.panel is None else "; ".join(panel_words(run.panel))


def _examples(run: Run, baseline: Run) -> str:
    shown, before = run.few_shot, baseline.few_shot
    others = shown is not None and before is not None and shown.digest != before.digest
    return examples_words(shown) + " (others)" * others
