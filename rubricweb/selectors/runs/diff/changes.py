"""One criterion in two runs: flips or difference of values, chance, noise, and its part of the change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricweb.engine.agreement import Figure, McNemar, holm, mcnemar, paired_t
from rubricweb.engine.agreement.scores.scores import mean_difference
from rubricweb.models import Criterion
from rubricweb.selectors.runs.criterion_counts import share_figure
from rubricweb.selectors.runs.diff.answers import Answers, CriterionAnswersOfRun
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria, name_before
from rubricweb.selectors.runs.diff.noise import Noise
from rubricweb.selectors.shared.columns import Floats

WithinNoise = Literal["within", "beyond", "open", "unknown"]
"""Whether answers changed more than the judge does by itself: no, yes, cannot be told, not measured."""

ChangeTest = Literal["mcnemar", "paired_t", "sign_flips"]
"""What a criterion's p is of: flips of verdicts, differences of values, or those that are all the same."""


@dataclass(frozen=True)
class CriterionChange:
    """The answers of a run to one criterion against those of its baseline, where both have a value (`n`).

    `n` counts items, or cases where the runs are paired by case: of several answers to a case the value is
    their mean, and where a mean of verdicts is neither 0 nor 1 the criterion is tested as a choice is.

    `before` is the baseline's row, another one when the rubric versions differ. `difference` is of the mean
    values (of a binary criterion the MET rates), the run's less the baseline's. `changed` answers differ. A
    binary criterion has `mcnemar` with `only_one` flips away from MET and `only_other` to MET. `p_alone` is
    its p value, of a choice or check that of `paired_t`, as `test` says, None without a p; `p` is the same
    after Holm over all criteria; the intervals hold for all criteria at once. `contribution` is the part of
    the difference of mean scores, None where the runs have no score by criterion. Beside `n` stand units
    where one side abstained, failed, or has no answer at all.
    """

    criterion: Criterion
    before: Criterion
    n: int
    run_mean: float | None
    baseline_mean: float | None
    difference: Figure
    changed: Figure
    mcnemar: McNemar | None
    test: ChangeTest | None
    p_alone: float | None
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
    def better(self) -> int | None:
        """Flips that raise the score: to MET, of a penalty to UNMET; None where nothing flips or weighs."""
        return self._flips(self.to_met, self.to_unmet)

    @property
    def worse(self) -> int | None:
        return self._flips(self.to_unmet, self.to_met)

    def _flips(self, of_merits: int | None, of_penalties: int | None) -> int | None:
        weight = self.criterion.weight
        return None if weight == 0 else of_penalties if weight < 0 else of_merits

    @property
    def changed_count(self) -> int:
        return round((self.changed.value or 0.0) * self.changed.n)

    @property
    def name_before(self) -> str:
        """The baseline's name for it where it is another one, see `criteria.name_before`."""
        return name_before(self.criterion, self.before)

    @property
    def reweighted(self) -> bool:
        return self.criterion.weight != self.before.weight

    @property
    def within_noise(self) -> WithinNoise:
        return within_noise(self.changed, self.noise.flip_rate if self.noise else None)


def within_noise(changed: Figure, flip_rate: Figure | None) -> WithinNoise:
    """Changed answers held against a judge's own flip rate.

    "beyond" when the interval of the changed share lies wholly above that of the flip rate, "within"
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
    partners: MatchedCriteria,
    answers: Answers,
    said_before: Answers,
    *,
    contributions: Mapping[int, Figure],
    noise: Mapping[int, Noise],
    confidence: float,
) -> tuple[CriterionChange, ...]:
    """The criteria both runs were asked, in the run's order; `contributions` and `noise` by its ids."""
    pairs = [
        _Pair(criterion, before, answers[criterion.pk], said_before[before.pk], confidence)
        for criterion, before in partners.pairs
    ]
    adjusted = holm([pair.p for pair in pairs])
    return tuple(
        pair.change(p, contributions.get(pair.criterion.pk), noise.get(pair.criterion.pk))
        for pair, p in zip(pairs, adjusted, strict=True)
    )


class _Pair:
    """The answers to one criterion in both runs."""

    def __init__(
        self,
        criterion: Criterion,
        before: Criterion,
        answers: CriterionAnswersOfRun,
        said_before: CriterionAnswersOfRun,
        confidence: float,
    ) -> None:
        self.criterion, self.before = criterion, before
        self._said, self._said_before = answers, said_before
        self._confidence = confidence
        self._both = answers.valued & said_before.valued
        old, new = said_before.values[self._both], answers.values[self._both]
        self._means = _mean(old), _mean(new)
        self._mcnemar: McNemar | None = None
        if criterion.kind == "binary" and np.isin(np.concatenate([old, new]), (0.0, 1.0)).all():
            self._mcnemar = mcnemar(old, new, confidence=confidence)
            self._difference, self.p = self._mcnemar.difference, self._mcnemar.p
            self._test: ChangeTest = "mcnemar"
        else:
            self._difference = mean_difference(old, new, confidence=confidence)
            tested = paired_t(old, new)
            self.p, self._test = tested.p, "sign_flips" if tested.exact else "paired_t"

    def change(self, p: float | None, contribution: Figure | None, noise: Noise | None) -> CriterionChange:
        said, before, both = self._said, self._said_before, self._both
        n = int(both.sum())
        changed = int((said.labels[both] != before.labels[both]).sum())
        shared = said.there & before.there
        return CriterionChange(
            criterion=self.criterion,
            before=self.before,
            n=n,
            run_mean=self._means[1],
            baseline_mean=self._means[0],
            difference=self._difference,
            changed=share_figure(changed, n, self._confidence),
            mcnemar=self._mcnemar,
            test=None if self.p is None else self._test,
            p_alone=self.p,
            p=p,
            contribution=contribution,
            noise=noise,
            abstained=int((shared & ~said.failed & ~before.failed).sum()) - n,
            run_errors=said.errors,
            baseline_errors=before.errors,
            missing=int((said.there ^ before.there).sum()),
        )


def _mean(values: Floats) -> float | None:
    return float(np.mean(values)) if len(values) else None
