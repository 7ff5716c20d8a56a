"""The dashboard: what the newest runs say, how it changed, what waits for me."""

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb.engine.formats.formulas import neutralised
from rubricweb.models import Role, Team
from rubricweb.selectors import dashboard as selectors
from rubricweb.selectors.score_series import Series
from rubricweb.templatetags.run_words import autograder_title
from rubricweb.web.http import TeamRequest, team_page, whole_number

# Whoever puts the first steps away does not see them again for a year.
TOUR_COOKIE = "first-steps"
TOUR_COOKIE_SECONDS = 365 * 24 * 3600
# The inks of the chart. A series keeps its own for good: it follows from its number, see `ink`.
KINDS = ("judge", "other", "third", "fourth", "fifth")
COLUMNS = (
    *("run", "started_at", "dataset", "rubric", "judge", "autograder"),
    *("mean_score", "low", "high", "items", "scored", "fully_judged", "coverage", "errors", "withheld"),
    *("series", "is_try"),
)


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def dashboard(request: TeamRequest) -> HttpResponse:
    """The page; `?format=csv` hands out the numbers of the chart, `?steps=off` puts the first steps away."""
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    rubric_id = whole_number(request.GET.get("rubric"), "The rubric")
    series_number = whole_number(request.GET.get("series"), "The series")
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
    put_away = "off" in (request.GET.get("steps"), request.COOKIES.get(TOUR_COOKIE))
    context = {
        "board": board,
        "chart": chart_data(board.series, request.team),
        "rows": [(one, point, ink(one)) for one, point in board.points],
        "choices": [(one.number, _label(one, board.choices)) for one in board.choices],
        "filtered": dataset_id is not None or rubric_id is not None,
        "steps": None if put_away or board.steps.over else board.steps,
        "may_edit": role >= Role.EDITOR,
    }
    template = "dashboard/_board.html" if request.htmx else "dashboard/dashboard.html"
    response = render(request, template, context)
    if request.GET.get("steps") == "off":
        response.set_cookie(TOUR_COOKIE, "off", max_age=TOUR_COOKIE_SECONDS, httponly=True, samesite="Lax")
    return response


def ink(series: Series) -> str:
    """The colour of a series, by its number: the sixth has that of the first again, and is dashed."""
    return KINDS[(series.number - 1) % len(KINDS)]


def chart_data(series: Sequence[Series], team: Team) -> dict[str, Any]:
    """The series as chart_time.js reads them: one row of times, per series a value or null at each.

    `runs` names the run at each time and where it opens; tries are in none of it. With a single rubric, a
    rule stands where its version, the dataset, the judge or the autograder changed.
    """
    points = sorted((point for one in series for point in one.points), key=lambda one: (one.at, one.run_id))
    place = {point.run_id: index for index, point in enumerate(points)}
    drawn = []
    for one in series:
        if not one.points:
            continue
        columns: dict[str, list[float | None]] = {
            name: [None] * len(points) for name in ("mean", "low", "high")
        }
        for point in one.points:
            for name, column in columns.items():
                column[place[point.run_id]] = getattr(point, name)
        drawn.append(
            {
                "label": _label(one, series),
                "kind": ink(one),
                "values": columns["mean"],
                "low": columns["low"],
                "high": columns["high"],
                "dashed": (one.number - 1) // len(KINDS) % 2 == 1,
                "joined": True,
            }
        )
    with_points = [one for one in series if one.points]
    breaks = _breaks(with_points) if len({one.rubric_id for one in with_points} - {None}) == 1 else []
    return {
        "times": [point.at.timestamp() for point in points],
        "runs": [
            {"name": point.name, "url": reverse("run", args=[team.slug, point.run_id])} for point in points
        ],
        "series": drawn,
        "breaks": breaks,
    }


def _label(one: Series, series: Sequence[Series]) -> str:
    """The rubric, and of dataset, judge and autograder what tells some of the series apart."""
    words = [one.rubric]
    if len({each.dataset for each in series}) > 1:
        words.append(one.dataset)
    if len({each.judge for each in series}) > 1:
        words.append(one.judge)
    if len({each.autograder for each in series}) > 1:
        words.append(autograder_title(one.autograder).lower())
    return " · ".join(words)


def _breaks(series: Sequence[Series]) -> list[dict[str, Any]]:
    in_time = sorted(series, key=lambda one: one.points[0].at)
    found = []
    for before, after in pairwise(in_time):
        changed = (
            (after.rubric, before.rubric),
            (after.dataset, before.dataset),
            (after.judge, before.judge),
            (autograder_title(after.autograder), autograder_title(before.autograder)),
        )
        words = [new for new, old in changed if new != old]
        found.append({"time": after.points[0].at.timestamp(), "label": " · ".join(words)})
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
            table.writerow([*map(neutralised, words), *shares, *rest])
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="scores.csv"'
    return response
