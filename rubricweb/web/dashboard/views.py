"""The dashboard: what the newest runs say, how it changed, what waits for me."""

from collections.abc import Iterator, Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import Role
from rubricweb.selectors import dashboard as selectors
from rubricweb.selectors.dashboard_answer import score_answer
from rubricweb.selectors.runs.over_time.score_series import Point, Series
from rubricweb.selectors.spending.spending import visible_month_spending
from rubricweb.services.rubrics.starters import starters
from rubricweb.templatetags.charts import line_chart, standalone
from rubricweb.web.csv_files import csv_file
from rubricweb.web.dashboard.answer import judge_picture
from rubricweb.web.dashboard.chart import score_chart
from rubricweb.web.dashboard.first_steps import path
from rubricweb.web.dashboard.words import distinguishing_words, labels, next_step, why_empty
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.shared.plots.line_chart import LineChart
from rubricweb.web.shared.refreshing import read_refresh

STARTERS_SHOWN = 6
EVERY_DATASET = "all"
CHART_STYLE = (
    "text{fill:#565e6e;font:11px sans-serif}.plot__grid{stroke:#e9ebef}"
    ".plot__line{stroke:#8b929e;stroke-width:2}.plot__line--judge,.plot__interval--judge{stroke:#1f2733}.plot__interval{stroke-width:3;opacity:.3}"
    ".plot__interval--people{stroke:#0b87a8}.plot__interval--old{stroke:#8b929e}"
    ".plot__name--narrow{display:none}"
    ".plot__mark--judge{fill:#1f2733;stroke:#1f2733}.plot__mark--people{fill:#0b87a8;stroke:#0b87a8}"
    ".plot__mark--old{fill:#8b929e;stroke:#8b929e}.plot__mark--hollow{fill:#fff;stroke-width:2}"
)
"""How a chart looks as a file of its own: what `plot.css` says of it, on paper."""
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
def dashboard(request: TeamRequest) -> HttpResponse:
    """The page, of the dataset that was used last unless another is asked for, or all of them.

    `?format=csv` hands out the numbers of the chart, `?format=svg` its drawing. A team without a run
    gets its path to the first one instead.
    """
    asked = request.GET.get("dataset")
    every = asked == EVERY_DATASET
    dataset_id = None if every else whole_number(asked, "The dataset")
    if dataset_id is None and not every:
        dataset_id = selectors.dataset_used_last(request.team)
    rubric_id = whole_number(request.GET.get("rubric"), "The rubric")
    series_number = request.GET.get("series")
    if request.GET.get("format") == "csv":
        series = selectors.score_series(
            request.team,
            request.user,
            dataset_id=dataset_id,
            rubric_id=rubric_id,
            series_number=series_number,
        )
        return csv_file("scores.csv", COLUMNS, _rows(series))
    board = selectors.dashboard(
        request.team,
        request.user,
        dataset_id=dataset_id,
        rubric_id=rubric_id,
        series_number=series_number,
    )
    agreement = board.agreement
    people = (agreement.run, agreement.estimate) if agreement else None
    chart = score_chart(board.series, request.team, chosen=board.chosen, people=people)
    if request.GET.get("format") == "svg":
        return _svg(chart)
    filtered = bool(asked) or rubric_id is not None
    if board.steps and not filtered and not request.team.archived_at:
        return _first_run(request, board, board.steps)
    apart = distinguishing_words(board.choices)
    may_edit = request.membership.may(Role.EDITOR)
    context = {
        "board": board,
        "answer": score_answer(board),
        "next_step": next_step(board, may_edit=may_edit),
        "chart": chart,
        "why_empty": why_empty(board.series),
        "rows": [(one, point, _shared_figure(one, point), apart[one.number]) for one, point in board.points],
        "choices": list(labels(board.choices).items()),
        "rubric": next((one for one in board.filters.rubrics if one.pk == rubric_id), None),
        "dataset": next((one for one in board.filters.datasets if one.pk == dataset_id), None),
        "judge": judge_picture(board),
        "spending": visible_month_spending(request.team, viewer=request.user, now=timezone.now()),
        "filtered": filtered,
        "refresh": read_refresh(request.GET),
        "may_edit": may_edit,
    }
    return render(request, "dashboard/dashboard.html", context)


def _first_run(request: TeamRequest, board: selectors.Dashboard, steps: selectors.FirstSteps) -> HttpResponse:
    """The page of a team that has nothing to show yet: what comes next, and what the reader may do of it."""
    context = {
        "board": board,
        "path": path(steps),
        "starters": starters()[:STARTERS_SHOWN],
        "may_edit": request.membership.may(Role.EDITOR),
        "is_owner": request.membership.may(Role.OWNER),
    }
    return render(request, "dashboard/first_run.html", context)


def _svg(chart: LineChart) -> HttpResponse:
    """The chart as a file: light, with its own rules."""
    response = HttpResponse(
        standalone(line_chart(chart, "Mean scores"), CHART_STYLE), content_type="image/svg+xml"
    )
    response["Content-Disposition"] = 'attachment; filename="scores.svg"'
    return response


def _rows(series: Sequence[Series]) -> Iterator[tuple[object, ...]]:
    """Every point and try, in the order of COLUMNS."""
    for one in series:
        settings = "; ".join(f"{title} {words}" for title, words in one.asked.items())
        for point in (*one.points, *one.tries):
            yield (
                *(point.name, point.at.isoformat(), point.dataset, one.rubric, one.judge, one.autograder),
                *(point.mean, point.low, point.high, point.items, point.scored, point.fully_judged),
                *(point.coverage, point.errors, "yes" if point.withheld else "no"),
                *(one.number, "yes" if point.is_try else "no"),
                *_over_shared(one, point),
                *(point.cases, one.scored_as, one.model, "; ".join(one.panel), one.examples, settings),
                *(point.lowest, point.below_bar, point.judge_version),
            )


def _shared_figure(one: Series, point: Point) -> Figure | None:
    """Its mean over the cases that all versions of a system answered; None for those it is not known of."""
    return one.shared.means.get(point.run_id) if one.shared else None


def _over_shared(one: Series, point: Point) -> tuple[str | float | None, ...]:
    """The system version, and its mean over the cases that all versions of the series answered."""
    shared = _shared_figure(one, point)
    figure = (shared.n, shared.value, shared.low, shared.high) if shared else (None,) * 4
    return point.system, *figure
