"""What two runs were started with and differ in, so that a difference of scores can be traced to it."""

from dataclasses import dataclass

from rubricweb.models import JudgeSnapshot, Run, User
from rubricweb.selectors.judges import is_withheld_judge
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.runs.graders import examples_words, panel_words
from rubricweb.selectors.runs.judge_settings import judge_settings, setting_words, told_otherwise


@dataclass(frozen=True)
class Setting:
    """Something the two runs were started with and differ in, in words."""

    name: str
    run: str
    baseline: str


_RUN = {
    "autograder": "Autograder",
    "reply_format": "Form of the reply",
    "abstention": "What an abstention is worth",
    "on_error": "What an error is worth",
}


def settings_that_differ(
    run: Run, baseline: Run, partners: MatchedCriteria, viewer: User
) -> tuple[Setting, ...]:
    """What a difference may come from, the most telling first; the dataset is the same."""
    found = [Setting("Rubric", _rubric(run), _rubric(baseline))]
    found.append(Setting("Split of the dataset", _half(run), _half(baseline)))
    found.append(Setting("Judge", run.judge.name, baseline.judge.name))
    found.append(Setting("Model", run.judge.model, baseline.judge.model))
    if told_otherwise(run, baseline):
        found.append(Setting("Instructions", _told(run, viewer), _told(baseline, viewer, "others")))
    found += _judges(run, baseline)
    found += [
        Setting(name, setting_words(getattr(run, key)), setting_words(getattr(baseline, key)))
        for key, name in _RUN.items()
    ]
    found.append(Setting("Scores", _scores(run), _scores(baseline)))
    found.append(Setting("Panel", _panel(run), _panel(baseline)))
    found.append(Setting("Examples", _examples(run, baseline), examples_words(baseline.few_shot)))
    if any(criterion.kind == "choice" for criterion in partners.everything):
        seeds = (setting_words(one.option_seed) for one in (run, baseline))
        found.append(Setting("Order of options", *seeds))
    if run.rubric_version_id != baseline.rubric_version_id and found[0].run == found[0].baseline:
        found[0] = Setting("Rubric", f"{found[0].run} (another)", found[0].baseline)
    return tuple(one for one in found if one.run != one.baseline)


def _rubric(run: Run) -> str:
    return "each item's own" if run.rubric_version is None else str(run.rubric_version)


def _told(run: Run, viewer: User, unnamed: str = "withheld") -> str:
    """Of which version they are; a person who must not know that learns only that they differ."""
    if run.judge_version is None:
        return "none"
    if is_withheld_judge(run.judge_version.judge, viewer):
        return unnamed
    return f"those of {run.judge_version}"


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
        if other is None or judge.config is None or other.config is None:
            continue
        of = f" of {name}" if name else ""
        if name:
            found.append(Setting(f"Model{of}", judge.model, other.model))
        theirs = judge_settings(other)
        found += [
            Setting(f"{title}{of}", setting_words(value), setting_words(theirs[title]))
            for title, value in judge_settings(judge).items()
        ]
    return found


def _by_name(run: Run) -> dict[str, JudgeSnapshot]:
    """The judges of a panel by name; a single judge by none, so that another name does not hide the rest."""
    return {one.name: one.judge for one in run.panel.members} if run.panel else {"": run.judge}


def _panel(run: Run) -> str:
    return "none" if run.panel is None else "; ".join(panel_words(run.panel))


def _examples(run: Run, baseline: Run) -> str:
    shown, before = run.few_shot, baseline.few_shot
    others = shown is not None and before is not None and shown.digest != before.digest
    return examples_words(shown) + " (others)" * others
