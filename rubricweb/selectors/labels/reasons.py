"""Which labels need a reason before a review can be submitted: the queue's rule."""

from rubricweb.engine.scoring.effect import credit
from rubricweb.engine.scoring.outcomes import outcome_of, value_of
from rubricweb.models import Criterion, ReasonRule
from rubricweb.selectors.labels.stored_answers import answer_of

VERDICTS = ("MET", "UNMET", "CANNOT_ASSESS")


def labels_with_reason(criterion: Criterion, rule: str) -> list[str]:
    """The labels of a criterion that need a reason under a rule of `ReasonRule`.

    "Those that are not met" are the labels that serve the score least: UNMET and options worth 0, of a
    penalty MET (the error is present) and options worth 1. An abstention counts neither way and may go
    without. Checks have no labels.
    """
    if criterion.kind == "check" or rule == ReasonRule.NEVER:
        return []
    labels = (
        [option["label"] for option in criterion.options] if criterion.kind == "choice" else list(VERDICTS)
    )
    if rule == ReasonRule.ALWAYS:
        return labels
    asked = criterion.to_engine()
    values = {label: value_of(outcome_of(asked, answer_of(asked, label))) for label in labels}
    return [
        label for label, value in values.items() if value is not None and credit(value, asked.weight) == 0
    ]


def lacks_reason(criterion: Criterion, label: str | None, reason: str, rule: str) -> bool:
    """Whether this label must not stay without a reason."""
    return not reason.strip() and label in labels_with_reason(criterion, rule)


def incomplete(missing: int, unreasoned: int) -> str:
    """What a review still needs: "One criterion still needs a verdict, 2 need a reason."."""
    verdicts = "One criterion still needs" if missing == 1 else f"{missing} criteria still need"
    if not unreasoned:
        return f"{verdicts} a verdict."
    if not missing:
        reasons = "One criterion still needs" if unreasoned == 1 else f"{unreasoned} criteria still need"
        return f"{reasons} a reason."
    return f"{verdicts} a verdict, {unreasoned} {'needs' if unreasoned == 1 else 'need'} a reason."
