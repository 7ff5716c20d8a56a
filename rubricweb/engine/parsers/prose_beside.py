"""Whether the prose around a judge's JSON object says something else than the object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rubricweb.engine.errors import UnreadableReply, shortened

_VERDICT = r"(?:(?i:not)\s{1,9}MET|UNMET|MET|CANNOT[_ ]ASSESS)"
_STATED = re.compile(rf"\b{_VERDICT}\b")
# In small letters only where it is said of something: people meet people.
_CONCLUDED = re.compile(
    rf"\b{_VERDICT}\b|(?i:\bunmet\b|\bnot (?:fully |been )?met\b|\b(?:is|are|fully|clearly) met\b"
    r"|\bcannot (?:be )?assess(?:ed)?\b)"
)
# "MET or UNMET" names the answers there are, and gives none.
_BETWEEN = r"[\s,/|\"'`*]{0,9}(?:\bor\b|\band\b|[,/|])[\s,/|\"'`*]{0,9}"
_LISTED = re.compile(rf"\b{_VERDICT}\b(?:{_BETWEEN}\b{_VERDICT}\b)+")
_IS = r"\b[\"'*`\s]{0,9}(?:\bis\b|\bof\b|[:=])[\"'*`\s]{0,9}"
_OPTION = re.compile(rf"\b(?:option|choice){_IS}([^\n.;\"'*`]{{1,300}})", re.IGNORECASE)
# What goes on as no notation of a number states none: 1_0 is not 1.
_END = r"(?![\d_]|\.\d|[eE][-+]?\d)"
_OUT_OF = rf"(\d{{1,9}}(?:\.\d{{1,9}})?){_END}(?:\s?(?:/|out of)\s?(\d{{1,9}}){_END})?"
_SCORE = re.compile(rf"\b(?:overall[_ ])?score{_IS}{_OUT_OF}", re.IGNORECASE)


def require_same_in_prose(data: Mapping[str, Any], before: str, after: str) -> None:
    """Raise UnreadableReply where the prose around an object states another answer than the object has.

    `data` is the object, `before` and `after` what stands around it. An object may be a quotation: nobody
    knows then which of the two the judge meant. Compared are verdicts (in capitals before the object, in any
    letters after it, where a conclusion stands), chosen options and overall scores; what the object has no
    answer of is not looked for.

    Worked: ``{"criterion_status": "MET"}`` before "so I conclude: UNMET" is refused, before "as the criterion
    asks" it is not.
    """
    verdicts = {_verdict(str(said)) for said in _said(data, "criterion_status")}
    if verdicts:
        stated = [*_verdicts(_STATED, before), *_verdicts(_CONCLUDED, after)]
        _refuse((said for said in stated if said not in verdicts), verdicts)
    options = {str(said).strip().casefold() for said in _said(data, "option")}
    if options:
        chosen = (found.group(1).strip() for found in _OPTION.finditer(f"{before}\n{after}"))
        _refuse((said for said in chosen if not said.casefold().startswith(tuple(options))), options)
    scores = {_as_float(said) for said in _said(data, "overall_score") if isinstance(said, int | float)}
    if scores:
        given = (_score(found) for found in _SCORE.finditer(f"{before}\n{after}"))
        others = (said for said in given if all(abs(said - score) > 0.5 for score in scores))
        _refuse((f"{said:g}" for said in others), {f"{score:g}" for score in scores})


def _refuse(others: Iterator[str], own: set[str]) -> None:
    for other in others:
        said = ", ".join(sorted(own))
        raise UnreadableReply(
            f"the prose says {shortened(other, 60)}, its JSON object {shortened(said, 60)}; "
            f"allowed: the object alone, or prose that says the same"
        )


def _said(value: Any, key: str) -> Iterator[Any]:
    """What stands under the key, in the object or in the entries of its lists."""
    if isinstance(value, Mapping):
        if key in value:
            yield value[key]
        for inner in value.values():
            if isinstance(inner, list):
                yield from _said(inner, key)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, Mapping):
                yield from _said(inner, key)


def _verdicts(pattern: re.Pattern[str], prose: str) -> Iterator[str]:
    listed = _LISTED.sub(" ", prose)
    return (_verdict(found.group()) for found in pattern.finditer(listed))


def _verdict(text: str) -> str:
    """ "is not met" is UNMET, "cannot be assessed" CANNOT_ASSESS."""
    words = text.upper()
    if "ASSESS" in words:
        return "CANNOT_ASSESS"
    return "UNMET" if "UNMET" in words or "NOT" in words else "MET"


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # JSON can spell whole numbers that no float holds
        raise UnreadableReply("the score has hundreds of digits; allowed: a number from 0 to 100") from None


def _score(match: re.Match[str]) -> float:
    """The number out of 100; one out of something else is brought there."""
    number, scale = float(match.group(1)), float(match.group(2) or 100)
    return number * 100 / scale if scale else number
