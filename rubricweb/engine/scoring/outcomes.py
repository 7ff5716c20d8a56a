"""What an answer or a label comes to, before any weight."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from rubricweb.engine.answer import Answer
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Label, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rubricweb.engine.rubric.criterion import Criterion


class Failed(Enum):
    """The outcome of a question that got no answer after all retries."""

    FAILED = "failed"

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = Failed.FAILED

Outcome: TypeAlias = Verdict | float | Failed
"""What came of one criterion: a verdict, a value from 0 to 1 (any finite one of weight 0), or FAILED."""


def outcome_of(criterion: Criterion, answer: Answer | None) -> Outcome:
    """What an answer to a criterion comes to; None, no answer, is FAILED.

    An option is worth its value, a not-applicable one CANNOT_ASSESS; a check's number is clipped to 0 to 1
    unless its weight is 0. Options poor 0, good 1: the answer "good" gives 1.0. Raises ValueError for an
    answer that does not fit the criterion: MET to a choice, an unknown label, a number that is not finite.
    """
    if answer is None:
        return FAILED
    if answer.verdict is not None:
        if answer.verdict is not Verdict.CANNOT_ASSESS and not criterion.is_binary:
            raise ValueError(
                f"{answer.verdict} answers a {criterion.kind} criterion; allowed: {_allowed(criterion)}"
            )
        return answer.verdict
    if answer.option is not None:
        if not criterion.is_multi_choice:
            raise ValueError(
                f"the option {answer.option!r} answers a {criterion.kind} criterion; "
                f"allowed: {_allowed(criterion)}"
            )
        option = criterion.options[criterion.find_option_by_label(answer.option)]
        return Verdict.CANNOT_ASSESS if option.na else option.value
    value = answer.value
    if not criterion.is_check or value is None or not math.isfinite(value):
        raise ValueError(
            f"the value {value!r} answers a {criterion.kind} criterion; allowed: {_allowed(criterion)}"
        )
    return float(value) if criterion.weight == 0 else min(1.0, max(0.0, value))


def value_of(outcome: Outcome) -> float | None:
    """The number an outcome stands for, None for an abstention or a failure: MET is 1.0."""
    if isinstance(outcome, Failed) or outcome is Verdict.CANNOT_ASSESS:
        return None
    if isinstance(outcome, Verdict):
        return 1.0 if outcome is Verdict.MET else 0.0
    return float(outcome)


def check_values(criterion: Criterion, found: NDArray[np.float64]) -> NDArray[np.float64]:
    """What numbers a check found come to, all at once: `outcome_of` each. Raises ValueError as it does."""
    wrong = found[~(abs(found) < math.inf)]
    if wrong.size or (found.size and not criterion.is_check):
        value = float((wrong if wrong.size else found)[0])
        raise ValueError(
            f"the value {value!r} answers a {criterion.kind} criterion; allowed: {_allowed(criterion)}"
        )
    return found if criterion.weight == 0 else found.clip(0.0, 1.0)


def own_label(criterion: Criterion, label: Label | float) -> Label | float:
    """A label as the criterion itself writes it, after strip and casefold: `` met `` is Verdict.MET.

    A binary criterion has verdicts, a choice the labels of its options, a check finite numbers (clipped to
    0 to 1 unless its weight is 0). Raises ValueError naming what is allowed.
    """
    if criterion.is_check:
        if isinstance(label, bool) or not isinstance(label, int | float) or not math.isfinite(label):
            raise ValueError(f"unknown value {label!r}; allowed: {_allowed(criterion)}")
        return float(label) if criterion.weight == 0 else min(1.0, max(0.0, float(label)))
    if not isinstance(label, str):
        raise ValueError(f"unknown label {label!r}; allowed: {_allowed(criterion)}")
    if criterion.is_binary:
        return Verdict.parse(label)
    return criterion.options[criterion.find_option_by_label(label)].label


def label_outcome(criterion: Criterion, label: Label | float | None) -> Outcome:
    """What a label comes to; None, a gap, is FAILED: nobody decided. Raises ValueError as ``own_label``."""
    if label is None:
        return FAILED
    own = own_label(criterion, label)
    if isinstance(own, Verdict):
        return own
    if isinstance(own, str):
        return outcome_of(criterion, Answer(None, "", option=own))
    return own


def _allowed(criterion: Criterion) -> str:
    if criterion.is_binary:
        return ALLOWED_VERDICTS
    if criterion.is_multi_choice:
        return ", ".join(option.label for option in criterion.options)
    return "a finite number"
