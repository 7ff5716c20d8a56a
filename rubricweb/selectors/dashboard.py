"""The dashboard: scores over time from the small summary rows, pass rates, and what waits for me."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.scoring.effect import points_lost
from rubricweb.models import (
    Criterion,
    Review,
    ReviewState,
    Rubric,
    Run,
    RunCriterionSummary,
    RunItem,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import hidden_runs, shown
from rubricweb.selectors.comparison.comparison import Overview, overview
from rubricweb.selectors.comparison.people_rates import PeopleRate
from rubricweb.selectors.judges import withheld_judges
from rubricweb.selectors.labels.comparable import (
    comparable_runs,
    nothing_over_labels,
    queues_to_compare,
)
from rubricweb.selectors.labels.ground_truth import reviewed_items
from rubricweb.selectors.reviews.queues import QueueRow, queues
from rubricweb.selectors.runs.criterion_counts import criterion_counts, on_judged_items, summarised_counts
from rubricweb.selectors.runs.group_means import GroupMean
from rubricweb.selectors.runs.listing import RunFilters, RunRow, of, run_filters, runs
from rubricweb.selectors.runs.over_time.score_series import (
    Point,
    Series,
    finished_runs,
    in_time,
    newest_series,
    series_of,
)
from rubricweb.selectors.runs.results import groups_shown
from rubricweb.selectors.shared.cases import has_repeated_cases
from rubricweb.selectors.shared.unavailable import Unavailable

RUNNING_SHOWN = 5


@dataclass(frozen=True)
class PassRate:
    """How well one criterion is met by the newest run's judge and by people.

    Binary: the share of MET among MET and UNMET; a choice or check: the mean value, which for a check only
    the run has. People's is a mean over items, see `people_rates`; `missing` and `bounds` are those of
    PeopleRate.
    """

    criterion: Criterion
    judge: Figure
    people: Figure
    missing: int = 0
    bounds: tuple[float, float] | None = None

    @property
    def is_share(self) -> bool:
        return self.criterion.kind == "binary"

    @property
    def has_bar(self) -> bool:
        """Whether its values end at 1: a check of weight 0 may be any number."""
        return self.criterion.kind != "check" or self.criterion.weight != 0


@dataclass(frozen=True)
class CriterionTrend:
    """One criterion over the runs of a series that may be joined: the judge's `values` in their order, None
    where not known; `at` is the index of that of the run of the `rate`.
    """

    rate: PassRate
    values: tuple[float | None, ...]
    at: int

    @property
    def lost(self) -> float:
        return points_lost(self.rate.judge.value, self.rate.criterion.weight)


@dataclass(frozen=True)
class FirstSteps:
    """What a team without a run has done towards its first one.

    `rubric`: one is published; `draft` is the one edited last where none is. `dataset`: there is one, of
    those not archived; `any_dataset` counts the archived too. `reviewed`: a review was submitted.
    """

    rubric: bool
    draft: Rubric | None
    dataset: bool
    any_dataset: bool
    reviewed: bool

    @property
    def count(self) -> int:
        """How many are done."""
        return self.rubric + self.dataset + self.reviewed


@dataclass(frozen=True)
class Dashboard:
    """What one filter shows.

    `series` are drawn, of the `choices` there are; `chosen` is the one asked for, else that of the newest run
    that is no try and scored something, and `newest` its newest such point. `agreement` is the newest such
    run over what people labelled, beside them (see `_agreement`), `unavailable` why it has no κ. `has_runs`
    tells of unfinished ones too, `my_queues` are those with reviews that wait for the viewer. `pass_rates`,
    `trends` and `groups` are of `rated`: the run of `agreement`, else the newest; `rates_withheld` where it
    is withheld, and all three are empty. `steps` are of a team without any run, archived ones included.
    """

    series: tuple[Series, ...]
    choices: tuple[Series, ...]
    chosen: Series | None
    agreement: Overview | None
    unavailable: Unavailable | None
    rated: Run | None
    pass_rates: tuple[PassRate, ...]
    trends: tuple[CriterionTrend, ...]
    rates_withheld: bool
    groups: tuple[GroupMean, ...]
    my_queues: tuple[QueueRow, ...]
    running: tuple[RunRow, ...]
    has_runs: bool
    filters: RunFilters
    steps: FirstSteps | None

    @property
    def newest(self) -> Point | None:
        return self.chosen.newest if self.chosen else None

    @property
    def points(self) -> list[tuple[Series, Point]]:
        """Every point and try with its series, newest first: the table beside the chart."""
        return in_time(self.series)


def dashboard(
    team: Team,
    viewer: User,
    *,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
    series_number: str | None = None,
) -> Dashboard:
    """Everything on the dashboard for one filter, of the newest POINTS finished runs.

    A `series_number` that none of them has is passed over.
    """
    wanted = _filtered(team, dataset_id, rubric_id)
    withheld = hidden_runs(viewer, team)
    finished = finished_runs(wanted)
    choices = series_of(team, finished, withheld, withheld_judges(team, viewer, withheld.datasets))
    series = _of_number(choices, series_number)
    chosen = newest_series(series)
    followed = {point.run_id for one in series for point in one.points if point.tells}
    mine = tuple(row for row in queues(team, viewer) if row.i_rate and row.progress.mine_left)
    agreement = _agreement(team, viewer, followed)
    narrowed = dataset_id is not None or rubric_id is not None or len(series) < len(choices)
    drawn = wanted
    if len(series) < len(choices):
        drawn = wanted.filter(pk__in=[point.run_id for _, point in in_time(series)])
    by_id = {run.pk: run for run in finished}
    newest = by_id[chosen.newest.run_id] if chosen and chosen.newest else None
    rated = agreement.run if agreement else newest
    rates_withheld = rated in withheld if rated else False
    people = agreement.rates if agreement else {}
    pass_rates = _pass_rates(rated, viewer, people) if rated and not rates_withheld else ()
    return Dashboard(
        series=series,
        choices=choices,
        chosen=chosen,
        agreement=agreement,
        unavailable=agreement.unavailable
        if agreement
        else nothing_over_labels(drawn, team, narrowed=narrowed),
        rated=rated,
        pass_rates=pass_rates,
        trends=_trends(chosen, rated, pass_rates),
        rates_withheld=rates_withheld,
        groups=groups_shown(rated, viewer=viewer) if rated and not rates_withheld else (),
        my_queues=mine,
        running=runs(
            team,
            viewer=viewer,
            narrowed=of(dataset_id=dataset_id, rubric_id=rubric_id),
            unended=True,
            size=RUNNING_SHOWN,
        ).rows,
        has_runs=bool(finished) or wanted.exists(),
        filters=run_filters(team),
        steps=_first_steps(team),
    )


def dataset_used_last(team: Team) -> int | None:
    """The dataset of the newest run that is not archived; None without a run."""
    newest = _filtered(team, None, None).order_by("-created_at", "-pk")
    return newest.values_list("dataset_id", flat=True).first()


def score_series(
    team: Team,
    viewer: User,
    *,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
    series_number: str | None = None,
) -> tuple[Series, ...]:
    """The chart's series alone, as the CSV holds them."""
    finished = finished_runs(_filtered(team, dataset_id, rubric_id))
    withheld = hidden_runs(viewer, team)
    judges = withheld_judges(team, viewer, withheld.datasets)
    return _of_number(series_of(team, finished, withheld, judges), series_number)


def _of_number(series: tuple[Series, ...], number: str | None) -> tuple[Series, ...]:
    return tuple(one for one in series if one.number == number) or series


def _filtered(team: Team, dataset_id: int | None, rubric_id: int | None) -> QuerySet[Run]:
    runs = Run.objects.filter(unarchived("", "system_version__system__"), team=team)
    if dataset_id is None:
        runs = runs.filter(unarchived("dataset__"))
    else:
        runs = runs.filter(dataset_id=dataset_id)
    if rubric_id is None:
        runs = runs.filter(unarchived("rubric_version__rubric__"))
    else:
        runs = runs.filter(rubric_version__rubric_id=rubric_id)
    return runs


def _agreement(team: Team, viewer: User, followed: Collection[int]) -> Overview | None:
    """The newest of the `followed` runs over labelled items beside people; of runs that were started together
    the newest whose own items have labels that are not hidden from the viewer.
    """
    runs = comparable_runs(team).filter(pk__in=followed).select_related("team", "summary")
    run = runs.first()
    if run is None:
        return None
    queues = queues_to_compare(run)
    if run.launch_id is not None:
        # What is hidden chooses nothing: else the choice would tell whether it has labels.
        visible = RunItem.objects.filter(shown(viewer, team, run.dataset_id))
        labelled = visible.filter(run=OuterRef("pk"), item__in=reviewed_items(queues))
        run = runs.filter(Exists(labelled), launch=run.launch_id).first() or run
    return overview(run, queues, viewer=viewer)


def _pass_rates(run: Run, viewer: User, people: Mapping[int, PeopleRate]) -> tuple[PassRate, ...]:
    """Rates of the judge over the items the viewer may see, beside people's."""
    if run.rubric_version_id is None:
        return ()
    seen = shown(viewer, run.team, run.dataset_id)
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    by_case = has_repeated_cases(run)
    judge = None if seen or by_case else summarised_counts(run, criteria)
    judge = judge or criterion_counts(criteria, on_judged_items(run).filter(seen), by_case=by_case)
    none = PeopleRate(Figure(None, None, None, 0))
    return tuple(
        PassRate(found.criterion, found.rate, said.rate, said.missing, said.bounds)
        for found in judge
        for said in [people.get(found.criterion.pk, none)]
    )


def _trends(
    chosen: Series | None, rated: Run | None, rates: Collection[PassRate]
) -> tuple[CriterionTrend, ...]:
    """One query. The newest value is that of `rates`; earlier ones are counted when a run ends."""
    told = [point.run_id for point in chosen.points if point.tells and not point.withheld] if chosen else []
    if chosen is None or rated is None or rated.pk not in told:
        return ()
    # Versions that do not share their cases are not joined, here as in the chart.
    if chosen.shared is not None:
        told = [run for run in told if run in chosen.shared.means]
    if rated.pk not in told:
        told = [rated.pk]
    kept: dict[tuple[int, int], float | None] = {
        (run, criterion): mean if mean is not None else met / (met + unmet) if met + unmet else None
        for run, criterion, met, unmet, mean in RunCriterionSummary.objects.filter(run__in=told)
        .order_by()
        .values_list("run_id", "criterion_id", "met", "unmet", "values_mean")
    }
    found = []
    for rate in rates:
        if not rate.has_bar or rate.judge.value is None:
            continue
        known = [kept.get((run, rate.criterion.pk)) for run in told]
        values = [rate.judge.value if run == rated.pk else one for run, one in zip(told, known, strict=True)]
        found.append(CriterionTrend(rate, tuple(values), told.index(rated.pk)))
    return tuple(sorted(found, key=lambda one: (-one.lost, one.rate.criterion.position)))


def _first_steps(team: Team) -> FirstSteps | None:
    if Run.objects.filter(team=team).exists():
        return None
    rubrics = Rubric.objects.filter(unarchived(), team=team)
    published = rubrics.filter(versions__isnull=False).exists()
    return FirstSteps(
        rubric=published,
        draft=None if published else rubrics.order_by("-updated_at", "-pk").first(),
        dataset=team.datasets.filter(unarchived()).exists(),
        any_dataset=team.datasets.exists(),
        reviewed=Review.objects.filter(state=ReviewState.SUBMITTED, queue__team=team).exists(),
    )
