"""What came out of a run so far: scores, verdicts by criterion, and the items behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from django.db.models import Avg, Count, Model, Q, QuerySet, Sum

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.scores.low_end import LowEnd, low_end
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.pairing import Unit, case_means
from rubricweb.engine.scoring import FailedItems
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.models import FULLY_JUDGED, Criterion, Judgement, Run, RunItem, RunSummary, User
from rubricweb.selectors.blinding import is_withheld, shown
from rubricweb.selectors.datasets.columns import Where, name_values, narrowed
from rubricweb.selectors.runs.criterion_counts import (
    CriterionCounts,
    criterion_counts,
    on_graded_items,
    on_judged_items,
    summarised_counts,
)
from rubricweb.selectors.runs.group_means import GroupMean, group_means, summarised_groups
from rubricweb.selectors.shared.cases import has_repeated_cases, with_cases
from rubricweb.selectors.shared.columns import Floats
from rubricweb.selectors.shared.left_out import LeftOutItems, left_out
from rubricweb.selectors.shared.pages import Page, keyset_page
from rubricweb.selectors.shared.score_ends import score_ends

RUN_ITEM_ORDERS = {
    "score": ("score", "pk"),
    "-score": ("-score", "-pk"),
    "position": ("item__position",),
    "errors": ("-errors", "pk"),
}

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

    `chosen` counts every option, those that are not applicable among them. Of the verdicts `helped` and
    `hurt` count those that did so to the score: MET of a penalty hurt; the others have weight 0.
    """

    met: int = 0
    unmet: int = 0
    cannot_assess: int = 0
    errors: int = 0
    chosen: int = 0
    measured: int = 0
    helped: int = 0
    hurt: int = 0

    @property
    def idle(self) -> int:
        """Verdicts on criteria of weight 0."""
        return self.met + self.unmet - self.helped - self.hurt

    @property
    def parts(self) -> tuple[tuple[str, int, str], ...]:
        """(label, count, kind), verdicts by what they did to the score, for one stacked bar.

        Options, checks and verdicts that moved nothing only where there are.
        """
        others = (
            ("Moved nothing", self.idle, "pending"),
            ("Option chosen", self.chosen, "chosen"),
            ("Measured", self.measured, "measured"),
        )
        return (
            ("Points earned", self.helped, "met"),
            ("Points lost", self.hurt, "unmet"),
            *(part for part in others if part[1]),
            ("Cannot assess", self.cannot_assess, "cannot"),
            ("Error", self.errors, "error"),
        )


@dataclass(frozen=True)
class Result:
    """What came out of a run so far, over the graded items the viewer may see; `hidden` others are left out.

    Of the `graded` items `errored` have a failed verdict: they are in `coverage`, `errors` and `totals`, and
    in no other figure until they are retried, unless `failed_items` is "include". Of the others `scored` have
    a score. `totals` counts every verdict on graded items; `passed` is the share of those the rubric's pass
    rule has a word on, None without a rule; `groups` has the mean of every group of criteria, and is empty
    where there are none. Everything but `bins` is None or 0 while nothing is graded.

    `low_end` is that of the `scored` items: a mean does not show a failure that is rare.

    The `n` of every figure counts what `unit` says: items, or cases where the run has several answers to one.
    Those are alike and count as one, their mean.
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
    errored: int
    groups: tuple[GroupMean, ...]
    failed_items: FailedItems
    unit: Unit
    low_end: LowEnd

    @property
    def fully_judged(self) -> int:
        """Graded items without an error."""
        return self.graded - self.errored

    @property
    def unscored(self) -> int:
        """Fully judged items on which nothing could be said: every answer abstained."""
        counted = self.graded if self.failed_items == "include" else self.fully_judged
        return counted - self.scored


def result(run: Run, *, viewer: User, failed_items: FailedItems = "exclude") -> Result:
    """What came out so far, with every figure over the items the viewer may see.

    Items with an error are left out of the figures; "include" counts them by the run's error policy. Reads
    every score and counts every verdict: some seconds for a million, so not to be asked every second.
    """
    visible = _shown(run, viewer)
    rows = _visible(RunItem.objects.filter(run=run, graded_at__isnull=False), visible)
    included = FULLY_JUDGED if failed_items == "exclude" else Q()
    counts = rows.aggregate(
        graded=Count("pk"),
        errored=Count("pk", filter=Q(errors__gt=0)),
        mean_coverage=Avg("coverage"),
        failed=Sum("errors"),
    )
    by_case = has_repeated_cases(run)
    read = rows.filter(included).order_by("item_id")
    scores, passed, _, cases = with_cases(read, "score", "passed", by_case=by_case)
    means = case_means(scores, cases)
    scored = scores[~np.isnan(scores)].tolist()
    rates = _criterion_rates(run, visible, failed_items, by_case=by_case)
    kept = visible is None and failed_items == "exclude"
    summary = getattr(run, "summary", None) if kept else None
    if summary is not None and (summary.scored, summary.cases) != (len(scored), len(means)):
        summary = None  # answers came in since
    # Answers on items that bring a rubric of their own, or have an error, are in no rate.
    shared = rates and not counts["errored"]
    if shared:
        of_run = RunItem.objects.filter(run=run)
        shared = not of_run.exclude(rubric_version=run.rubric_version).exists()
    return Result(
        mean=_mean(run, means, summary),
        coverage=counts["mean_coverage"],
        graded=counts["graded"],
        scored=len(scored),
        hidden=0 if visible is None else RunItem.objects.filter(run=run).exclude(visible).count(),
        errors=counts["failed"] or 0,
        bins=tuple((one.low, one.high, one.count) for one in _bins(scored)),
        totals=_sum(rates) if shared else _totals(run, visible),
        rates=tuple(rates),
        passed=mean_figure(case_means(passed, cases).tolist()),
        errored=counts["errored"],
        groups=_groups(run, rows.filter(included), summary),
        failed_items=failed_items,
        unit="case" if by_case else "item",
        low_end=low_end(scores, passed, cases),
    )


def _mean(run: Run, means: Floats, summary: RunSummary | None) -> Figure:
    """The mean of these, one of each case, with its interval: of an ended run as it was worked out then."""
    if summary is not None:
        return Figure(summary.score_mean, summary.score_low, summary.score_high, summary.cases)
    return mean_figure(means.tolist(), limits=score_ends(run))


def _groups(run: Run, rows: QuerySet[RunItem], summary: RunSummary | None) -> tuple[GroupMean, ...]:
    """The mean per group: of an ended run as it was worked out then."""
    kept = summarised_groups(summary)
    return group_means(run, rows) if kept is None else kept


def groups_shown(run: Run, *, viewer: User) -> tuple[GroupMean, ...]:
    """The mean of every group over the fully judged items the viewer may see; empty where they see none."""
    visible = _shown(run, viewer)
    rows = _visible(RunItem.objects.filter(FULLY_JUDGED, run=run), visible)
    if visible is not None and not rows.exists():
        return ()
    return _groups(run, rows, getattr(run, "summary", None) if visible is None else None)


def _shown(run: Run, viewer: User) -> Q | None:
    """The condition on rows about items of the run that the viewer may see verdicts on; None where that is
    every item. Worked out once for all figures of a page.
    """
    return shown(viewer, run.team, run.dataset_id) if is_withheld(run, viewer) else None


def _visible(rows: QuerySet[Row], visible: Q | None) -> QuerySet[Row]:
    return rows if visible is None else rows.filter(visible)


def _criterion_rates(
    run: Run, visible: Q | None, failed_items: FailedItems, *, by_case: bool
) -> list[CriterionRate]:
    """Answers and pass rate per criterion, in rubric order; empty when every item brings its own rubric."""
    if run.rubric_version_id is None:
        return []
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    if failed_items == "include":
        return criterion_counts(criteria, _visible(on_graded_items(run), visible), by_case=by_case)
    kept = summarised_counts(run, criteria) if visible is None and not by_case else None
    return kept or criterion_counts(criteria, _visible(on_judged_items(run), visible), by_case=by_case)


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
        helped=sum(rate.helped for rate in rates),
        hurt=sum(rate.hurt for rate in rates),
    )


def _totals(run: Run, visible: Q | None) -> VerdictCounts:
    """Of items with different rubrics."""
    return VerdictCounts(**_visible(on_graded_items(run), visible).aggregate(**_COUNTS))


def _verdicts(of_merits: Verdict, of_penalties: Verdict) -> Q:
    """Verdicts on binary criteria by the sign of their weight."""
    return Q(criterion__kind="binary") & (
        Q(verdict=of_merits, criterion__weight__gt=0) | Q(verdict=of_penalties, criterion__weight__lt=0)
    )


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
    "helped": Count("pk", filter=_verdicts(Verdict.MET, Verdict.UNMET)),
    "hurt": Count("pk", filter=_verdicts(Verdict.UNMET, Verdict.MET)),
}


@dataclass(frozen=True)
class RunItemRow:
    """An item of a run as its table shows it; `counts` is None where there are no verdicts to count."""

    row: RunItem
    counts: VerdictCounts | None


def with_counts(run: Run, rows: Sequence[RunItem]) -> list[RunItemRow]:
    """The rows `run_items` gave, each with its verdicts counted. One query."""
    found = (
        Judgement.objects.filter(run=run, item__in=[row.item_id for row in rows])
        .order_by()
        .values("item_id")
        .annotate(**_COUNTS)
        .values_list("item_id", *_COUNTS)
    )
    counts = {item_id: VerdictCounts(*numbers) for item_id, *numbers in found}
    return [RunItemRow(row, counts.get(row.item_id)) for row in rows]


def _bins(scores: Sequence[float], bins: int = 10) -> list[Bin]:
    low, high = min([0.0, *scores]), max([1.0, *scores])
    width = (high - low) / bins
    counts = [0] * bins
    for score in scores:
        counts[min(int((score - low) / width), bins - 1)] += 1
    return [Bin(low + i * width, low + (i + 1) * width, count) for i, count in enumerate(counts)]


def run_items(
    run: Run,
    *,
    viewer: User,
    order: str = "position",
    cursor: str | None = None,
    size: int = 50,
    where: Where = (),
) -> Page[RunItem]:
    """Graded items of the run without bodies. Items the viewer still has to review blind are left out.

    `where` narrows the list to values of columns the dataset declares.

    By score those alone are ranked that have one and no error; `errored_items` has the others.
    """
    rows = narrowed(_listed(run, viewer, order), run.dataset, where, item="item_id")
    page = keyset_page(rows, order=RUN_ITEM_ORDERS[order], cursor=cursor, size=size)
    name_values([row.item for row in page.rows], run.dataset)
    return page


def left_out_items(run: Run, *, viewer: User, order: str) -> tuple[LeftOutItems, ...]:
    """The items of the run that `run_items` does not list in this order, whatever its list is narrowed to.

    At most two queries more than asking whether something is hidden.
    """
    visible, rows = _shown(run, viewer), RunItem.objects.filter(run=run)
    graded = Q(graded_at__isnull=False)
    counts = {"not_graded": Count("pk", filter=~graded)}
    if order.lstrip("-") == "score":
        counts["failed"] = Count("pk", filter=graded & ~FULLY_JUDGED)
        counts["no_score"] = Count("pk", filter=graded & FULLY_JUDGED & Q(score__isnull=True))
    return left_out(
        to_review_blind=0 if visible is None else rows.exclude(visible).count(),
        **_visible(rows, visible).aggregate(**counts),
    )


def listed_ids(run: Run, *, viewer: User, order: str, most: int, where: Where = ()) -> list[int]:
    """The ids of the items that `run_items` lists, in its order, the first `most`."""
    rows = narrowed(_listed(run, viewer, order), run.dataset, where, item="item_id")
    rows = rows.order_by(*RUN_ITEM_ORDERS[order])
    return list(rows.values_list("item_id", flat=True)[:most])


def _listed(run: Run, viewer: User, order: str) -> QuerySet[RunItem]:
    if order not in RUN_ITEM_ORDERS:
        raise Invalid(f"Items of a run cannot be sorted by {order!r}. Allowed: {', '.join(RUN_ITEM_ORDERS)}.")
    rows = _without_bodies(run, viewer)
    if order.lstrip("-") == "score":
        rows = rows.filter(FULLY_JUDGED, score__isnull=False)
    return rows


def errored_items(run: Run, *, viewer: User, most: int = 5) -> list[RunItem]:
    """The first graded items with an error, without bodies: ranked nowhere until they are retried."""
    return list(_without_bodies(run, viewer).filter(errors__gt=0).order_by("-errors", "pk")[:most])


def _without_bodies(run: Run, viewer: User) -> QuerySet[RunItem]:
    """The graded items of the run that the viewer may see."""
    graded = RunItem.objects.filter(run=run, graded_at__isnull=False)
    return (
        _visible(graded, _shown(run, viewer))
        .select_related("item")
        .defer("item__submission", "item__thinking", "item__prompt", "item__reference")
    )
