"""One criterion judged and labelled: agreement by the measures its kind allows."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rubricweb.engine.agreement import (
    Confusion,
    Figure,
    HumanCeiling,
    OptionAgreement,
    PairAgreement,
    Ratings,
    alpha_nominal,
    alpha_ordinal,
    compare_labels,
    compare_options,
    human_ceiling,
    mean_figure,
)
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion
from rubricweb.selectors.ground_truth import Labels, RunAnswers, Truth, Unit

ABSTAINED = str(Verdict.CANNOT_ASSESS)


@dataclass(frozen=True)
class Cell:
    """One cell of a confusion matrix; `share` is its part of the units people gave this label, 0 to 1."""

    truth: str
    judged: str
    count: int
    share: float | None

    @property
    def agrees(self) -> bool:
        return self.truth == self.judged


@dataclass(frozen=True)
class MatrixRow:
    """What the judge said where people said `truth`."""

    truth: str
    cells: tuple[Cell, ...]
    total: int


@dataclass(frozen=True)
class CriterionComparison:
    """Judge against ground truth on one criterion, and people among themselves.

    `pair` is the agreement on a binary criterion and has no units on any other; `options` that on a choice,
    None on any other; `mean_value` the mean a check found, None where nothing is checked. `units` have a
    ground truth. `human_alpha` is nominal, or ordinal where the options are steps; `ceiling` holds one
    person against the others, with quadratic weights for steps.
    """

    criterion: Criterion
    pair: PairAgreement
    options: OptionAgreement | None
    mean_value: Figure | None
    human_alpha: Figure
    ceiling: HumanCeiling
    units: int
    errors: int
    adjudicated: int

    @property
    def matrix(self) -> tuple[MatrixRow, ...]:
        return matrix(self.pair.confusion) if self.options is None else option_matrix(self.options)

    @property
    def bias(self) -> float | None:
        """Of a binary criterion, see `bias`; None for any other."""
        return bias(self.pair)

    @property
    def value_bias(self) -> float | None:
        """Of a choice: the mean value of the judge's options less that of people's, −1 to 1; else None."""
        return None if self.options is None else value_bias(self.options, _values(self.criterion))


def matrix(confusion: Confusion) -> tuple[MatrixRow, ...]:
    """The four counts as rows of what people said. 3 and 1 in a row have shares 0.75 and 0.25."""
    met, unmet = str(Verdict.MET), str(Verdict.UNMET)
    return _matrix(
        (met, unmet),
        ((confusion.met_met, confusion.met_unmet), (confusion.unmet_met, confusion.unmet_unmet)),
    )


def option_matrix(found: OptionAgreement) -> tuple[MatrixRow, ...]:
    """The counts of a choice as rows of what people said, options in the order of the rubric."""
    return _matrix(found.levels, found.confusion)


def _matrix(levels: Sequence[str], counts: Sequence[Sequence[int]]) -> tuple[MatrixRow, ...]:
    rows = []
    for truth, row in zip(levels, counts, strict=True):
        total = sum(row)
        cells = tuple(
            Cell(truth, said, count, count / total if total else None)
            for said, count in zip(levels, row, strict=True)
        )
        rows.append(MatrixRow(truth, cells, total))
    return tuple(rows)


def bias(pair: PairAgreement) -> float | None:
    """The judge's MET rate less people's over the same units, −1 to 1: positive is a lenient judge.

    Judge 0.79, people 0.15: 0.64. None without units.
    """
    judged, reference = pair.judged_met_rate.value, pair.reference_met_rate.value
    return None if judged is None or reference is None else judged - reference


def value_bias(found: OptionAgreement, values: Sequence[float]) -> float | None:
    """Mean of judge's value − people's over the units both gave an option; None without units.

    Values 0, 0.5, 1 with people poor, good and judge fair, good: (0.5 + 0) / 2 = 0.25.
    """
    if found.n == 0:
        return None
    apart = sum(
        count * (values[judged] - values[truth])
        for truth, row in enumerate(found.confusion)
        for judged, count in enumerate(row)
    )
    return apart / found.n


@dataclass(frozen=True)
class Evidence:
    """What is known about the units of a comparison, all criteria together."""

    truths: Mapping[Unit, Truth]
    labelled: Labels
    judged: RunAnswers
    resamples: int
    seed: int

    def compared(
        self, criterion: Criterion, labelled: Sequence[Unit], checked: Sequence[Unit]
    ) -> CriterionComparison:
        """One criterion over its `labelled` units and those a check measured."""
        units = sorted(unit for unit in labelled if self.truths[unit].verdict is not None)
        is_choice = criterion.kind == "choice"
        values = [self.judged.values[unit] for unit in checked]
        return CriterionComparison(
            criterion=criterion,
            pair=self.pair([] if is_choice else units),
            options=self._options(criterion, units) if is_choice else None,
            mean_value=self._mean(values) if criterion.kind == "check" else None,
            human_alpha=self._alpha(criterion, labelled),
            ceiling=self.ceiling(labelled, criterion),
            units=len(units),
            errors=sum(unit in self.judged.failed for unit in units),
            adjudicated=sum(self.truths[unit].rule == "adjudicated" for unit in units),
        )

    def pair(self, units: Sequence[Unit]) -> PairAgreement:
        """Agreement over units of binary criteria."""
        return compare_labels(
            [self.truths[unit].verdict for unit in units],
            [self.judged.labels.get(unit) for unit in units],
            [unit[0] for unit in units],
            resamples=self.resamples,
            seed=self.seed,
        )

    def alpha(self, units: Sequence[Unit]) -> Figure:
        """Krippendorff's α, nominal, of people over units of binary criteria."""
        return alpha_nominal(self._ratings(units), resamples=self.resamples, seed=self.seed)

    def ceiling(self, units: Sequence[Unit], criterion: Criterion | None = None) -> HumanCeiling:
        """One person against the others over units of binary criteria, or of one criterion of any kind."""
        ordinal = criterion is not None and criterion.scale_type == "ordinal"
        return human_ceiling(
            self._ratings(units, criterion),
            weighting="quadratic" if ordinal else "identity",
            resamples=self.resamples,
            seed=self.seed,
        )

    def _mean(self, values: Sequence[float]) -> Figure:
        return mean_figure(values, resamples=self.resamples, seed=self.seed)

    def _options(self, criterion: Criterion, units: Sequence[Unit]) -> OptionAgreement:
        return compare_options(
            [self.truths[unit].verdict for unit in units],
            [self.judged.labels.get(unit) for unit in units],
            [unit[0] for unit in units],
            levels=option_levels(criterion),
            scale_type="ordinal" if criterion.scale_type == "ordinal" else "nominal",
            values=_values(criterion),
            gaps=option_gaps(criterion),
            resamples=self.resamples,
            seed=self.seed,
        )

    def _alpha(self, criterion: Criterion, units: Sequence[Unit]) -> Figure:
        measure = alpha_ordinal if criterion.scale_type == "ordinal" else alpha_nominal
        return measure(self._ratings(units, criterion), resamples=self.resamples, seed=self.seed)

    def _ratings(self, units: Sequence[Unit], criterion: Criterion | None = None) -> Ratings:
        is_choice = criterion is not None and criterion.kind == "choice"
        build = partial(
            Ratings.from_triples,
            ((unit, rater, label) for unit in units for rater, label in self.labelled[unit].items()),
            cluster_of=item_of,
        )
        if not is_choice or criterion is None:
            return build(gaps=(ABSTAINED,))
        return build(gaps=option_gaps(criterion), levels=option_levels(criterion), values=_values(criterion))


def item_of(unit: Hashable) -> Hashable:
    """The item a unit belongs to: units of one item are resampled together."""
    assert isinstance(unit, tuple)
    item_id: int = unit[0]
    return item_id


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
