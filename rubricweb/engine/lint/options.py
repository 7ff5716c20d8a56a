"""Rules about the options of choice criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rubricweb.engine.lint.base import Hit, LintInput, Rule, criteria
from rubricweb.engine.lint.draft import DraftCriterion, DraftOption

_BARE = re.compile(
    r"(?:\d+(?:\.\d+)?|[a-e]|very\s+(?:good|bad|poor|low|high)|good|bad|fair|poor|excellent|average|ok(?:ay)?|fine"
    r"|low|medium|high|great|acceptable|unacceptable|satisfactory|unsatisfactory|mediocre|weak|strong|moderate"
    r"|adequate|inadequate|somewhat|mostly|partly|partially)",
    re.IGNORECASE,
)
MIN_SCORED = 2
"""A choice with fewer options that carry a value is refused elsewhere."""


def _all_the_same(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        values = {option.value for option in _scored(criterion)}
        if len(values) == 1 and criterion.weight != 0:
            yield Hit(
                f"Every option is worth {values.pop():g}: the answer does not move the score.",
                "Give each option the value, 0 to 1, that it deserves, or the criterion the weight 0.",
                criterion.index,
            )


def _ties(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        scored = _scored(criterion)
        if not criterion.ordinal or len({option.value for option in scored}) == 1:
            continue
        tied = next((pair for pair in pairwise(scored) if pair[0].value == pair[1].value), None)
        if tied:
            yield Hit(
                f"“{tied[0].label}” and “{tied[1].label}” are both worth {tied[0].value:g}: a step of "
                "the scale that does not count.",
                "Give them different values, merge them, or call the scale nominal.",
                criterion.index,
            )


def _out_of_order(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        values = [option.value for option in _scored(criterion) if option.value is not None]
        rising = all(low <= high for low, high in pairwise(values))
        falling = all(high >= low for high, low in pairwise(values))
        if criterion.ordinal and not rising and not falling:
            yield Hit(
                "The values go up and down ("
                + ", ".join(f"{value:g}" for value in values)
                + ") along a scale that is ordinal.",
                "Put the options in the order of their values, or call the scale nominal.",
                criterion.index,
            )


def _best_below_one(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        values = [option.value for option in _scored(criterion) if option.value is not None]
        if len(set(values)) > 1 and max(values) < 1 and criterion.weight:
            yield Hit(
                f"The best option is worth {max(values):g}: nobody can reach the full weight.",
                "Let the best option be worth 1, and say with the weight how much it counts.",
                criterion.index,
            )


def _no_abstention(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        if not any(option.abstains for option in criterion.options):
            yield Hit(
                "No option abstains: where the submission gives no basis, people and judges must guess.",
                "Add an option such as “not applicable” with na: true, if that can happen.",
                criterion.index,
            )


def _vague(sight: LintInput) -> Iterator[Hit]:
    for criterion in _choices(sight):
        labels = [option.label for option in _scored(criterion)]
        if not criterion.explained and all(_BARE.fullmatch(label) for label in labels):
            yield Hit(
                "The options say only more or less ("
                + ", ".join(labels[:5])
                + "), not what each one looks like.",
                "Describe in each label what is seen there, or all of them in the guidance.",
                criterion.index,
            )


def _choices(sight: LintInput) -> Iterator[DraftCriterion]:
    """The choice criteria whose options can be read, values and all."""
    for criterion in sight.criteria:
        scored = _scored(criterion)
        readable = all(option.label and option.value is not None for option in scored)
        if criterion.kind == "choice" and len(scored) >= MIN_SCORED and readable:
            yield criterion


def _scored(criterion: DraftCriterion) -> list[DraftOption]:
    return [option for option in criterion.options if not option.abstains]


def _choice(*options: tuple[str, float], na: bool = True, **fields: object) -> dict[str, object]:
    listed: list[dict[str, object]] = [{"label": label, "value": value} for label, value in options]
    if na:
        listed.append({"label": "No tone to speak of", "na": True})
    return {"requirement": "How the answer speaks to the reader.", "options": listed} | fields


_SOUND = _choice(("Insults the reader", 0.0), ("Keeps to the facts", 0.5), ("Greets and thanks", 1.0))

OPTIONS_WITHOUT_VALUES = Rule(
    name="options_without_values",
    title="Options that are all worth the same",
    explanation=(
        "An option without a value is worth 0. When all are equal, the criterion has weight but no effect."
    ),
    severity="warning",
    find=_all_the_same,
    triggers=criteria(_choice(("Insults the reader", 0.0), ("Greets and thanks", 0.0))),
    passes=criteria(_SOUND),
)
EQUAL_OPTION_VALUES = Rule(
    name="equal_option_values",
    title="Two steps of a scale with one value",
    explanation="Neighbours on an ordinal scale with equal values cost attention and change nothing.",
    severity="hint",
    find=_ties,
    triggers=criteria(
        _choice(("Insults the reader", 0.0), ("Keeps to the facts", 1.0), ("Greets and thanks", 1.0))
    ),
    passes=criteria(_SOUND),
)
OPTIONS_OUT_OF_ORDER = Rule(
    name="options_out_of_order",
    title="An ordinal scale that goes up and down",
    explanation=(
        "Weighted agreement and panels take the order of the options for the order of the scale. Values that "
        "neither rise nor fall along it contradict that."
    ),
    severity="warning",
    find=_out_of_order,
    triggers=criteria(
        _choice(("Keeps to the facts", 0.5), ("Insults the reader", 0.0), ("Greets and thanks", 1.0))
    ),
    passes=criteria(
        _choice(
            ("Keeps to the facts", 0.5), ("Insults the reader", 0.0), ("Greets", 1.0), scale_type="nominal"
        )
    ),
)
TOP_OPTION_BELOW_ONE = Rule(
    name="top_option_below_one",
    title="A best option that is not worth everything",
    explanation="Values run from 0 to 1. If the best is below 1, even a perfect submission loses weight.",
    severity="hint",
    find=_best_below_one,
    triggers=criteria(_choice(("Insults the reader", 0.0), ("Greets and thanks", 0.8))),
    passes=criteria(_SOUND),
)
NO_ABSTAINING_OPTION = Rule(
    name="no_abstaining_option",
    title="No way to abstain",
    explanation=(
        "A binary criterion always offers CANNOT_ASSESS; a choice only what its options offer. Without "
        "one that abstains, submissions it does not apply to get an arbitrary answer."
    ),
    severity="hint",
    find=_no_abstention,
    triggers=criteria(_choice(("Insults the reader", 0.0), ("Greets and thanks", 1.0), na=False)),
    passes=criteria(_SOUND),
)
VAGUE_OPTIONS = Rule(
    name="vague_options",
    title="Options that do not say what they look like",
    explanation=(
        "1 to 5, or poor, fair, good: everyone has an own scale. Labels that describe, or guidance that "
        "does, are what makes raters agree."
    ),
    severity="hint",
    find=_vague,
    triggers=criteria(_choice(("Poor", 0.0), ("Fair", 0.5), ("Good", 1.0))),
    passes=criteria(_SOUND),
)
