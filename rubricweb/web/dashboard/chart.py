"""The chart of the dashboard: scores by system version, or run after run, a line for each judge."""

from collections.abc import Mapping, Sequence

from django.urls import reverse
from django.utils.dateformat import format as date_text

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import Run, Team
from rubricweb.selectors.comparison.people_means import PeopleEstimate
from rubricweb.selectors.runs.over_time.score_series import Point, Series
from rubricweb.web.dashboard.words import labels
from rubricweb.web.shared.plots.line_chart import ChartColumn, ChartLine, ChartPoint, LineChart


def score_chart(
    series: Sequence[Series],
    team: Team,
    *,
    chosen: Series | None = None,
    people: tuple[Run, PeopleEstimate] | None = None,
) -> LineChart:
    """The points of these series; tries are in none.

    Where every point is of a version of a system, versions stand side by side in their order; else runs in
    order of time. The `chosen` series is that of the judge in use. `people` are the run beside people and
    their mean, drawn where it could be estimated.

    Of several versions of a system only means over the cases they share are joined, and among runs in order
    of time only where versions were graded in their order.
    """
    with_points = [one for one in series if one.points]
    points = [point for one in with_points for point in one.points]
    by_version = bool(points) and all(point.system for point in points)
    columns = _versions(with_points) if by_version else _runs(points)
    places = {name: index for index, name in enumerate(columns)}
    called = labels(series) if len(with_points) > 1 else {one.number: one.judge for one in with_points}
    lines = [
        ChartLine(
            called[one.number],
            "judge" if chosen is None or one.number == chosen.number else "old",
            tuple(_points(one, team, places, called[one.number] if len(with_points) > 1 else "")),
            joined=by_version or one.was_graded_in_order,
        )
        for one in sorted(with_points, key=lambda one: chosen is not None and one.number == chosen.number)
    ]
    if people is not None:
        lines += _people(points, people, places, team)
    return LineChart(tuple(columns.values()), tuple(lines), by_version)


def _versions(series: Sequence[Series]) -> dict[str, ChartColumn]:
    """Version → its column, in the order of its system, named without it where there is one system only, with
    the date it was graded last."""
    systems = list(dict.fromkeys(one.system for one in series))
    pairs = [(systems.index(one.system), point) for one in series for point in one.points]
    order = {point.system: (system, point.version_place) for system, point in pairs}
    at = {point.system: point.at for _, point in sorted(pairs, key=lambda pair: pair[1].at)}
    left_out = f"{systems[0]}@" if len(systems) == 1 else ""
    return {
        name: ChartColumn(name.removeprefix(left_out), date_text(at[name], "j M"))
        for name in sorted(order, key=order.__getitem__)
    }


def _runs(points: Sequence[Point]) -> dict[str, ChartColumn]:
    """Id of a run → its column, in order of time."""
    in_time = sorted(points, key=lambda one: (one.at, one.run_id))
    return {str(point.run_id): ChartColumn(point.name, date_text(point.at, "j M")) for point in in_time}


def _points(one: Series, team: Team, places: Mapping[str, int], label: str) -> Sequence[ChartPoint]:
    """The points of one series; `label` tells it from the others, "" where there are none."""
    shared = one.shared.means if one.shared else {}
    return [
        ChartPoint(
            column=_column(point, places),
            figure=shared.get(
                point.run_id, Figure(point.mean, point.low, point.high, point.cases or point.scored or 0)
            ),
            name=" · ".join(dict.fromkeys(filter(None, (point.system, point.name, label)))),
            url=reverse("run", args=[team.slug, point.run_id]),
            is_joined=not one.shared or point.run_id in shared,
        )
        for point in one.points
    ]


def _people(
    points: Sequence[Point],
    people: tuple[Run, PeopleEstimate],
    places: Mapping[str, int],
    team: Team,
) -> list[ChartLine]:
    run, estimate = people
    figure = estimate.like_these or estimate.these
    own = next((point for point in points if point.run_id == run.pk), None)
    if figure is None or figure.value is None or own is None:
        return []
    shown = Figure(figure.value, figure.low, figure.high, figure.n)
    url = f"{reverse('compare', args=[team.slug])}?run={run.pk}"
    at = _column(own, places)
    return [ChartLine("People", "people", (ChartPoint(at, shown, f"People on {own.name}", url),))]


def _column(point: Point, places: Mapping[str, int]) -> int:
    """That of its version, else of its run."""
    return places[point.system] if point.system in places else places[str(point.run_id)]
