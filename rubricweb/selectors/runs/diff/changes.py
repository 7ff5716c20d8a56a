"""One criterion in two runs: flips or difference of values, chance, noise, and its part of the change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricweb.engine.agreement import Figure, McNemar, holm
from rubricweb.engine.agreement.paired_tests import mcnemar_later
from rubricweb.engine.agreement.scores import mean_difference_later
from rubricweb.engine.agreement.shared_draws import Later, SharedDraws
from rubricweb.models import Criterion
from rubricweb.selectors.columns import Floats
from rubricweb.selectors.criterion_counts import share_figure
from rubricweb.selectors.run_diff_answers import Answers, Said
from rubricweb.selectors.run_diff_criteria import Partners
from rubricweb.selectors.run_diff_noise import Noise

WithinNoise = Literal["within", "beyond", "open", "unknown"]
"""Whether answers changed more than the judge does by itself: no, yes, cannot be told, not measured."""


@dataclass(frozen=True)
class CriterionChange:
    """The answers of a run to one criterion against those of its baseline, where both have a value (`n`).

    `before` is the baseline's row, another one when the rubric versions differ. `difference` is of the mean
    values (of a binary criterion the MET rates), the run's less the baseline's. `changed` answers differ. A
    binary criterion has `mcnemar` with `only_one` flips away from MET and `only_other` to MET; `p` is its p
    value after Holm over the binary criteria. `contribution` is the part of the difference of mean scores,
    None where the runs have no score by criterion. Beside `n` stand units where one side abstained, failed,
    or has no answer at all.
    """

    criterion: Criterion
    before: Criterion
    n: int
    run_mean: float | None
    baseline_mean: float | None
    difference: Figure
    changed: Figure
    mcnemar: McNemar | None
    p: float | None
    contribution: Figure | None
    noise: Noise | None
    abstained: int
    run_errors: int
    baseline_errors: int
    missing: int

    @property
    def to_met(self) -> int | None:
        return None if self.mcnemar is None else self.mcnemar.only_other

    @property
    def to_unmet(self) -> int | None:
        return None if self.mcnemar is None else self.mcnemar.only_one

    @property
    def changed_count(self) -> int:
        return round((self.changed.value or 0.0) * self.changed.n)

    @property
    def reweighted(self) -> bool:
        return self.criterion.weight != self.before.weight

    @property
    def within_noise(self) -> WithinNoise:
        return within_noise(self.changed, self.noise.flip_rate if self.noise else None)


def within_noise(changed: Figure, flip_rate: Figure | None) -> WithinNoise:
    """Changed answers held against a judge's own flip rate.

    "beyond" when the 95 % interval of the changed share lies wholly above that of the flip rate, "within"
    when the share is no larger than the flip rate, "open" in between, "unknown" when either is. Changed 0.05,
    flip rate 0.08: within.
    """
    if flip_rate is None or flip_rate.value is None or changed.value is None:
        return "unknown"
    if changed.value <= flip_rate.value:
        return "within"
    if changed.low is not None and flip_rate.high is not None and changed.low > flip_rate.high:
        return "beyond"
    return "open"


def criterion_changes(
    partners: Partners,
    said: Answers,
    said_before: Answers,
    *,
    contributions: Mapping[int, Later[Figure]],
    noise: Mapping[int, Later[Noise]],
    draws: SharedDraws,
) -> tuple[CriterionChange, ...]:
    """The criteria both runs were asked, in the run's order; `contributions` and `noise` by its ids."""
    pairs = [
        _Pair(criterion, before, said[criterion.pk], said_before[before.pk], draws)
        for criterion, before in partners.pairs
    ]
    tests = [None if pair.test is None else pair.test() for pair in pairs]
    adjusted = holm([None if test is None else test.p for test in tests])
    found = []
    for pair, test, p in zip(pairs, tests, adjusted, strict=True):
        part, its_noise = contributions.get(pair.criterion.pk), noise.get(pair.criterion.pk)
        found.append(pair.change(test, p, part and part(), its_noise and its_noise()))
    return tuple(found)


class _Pair:
    """The answers to one criterion; what needs draws is asked for when it is made."""

    def __init__(
        self, criterion: Criterion, before: Criterion, said: Said, said_before: Said, draws: SharedDraws
    ) -> None:
        self.criterion, self.before = criterion, before
        self._said, self._said_before = said, said_before
        self._both = said.valued & said_before.valued
        old, new = said_before.values[self._both], said.values[self._both]
        self._means = _mean(old), _mean(new)
        self.test: Later[McNemar] | None = None
        if criterion.kind == "binary":
            self.test = mcnemar_later(old, new, draws)
        else:
            self._difference = mean_difference_later(old, new, draws)

    def change(
        self, test: McNemar | None, p: float | None, contribution: Figure | None, noise: Noise | None
    ) -> CriterionChange:
        said, before, both = self._said, self._said_before, self._both
        n = int(both.sum())
        shared = said.there & before.there
        return CriterionChange(
            criterion=self.criterion,
            before=self.before,
            n=n,
            run_mean=self._means[1],
            baseline_mean=self._means[0],
            difference=self._difference() if test is None else test.difference,
            changed=share_figure(int((said.labels[both] != before.labels[both]).sum()), n),
            mcnemar=test,
            p=p,
            contribution=contribution,
            noise=noise,
            abstained=int((shared & ~said.failed & ~before.failed).sum()) - n,
            run_errors=int(said.failed.sum()),
            baseline_errors=int(before.failed.sum()),
            missing=int((said.there ^ before.there).sum()),
        )


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if len(values) else None
