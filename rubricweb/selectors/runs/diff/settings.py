"""What two runs were started with and differ in, so that a difference of scores can be traced to it."""

from dataclasses import dataclass
from typing import Any

from rubricweb.models import Run
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria


@dataclass(frozen=True)
class Setting:
    """Something the two runs were started with and differ in, in words."""

    name: str
    run: str
    baseline: str


_JUDGE = {
    "name": "Judge",
    "model": "Model",
}
_CONFIG = {
    "temperature": "Temperature",
    "seed": "Seed of the judge",
    "max_output_tokens": "Most tokens of a reply",
}
_RUN = {
    "autograder": "Autograder",
    "reply_format": "Form of the reply",
    "abstention": "What an abstention is worth",
    "on_error": "What an error is worth",
}


def settings_that_differ(run: Run, baseline: Run, partners: MatchedCriteria) -> tuple[Setting, ...]:
    """What a difference may come from, the most telling first; the dataset is the same."""
    found = [Setting("Rubric", _rubric(run), _rubric(baseline))]
    found += [
        Setting(name, _words(getattr(run.judge, key)), _words(getattr(baseline.judge, key)))
        for key, name in _JUDGE.items()
    ]
    config, before = run.judge.config, baseline.judge.config
    if config is not None and before is not None:  # a panel has a name and its models, no temperature
        found += [
            Setting(name, _words(getattr(config, key)), _words(getattr(before, key)))
            for key, name in _CONFIG.items()
        ]
    found += [
        Setting(name, _words(getattr(run, key)), _words(getattr(baseline, key))) for key, name in _RUN.items()
    ]
    found.append(Setting("Scores", _scores(run), _scores(baseline)))
    found.append(Setting("Panel", _panel(run), _panel(baseline)))
    found.append(Setting("Examples shown", _examples(run), _examples(baseline)))
    if any(criterion.kind == "choice" for criterion in partners.everything):
        found.append(Setting("Order of options", _words(run.option_seed), _words(baseline.option_seed)))
    if run.rubric_version_id != baseline.rubric_version_id and found[0].run == found[0].baseline:
        found[0] = Setting("Rubric", f"{found[0].run} (another)", found[0].baseline)
    return tuple(one for one in found if one.run != one.baseline)


def _rubric(run: Run) -> str:
    return "each item's own" if run.rubric_version is None else str(run.rubric_version)


def _words(value: Any) -> str:
    return "not set" if value is None or value == "" else str(value)


def _scores(run: Run) -> str:
    return "normalised" if run.normalize else "raw sums"


def _panel(run: Run) -> str:
    if run.panel is None:
        return "none"
    members = ", ".join(f"{one.name} × {one.weight:g}" for one in run.panel.members)
    return f"{members}; {run.panel.rule or 'default rule'}, asked {run.panel.repeats} times"


def _examples(run: Run) -> str:
    shown = run.few_shot
    return f"{len(shown.examples)} labels, seed {shown.seed}" if shown and shown.examples else "none"
