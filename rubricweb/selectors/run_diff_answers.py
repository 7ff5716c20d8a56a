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
    """One answer: a label or what a check found, and its outcome; FAILED has neither."""

    label: str | float | None
    outcome: Outcome

    @property
    def value(self) -> float | None:
        """None for an abstention and a failure."""
        return value_of(self.outcome)


Answers = Mapping[int, Mapping[int, Said]]
"""Criterion id → item id → what was said there."""


@dataclass
class Worth:
    """The outcome of every label of one criterion, worked out once each."""

    criterion: engine.Criterion
    _known: dict[str, Outcome] = field(default_factory=dict)

    def of(self, label: str) -> Outcome:
        if label not in self._known:
            self._known[label] = outcome_of(self.criterion, answer_of(self.criterion, label))
        return self._known[label]


def worth_of(criteria: Iterable[Criterion]) -> dict[int, Worth]:
    """Criterion id → what its labels are worth."""
    return {criterion.pk: Worth(criterion.to_engine()) for criterion in criteria}


def answers_of(run: Run, worth: Mapping[int, Worth], hidden: set[int]) -> Answers:
    """The run's answers to these criteria on items that are not `hidden`. One query."""
    found = run_answers(run)
    said: dict[int, dict[int, Said]] = defaultdict(dict)
    for (item_id, criterion_id), label in found.labels.items():
        if criterion_id in worth and item_id not in hidden:
            said[criterion_id][item_id] = Said(label, worth[criterion_id].of(label))
    for (item_id, criterion_id), value in found.values.items():
        if criterion_id in worth and item_id not in hidden:
            criterion = worth[criterion_id].criterion
            outcome = outcome_of(criterion, answer_of(criterion, None, value))
            said[criterion_id][item_id] = Said(value, outcome)
    for item_id, criterion_id in found.failed:
        if criterion_id in worth and item_id not in hidden:
            said[criterion_id][item_id] = Said(None, FAILED)
    return said
