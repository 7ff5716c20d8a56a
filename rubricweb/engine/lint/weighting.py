"""Rules about weights: their signs, their sizes, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubricweb.engine.lint.base import Hit, LintInput, Rule, RuleExample, criteria
from rubricweb.engine.lint.language import BAD_ACT, BAD_QUALITY, ERROR_NOUN, SUBJECT
from rubricweb.engine.scoring.points import score_points

MAX_CRITERIA = 30
"""Criteria beyond which people tire and verdicts get careless."""

DOMINANT_POINTS = 50
"""Points of the score, of 100, above which one wanted criterion decides alone."""

FEW_CRITERIA = 3
"""Below so many criteria the balance of a rubric says nothing."""

_START = rf"\s*(?:{SUBJECT}\s+)?(?:also\s+)?"
_A = (
    r"(?:(?:a|an|any|one|some|at\s+least\s+one|multiple|several)\s+)?(?:(?!no\b|not\b|without\b)\w+\s+){0,2}?"
)
_NOT = (
    r"(?:does\s+not|doesn['’]t|do\s+not|don['’]t|did\s+not|never|must\s+not|should\s+not|is\s+not|isn['’]t)"
)

_NEGATED = re.compile(rf"{_START}(?P<words>{_NOT})\b", re.IGNORECASE)
_NOT_BAD = re.compile(
    rf"{_START}(?P<words>{_NOT}\s+(?:\w+ly\s+)?(?:(?:contain|include|make|have|introduce|use|give|provide)\s+{_A}{ERROR_NOUN}"
    rf"|(?:be\s+)?{BAD_QUALITY}|{BAD_ACT})"
    rf"|(?:contains|includes|makes|has|gives|provides|uses)\s+no\s+(?:\w+\s+){{0,2}}?{ERROR_NOUN}"
    rf"|is\s+(?:entirely\s+|completely\s+)?free\s+(?:of|from)"
    rf"|avoids(?!\s+(?:answering|addressing|responding|mentioning|taking|giving|asking|discussing|the\s+question))"
    rf"|refrains\s+from|(?:should|must)\s+not)\b",
    re.IGNORECASE,
)
_BAD = re.compile(
    rf"{_START}(?P<words>(?:contains|includes|makes|has|introduces|gives|provides)\s+{_A}{ERROR_NOUN}"
    rf"|is\s+(?:\w+ly\s+)?{BAD_QUALITY}(?=\s*(?:[.,;!]|$|or\b|and\b|about\b|to\b|in\b))"
    rf"|fails\s+to|omits|hallucinates|fabricates|plagiari[sz]es|misleads|misquotes|misstates|misrepresents"
    rf"|insults|neglects|contradicts\s+itself|(?:incorrectly|inaccurately|wrongly|falsely|misleadingly)\s+\w+s)\b",
    re.IGNORECASE,
)


def _sign_mismatch(sight: LintInput) -> Iterator[Hit]:
    for criterion in sight.criteria:
        if not criterion.asks_a_judge or criterion.kind != "binary" or not criterion.weight:
            continue
        rewarded = criterion.weight > 0
        match = (_BAD if rewarded else _NOT_BAD).match(criterion.plain)
        if match is None:
            continue
        words = " ".join(match["words"].split())
        if rewarded:
            message = f"MET means “{words} …”, and the weight of {criterion.weight:+g} rewards it."
            suggestion = "Give an error a negative weight, or ask for its absence."
        else:
            message = (
                f"MET means “{words} …”, which is wanted, and the weight of {criterion.weight:+g} "
                f"punishes it."
            )
            suggestion = "Name the error itself and keep the negative weight, or make the weight positive."
        yield Hit(message, suggestion, criterion.index, span=match.span("words"))


def _negated(sight: LintInput) -> Iterator[Hit]:
    for criterion in sight.criteria:
        if not criterion.asks_a_judge or criterion.weight is None or criterion.weight >= 0:
            continue
        match = _NEGATED.match(criterion.plain)
        if match and not _NOT_BAD.match(criterion.plain):
            words = " ".join(match["words"].split())
            yield Hit(
                f"“{words} …” under a weight of {criterion.weight:+g} is a double negative: MET takes "
                "points from a submission for not doing it, and is easily given to one that does.",
                "Ask for the thing itself with a positive weight, or name the fault in one word, such "
                "as “omits”.",
                criterion.index,
                span=match.span("words"),
            )


def _dominant(sight: LintInput) -> Iterator[Hit]:
    weights = [criterion.weight for criterion in sight.criteria]
    if sum(1 for weight in weights if weight) < FEW_CRITERIA:
        return
    for criterion, points in zip(sight.criteria, score_points(weights), strict=True):
        if points is not None and points > DOMINANT_POINTS:
            yield Hit(
                f"Moves {points:.0f} of 100 points: the score is this verdict and little else.",
                "Lower its weight, or split it into the parts that make it so important.",
                criterion.index,
            )
        elif points is not None and points <= -100:
            yield Hit(
                f"Takes {-points:.0f} of 100 points: where it is met the score is 0, whatever else is there.",
                "Lower its weight, unless this error alone is to decide.",
                criterion.index,
            )


def _no_negative(sight: LintInput) -> Iterator[Hit]:
    weights = [criterion.weight for criterion in sight.criteria if criterion.weight]
    if len(weights) >= FEW_CRITERIA and min(weights) > 0:
        yield Hit(
            "No criterion has a negative weight: a submission can only gain, however wrong the rest of "
            "it is.",
            "Name the errors that must not happen and give each a negative weight.",
        )


def _all_zero(sight: LintInput) -> Iterator[Hit]:
    weights = [criterion.weight for criterion in sight.criteria if criterion.weight is not None]
    if weights and len(weights) == len(sight.criteria) and not any(weights):
        yield Hit(
            "Every weight is 0: each submission scores 0, whatever its verdicts.",
            "Give the criteria that count a weight; keep 0 for metrics that are only watched.",
        )


def _too_many(sight: LintInput) -> Iterator[Hit]:
    count = sum(criterion.kind != "check" for criterion in sight.criteria)
    if count > MAX_CRITERIA:
        yield Hit(
            f"{count} criteria to be read for every submission: reviewers tire, and each one hardly counts.",
            f"Keep the ones that decide, up to about {MAX_CRITERIA}, or let checks answer the "
            f"mechanical ones.",
        )


WEIGHT_SIGN_MISMATCH = Rule(
    name="weight_sign_mismatch",
    title="The sign of the weight contradicts the words",
    explanation=(
        "MET always means that the thing described is present. An error described under a positive weight is "
        "rewarded; the absence of an error, described under a negative one, is punished."
    ),
    severity="warning",
    find=_sign_mismatch,
    triggers=criteria({"requirement": "Contains a factual error.", "weight": 5}),
    passes=criteria({"requirement": "Contains a factual error.", "weight": -5}),
)
NEGATION_WITH_NEGATIVE_WEIGHT = Rule(
    name="negation_with_negative_weight",
    title="A negation under a negative weight",
    explanation=(
        "“Does not mention the risk” with a negative weight asks for two turns of the mind: MET is bad, and "
        "means that something is not there. People and judges often give it the wrong way round, and a "
        "submission that does well is punished."
    ),
    severity="warning",
    find=_negated,
    triggers=criteria({"requirement": "Does not mention the risk of bleeding.", "weight": -5}),
    passes=criteria({"requirement": "Omits the risk of bleeding.", "weight": -5}),
)
DOMINANT_CRITERION = Rule(
    name="dominant_criterion",
    title="One criterion decides the score",
    explanation=(
        f"With {FEW_CRITERIA} or more weighted criteria, one that gives over {DOMINANT_POINTS} of the "
        "100 points of the score, or an error that takes all 100, decides alone; the others cannot make up "
        "for it."
    ),
    severity="warning",
    find=_dominant,
    # 10 of the 13 that are wanted is 77 points; in the other, 5 of 10 is exactly half.
    triggers=RuleExample(
        (
            {"requirement": "Names the capital.", "weight": 10},
            {"requirement": "Names the river.", "weight": 3},
            {"requirement": "Insults the reader.", "weight": -3},
        )
    ),
    passes=RuleExample(
        (
            {"requirement": "Names the capital.", "weight": 5},
            {"requirement": "Names the river.", "weight": 5},
            {"requirement": "Insults the reader.", "weight": -2},
        )
    ),
)
NO_NEGATIVE_CRITERION = Rule(
    name="no_negative_criterion",
    title="No criterion for an error",
    explanation=(
        "When every weight is positive, a submission that does everything asked and also lies scores in "
        f"full. Rubrics of fewer than {FEW_CRITERIA} weighted criteria are left alone."
    ),
    severity="hint",
    find=_no_negative,
    triggers=criteria("Names the capital.", "Names the river.", "Names the year."),
    passes=criteria(
        "Names the capital.", "Names the river.", {"requirement": "Invents a city.", "weight": -1}
    ),
)
ZERO_WEIGHT_EVERYWHERE = Rule(
    name="zero_weight_everywhere",
    title="Nothing counts",
    explanation="A weight of 0 tracks a metric that moves nothing. With only zeros the score is always 0.0.",
    severity="warning",
    find=_all_zero,
    triggers=criteria({"requirement": "Names the capital.", "weight": 0}),
    passes=criteria({"requirement": "Names the capital.", "weight": 0}, "Names the river."),
)
TOO_MANY_CRITERIA = Rule(
    name="too_many_criteria",
    title="More criteria than people read with care",
    explanation=(
        f"Beyond {MAX_CRITERIA} criteria that somebody has to read, reviews take long and get careless. "
        "Checks are not counted: they cost nobody's attention."
    ),
    severity="hint",
    find=_too_many,
    triggers=criteria(*(f"Names river number {number}." for number in range(1, MAX_CRITERIA + 2))),
    passes=criteria(*(f"Names river number {number}." for number in range(1, MAX_CRITERIA + 1))),
)
