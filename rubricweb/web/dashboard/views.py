"""The dashboard: what the newest runs say, how it changed, what waits for me."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.formats.formulas import neutralised
from rubricweb.models import Role, Team
from rubricweb.selectors import dashboard as selectors
from rubricweb.selectors.runs.over_time.score_series import Point, Series
from rubricweb.web.dashboard.words import changes, distinguishing_words, labels, next_step, why_empty
from rubricweb.web.http import TeamRequest, team_page, whole_number

# Whoever puts the first steps away does not see them again for a year.
TOUR_COOKIE = "first-steps"
TOUR_COOKIE_SECONDS = 365 * 24 * 3600
# The inks of the chart. A series keeps its own for good: it follows from its number, see `ink`.
KINDS = ("judge", "other", "third", "fourth", "fifth")
LOOKS = 4
COLUMNS = (
    *("run", "started_at", "dataset", "rubric", "judge", "autograder"),
    *("mean_score", "low", "high", "items", "scored", "fully_judged", "coverage", "errors", "withheld"),
    *("series", "is_try"),
    *(
        "system_version",
        "shared_cases",
        "mean_over_shared_cases",
        "low_over_shared_cases",
        "high_over_shared_cases",
    ),
    *("cases", "scored_as", "model", "panel", "examples", "settings", "lowest", "below_bar", "judge_version"),
)


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def dashboard(request: TeamRequest) -> HttpResponse:
    """The page; `?format=csv` hands out the numbers of the chart, `?steps=off` puts the first steps away."""
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    rubric_id = whole_number(request.GET.get("rubric"), "The rubric")
    series_number = request.GET.get("series")
    if request.GET.get("format") == "csv":
        return _csv(
            selectors.score_series(
                request.team,
                request.user,
                dataset_id=dataset_id,
                rubric_id=rubric_id,
                series_number=series_number,
            )
        )
    role = request.membership.role
    board = selectors.dashboard(
        request.team,
        request.user,
        role=role,
        dataset_id=dataset_id,
        rubric_id=rubric_id,
        series_number=series_number,
    )
    apart = distinguishing_words(board.choices)
    put_away = "off" in (request.GET.get("steps"), request.COOKIES.get(TOUR_COOKIE))
    may_edit = request.membership.may(Role.EDITOR)
    context = {
        "board": board,
        "next_step": next_step(board, may_edit=may_edit),
        "chart": chart_data(board.series, request.team),
        "why_empty": why_empty(board.series),
        "rows": [
            (one, point, _swatch(one), _shared_figure(one, point), apart[one.number])
            for one, point in board.points
        ],
        "choices": list(labels(board.choices).items()),
        "filtered": dataset_id is not None or rubric_id is not None,
        "steps": None if put_away or board.steps.over or request.team.archived_at else board.steps,
        "may_edit": may_edit,
    }
    template = "dashboard/_board.html" if request.htmx else "dashboard/dashboard.html"
    response = render(request, template, context)
    if request.GET.get("steps") == "off":
        response.set_cookie(TOUR_COOKIE, "off", max_age=TOUR_COOKIE_SECONDS, httponly=True, samesite="Lax")
    return response


def ink(series: Series) -> str:
    """The colour of a series, by its number: the sixth has that of the first again.

    However its judge was asked it is the same, with another mark.
    """
    return KINDS[(series.place[0] - 1) % len(KINDS)]


def turn(series: Series) -> int:
    """Which mark and dash tell it from others of its colour (series_looks.js): 0 for the first five."""
    number, way = series.place
    return ((number - 1) // len(KINDS) + way - 1) % LOOKS


def _swatch(series: Series) -> str:
    return f"{ink(series)} swatch--turn-{turn(series)}"


def chart_data(series: Sequence[Series], team: Team) -> dict[str, Any]:
    """The series as chart_time.js reads them: one row of times, per line a value or null at each.

    `runs` names the run at each time and where it opens; tries are in none of it. With a single rubric, a
    rule stands where a series begins by another version of it, dataset or way of grading. The versions of a
    single system stand side by side instead, in their order: `names` has them, and `times` are their places.
    Among other series they are joined only where their order is that of time too.
    """
    with_points = [one for one in series if one.points]
    by_version = len(with_points) == 1 and with_points[0].shared is not None
    points = [point for one in with_points for point in one.points]
    if not by_version:
        points.sort(key=lambda one: (one.at, one.run_id))
    called = labels(series)
    place = {point.run_id: index for index, point in enumerate(points)}
    breaks = _breaks(with_points) if len({one.rubric_id for one in with_points} - {None}) == 1 else []
    return {
        "times": [index if by_version else point.at.timestamp() for index, point in enumerate(points)],
        "names": [point.system for point in points] if by_version else None,
        "runs": [
            {"name": point.name, "url": reverse("run", args=[team.slug, point.run_id])} for point in points
        ],
        "series": [
            line
            for one in with_points
            for line in _lines(one, called[one.number], place, in_order=by_version or one.was_graded_in_order)
        ],
        "breaks": breaks,
    }


def _lines(one: Series, called: str, place: Mapping[int, int], *, in_order: bool) -> Iterator[dict[str, Any]]:
    """A series as the line that joins it, and beside it the points that may not be joined.

    Of several versions of a system only means over the cases they share are joined, and only `in_order`.
    """
    shared = one.shared.means if one.shared else {}
    figures = {
        point.run_id: Figure(point.mean, point.low, point.high, point.cases or 0) for point in one.points
    }
    joined = shared if one.shared else figures
    others = {run_id: figure for run_id, figure in figures.items() if run_id not in joined}
    for figures_drawn, is_joined in ((joined, True), (others, False)):
        if not figures_drawn:
            continue
        columns: dict[str, list[float | None]] = {
            name: [None] * len(place) for name in ("value", "low", "high")
        }
        for run_id, figure in figures_drawn.items():
            for name, column in columns.items():
                column[place[run_id]] = getattr(figure, name)
        yield {
            "label": called + ("" if is_joined else ", over its own cases"),
            "kind": ink(one),
            "values": columns["value"],
            "low": columns["low"],
            "high": columns["high"],
            "turn": turn(one),
            "joined": is_joined and in_order,
        }


def _breaks(series: Sequence[Series]) -> list[dict[str, Any]]:
    begun = {one.number: min(point.at for point in one.points) for one in series}
    found = []
    for before, after in pairwise(sorted(series, key=lambda one: begun[one.number])):
        if label := changes(after, before):
            found.append({"time": begun[after.number].timestamp(), "label": label})
    return found


def _csv(series: Sequence[Series]) -> HttpResponse:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for one in series:
        for point in (*one.points, *one.tries):
            words = (point.name, point.at.isoformat(), point.dataset, one.rubric, one.judge, one.autograder)
            shares = (point.mean, point.low, point.high)
            rest = (
                point.items,
                point.scored,
                point.fully_judged,
                point.coverage,
                point.errors,
                "yes" if point.withheld else "no",
                one.number,
                "yes" if point.is_try else "no",
            )
            settings = "; ".join(f"{title} {words}" for title, words in one.asked.items())
            graded = (one.scored_as, one.model, "; ".join(one.panel), one.examples, settings)
            added = (
                point.cases,
                *map(neutralised, graded),
                point.lowest,
                point.below_bar,
                neutralised(point.judge_version),
            )
            table.writerow([*map(neutralised, words), *shares, *rest, *_over_shared(one, point), *added])
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="scores.csv"'
    return response


def _shared_figure(one: Series, point: Point) -> Figure | None:
    """Its mean over the cases that all versions of a system answered; None for those it is not known of."""
    return one.shared.means.get(point.run_id) if one.shared else None


def _over_shared(one: Series, point: Point) -> tuple[str | float | None, ...]:
    """The system version, and its mean over the cases that all versions of the series answered."""
    shared = _shared_figure(one, point)
    figure = (shared.n, shared.value, shared.low, shared.high) if shared else (None,) * 4
    return neutralised(point.system), *figure
