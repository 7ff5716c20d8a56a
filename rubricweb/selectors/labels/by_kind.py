"""What judge and people said of the units of a comparison, and how they agree, each criterion by its kind."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256

import numpy as np
from django.db.models import QuerySet

from rubricweb.engine.agreement import (
    Figure,
    HumanCeiling,
    MeanRates,
    OptionScale,
    PairAgreement,
    People,
    Ratings,
    alpha_within,
    compare_labels,
    compare_options,
    human_ceiling,
    mean_figure,
    pair_kappa_within,
    seat_within,
)
from rubricweb.engine.agreement.judge.matrix import ConfusionMatrixRow, confusion_matrix
from rubricweb.engine.agreement.raters.leading import LeadingKappa, WithinCriteria, leading_kappa
from rubricweb.engine.agreement.raters.unit_values import UnitValue, bias_of, rates_of
from rubricweb.engine.agreement.ratings import VERDICT_VALUES, cluster_codes
from rubricweb.engine.agreement.scores.pairing import case_means
from rubricweb.engine.scoring.effect import by_effect
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Item
from rubricweb.selectors.labels.ground_truth import Labels, RunAnswers, Truth, Unit
from rubricweb.selectors.shared.score_ends import NORMALISED, value_ends

ABSTAINED = str(Verdict.CANNOT_ASSESS)


@dataclass(frozen=True)
class CriterionComparison:
    """Judge against ground truth on one criterion, and people among themselves.

    `pair` is the agreement on a binary criterion and has no units on any other; `options` that on a choice,
    None on any other; `mean_value` the mean a check found, None where nothing is checked. `bias` is how the
    judge's answers move the score beside people's, see `effect_bias`, and `rates` what both give on average:
    these two are means, over the means of each unit's raters, ties among them. `units` have a ground truth;
    on `undecided` others people are tied.
    `human_figures` are those of people among themselves by name, α of the scale among them. `ceiling` holds
    one person, and the judge in that person's seat, against the others, with quadratic weights for steps.
    """

    criterion: Criterion
    pair: PairAgreement
    options: PairAgreement | None
    mean_value: Figure | None
    bias: Figure
    rates: MeanRates
    human_alpha: Figure
    human_figures: Mapping[str, Figure]
    ceiling: HumanCeiling
    units: int
    undecided: int
    errors: int
    adjudicated: int

    @property
    def agreement(self) -> PairAgreement:
        """That of its kind; without units of a check."""
        return self.pair if self.options is None else self.options

    @property
    def tied_share(self) -> float | None:
        """The share of labelled units where people are tied: figures of majorities leave them out."""
        return tied_share(self.undecided, self.units)

    @property
    def leading(self) -> LeadingKappa:
        """The κ to show first and speak of; of a check it is undefined."""
        return leading_kappa(self.agreement.leading_kappa, self.ceiling, None, self.tied_share)

    @property
    def matrix(self) -> tuple[ConfusionMatrixRow, ...]:
        return confusion_matrix(self.agreement)

    @property
    def value_bias(self) -> float | None:
        """`bias` of a choice, None of any other kind."""
        return None if self.options is None else self.bias.value


def _criterion_of(unit: Unit, of_rubric: Collection[int]) -> int:
    """Within which criterion the chance of a unit is counted: 0 for all that items bring themselves."""
    return unit[1] if unit[1] in of_rubric else 0


def tied_share(undecided: int, decided: int) -> float | None:
    """The share of ties among labelled units; None without any."""
    labelled = undecided + decided
    return undecided / labelled if labelled else None


@dataclass(frozen=True)
class Evidence:
    """What is known about the units of a comparison, all criteria together; `criteria` are theirs, by id.

    `truths` are what accuracy and κ hold the judge against: decisions and majorities. Everything that is a
    mean (bias, rates) is of `said`, what each rater said, settled labels where no person labelled a unit;
    `labelled` is the same without these.
    Units of one item are resampled together, and those of all items that answer one case: `cases` are the
    `repeated_cases` among the items.
    """

    truths: Mapping[Unit, Truth]
    said: Labels
    labelled: Labels
    judged: RunAnswers
    criteria: Mapping[int, Criterion]
    resamples: int
    seed: int
    cases: Mapping[int, int]

    @property
    def has_penalties(self) -> bool:
        """Whether a binary criterion has a negative weight."""
        return any(self._is_penalty(criterion_id) for criterion_id in self.criteria)

    @property
    def by_effect(self) -> "Evidence":
        """The same with every verdict as what it does to the score, for figures that pool criteria.

        MET of a penalty stands as UNMET: a table of both signs would otherwise call an error and a merit the
        same.
        """
        if not self.has_penalties:
            return self

        def flipped(labels: Labels) -> Labels:
            return {
                unit: {rater: self._effect(unit, label) for rater, label in by_rater.items()}
                for unit, by_rater in labels.items()
            }

        return replace(
            self,
            truths={
                unit: replace(truth, verdict=truth.verdict and self._effect(unit, truth.verdict))
                for unit, truth in self.truths.items()
            },
            said=flipped(self.said),
            labelled=flipped(self.labelled),
            judged=replace(
                self.judged,
                labels={unit: self._effect(unit, label) for unit, label in self.judged.labels.items()},
            ),
        )

    def valued(self, units: Iterable[Unit]) -> list[UnitValue]:
        """What judge and raters gave those of the units on which both sides gave a value."""
        found = []
        for unit in units:
            worth = self._worth[unit[1]]
            judged = worth.get(self.judged.labels.get(unit, ""))
            given = {rater: worth.get(label) for rater, label in self.said[unit].items()}
            by_rater = {rater: value for rater, value in given.items() if value is not None}
            if judged is not None and by_rater:
                weight = self.criteria[unit[1]].weight
                found.append(UnitValue(judged, by_rater, weight, self._cluster(unit)))
        return found

    @cached_property
    def _worth(self) -> dict[int, Mapping[str, float]]:
        """Criterion id → what its labels are worth; those that abstain have no value."""
        return {
            pk: dict(zip(option_levels(one), _values(one), strict=True))
            if one.kind == "choice"
            else VERDICT_VALUES
            for pk, one in self.criteria.items()
        }

    def _cluster(self, unit: Hashable) -> int:
        """What the unit falls together with: its item, or the case of it."""
        assert isinstance(unit, tuple)
        item_id: int = unit[0]
        return self.cases.get(item_id, item_id)

    def _effect(self, unit: Unit, label: str) -> str:
        return by_effect(label, -1) if self._is_penalty(unit[1]) else label

    def _is_penalty(self, criterion_id: int) -> bool:
        criterion = self.criteria.get(criterion_id)
        return criterion is not None and criterion.kind == "binary" and criterion.weight < 0

    def compared(
        self, criterion: Criterion, labelled: Sequence[Unit], checked: Sequence[Unit]
    ) -> CriterionComparison:
        """One criterion over its `labelled` units and those a check measured."""
        units = sorted(unit for unit in labelled if self.truths[unit].verdict is not None)
        valued = self.valued(sorted(labelled))
        is_choice, people = criterion.kind == "choice", self.people(labelled, criterion)
        return CriterionComparison(
            criterion=criterion,
            pair=self.pair([] if is_choice else units),
            options=self._options(criterion, units) if is_choice else None,
            mean_value=self._mean(criterion, checked) if criterion.kind == "check" else None,
            bias=bias_of(valued),
            rates=rates_of(valued, value_ends(criterion) or NORMALISED),
            human_alpha=people.alpha,
            human_figures=people.figures("compare"),
            ceiling=self.ceiling(labelled, criterion),
            units=len(units),
            undecided=len(labelled) - len(units),
            errors=sum(unit in self.judged.failed for unit in units),
            adjudicated=sum(self.truths[unit].rule == "adjudicated" for unit in units),
        )

    def against_people(
        self, criterion: Criterion, labelled: Sequence[Unit]
    ) -> tuple[PairAgreement | None, PairAgreement | None]:
        """The judge against people alone: of a binary criterion the first, of a choice the second."""
        units = sorted(unit for unit in labelled if self.truths[unit].verdict is not None)
        if criterion.kind == "choice":
            return None, self._options(criterion, units)
        return self.pair(units), None

    def pair(self, units: Sequence[Unit]) -> PairAgreement:
        """Agreement over units of binary criteria."""
        return compare_labels(
            [self.truths[unit].verdict for unit in units],
            [self.judged.labels.get(unit) for unit in units],
            [self._cluster(unit) for unit in units],
            resamples=self.resamples,
            seed=self.seed,
        )

    def people(self, units: Sequence[Unit], criterion: Criterion | None = None) -> People:
        """Those who labelled units of binary criteria, or of one criterion of any kind."""
        is_ordinal = criterion is not None and criterion.scale_type == "ordinal"
        ratings = self._ratings(units, criterion)
        return People(ratings, is_ordinal=is_ordinal, resamples=self.resamples, seed=self.seed)

    def ceiling(self, units: Sequence[Unit], criterion: Criterion | None = None) -> HumanCeiling:
        """One person against the others and the judge in that person's seat, where the judge answered.

        Over units of binary criteria, or of one criterion of any kind. People's own labels alone: adjudicated
        verdicts, and what a file settled, are nobody's.
        """
        units = [unit for unit in units if self.labelled[unit]]
        ordinal = criterion is not None and criterion.scale_type == "ordinal"
        ratings = self._ratings(units, criterion)
        return human_ceiling(
            ratings,
            [self.judged.labels.get(unit) for unit in units],
            weighting="quadratic" if ordinal else "identity",
            resamples=self.resamples,
            seed=self.seed,
        )

    def within(
        self, units: Sequence[Unit], labelled: Sequence[Unit], of_rubric: Collection[int]
    ) -> WithinCriteria | None:
        """`pair`, α of people and `ceiling` over these units of binary criteria, chance counted within each.

        A criterion that one item alone brings has too few units for a chance of its own: all that are not
        `of_rubric` count as one. None where that leaves one criterion.
        """

        if len({_criterion_of(unit, of_rubric) for unit in labelled}) < 2:
            return None
        draws = {"resamples": self.resamples, "seed": self.seed}
        by_people = [unit for unit in labelled if self.labelled[unit]]
        ratings, criteria = self._ratings(by_people), [_criterion_of(unit, of_rubric) for unit in by_people]
        return WithinCriteria(
            pair_kappa_within(
                [self.truths[unit].verdict for unit in units],
                [self.judged.labels.get(unit) for unit in units],
                [self._cluster(unit) for unit in units],
                [_criterion_of(unit, of_rubric) for unit in units],
                **draws,
            ),
            alpha_within(ratings, criteria, **draws),
            seat_within(ratings, [self.judged.labels.get(unit) for unit in by_people], criteria, **draws),
        )

    def alpha_within(self, units: Sequence[Unit], of_rubric: Collection[int]) -> Figure | None:
        """α of `people` with chance counted within each criterion; None where `within` is."""
        criteria = [_criterion_of(unit, of_rubric) for unit in units if self.labelled[unit]]
        if len({_criterion_of(unit, of_rubric) for unit in units}) < 2:
            return None
        ratings = self._ratings([unit for unit in units if self.labelled[unit]])
        return alpha_within(ratings, criteria, resamples=self.resamples, seed=self.seed)

    def _mean(self, criterion: Criterion, units: Sequence[Unit]) -> Figure:
        """The mean of what a check measured, several answers to a case as one; `n` counts the answers."""
        values = np.array([self.judged.values[unit] for unit in units], dtype=np.float64)
        means = case_means(values, cluster_codes(map(self._cluster, units)))
        figure = mean_figure(means.tolist(), limits=value_ends(criterion))
        return replace(figure, n=len(units))

    def _options(self, criterion: Criterion, units: Sequence[Unit]) -> PairAgreement:
        return compare_options(
            [self.truths[unit].verdict for unit in units],
            [self.judged.labels.get(unit) for unit in units],
            [self._cluster(unit) for unit in units],
            OptionScale(
                option_levels(criterion),
                "ordinal" if criterion.scale_type == "ordinal" else "nominal",
                _values(criterion),
                option_gaps(criterion),
            ),
            resamples=self.resamples,
            seed=self.seed,
        )

    def _ratings(self, units: Sequence[Unit], criterion: Criterion | None = None) -> Ratings:
        is_choice = criterion is not None and criterion.kind == "choice"
        build = partial(
            Ratings.from_triples,
            ((unit, rater, label) for unit in units for rater, label in self.labelled[unit].items()),
            cluster_of=self._cluster,
        )
        if not is_choice or criterion is None:
            return build(gaps=(ABSTAINED,))
        return build(gaps=option_gaps(criterion), levels=option_levels(criterion), values=_values(criterion))


@dataclass(frozen=True)
class UnitsOfTestHalf:
    """The units of test cases on which judge and people are compared, ties among them; `digest` is of what
    both said.
    """

    units: int
    items: int
    digest: str


def units_of_test_half(evidence: Evidence, tested: QuerySet[Item]) -> UnitsOfTestHalf:
    """Those of the units that are on `tested` items. One query."""
    truths, judged = evidence.truths, evidence.judged.labels
    of_test = set(tested.values_list("pk", flat=True)) if truths else set()
    labelled = sorted(unit for unit in truths if unit[0] in of_test)
    # Ties too: rates and bias are made of them, though no figure of a majority is.
    units = [unit for unit in labelled if unit in judged]
    lines = [f"{unit[0]} {unit[1]} {truths[unit].verdict} {judged[unit]}\n" for unit in units]
    # Where several people labelled a unit, α and the human ceiling are made of what each of them said.
    for unit in labelled:
        if len(by_rater := evidence.labelled[unit]) > 1:
            lines.append(f"{unit[0]} {unit[1]} {sorted(by_rater.items())}\n")
    digest = sha256("".join(lines).encode()).hexdigest()
    return UnitsOfTestHalf(len(units), len({item for item, _ in units}), digest)


def option_levels(criterion: Criterion) -> list[str]:
    """The labels of a choice that do not abstain, in the order of the rubric."""
    return [option["label"] for option in criterion.options if not option.get("na")]


def _values(criterion: Criterion) -> list[float]:
    return [float(option["value"]) for option in criterion.options if not option.get("na")]


def option_gaps(criterion: Criterion) -> list[str]:
    """The labels that abstain: CANNOT_ASSESS, and a choice's options that say so."""
    own = [option["label"] for option in criterion.options if option.get("na")]
    taken = {option["label"].casefold() for option in criterion.options}
    return own if ABSTAINED.casefold() in taken else [*own, ABSTAINED]
