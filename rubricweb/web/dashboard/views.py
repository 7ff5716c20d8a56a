"""The dashboard: what the newest runs say, how it changed, what waits for me."""

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb.engine.formats.formulas import neutralised
from rubricweb.models import Role
from rubricweb.selectors import dashboard as selectors
from rubricweb.selectors.dashboard import Series
from rubricweb.templatetags.run_words import autograder_title
from rubricweb.web.http import TeamRequest, team_page, whole_number

# Whoever puts the first steps away does not see them again for a year.
TOUR_COOKIE = "first-steps"
TOUR_COOKIE_SECONDS = 365 * 24 * 3600
# The inks of the chart, for the newest series first.
KINDS = ("judge", "other", "third", "fourth", "fifth")
COLUMNS = (
    *("run", "started_at", "dataset", "rubric", "judge", "autograder"),
    *("mean_score", "low", "high", "items", "scored", "coverage", "errors", "withheld"),
)


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def dashboard(request: TeamRequest) -> HttpResponse:
    """The page; `?format=csv` hands out the numbers of the chart, `?steps=off` puts the first steps away."""
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    rubric_id = whole_number(request.GET.get("rubric"), "The rubric")
    if request.GET.get("format") == "csv":
        return _csv(
            selectors.score_series(request.team, request.user, dataset_id=dataset_id, rubric_id=rubric_id)
        )
    role = request.membership.role
    board = selectors.dashboard(
        request.team, request.user, role=role, dataset_id=dataset_id, rubric_id=rubric_id
    )
    put_away = "off" in (request.GET.get("steps"), request.COOKIES.get(TOUR_COOKIE))
    context = {
        "board": board,
        "chart": chart_data(board.series),
        "filtered": dataset_id is not None or rubric_id is not None,
        "steps": None if put_away or board.steps.over else board.steps,
        "may_edit": role >= Role.EDITOR,
    }
    template = "dashboard/_board.html" if request.htmx else "dashboard/dashboard.html"
    response = render(request, template, context)
    if request.GET.get("steps") == "off":
        response.set_cookie(TOUR_COOKIE, "off", max_age=TOUR_COOKIE_SECONDS, httponly=True, samesite="Lax")
    return response


def chart_data(series: Sequence[Series]) -> dict[str, Any]:
    """The series as chart_time.js reads them: one row of times, per series a value or null at each.

    With a single rubric, a rule stands where its version, the judge or the autograder changed.
    """
    points = sorted((point.at, point.run_id) for one in series for point in one.points)
    place = {run_id: index for index, (_, run_id) in enumerate(points)}
    drawn = []
    for number, one in enumerate(reversed(series)):
        columns: dict[str, list[float | None]] = {
            name: [None] * len(points) for name in ("mean", "low", "high")
        }
        for point in one.points:
            for name, column in columns.items():
                column[place[point.run_id]] = getattr(point, name)
        drawn.append(
            {
                "label": _label(one, series),
                "kind": KINDS[number % len(KINDS)],
                "values": columns["mean"],
                "low": columns["low"],
                "high": columns["high"],
                "dashed": False,
                "joined": True,
            }
        )
    breaks = _breaks(series) if len({one.rubric_id for one in series} - {None}) == 1 else []
    return {"times": [at.timestamp() for at, _ in points], "series": drawn, "breaks": breaks}


def _label(one: Series, series: Sequence[Series]) -> str:
    """The rubric, and of judge and autograder what tells some of the series apart."""
    words = [one.rubric]
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
        for point in one.points:
            words = (point.name, point.at.isoformat(), point.dataset, one.rubric, one.judge, one.autograder)
            shares = (point.mean, point.low, point.high)
            rest = (
                point.items,
                point.scored,
                point.coverage,
                point.errors,
                "yes" if point.withheld else "no",
            )
            table.writerow([*map(neutralised, words), *shares, *rest])
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="scores.csv"'
    return response
