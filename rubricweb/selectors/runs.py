"""Runs: how far they are, what came out, item by item and criterion by criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import Avg, Count, F, Max, Min, Model, Q, QuerySet, Sum

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.means import mean_figure
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.judges.base import ERROR_KINDS as JUDGE_ERROR_KINDS
from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    JudgeCall,
    Judgement,
    Rubric,
    Run,
    RunItem,
    RunState,
    Team,
    User,
)
from rubricweb.selectors.criterion_counts import CriterionCounts, criterion_counts, share_figure
from rubricweb.selectors.pages import Page, keyset_page
from rubricweb.selectors.reviews import hidden_items, require_visible
from rubricweb.selectors.run_graders import Graders

RUN_ITEM_ORDERS = {
    "score": ("score", "pk"),
    "-score": ("-score", "-pk"),
    "position": ("item__position",),
    "errors": ("-errors", "pk"),
}

# Every kind of error a verdict can end in, and what it means to a person: those of judges, panels and checks.
ERROR_KINDS: Mapping[str, str] = {
    **JUDGE_ERROR_KINDS,
    "no_quorum": "Too few votes of the panel came for a verdict.",
    "no_reference": "The check compares with a reference, and the item has none.",
    "not_installed": "The check needs a package that is not installed here.",
    "too_large": "The submission is too large for the check.",
    "timed_out": "The check took too long.",
    "check_crashed": "The check broke off with an error of its own.",
    "unknown_check": "The check is not installed here.",
    "bad_params": "The check cannot read its parameters.",
    "bad_value": "The check returned no finite number.",
}

# A running run nobody works on for this long has no worker.
WORKER_PATIENCE = timedelta(seconds=15)

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Progress:
    """How far a run is. `errors` counts verdicts that ended as errors; unknown rates are None."""

    state: str
    items: int
    graded: int
    verdicts: int
    errors: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    calls_per_second: float | None
    seconds_left: float | None
    working: int
    latest_call_at: datetime | None
    no_worker: bool = False

    @property
    def share(self) -> float:
        """Share of items done, 0 to 1."""
        return self.graded / self.items if self.items else 1.0

    @property
    def left(self) -> int:
        """Items without a result yet."""
        return self.items - self.graded


@dataclass(frozen=True)
class ErrorClass:
    """Errors of one kind in a run, with one message as an example."""

    kind: str
    count: int
    example: str


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
class RunRow:
    """A run as the list shows it; `graded` of `items` are counted only while it has no summary."""

    run: Run
    graded: int | None
    items: int | None


@dataclass(frozen=True)
class RunList:
    """One page of runs; `next_cursor` opens the following one."""

    rows: tuple[RunRow, ...]
    next_cursor: str | None

    @property
    def live(self) -> bool:
        return any(row.run.state == RunState.RUNNING for row in self.rows)


@dataclass(frozen=True)
class RunFilters:
    """What the list of runs can be narrowed to."""

    datasets: QuerySet[Dataset]
    rubrics: QuerySet[Rubric]
    states: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What came out of a run so far, over the items the viewer may see; `hidden` others are left out.

    `scored` of the `graded` items have a score; `totals` counts verdicts; `passed` is the share of those the
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


def runs(
    team: Team,
    *,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
    state: str = "",
    cursor: str | None = None,
    size: int = 50,
) -> Page[Run]:
    """The team's runs, newest first, with their summaries."""
    rows = Run.objects.filter(team=team).select_related("dataset", "rubric_version", "summary", "created_by")
    if dataset_id is not None:
        rows = rows.filter(dataset_id=dataset_id)
    if rubric_id is not None:
        rows = rows.filter(rubric_version__rubric_id=rubric_id)
    if state:
        if state not in RunState.values:
            raise Invalid(f"{state!r} is not a state of a run. Allowed: {', '.join(RunState.values)}.")
        rows = rows.filter(state=state)
    return keyset_page(rows, order=("-created_at", "-pk"), cursor=cursor, size=size)


def run_list(
    team: Team,
    *,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
    state: str = "",
    cursor: str | None = None,
    size: int = 50,
) -> RunList:
    """The list page: what `runs` gives, with how far those without a summary are. Two queries."""
    page = runs(team, dataset_id=dataset_id, rubric_id=rubric_id, state=state, cursor=cursor, size=size)
    counts = {
        run_id: (graded, items)
        for run_id, graded, items in RunItem.objects.filter(
            run__in=[run.pk for run in page.rows if not hasattr(run, "summary")]
        )
        .order_by()
        .values("run_id")
        .annotate(graded=Count("graded_at"), items=Count("pk"))
        .values_list("run_id", "graded", "items")
    }
    rows = tuple(RunRow(run, *counts.get(run.pk, (None, None))) for run in page.rows)
    return RunList(rows, page.next_cursor)


def run_filters(team: Team) -> RunFilters:
    """Datasets and rubrics by name that some run of the team used, and the states there are."""
    return RunFilters(
        datasets=Dataset.objects.filter(team=team, runs__isnull=False).distinct().order_by("name", "pk"),
        rubrics=Rubric.objects.filter(team=team, versions__runs__isnull=False)
        .only("pk", "title")
        .distinct()
        .order_by("title", "pk"),
        states=tuple(RunState.values),
    )


def progress(run: Run, *, now: datetime) -> Progress:
    """Counted afresh from the rows: there is no stored counter that could drift."""
    items = RunItem.objects.filter(run=run).aggregate(
        everything=Count("pk"),
        graded=Count("pk", filter=Q(graded_at__isnull=False)),
        working=Count("pk", filter=Q(graded_at=None, leased_until__gt=now)),
        overall_errors=Count("pk", filter=Q(error_kind__isnull=False)),
        overalls=Count("pk", filter=Q(llm_raw_score__isnull=False)),
    )
    verdicts = Judgement.objects.filter(run=run).aggregate(
        given=Count("pk", filter=Q(error_kind=None)), failed=Count("error_kind")
    )
    calls = JudgeCall.objects.filter(run=run).aggregate(
        count=Count("pk"),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        cost=Sum("cost_usd"),
        unpriced=Count("pk", filter=Q(cost_usd=None, prompt_tokens__gt=0)),
        first=Min("created_at"),
        latest=Max("created_at"),
    )
    rate = seconds_left = None
    if run.state == RunState.RUNNING and items["graded"]:
        recent = now - timedelta(seconds=60)
        lately = JudgeCall.objects.filter(run=run, created_at__gt=recent).aggregate(
            n=Count("pk"), since=Min("created_at")
        )
        if lately["n"] > 1 and now > lately["since"]:
            rate = lately["n"] / max((now - lately["since"]).total_seconds(), 0.5)
            per_item = calls["count"] / items["graded"]
            seconds_left = (items["everything"] - items["graded"]) * per_item / rate
    return Progress(
        state=run.state,
        items=items["everything"],
        graded=items["graded"],
        verdicts=verdicts["given"] + items["overalls"],
        errors=verdicts["failed"] + items["overall_errors"],
        calls=calls["count"],
        prompt_tokens=calls["prompt"] or 0,
        completion_tokens=calls["completion"] or 0,
        cost_usd=None if calls["unpriced"] or calls["cost"] is None else calls["cost"],
        calls_per_second=rate,
        seconds_left=seconds_left,
        working=items["working"],
        latest_call_at=calls["latest"],
        no_worker=(
            run.state == RunState.RUNNING
            and not items["working"]
            and now - (calls["latest"] or run.created_at) > WORKER_PATIENCE
        ),
    )


def result(run: Run, *, viewer: User) -> Result:
    """What came out so far, with every figure over the items the viewer may see."""
    rows = _visible(RunItem.objects.filter(run=run, graded_at__isnull=False), run, viewer)
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
    return Result(
        mean=mean_figure(scores),
        coverage=counts["coverage"],
        graded=counts["graded"],
        scored=counts["scored"],
        hidden=hidden_count(run, viewer),
        errors=counts["errors"] or 0,
        bins=tuple((one.low, one.high, one.count) for one in _bins(scores)),
        totals=_totals(run, viewer),
        rates=tuple(criterion_rates(run, viewer=viewer)),
        passed=share_figure(counts["passing"], counts["ruled"]),
    )


def hidden_count(run: Run, viewer: User) -> int:
    """How many items of the run this person is still to review blind."""
    return RunItem.objects.filter(run=run, item__in=hidden_items(viewer, run.team)).count()


def _visible(rows: QuerySet[Row], run: Run, viewer: User) -> QuerySet[Row]:
    """Rows about items the viewer may see verdicts on."""
    return rows.exclude(item__in=hidden_items(viewer, run.team))


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


def _totals(run: Run, viewer: User) -> VerdictCounts:
    return VerdictCounts(**_visible(Judgement.objects.filter(run=run), run, viewer).aggregate(**_COUNTS))


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


def error_classes(run: Run, *, viewer: User | None = None) -> list[ErrorClass]:
    """Errors by class, the most frequent first: criterion errors and, for holistic runs, item errors.

    With a `viewer` who is still to review some items blind there are no examples: they quote replies.
    """
    found = [
        *Judgement.objects.filter(run=run, error_kind__isnull=False)
        .values("error_kind")
        .annotate(n=Count("pk"), example=Max("error_message"))
        .values_list("error_kind", "n", "example"),
        *RunItem.objects.filter(run=run, error_kind__isnull=False)
        .values("error_kind")
        .annotate(n=Count("pk"), example=Max("error_message"))
        .values_list("error_kind", "n", "example"),
    ]
    if viewer is not None and hidden_count(run, viewer):
        found = [(kind, n, "") for kind, n, _ in found]
    return sorted(
        (ErrorClass(str(kind), n, example or "") for kind, n, example in found), key=lambda one: -one.count
    )


def mean_score(run: Run) -> Figure:
    """Mean score over the scored items so far, with its interval."""
    scores = (
        RunItem.objects.filter(run=run, score__isnull=False)
        .order_by("item_id")
        .values_list("score", flat=True)
    )
    return mean_figure([score for score in scores if score is not None])


def pass_rate(run: Run, *, viewer: User) -> Figure:
    """Share of the items that pass by their rubric's rule, of those it has a word on; None without any.

    Items the viewer is still to review blind are not counted.
    """
    ruled = _visible(RunItem.objects.filter(run=run, passed__isnull=False), run, viewer)
    return share_figure(ruled.filter(passed=True).count(), ruled.count())


def mean_coverage(run: Run) -> float | None:
    """Mean share of the rubric's weight that was really judged, over graded items."""
    coverage: float | None = RunItem.objects.filter(run=run, graded_at__isnull=False).aggregate(
        mean=Avg("coverage")
    )["mean"]
    return coverage


def histogram(run: Run, bins: int = 10) -> list[Bin]:
    """How many items scored where; scores outside [0, 1] (raw ones) widen the range."""
    scores = [
        score
        for score in RunItem.objects.filter(run=run, score__isnull=False).values_list("score", flat=True)
        if score is not None
    ]
    return _bins(scores, bins)


def _bins(scores: Sequence[float], bins: int = 10) -> list[Bin]:
    low, high = min([0.0, *scores]), max([1.0, *scores])
    width = (high - low) / bins
    counts = [0] * bins
    for score in scores:
        counts[min(int((score - low) / width), bins - 1)] += 1
    return [Bin(low + i * width, low + (i + 1) * width, count) for i, count in enumerate(counts)]


def criterion_rates(run: Run, *, viewer: User) -> list[CriterionRate]:
    """Answers and pass rate per criterion, in rubric order; empty when every item brings its own rubric.

    Items the viewer is still to review blind are not counted.
    """
    if run.rubric_version_id is None:
        return []
    criteria = Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position")
    return criterion_counts(criteria, _visible(Judgement.objects.filter(run=run), run, viewer))


def run_items(
    run: Run, *, viewer: User, order: str = "score", cursor: str | None = None, size: int = 50
) -> Page[RunItem]:
    """Graded items of the run without bodies. Items the viewer still has to review blind are left out."""
    if order not in RUN_ITEM_ORDERS:
        raise Invalid(f"Items of a run cannot be sorted by {order!r}. Allowed: {', '.join(RUN_ITEM_ORDERS)}.")
    rows = (
        RunItem.objects.filter(run=run, graded_at__isnull=False)
        .exclude(item__in=hidden_items(viewer, run.team))
        .select_related("item")
        .defer("item__submission", "item__thinking", "item__prompt", "item__reference")
    )
    if order.lstrip("-") == "score":
        rows = rows.filter(score__isnull=False)
    return keyset_page(rows, order=RUN_ITEM_ORDERS[order], cursor=cursor, size=size)


def unscored_count(run: Run) -> int:
    """Graded items that have no score because nothing could be judged."""
    return RunItem.objects.filter(run=run, graded_at__isnull=False, score=None).count()


def run_item(run: Run, item: Item, *, viewer: User) -> RunItem | None:
    """The item's row in this run, None when it has none; Withheld while the viewer reviews it blind."""
    require_visible(viewer, item)
    return RunItem.objects.select_related("rubric_version").filter(run=run, item=item).first()


def judgements(run: Run, item: Item) -> QuerySet[Judgement]:
    """The run's verdicts on one item in rubric order, each with its call. `run_item` is the door to them."""
    return (
        Judgement.objects.filter(run=run, item=item)
        .select_related("criterion", "call")
        .order_by("criterion__position", "repeat")
    )


def calls(run: Run, item: Item) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(run=run, item=item).order_by("pk")


def prompts(run: Run, item: Item, row: RunItem) -> list[Prompt]:
    """The exact prompts of this item, rebuilt from frozen rows; a panel puts them to each of its judges."""
    grader = Graders(run).single(row.rubric_version_id)
    return list(grader.prompts(item.to_engine(), row.rubric_version.to_engine()))


def latest_finished(team: Team) -> Run | None:
    return (
        Run.objects.filter(team=team, state=RunState.FINISHED)
        .select_related("dataset", "rubric_version", "summary")
        .order_by(F("finished_at").desc(), "-pk")
        .first()
    )
