"""What is likely to go wrong with a rubric, found without a model.

``RULES`` names every rule; ``lint`` looks at a rubric, ``lint_draft`` at whatever can be read of one that is
still being written, ``lint_data`` at a rubric and what its labels have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rubricweb.engine.lint.alike import (
    CHECK_REPEATS_CRITERION,
    DUPLICATE_REQUIREMENTS,
    MIRRORED_CRITERIA,
    NAMES_LOOK_ALIKE,
    NEAR_DUPLICATES,
)
from rubricweb.engine.lint.base import CriterionEvidence, Finding, LintInput, Rule, Severity
from rubricweb.engine.lint.data import JUDGE_BIAS, LOW_AGREEMENT, NEVER_VARIES, OFTEN_CANNOT_ASSESS
from rubricweb.engine.lint.double_barrelled import DOUBLE_BARRELLED
from rubricweb.engine.lint.draft import read_draft
from rubricweb.engine.lint.options import (
    EQUAL_OPTION_VALUES,
    NO_ABSTAINING_OPTION,
    OPTIONS_OUT_OF_ORDER,
    OPTIONS_WITHOUT_VALUES,
    TOP_OPTION_BELOW_ONE,
    VAGUE_OPTIONS,
)
from rubricweb.engine.lint.weighting import (
    DOMINANT_CRITERION,
    NEGATION_WITH_NEGATIVE_WEIGHT,
    NO_NEGATIVE_CRITERION,
    TOO_MANY_CRITERIA,
    WEIGHT_SIGN_MISMATCH,
    ZERO_WEIGHT_EVERYWHERE,
)
from rubricweb.engine.lint.wording import (
    MISSING_ANCHOR,
    QUESTION_FORM,
    REFERS_TO_OTHER_CRITERION,
    TOO_LONG,
    UNOBSERVABLE_WORDS,
)
from rubricweb.engine.rubric import Rubric

__all__ = [
    "RULES",
    "CriterionEvidence",
    "Finding",
    "Rule",
    "Severity",
    "lint",
    "lint_data",
    "lint_draft",
]

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        WEIGHT_SIGN_MISMATCH,
        NEGATION_WITH_NEGATIVE_WEIGHT,
        DOUBLE_BARRELLED,
        UNOBSERVABLE_WORDS,
        REFERS_TO_OTHER_CRITERION,
        DUPLICATE_REQUIREMENTS,
        NEAR_DUPLICATES,
        DOMINANT_CRITERION,
        ZERO_WEIGHT_EVERYWHERE,
        OPTIONS_WITHOUT_VALUES,
        OPTIONS_OUT_OF_ORDER,
        MISSING_ANCHOR,
        QUESTION_FORM,
        TOO_LONG,
        MIRRORED_CRITERIA,
        NAMES_LOOK_ALIKE,
        CHECK_REPEATS_CRITERION,
        EQUAL_OPTION_VALUES,
        TOP_OPTION_BELOW_ONE,
        NO_ABSTAINING_OPTION,
        VAGUE_OPTIONS,
        NO_NEGATIVE_CRITERION,
        TOO_MANY_CRITERIA,
        LOW_AGREEMENT,
        OFTEN_CANNOT_ASSESS,
        JUDGE_BIAS,
        NEVER_VARIES,
    )
}
"""Every rule by its stable name, in the order findings about one criterion are shown."""


def lint(rubric: Rubric) -> tuple[Finding, ...]:
    """What the text of a rubric gives cause for: findings about the whole first, then criterion by criterion.

    Empty when no rule has anything to say. `Contains a factual error.` with weight 5 gives one finding of
    ``weight_sign_mismatch`` with criterion 0 and the span of `Contains a factual error`.
    """
    return lint_draft(rubric.to_dict())


def lint_draft(data: Any) -> tuple[Finding, ...]:
    """The same for plain data that may not be a valid rubric: what cannot be read is passed over.

    ``data`` is a rubric in any form that ``Rubric.from_dict`` reads; indexes count unreadable criteria too,
    those of ``sections`` after the others. Never raises for JSON-like data.
    """
    return _run(LintInput(read_draft(data)), "text")


def lint_data(rubric: Rubric, evidence: Iterable[CriterionEvidence]) -> tuple[Finding, ...]:
    """What labels show about the criteria of a rubric; criteria without evidence are passed over.

    Raises ValueError for an index the rubric does not have, or evidence about one criterion twice.
    """
    seen = tuple(evidence)
    _check_indexes([entry.criterion for entry in seen], len(rubric.criteria))
    return _run(LintInput(read_draft(rubric.to_dict()), seen), "data")


def _run(sight: LintInput, reads: Literal["text", "data"]) -> tuple[Finding, ...]:
    found = [finding for rule in RULES.values() if rule.reads == reads for finding in rule.findings(sight)]
    return tuple(sorted(found, key=lambda finding: -1 if finding.criterion is None else finding.criterion))


def _check_indexes(indexes: Sequence[int], count: int) -> None:
    for position, index in enumerate(indexes):
        if not 0 <= index < count:
            raise ValueError(f"evidence[{position}].criterion: found {index}; allowed: 0 to {count - 1}")
        if index in indexes[:position]:
            raise ValueError(
                f"evidence[{position}].criterion: found {index} again; allowed: one entry per criterion"
            )
