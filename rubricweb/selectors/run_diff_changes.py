"""One criterion in two runs: flips or difference of values, chance, noise, and its part of the change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rubricweb.engine.agreement import Figure, McNemar, holm, mcnemar
from rubricweb.engine.agreement.scores import mean_difference
from rubricweb.engine.outcomes import FAILED
from rubricweb.models import Criterion
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
    contributions: Mapping[int, Figure],
    noise: Mapping[int, Noise],
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[CriterionChange, ...]:
    """The criteria both runs were asked, in the run's order; `contributions` and `noise` by its ids."""
    pairs = [
        _Pair(criterion, before, said.get(criterion.pk, {}), said_before.get(before.pk, {}))
        for criterion, before in partners.pairs
    ]
    tests = [pair.test(resamples, seed) for pair in pairs]
    adjusted = holm([None if test is None else test.p for test in tests])
    return tuple(
        pair.change(
            test,
            p,
            contributions.get(pair.criterion.pk),
            noise.get(pair.criterion.pk),
            resamples=resamples,
            seed=seed,
        )
        for pair, test, p in zip(pairs, tests, adjusted, strict=True)
    )


@dataclass(frozen=True)
class _Pair:
    criterion: Criterion
    before: Criterion
    said: Mapping[int, Said]
    said_before: Mapping[int, Said]

    @cached_property
    def both(self) -> list[tuple[Said, Said]]:
        """(baseline's, run's) answers with a value on each side, by item."""
        return [
            (self.said_before[item_id], self.said[item_id])
            for item_id in sorted(self.said.keys() & self.said_before.keys())
            if self.said[item_id].value is not None and self.said_before[item_id].value is not None
        ]

    def test(self, resamples: int, seed: int) -> McNemar | None:
        """None for a criterion that is not binary."""
        if self.criterion.kind != "binary":
            return None
        both = self.both
        return mcnemar(
            [bool(before.value) for before, _ in both],
            [bool(after.value) for _, after in both],
            resamples=resamples,
            seed=seed,
        )

    def change(
        self,
        test: McNemar | None,
        p: float | None,
        contribution: Figure | None,
        noise: Noise | None,
        *,
        resamples: int,
        seed: int,
    ) -> CriterionChange:
        both = self.both
        before, after = [one.value for one, _ in both], [other.value for _, other in both]
        either = self.said.keys() | self.said_before.keys()
        shared = self.said.keys() & self.said_before.keys()
        failed, failed_before = _failed(self.said), _failed(self.said_before)
        return CriterionChange(
            criterion=self.criterion,
            before=self.before,
            n=len(both),
            run_mean=_mean(after),
            baseline_mean=_mean(before),
            difference=mean_difference(before, after, resamples=resamples, seed=seed)
            if test is None
            else test.difference,
            changed=share_figure(sum(one.label != other.label for one, other in both), len(both)),
            mcnemar=test,
            p=p,
            contribution=contribution,
            noise=noise,
            abstained=len(shared - failed - failed_before) - len(both),
            run_errors=len(failed),
            baseline_errors=len(failed_before),
            missing=len(either) - len(shared),
        )


def _failed(said: Mapping[int, Said]) -> set[int]:
    return {item_id for item_id, one in said.items() if one.outcome is FAILED}


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None
