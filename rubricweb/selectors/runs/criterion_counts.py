"""How often each answer was given to a criterion, whatever its kind."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Value
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, wilson
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.rubric.criterion import Option
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Judgement, Run, RunCriterionSummary, RunItem, RunState, of_run
from rubricweb.selectors.shared.columns import Bools, Floats, Ints, Reader, columns, floats, ints
from rubricweb.selectors.shared.score_ends import value_ends


@dataclass(frozen=True)
class OptionShare:
    """How often one option was chosen; `share` is among all answers to the criterion, or by case."""

    label: str
    value: float
    na: bool
    count: int
    share: Figure


@dataclass(frozen=True)
class FiguresByCase:
    """The rate of a criterion and the share of each option, several answers to a case counting as one."""

    rate: Figure
    shares: Mapping[str, Figure]


@dataclass(frozen=True)
class CriterionCounts:
    """Answers to one criterion: labels with their numbers, and the numbers that a check found.

    `by_case` has the figures where cases have several answers, which then count as one; it is None elsewhere.
    """

    criterion: Criterion
    labels: Mapping[str, int]
    errors: int
    values: tuple[float, ...] = field(default=(), repr=False)
    by_case: FiguresByCase | None = None

    @property
    def met(self) -> int:
        return self.labels.get(Verdict.MET, 0) if self.criterion.kind == "binary" else 0

    @property
    def unmet(self) -> int:
        return self.labels.get(Verdict.UNMET, 0) if self.criterion.kind == "binary" else 0

    @property
    def settled(self) -> int:
        """Verdicts that are MET or UNMET."""
        return self.met + self.unmet

    @property
    def helped(self) -> int:
        """Verdicts that did the score good: MET, of a penalty UNMET; none at weight 0."""
        return 0 if self.criterion.weight == 0 else self.unmet if self.criterion.weight < 0 else self.met

    @property
    def hurt(self) -> int:
        return 0 if self.criterion.weight == 0 else self.met if self.criterion.weight < 0 else self.unmet

    @property
    def cannot_assess(self) -> int:
        """Abstentions: CANNOT_ASSESS, and options that are not applicable."""
        chosen = self._options
        return sum(
            count
            for label, count in self.labels.items()
            if (chosen[label].na if label in chosen else label == Verdict.CANNOT_ASSESS)
        )

    @property
    def answers(self) -> int:
        return sum(self.labels.values()) + len(self.values)

    @property
    def options(self) -> tuple[OptionShare, ...]:
        """Every option of a choice in the rubric's order; none for other kinds."""
        return tuple(
            OptionShare(
                label=label,
                value=option.value,
                na=option.na,
                count=self.labels.get(label, 0),
                share=self._share(label),
            )
            for label, option in self._options.items()
        )

    @property
    def found(self) -> list[float]:
        """The value of every answer that has one: MET is 1, an option its value, a check its number."""
        labelled = [value for label, value in self._worth.items() for _ in range(self.labels.get(label, 0))]
        return [*labelled, *self.values]

    @property
    def values_mean(self) -> float | None:
        """Mean value of a choice or check; None for a binary criterion and where nothing has a value."""
        found = self.found if self.criterion.kind != "binary" else []
        return math.fsum(found) / len(found) if found else None

    @property
    def rate(self) -> Figure:
        """How well the criterion was met, with an interval.

        Binary: the share of MET among MET and UNMET (Wilson). Choice and check: the mean value. Options 0 and
        1 chosen once and three times: 0.75. By case: the mean of the cases' rates. MET, MET and UNMET on one
        case, UNMET on another: 1/3.
        """
        if self.by_case is not None:
            return self.by_case.rate
        if self.criterion.kind == "binary":
            return share_figure(self.met, self.settled)
        return mean_figure(self.found, limits=value_ends(self.criterion))

    def _share(self, label: str) -> Figure:
        if self.by_case is not None:
            return self.by_case.shares[label]
        return share_figure(self.labels.get(label, 0), self.answers)

    @cached_property
    def _worth(self) -> dict[str, float]:
        return _worth(self.criterion)

    @property
    def _options(self) -> dict[str, Option]:
        return _options(self.criterion)


def _worth(criterion: Criterion) -> dict[str, float]:
    """What each label is worth, without those that abstain."""
    if criterion.kind == "binary":
        return {Verdict.MET: 1.0, Verdict.UNMET: 0.0}
    return {label: option.value for label, option in _options(criterion).items() if not option.na}


def _options(criterion: Criterion) -> dict[str, Option]:
    return {option.label: option for option in (Option(**one) for one in criterion.options)}


def share_figure(count: int, n: int, confidence: float = CONFIDENCE) -> Figure:
    """`count` of `n` with Wilson's interval; None without any. 3 of 4 → 0.75."""
    bounds = wilson(count, n, confidence)
    return Figure(count / n, bounds[0], bounds[1], n) if bounds else Figure(None, None, None, 0)


class _Numbers(dict[str | None, int]):
    """A number for every label that was seen; 0 for None, an error."""

    def of(self, labels: Sequence[str | None]) -> Ints:
        return ints([self.setdefault(label, len(self)) for label in labels])


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers in arrays (rows,), those alike in one row: to which criterion, what was `said`, the number of a
    label or what a check found, how often, and about which case, 0 where cases are not told apart.
    """

    criteria: Ints
    said: NDArray[Any]
    counts: Ints
    cases: Ints

    @classmethod
    def read(cls, rows: QuerySet[Any, Any], reader: Reader, case: Sequence[str]) -> "_Answers":
        """One query for the columns of these rows and that of their `case`."""
        names = ("criterion_id", "said", "n", *case)
        criteria, found, counts, *of = columns(
            rows.values_list(*names), ints, reader, ints, *[ints for _ in case]
        )
        return cls(criteria, found, counts, of[0] if case else np.zeros_like(criteria))

    @classmethod
    def nothing(cls) -> "_Answers":
        return cls(ints(()), floats(()), ints(()), ints(()))

    def where(self, rows: Bools) -> "_Answers":
        return _Answers(self.criteria[rows], self.said[rows], self.counts[rows], self.cases[rows])

    def mean_of_cases(self, worth: Floats, ends: tuple[float, float] | None) -> Figure:
        """The mean over cases of the mean of each, by what each row is `worth`: NaN where it abstains, else
        between the `ends`.
        """
        counts = np.where(np.isnan(worth), 0, self.counts)
        _, places = np.unique(self.cases, return_inverse=True)
        answers = np.bincount(places, weights=counts)
        sums = np.bincount(places, weights=counts * np.nan_to_num(worth))
        return mean_figure((sums[answers > 0] / answers[answers > 0]).tolist(), limits=ends)


def criterion_counts(
    criteria: Iterable[Criterion], judgements: QuerySet[Judgement], *, by_case: bool = False
) -> list[CriterionCounts]:
    """Counts over `judgements`, one per criterion in the order given, even without any, with the figures
    `by_case` where they are asked for. Two queries.

    Other criteria are counted too and left out here: named in the query, they would lead a database to the
    judgements of all runs on these criteria, where those of one run or of some reviews are far fewer.
    """
    criteria = list(criteria)
    ids = [criterion.pk for criterion in criteria]
    rows, numbers = judgements.order_by(), _Numbers({None: 0})
    case = ("item__case_id",) if by_case else ()
    grouped = rows.filter(value=None).values("criterion_id", *case, said=F("verdict")).annotate(n=Count("pk"))
    labelled, measured = _Answers.read(grouped, numbers.of, case), _Answers.nothing()
    if any(criterion.kind == "check" for criterion in criteria):
        found = rows.filter(value__isnull=False, criterion__in=ids).order_by("criterion_id", "item_id")
        measured = _Answers.read(found.annotate(said=F("value"), n=Value(1)), floats, case)
    return [
        _counted(
            criterion,
            labelled.where(labelled.criteria == criterion.pk),
            measured.where(measured.criteria == criterion.pk),
            numbers,
            by_case=by_case,
        )
        for criterion in criteria
    ]


def _counted(
    criterion: Criterion, labelled: _Answers, measured: _Answers, numbers: _Numbers, *, by_case: bool
) -> CriterionCounts:
    """The answers to one criterion."""
    counts = np.bincount(labelled.said, weights=labelled.counts, minlength=len(numbers)).astype(int).tolist()
    return CriterionCounts(
        criterion=criterion,
        labels={label: counts[at] for label, at in numbers.items() if label is not None and counts[at]},
        errors=counts[numbers[None]],
        values=tuple(measured.said.tolist()),
        by_case=_by_case(criterion, labelled, measured, numbers) if by_case else None,
    )


def _by_case(
    criterion: Criterion, labelled: _Answers, measured: _Answers, numbers: _Numbers
) -> FiguresByCase:
    ends = value_ends(criterion)
    if criterion.kind == "check":
        return FiguresByCase(measured.mean_of_cases(measured.said, ends), {})
    worth = _worth(criterion)
    by_number = np.array([worth.get(label or "", np.nan) for label in numbers])
    answered = labelled.where(labelled.said != numbers[None])
    return FiguresByCase(
        rate=labelled.mean_of_cases(by_number[labelled.said], ends),
        shares={
            label: answered.mean_of_cases((answered.said == numbers.get(label)).astype(float), (0.0, 1.0))
            for label in _options(criterion)
        },
    )


def on_graded_items(run: Run) -> QuerySet[Judgement]:
    """What the run found, without what it found on items that are not graded to the end."""
    found = Judgement.objects.filter(of_run(run))
    if run.state == RunState.FINISHED:
        return found
    return found.exclude(Exists(RunItem.objects.filter(run=run, item=OuterRef("item"), graded_at=None)))


def on_judged_items(run: Run) -> QuerySet[Judgement]:
    """The run's answers on fully judged items, and every error on graded ones: what its rates are made of.

    What was answered on an item that has errors elsewhere is in no rate until the item is retried, as its
    score is in no mean.
    """
    errored = RunItem.objects.filter(run=run, errors__gt=0).order_by()
    return on_graded_items(run).exclude(error_kind=None, item_id__in=errored.values("item_id"))


def summarised_counts(run: Run, criteria: Iterable[Criterion]) -> list[CriterionCounts] | None:
    """The same over everything a finished run said, as it was counted when it ended. One query at most.

    None while it is not finished, without a summary, and with a check: of those a summary keeps the mean.
    """
    criteria = list(criteria)
    if run.state != RunState.FINISHED or any(criterion.kind == "check" for criterion in criteria):
        return None
    kept = {row.criterion_id: row for row in RunCriterionSummary.objects.filter(run=run).order_by()}
    if not kept:
        return None
    return [_summarised(criterion, kept.get(criterion.pk)) for criterion in criteria]


def _summarised(criterion: Criterion, row: RunCriterionSummary | None) -> CriterionCounts:
    if row is None:
        return CriterionCounts(criterion, {}, 0)
    if criterion.kind == "choice":
        return CriterionCounts(criterion, row.options, row.errors)
    labels = {Verdict.MET: row.met, Verdict.UNMET: row.unmet, Verdict.CANNOT_ASSESS: row.cannot_assess}
    return CriterionCounts(criterion, {str(label): n for label, n in labels.items() if n}, row.errors)
