"""How often each answer was given to a criterion, whatever its kind."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Count, Exists, OuterRef, QuerySet

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, wilson
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.rubric.criterion import Option
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Judgement, Run, RunCriterionSummary, RunItem, RunState


@dataclass(frozen=True)
class OptionShare:
    """How often one option was chosen; `share` is among all answers to the criterion, or by case."""

    label: str
    value: float
    na: bool
    count: int
    share: Figure


@dataclass
class AnswersToCase:
    """The answers to one criterion of one case: labels with their numbers, and what a check found."""

    labels: dict[str, int] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)

    def mean(self, worth: Mapping[str, float]) -> float | None:
        """The mean of what the labels are worth and of the values; None without any."""
        chosen = {label: n for label, n in self.labels.items() if label in worth}
        n = sum(chosen.values()) + len(self.values)
        total = math.fsum(self.values) + math.fsum(n * worth[label] for label, n in chosen.items())
        return total / n if n else None

    def share(self, label: str) -> float | None:
        """The share of a label among all answers."""
        n = sum(self.labels.values()) + len(self.values)
        return self.labels.get(label, 0) / n if n else None


@dataclass(frozen=True)
class CriterionCounts:
    """Answers to one criterion: labels with their numbers, and the numbers that a check found.

    `cases` has the answers of each case apart where cases have several, which then count as one in every
    share and mean; it is None elsewhere.
    """

    criterion: Criterion
    labels: Mapping[str, int]
    errors: int
    values: tuple[float, ...] = field(default=(), repr=False)
    cases: tuple[AnswersToCase, ...] | None = field(default=None, repr=False)

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
        if self.cases is not None:
            return _mean_of(one.mean(self._worth) for one in self.cases)
        if self.criterion.kind == "binary":
            return share_figure(self.met, self.settled)
        return mean_figure(self.found)

    def _share(self, label: str) -> Figure:
        if self.cases is not None:
            return _mean_of(one.share(label) for one in self.cases)
        return share_figure(self.labels.get(label, 0), self.answers)

    @cached_property
    def _worth(self) -> dict[str, float]:
        """What each label is worth, without those that abstain."""
        if self.criterion.kind == "binary":
            return {Verdict.MET: 1.0, Verdict.UNMET: 0.0}
        return {label: option.value for label, option in self._options.items() if not option.na}

    @property
    def _options(self) -> dict[str, Option]:
        return {option.label: option for option in (Option(**one) for one in self.criterion.options)}


def _mean_of(means: Iterable[float | None]) -> Figure:
    return mean_figure([mean for mean in means if mean is not None])


def share_figure(count: int, n: int, confidence: float = CONFIDENCE) -> Figure:
    """`count` of `n` with Wilson's interval; None without any. 3 of 4 → 0.75."""
    bounds = wilson(count, n, confidence)
    return Figure(count / n, bounds[0], bounds[1], n) if bounds else Figure(None, None, None, 0)


def criterion_counts(
    criteria: Iterable[Criterion], judgements: QuerySet[Judgement], *, by_case: bool = False
) -> list[CriterionCounts]:
    """Counts over `judgements`, one per criterion in the order given, even without any; `by_case` of each
    case apart too. Two queries.

    Other criteria are counted too and left out here: named in the query, they would lead a database to the
    judgements of all runs on these criteria, where those of one run or of some reviews are far fewer.
    """
    criteria = list(criteria)
    ids = [criterion.pk for criterion in criteria]
    rows = judgements.order_by()
    case = ("item__case_id", "item__wording") if by_case else ()
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    errors: Counter[int] = Counter()
    cases: dict[int, dict[tuple[int, ...], AnswersToCase]] = defaultdict(lambda: defaultdict(AnswersToCase))
    grouped = rows.filter(value=None).values("criterion_id", "verdict", *case).annotate(n=Count("pk"))
    for criterion_id, verdict, n, *one in grouped.values_list("criterion_id", "verdict", "n", *case):
        if verdict is None:
            errors[criterion_id] += n
        else:
            labels[criterion_id][verdict] += n
            cases[criterion_id][tuple(one)].labels[verdict] = n
    values: dict[int, list[float]] = defaultdict(list)
    if any(criterion.kind == "check" for criterion in criteria):
        measured = rows.filter(value__isnull=False, criterion__in=ids).order_by("criterion_id", "item_id")
        for criterion_id, value, *one in measured.values_list("criterion_id", "value", *case):
            values[criterion_id].append(float(value or 0.0))
            cases[criterion_id][tuple(one)].values.append(float(value or 0.0))
    return [
        CriterionCounts(
            criterion=criterion,
            labels=dict(labels[criterion.pk]),
            errors=errors[criterion.pk],
            values=tuple(values[criterion.pk]),
            cases=tuple(cases[criterion.pk].values()) if by_case else None,
        )
        for criterion in criteria
    ]


def on_graded_items(run: Run) -> QuerySet[Judgement]:
    """What the run found, without what it found on items that are not graded to the end."""
    found = Judgement.objects.filter(run=run)
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
