"""Words for what rubrics hold beside their requirements: checks, rules of the whole, options that changed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django import template

from rubricweb.engine import Criterion, LengthPenalty, Option, PassRule
from rubricweb.engine.checks import CHECKS, describe_check
from rubricweb.selectors.rubrics.probe import Probe
from rubricweb.templatetags.display import count, score

register = template.Library()

_COUNTED = {
    "ALL": "thinking and output",
    "OUTPUT_ONLY": "output",
    "THINKING_ONLY": "thinking",
}


@register.filter
def check_title(name: str) -> str:
    """ "contains_keywords" is "Contains keywords"; a check that is not installed keeps its name."""
    return CHECKS[name].title if name in CHECKS else name


@register.simple_tag
def check_sentence(name: str, params: Mapping[str, Any] | None = None) -> str:
    """What a check asks with these parameters; says so when the check is not installed here."""
    if name not in CHECKS:
        return f"The check {name}, which is not installed here."
    return describe_check(name, params)


@register.filter
def pass_rule_words(rule: PassRule | None) -> str:
    """ "score of at least 0.7, and every criterion at least 0.5"; "none" without a rule."""
    if rule is None:
        return "none"
    parts = []
    if rule.min_score is not None:
        parts.append(f"score of at least {number(rule.min_score)}")
    if rule.min_criterion is not None:
        parts.append(f"every criterion at least {number(rule.min_criterion)}")
    return ", and ".join(parts)


@register.filter
def length_penalty_words(rule: LengthPenalty | None) -> str:
    """ "nothing up to 6,000 words of thinking and output, 0.5 from 8,000 (exponent 1.6)"; "none" without."""
    if rule is None:
        return "none"
    return (
        f"nothing up to {count(rule.free_budget)} words of {_COUNTED[rule.counts]}, "
        f"{number(rule.penalty_at_cap)} from {count(rule.max_cap)} (exponent {number(rule.exponent)})"
    )


@register.filter
def probe_words(probe: Probe) -> str:
    """ "3 of 12 answered so far, 3 by the same person as before. Drawn at random with seed 5. …" """
    so_far = "" if probe.is_done else " so far"
    said = f"{count(probe.answered)} of {count(probe.asked)} answered{so_far}"
    said += f", {count(probe.same_rater)} by the same person as before. "
    if probe.agreement.value is None and probe.answered:
        said += f"Their agreement has no value: {probe.agreement.reason}. "
    if probe.seed is not None:
        said += f"Drawn at random with seed {probe.seed}. "
    return f"{said}Intervals are at 95 %; abstentions are set aside."


@register.filter
def number(value: float | None) -> str:
    """A number with as many decimals as it needs, at most four: 0.5 is "0.5", 1.0 is "1"."""
    text = score(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


@register.filter
def json_text(params: Mapping[str, Any] | None) -> str:
    """Parameters as indented JSON; nothing is an empty object."""
    return json.dumps(_plain(params or {}), ensure_ascii=False, indent=2)


@register.filter
def answered_by(criterion: Criterion) -> str:
    """How a criterion is answered, in a few words: "met or unmet", "3 options", "check: Length between"."""
    if criterion.is_multi_choice:
        return f"{len(criterion.options)} options"
    return f"check: {check_title(criterion.check or '')}" if criterion.is_check else "met or unmet"


@dataclass(frozen=True)
class OptionChange:
    """One option in both, gone or new; `before` and `after` are what it was and is worth."""

    kind: Literal["same", "gone", "new"]
    label: str
    before: str
    after: str

    @property
    def revalued(self) -> bool:
        return self.kind == "same" and self.before != self.after


@register.filter
def option_changes(change: Any) -> list[OptionChange]:
    """The options of a changed criterion in their new order, those that went last.

    From (poor 0, good 1) to (poor 0, fair 0.5, good 0.9): poor same, fair new, good same but revalued.
    """
    before = _options(change.before)
    after = _options(change.after)
    found = [
        OptionChange(
            "same" if key in before else "new", option.label, _worth(before.get(key)), _worth(option)
        )
        for key, option in after.items()
    ]
    gone = [
        OptionChange("gone", one.label, _worth(one), "") for key, one in before.items() if key not in after
    ]
    return found + gone


def _options(criterion: Criterion | None) -> dict[str, Option]:
    options: Iterable[Option] = criterion.options if criterion else ()
    return {option.label.strip().casefold(): option for option in options}


def _plain(value: Any) -> Any:
    """Frozen parameters as plain lists and objects."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _worth(option: Option | None) -> str:
    if option is None:
        return ""
    return "N/A" if option.na else number(option.value)
