"""What a run answered to each criterion of its rubric, with what every answer is worth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rubricweb import engine
from rubricweb.engine.scoring.outcomes import check_values, outcome_of, value_of
from rubricweb.models import Criterion, Judgement, Run
from rubricweb.selectors.labels.stored_answers import answer_of
from rubricweb.selectors.shared.columns import Bools, Floats, Ints, columns, floats, ints


@dataclass(frozen=True, eq=False)
class CriterionAnswersOfRun:
    """A run's answers to one criterion: arrays with a place per item, or per case.

    `labels` are the numbers of labels (see Worth) or what a check found, NaN without an answer; `values` what
    they are worth, NaN for an abstention too. `failed` is true where the question got no answer; `errors`
    counts the answers that failed, of a case that has others too.
    """

    labels: Floats
    values: Floats
    failed: Bools
    errors: int = 0

    @classmethod
    def nothing(cls, items: int) -> "CriterionAnswersOfRun":
        """No answers and no failures."""
        return cls(np.full(items, np.nan), np.full(items, np.nan), np.zeros(items, dtype=np.bool_))

    def take(self, places: Ints) -> "CriterionAnswersOfRun":
        return CriterionAnswersOfRun(self.labels[places], self.values[places], self.failed[places])

    @property
    def there(self) -> Bools:
        """Answered or failed."""
        return self.failed | ~np.isnan(self.labels)

    @property
    def valued(self) -> Bools:
        return ~np.isnan(self.values)


Answers = Mapping[int, CriterionAnswersOfRun]
"""Criterion id → what was said there, item by item."""


@dataclass
class LabelValues:
    """What every label of one criterion is worth, worked out once each."""

    criterion: engine.Criterion
    _known: dict[str, float | None] = field(default_factory=dict)

    def of(self, label: str) -> float | None:
        """None for an abstention."""
        if label not in self._known:
            outcome = outcome_of(self.criterion, answer_of(self.criterion, label))
            self._known[label] = value_of(outcome)
        return self._known[label]


class LabelNumbers(dict[str | None, int]):
    """A number for every label that was seen, the same in both runs; 0 for None."""

    def __init__(self) -> None:
        super().__init__({None: 0})

    def __missing__(self, label: str) -> int:
        self[label] = len(self)
        return self[label]

    def of(self, labels: Sequence[str | None]) -> Ints:
        return ints([self[label] for label in labels])

    def values_by_number(self, worth: LabelValues, used: Ints) -> Floats:
        """(numbers,): what those labels that are `used` are worth, NaN for all others and for abstentions."""
        names = list(self)
        values = np.full(len(names), np.nan)
        for number in np.unique(used):
            values[number] = worth.of(str(names[number]))
        return values


def worth_of(criteria: Iterable[Criterion]) -> dict[int, LabelValues]:
    """Criterion id → what its labels are worth."""
    return {criterion.pk: LabelValues(criterion.to_engine()) for criterion in criteria}


def answers_of(run: Run, worth: Mapping[int, LabelValues], items: Ints, numbers: LabelNumbers) -> Answers:
    """The run's answers to these criteria on `items`, ids ascending: the first where it asked several times.

    One query.
    """
    rows = Judgement.objects.filter(run=run, repeat=0).order_by()
    item_ids, criteria, labels, found = columns(
        rows.values_list("item_id", "criterion_id", "verdict", "value"), ints, ints, numbers.of, floats
    )
    places = np.searchsorted(items, item_ids)
    shown = np.isin(item_ids, items)
    answers = {}
    for pk, one in worth.items():
        at = shown & (criteria == pk)
        chosen, measured = at & (labels > 0), at & ~np.isnan(found)
        said = CriterionAnswersOfRun.nothing(len(items))
        said.labels[places[chosen]] = labels[chosen]
        said.values[places[chosen]] = numbers.values_by_number(one, labels[chosen])[labels[chosen]]
        said.labels[places[measured]] = found[measured]
        said.values[places[measured]] = check_values(one.criterion, found[measured])
        said.failed[places[at & ~chosen & ~measured]] = True
        answers[pk] = replace(said, errors=int(said.failed.sum()))
    return answers
