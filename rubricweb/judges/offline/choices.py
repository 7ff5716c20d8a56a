"""An option chosen from words alone: the one the response names, else the end of the scale it deserves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median_low

from rubricweb.judges.offline.questions import AskedCriterion, AskedOption

_LEADING_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PRAISE = {
    3: "excellent perfect outstanding fully complete completely always entirely exceptional very",
    2: "good clear strong high warm yes correct accurate friendly mostly met present great well",
    0: "fair neutral adequate some partly partial medium moderate average plain sometimes acceptable mixed",
    -2: "poor weak low cold bad unclear rude little rarely slightly minor inaccurate",
    -3: "no none never not missing wrong incorrect terrible absent unacceptable unmet",
}
_WORTH = {word: worth for worth, words in _PRAISE.items() for word in words.split()}


def chosen(
    criterion: AskedCriterion,
    verdict: str,
    *,
    named: Callable[[str], float],
) -> tuple[AskedOption, str]:
    """The option, and why; the order in which options are shown makes no difference.

    `verdict` is MET, UNMET or CANNOT_ASSESS for the criterion's own words, `named(label)` the share (0 to 1)
    of a label's words that the response has. The option named most is chosen when it is alone; else the upper
    end of the scale for MET, the lower for UNMET, and for CANNOT_ASSESS what is not applicable or the middle.
    """
    scored = [option for option in criterion.options if not option.na]
    shares = {option.label: named(option.label) for option in scored}
    best = [option for option in scored if shares[option.label] == max(shares.values())]
    if verdict == "CANNOT_ASSESS":
        na = [option for option in criterion.options if option.na]
        if na:
            return na[0], "nothing to judge by"
    elif len(best) == 1 and shares[best[0].label] > 0:
        return best[0], f"the response has the words of “{best[0].label}”"
    ranked = _ranked(scored)
    if ranked is None:
        return min(scored, key=lambda option: option.label), "no option is named, and they have no order"
    if verdict == "CANNOT_ASSESS":
        return ranked[median_low(range(len(ranked)))], "nothing to judge by: the middle of the scale"
    if verdict == "MET":
        return ranked[-1], "the upper end of the scale"
    return ranked[0], "the lower end of the scale"


def _ranked(options: Sequence[AskedOption]) -> list[AskedOption] | None:
    """The options from worst to best by their values, their numbers or their words; None without any."""
    for worth_of in (_value, _number, _words):
        worths = [worth_of(option) for option in options]
        known = [worth for worth in worths if worth is not None]
        if len(known) == len(options) and len(set(known)) > 1:
            return sorted(options, key=lambda option: (worth_of(option) or 0.0, option.label))
    known_words = [option for option in options if _words(option) is not None]
    if not known_words:
        return None
    return sorted(options, key=lambda option: (_words(option) or 0.0, option.label))


def _value(option: AskedOption) -> float | None:
    return option.value


def _number(option: AskedOption) -> float | None:
    found = _LEADING_NUMBER.match(option.label)
    return float(found.group()) if found else None


def _words(option: AskedOption) -> float | None:
    """What the words of a label praise or blame; blame outweighs: "not clear" is −3."""
    worths = [_WORTH[word] for word in re.findall(r"[a-z]+", option.label.casefold()) if word in _WORTH]
    if not worths:
        return None
    return float(min(worths) if min(worths) < 0 else max(worths))
