"""What a run answered to each criterion of its rubric, with what every answer is worth."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rubricweb import engine
from rubricweb.engine.outcomes import FAILED, Outcome, outcome_of, value_of
from rubricweb.models import Criterion, Run
from rubricweb.selectors.ground_truth import run_answers
from rubricweb.selectors.stored_answers import answer_of


@dataclass(frozen=True)
class Said:
    """One answer: a label or what a check found, its outcome, and its value; a failure has no label.

    `value` is None for an abstention and a failure.
    """

    label: str | float | None
    outcome: Outcome
    value: float | None


Answers = Mapping[int, Mapping[int, Said]]
"""Criterion id → item id → what was said there."""


@dataclass
class Worth:
    """What every label of one criterion is worth, worked out once each."""

    criterion: engine.Criterion
    _known: dict[str, Said] = field(default_factory=dict)

    def of(self, label: str) -> Said:
        if label not in self._known:
            outcome = outcome_of(self.criterion, answer_of(self.criterion, label))
            self._known[label] = Said(label, outcome, value_of(outcome))
        return self._known[label]

    def measured(self, value: float) -> Said:
        """What a check found."""
        outcome = outcome_of(self.criterion, answer_of(self.criterion, None, value))
        return Said(value, outcome, value_of(outcome))


def worth_of(criteria: Iterable[Criterion]) -> dict[int, Worth]:
    """Criterion id → what its labels are worth."""
    return {criterion.pk: Worth(criterion.to_engine()) for criterion in criteria}


def answers_of(run: Run, worth: Mapping[int, Worth], hidden: set[int]) -> Answers:
    """The run's answers to these criteria on items that are not `hidden`. One query."""
    found = run_answers(run)
    said: dict[int, dict[int, Said]] = defaultdict(dict)
    for (item_id, criterion_id), label in found.labels.items():
        if criterion_id in worth and item_id not in hidden:
            said[criterion_id][item_id] = worth[criterion_id].of(label)
    for (item_id, criterion_id), value in found.values.items():
        if criterion_id in worth and item_id not in hidden:
            said[criterion_id][item_id] = worth[criterion_id].measured(value)
    for item_id, criterion_id in found.failed:
        if criterion_id in worth and item_id not in hidden:
            said[criterion_id][item_id] = Said(None, FAILED, None)
    return said
