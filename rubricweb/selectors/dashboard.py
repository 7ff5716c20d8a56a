"""The dashboard: scores over time from the small summary rows, pass rates, and what waits for me."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet, Sum

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import (
    Adjudication,
    Criterion,
    Judgement,
    Review,
    ReviewState,
    Role,
    Run,
    RunState,
    Team,
    User,
)
from rubricweb.selectors.blinding import hidden_datasets, shown
from rubricweb.selectors.comparable import comparable_runs, queues_to_compare
from rubricweb.selectors.comparison import overall_agreement
from rubricweb.selectors.criterion_counts import criterion_counts, summarised_counts
from rubricweb.selectors.queues import QueueRow, queues
from rubricweb.selectors.runs import RunFilters, RunRow, run_filters, runs

POINTS = 200
RUNNING_SHOWN = 5


@dataclass(frozen=True)
class Point:
    """One finished run on the chart: its mean score with a 95 % interval, None when nothing was scored.

    While it is `withheld` from the viewer, who is to review some of its items blind, every figure is None.
    """

    run_id: int
    name: str
    dataset: str
    at: datetime
    mean: float | None
    low: float | None
    high: float | None
    items: int
    scored: int | None
    coverage: float | None
    errors: int | None
    withheld: bool


@dataclass(frozen=True)
class Series:
    """Points that may be joined: same rubric version, autograder, judge or panel and examples, oldest first.

    `rubric_id` is None when every item brings its own rubric; those points are over one dataset.
    """

    rubric_id: int | None
    rubric: str
    judge: str
    autograder: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class PassRate:
    """How well one criterion is met by the newest run's judge and by people.

    Binary: the share of MET among MET and UNMET; a choice or check: the mean value, which for a check only
    the run has.
    """

    criterion: Criterion
    judge: Figure
    people: Figure


@dataclass(frozen=True)
class Agreement:
    """Cohen's κ of the newest run that people's labels can be held against."""

    run: Run
    kappa: Figure


@dataclass(frozen=True)
class Steps:
    """The three first steps; each is done or not."""

    graded: bool
    reviewed: bool
    compared: bool

    @property
    def over(self) -> bool:
        return self.graded and self.reviewed and self.compared


@dataclass(frozen=True)
class Dashboard:
    """What one filter shows.

    `newest` is the point of the newest finished run. `submissions` counts scored items over all ended runs
    but those withheld from the viewer, `waiting` the viewer's open reviews. `pass_rates`
    are those of `rated`: the newest run people's labels can be held against, else the newest.
    """

    series: tuple[Series, ...]
    newest: Point | None
    agreement: Agreement | None
    rated: Run | None
    pass_rates: tuple[PassRate, ...]
    my_queues: tuple[QueueRow, ...]
    waiting: int
    running: tuple[RunRow, ...]
    runs: int
    submissions: int
    filters: RunFilters
    steps: Steps

    @property
    def points(self) -> list[tuple[Series, Point]]:
        """Every point with its series, newest first: the table beside the chart."""
        pairs = [(series, point) for series in self.series for point in series.points]
        return sorted(pairs, key=lambda pair: (pair[1].at, pair[1].run_id), reverse=True)


def dashboard(
    team: Team,
    viewer: User,
    *,
    role: Role | int = Role.VIEWER,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
) -> Dashboard:
    """Everything on the dashboard for one filter. Points are the newest POINTS finished runs."""
    wanted = _filtered(team, dataset_id, rubric_id)
    withheld = hidden_datasets(viewer, team)
    finished = _finished(wanted)
    newest = finished[0] if finished else None
    mine = tuple(row for row in queues(team, viewer) if row.i_rate and row.progress.mine_left)
    counts = wanted.aggregate(
        runs=Count("pk"),
        submissions=Sum("summary__scored", filter=~Q(dataset__in=withheld)),
    )
    agreement = _agreement(team, viewer, dataset_id, rubric_id)
    rated = agreement.run if agreement else newest
    return Dashboard(
        series=_series(finished[::-1], withheld),
        newest=_point(newest, withheld) if newest else None,
        agreement=agreement,
        rated=rated,
        pass_rates=_pass_rates(rated, viewer) if rated else (),
        my_queues=mine,
        waiting=sum(row.progress.mine_left for row in mine),
        running=runs(
            team,
            viewer=viewer,
            dataset_id=dataset_id,
            rubric_id=rubric_id,
            unended=True,
            size=RUNNING_SHOWN,
        ).rows,
        runs=counts["runs"],
        submissions=counts["submissions"] or 0,
        filters=run_filters(team),
        steps=_steps(team, viewer, role),
    )


def score_series(
    team: Team, viewer: User, *, dataset_id: int | None = None, rubric_id: int | None = None
) -> tuple[Series, ...]:
    """The chart's series alone, as the CSV holds them."""
    finished = _finished(_filtered(team, dataset_id, rubric_id))
    return _series(finished[::-1], hidden_datasets(viewer, team))


def _filtered(team: Team, dataset_id: int | None, rubric_id: int | None) -> QuerySet[Run]:
    runs = Run.objects.filter(team=team)
    if dataset_id is not None:
        runs = runs.filter(dataset_id=dataset_id)
    if rubric_id is not None:
        runs = runs.filter(rubric_version__rubric_id=rubric_id)
    return runs


def _finished(runs: QuerySet[Run]) -> list[Run]:
    """The newest finished runs, newest first."""
    return list(
        runs.filter(state=RunState.FINISHED)
        .select_related("summary", "dataset", "rubric_version", "team")
        .order_by("-created_at", "-pk")[:POINTS]
    )


def _series(runs: Sequence[Run], withheld: Collection[int]) -> tuple[Series, ...]:
    """`runs` oldest first. Items' own rubrics differ from dataset to dataset, so those are never joined."""
    grouped: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        if getattr(run, "summary", None) is not None:
            rubric = run.rubric_version_id or f"items of {run.dataset_id}"
            key = (rubric, run.judge["name"], run.judge["model"], run.autograder, _asked_with(run))
            grouped.setdefault(key, []).append(run)
    return tuple(_one_series(of_one_kind, withheld) for of_one_kind in grouped.values())


def _asked_with(run: Run) -> str:
    """What else makes two runs with one judge differ: the panel's rules, and the examples shown."""
    panel = {name: part for name, part in (run.panel or {}).items() if name != "members"}
    members = [(one["name"], one["weight"], one["stage"]) for one in (run.panel or {}).get("members", ())]
    return json.dumps([panel, members, (run.few_shot or {}).get("digest")], sort_keys=True)


def _one_series(runs: Sequence[Run], withheld: Collection[int]) -> Series:
    first = runs[0]
    version = first.rubric_version
    return Series(
        rubric_id=version.rubric_id if version else None,
        rubric=str(version) if version else f"own rubrics of {first.dataset}",
        judge=str(first.judge["name"]),
        autograder=first.autograder,
        points=tuple(_point(run, withheld) for run in runs),
    )


def _point(run: Run, withheld: Collection[int]) -> Point:
    hidden = run.dataset_id in withheld
    shown = None if hidden else run.summary
    return Point(
        run_id=run.pk,
        name=str(run),
        dataset=run.dataset.name,
        at=run.created_at,
        mean=shown.score_mean if shown else None,
        low=shown.score_low if shown else None,
        high=shown.score_high if shown else None,
        items=run.summary.items,
        scored=shown.scored if shown else None,
        coverage=shown.coverage if shown else None,
        errors=shown.errors if shown else None,
        withheld=hidden,
    )


def _agreement(team: Team, viewer: User, dataset_id: int | None, rubric_id: int | None) -> Agreement | None:
    runs = comparable_runs(team).filter(state=RunState.FINISHED)
    if dataset_id is not None:
        runs = runs.filter(dataset_id=dataset_id)
    if rubric_id is not None:
        runs = runs.filter(rubric_version__rubric_id=rubric_id)
    run = runs.select_related("team").first()
    if run is None:
        return None
    return Agreement(run, overall_agreement(run, queues_to_compare(run), viewer=viewer).kappa)


def _pass_rates(run: Run, viewer: User) -> tuple[PassRate, ...]:
    """Rates of the judge and of people who submitted, over the items the viewer may see."""
    if run.rubric_version_id is None:
        return ()
    seen = shown(viewer, run.team, run.dataset_id)
    visible = Judgement.objects.filter(seen)
    # The reviews are looked up first: there are far fewer than judgements of these criteria.
    submitted = Review.objects.filter(queue__dataset=run.dataset_id, state=ReviewState.SUBMITTED).order_by()
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    judge = None if seen else summarised_counts(run, criteria)
    judge = judge or criterion_counts(criteria, visible.filter(run=run))
    people = criterion_counts(criteria, visible.filter(review__in=submitted.values("pk")))
    return tuple(
        PassRate(criterion=found.criterion, judge=found.rate, people=labelled.rate)
        for found, labelled in zip(judge, people, strict=True)
    )


def _steps(team: Team, viewer: User, role: Role | int) -> Steps:
    """A rater's own reviewing counts, for others the team's; deciding a disagreement is the last step.

    Who may not decide has compared as soon as there is something to compare.
    """
    submitted = Review.objects.filter(queue__team=team, state=ReviewState.SUBMITTED)
    mine = submitted.filter(rater__user=viewer)
    rates = team.queues.filter(raters__user=viewer).exists()
    decides = role >= Role.REVIEWER
    return Steps(
        graded=Run.objects.filter(team=team, state=RunState.FINISHED).exists(),
        reviewed=(mine if rates else submitted).exists(),
        compared=(
            Adjudication.objects.filter(item__dataset__team=team).exists()
            if decides
            else comparable_runs(team).exists()
        ),
    )
