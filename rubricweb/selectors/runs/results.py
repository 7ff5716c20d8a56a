"""What came out of a run so far: scores, verdicts by criterion, and the items behind them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Avg, Count, Model, Q, QuerySet, Sum

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.means import mean_figure
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.models import Criterion, Judgement, Run, RunItem, RunSummary, User
from rubricweb.selectors.blinding import is_withheld, shown
from rubricweb.selectors.criterion_counts import (
    CriterionCounts,
    criterion_counts,
    on_graded_items,
    share_figure,
    summarised_counts,
)
from rubricweb.selectors.pages import Page, keyset_page

RUN_ITEM_ORDERS = {
    "score": ("score", "pk"),
    "-score": ("-score", "-pk"),
    "position": ("item__position",),
    "errors": ("-errors", "pk"),
}

# Without an interval while the run goes on.
RESAMPLED_MOST = 10_000

Row = TypeVar("Row", bound=Model)

CriterionRate = CriterionCounts
"""Answers of a run to one criterion: see there for what `rate` and `options` are by kind."""


@dataclass(frozen=True)
class Bin:
    """One bar of a histogram: scores in [low, high), the last bar with both ends."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class VerdictCounts:
    """How many verdicts of each kind, how many options were chosen and numbers measured, how many failed.

    `chosen` counts every option, those that are not applicable among them.
    """

    met: int = 0
    unmet: int = 0
    cannot_assess: int = 0
    errors: int = 0
    chosen: int = 0
    measured: int = 0

    @property
    def parts(self) -> tuple[tuple[str, int, str], ...]:
        """(label, count, kind) of each kind, for one stacked bar; options and checks only where there are."""
        others = (("Option chosen", self.chosen, "chosen"), ("Measured", self.measured, "measured"))
        return (
            ("Met", self.met, "met"),
            ("Unmet", self.unmet, "unmet"),
            *(part for part in others if part[1]),
            ("Cannot assess", self.cannot_assess, "cannot"),
            ("Error", self.errors, "error"),
        )


@dataclass(frozen=True)
class Result:
    """What came out of a run so far, over the graded items the viewer may see; `hidden` others are left out.

    `scored` of the `graded` items have a score; `totals` counts verdicts, those on items that are not graded
    to the end left out as from every other figure; `passed` is the share of those the
    rubric's pass rule has a word on, None without a rule. Everything but `bins` is None or 0 while nothing is
    graded.
    """

    mean: Figure
    coverage: float | None
    graded: int
    scored: int
    hidden: int
    errors: int
    bins: tuple[tuple[float, float, int], ...]
    totals: VerdictCounts
    rates: tuple[CriterionRate, ...]
    passed: Figure

    @property
    def unscored(self) -> int:
        return self.graded - self.scored


def result(run: Run, *, viewer: User) -> Result:
    """What came out so far, with every figure over the items the viewer may see.

    Reads every score and counts every verdict: some seconds for a million, so not to be asked every second.
    """
    visible = _shown(run, viewer)
    rows = _visible(RunItem.objects.filter(run=run, graded_at__isnull=False), visible)
    counts = rows.aggregate(
        graded=Count("pk"),
        scored=Count("score"),
        coverage=Avg("coverage"),
        errors=Sum("errors"),
        passing=Count("pk", filter=Q(passed=True)),
        ruled=Count("passed"),
    )
    scores = [
        score for score in rows.order_by("item_id").values_list("score", flat=True) if score is not None
    ]
    rates = _criterion_rates(run, visible)
    summary = getattr(run, "summary", None) if visible is None else None
    # Items that bring a rubric of their own are in no rate.
    shared = rates and not RunItem.objects.filter(run=run).exclude(rubric_version=run.rubric_version).exists()
    return Result(
        mean=_mean(scores, summary),
        coverage=counts["coverage"],
        graded=counts["graded"],
        scored=counts["scored"],
        hidden=0 if visible is None else RunItem.objects.filter(run=run).exclude(visible).count(),
        errors=counts["errors"] or 0,
        bins=tuple((one.low, one.high, one.count) for one in _bins(scores)),
        totals=_sum(rates) if shared else _totals(run, visible),
        rates=tuple(rates),
        passed=share_figure(counts["passing"], counts["ruled"]),
    )


def _mean(scores: Sequence[float], summary: RunSummary | None) -> Figure:
    """The mean with its interval: of an ended run as it was worked out then.

    Of very many scores so far only the mean: resampling them takes seconds, at every look.
    """
    if summary is not None and summary.scored == len(scores):
        return Figure(summary.score_mean, summary.score_low, summary.score_high, summary.scored)
    if len(scores) > RESAMPLED_MOST:
        return Figure(math.fsum(scores) / len(scores), None, None, len(scores))
    return mean_figure(scores)


def _shown(run: Run, viewer: User) -> Q | None:
    """The condition on rows about items of the run that the viewer may see verdicts on; None where that is
    every item. Worked out once for all figures of a page.
    """
    return shown(viewer, run.team, run.dataset_id) if is_withheld(run, viewer) else None


def _visible(rows: QuerySet[Row], visible: Q | None) -> QuerySet[Row]:
    return rows if visible is None else rows.filter(visible)


def _criterion_rates(run: Run, visible: Q | None) -> list[CriterionRate]:
    """Answers and pass rate per criterion, in rubric order; empty when every item brings its own rubric."""
    if run.rubric_version_id is None:
        return []
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    kept = summarised_counts(run, criteria) if visible is None else None
    return kept or criterion_counts(criteria, _visible(on_graded_items(run), visible))


def _sum(rates: Sequence[CriterionRate]) -> VerdictCounts:
    """All criteria together."""
    abstained = [rate.labels.get(Verdict.CANNOT_ASSESS, 0) for rate in rates]
    return VerdictCounts(
        met=sum(rate.met for rate in rates),
        unmet=sum(rate.unmet for rate in rates),
        cannot_assess=sum(abstained),
        errors=sum(rate.errors for rate in rates),
        chosen=sum(
            sum(rate.labels.values()) - unsettled
            for rate, unsettled in zip(rates, abstained, strict=True)
            if rate.criterion.kind == "choice"
        ),
        measured=sum(len(rate.values) for rate in rates),
    )


def _totals(run: Run, visible: Q | None) -> VerdictCounts:
    """Of items with different rubrics."""
    return VerdictCounts(**_visible(on_graded_items(run), visible).aggregate(**_COUNTS))


# A choice may call its options MET or UNMET: what counts as a verdict is the criterion's kind.
_COUNTS: Mapping[str, Count] = {
    "met": Count("pk", filter=Q(verdict=Verdict.MET, criterion__kind="binary")),
    "unmet": Count("pk", filter=Q(verdict=Verdict.UNMET, criterion__kind="binary")),
    "cannot_assess": Count("pk", filter=Q(verdict=Verdict.CANNOT_ASSESS)),
    "errors": Count("error_kind"),
    "chosen": Count(
        "pk",
        filter=Q(verdict__isnull=False, criterion__kind="choice") & ~Q(verdict=Verdict.CANNOT_ASSESS),
    ),
    "measured": Count("value"),
}


@dataclass(frozen=True)
class ItemRow:
    """An item of a run as its table shows it; `counts` is None where there are no verdicts to count."""

    row: RunItem
    counts: VerdictCounts | None


def with_counts(run: Run, rows: Sequence[RunItem]) -> list[ItemRow]:
    """The rows `run_items` gave, each with its verdicts counted. One query."""
    found = (
        Judgement.objects.filter(run=run, item__in=[row.item_id for row in rows])
        .order_by()
        .values("item_id")
        .annotate(**_COUNTS)
        .values_list("item_id", *_COUNTS)
    )
    counts = {item_id: VerdictCounts(*numbers) for item_id, *numbers in found}
    return [ItemRow(row, counts.get(row.item_id)) for row in rows]


def _bins(scores: Sequence[float], bins: int = 10) -> list[Bin]:
    low, high = min([0.0, *scores]), max([1.0, *scores])
    width = (high - low) / bins
    counts = [0] * bins
    for score in scores:
        counts[min(int((score - low) / width), bins - 1)] += 1
    return [Bin(low + i * width, low + (i + 1) * width, count) for i, count in enumerate(counts)]


def run_items(
    run: Run, *, viewer: User, order: str = "score", cursor: str | None = None, size: int = 50
) -> Page[RunItem]:
    """Graded items of the run without bodies. Items the viewer still has to review blind are left out."""
    if order not in RUN_ITEM_ORDERS:
        raise Invalid(f"Items of a run cannot be sorted by {order!r}. Allowed: {', '.join(RUN_ITEM_ORDERS)}.")
    rows = (
        _visible(RunItem.objects.filter(run=run, graded_at__isnull=False), _shown(run, viewer))
        .select_related("item")
        .defer("item__submission", "item__thinking", "item__prompt", "item__reference")
    )
    if order.lstrip("-") == "score":
        rows = rows.filter(score__isnull=False)
    return keyset_page(rows, order=RUN_ITEM_ORDERS[order], cursor=cursor, size=size)
