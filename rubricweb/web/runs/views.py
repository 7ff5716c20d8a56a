"""Pages of the runs room: the list, a run while it runs and after, one item's report."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import trigger_client_event

from rubricweb import access
from rubricweb.errors import NotFound, Withheld
from rubricweb.models import Role, Run, RunMode, RunState
from rubricweb.selectors.comparison.people_means import PeopleEstimate, estimate_of
from rubricweb.selectors.datasets.columns import columns, read_where
from rubricweb.selectors.datasets.new_items import new_item_count
from rubricweb.selectors.judges import require_judge_visible, version_told_to
from rubricweb.selectors.labels.comparable import is_holistic, labelled_queues, queues_to_compare
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.runs import errors, reports, results, votes
from rubricweb.selectors.runs import listing as selectors
from rubricweb.selectors.runs import log as run_log
from rubricweb.selectors.runs import progress as run_progress
from rubricweb.selectors.runs.group_means import ONE_SCORE, no_groups
from rubricweb.selectors.shared.archived import archived_count
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.withheld_runs import hides_examples
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import panels
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.runs import words
from rubricweb.web.runs.answer import lowest_items, plotted_rates, run_answer
from rubricweb.web.runs.run_again import TRIAL
from rubricweb.web.saved_views.of_list import views_of_list
from rubricweb.web.shared.plots import SHARE_AXIS
from rubricweb.web.shared.selections import SELECTED_MAX, selected_items, use
from rubricweb.web.shared.titles import titles

# htmx takes this status as: show it, and stop asking.
STOP_POLLING = 286
# Lines of the log on the run's own page, which keeps room for as many (run-live.css).
LOG_SHOWN = 3
# Fewer scores are drawn one by one.
FEW_SCORES = 10
# From this many graded items on, results are asked for less often.
MANY_GRADED = 5_000


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def runs(request: TeamRequest) -> HttpResponse:
    asked, state = request.GET, request.GET.get("state", "")
    dataset = whole_number(asked.get("dataset"), "The dataset")
    rubric = whole_number(asked.get("rubric"), "The rubric")
    judge_version = whole_number(asked.get("judge_version"), "The version of a judge")
    of_judge = None
    if judge_version is not None:
        of_judge = access.access_judge_version(request.team, judge_version)
        require_judge_visible(of_judge.judge, request.user)
    narrowed = selectors.of(dataset_id=dataset, rubric_id=rubric, judge_version_id=judge_version)
    archived = state == selectors.ARCHIVED
    context = {
        "page": selectors.runs(
            request.team,
            viewer=request.user,
            narrowed=narrowed,
            state=state,
            cursor=asked.get("cursor"),
        ),
        **views_of_list(request, "runs"),
        "archived": archived,
        "archived_count": 0 if archived else archived_count(request.team, Run, narrowed),
        "filtered": any(asked.get(name) for name in ("dataset", "rubric", "judge_version", "state")),
    }
    if request.htmx:
        return render(request, "runs/_runs.html", context | _rights(request))
    context |= {"filters": selectors.run_filters(request.team), "of_judge": of_judge}
    return render(request, "runs/runs.html", context)


# ── One run ──────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def run(request: TeamRequest, run_id: int) -> HttpResponse:
    """The page; with htmx the results alone, which are asked for again while the run goes on."""
    run = access.access_run(request.team, run_id)
    context = _errors(request, run)
    context |= _results(request, run, context["errors"])
    if request.htmx:
        return render(request, "runs/results/_results.html", context)
    context["hides_examples"] = hides_examples(run, request.user)
    context["judge_version"] = version_told_to(run, request.user)
    if panels.asks_offline(run):
        context["about_judge"] = f"{capfirst(endpoints.OFFLINE_NAME)}: {endpoints.OFFLINE_ABOUT}"
    return render(request, "runs/run.html", context | _live(request, run) | _controls(request, run))


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def live(request: TeamRequest, run_id: int) -> HttpResponse:
    """Progress for polling, which ends with the run.

    `seen` is the phase the page shows: in another one it gets its buttons and results anew as well, and the
    event run:moved. A reader who opens the address by hand is sent to the page.
    """
    run = access.access_run(request.team, run_id)
    if not request.htmx:
        return redirect("run", request.team.slug, run.pk)
    asked = request.GET.copy()
    seen = asked.pop("seen", [""])[-1]
    request.GET = asked  # type: ignore[assignment]  # the links in what is drawn are the page's own
    context = _live(request, run) | _errors(request, run)
    status = 200 if context["progress"].poll_seconds else STOP_POLLING
    if context["phase"] == seen:
        context |= titles(request, _examples(context["errors"]))
        return render(request, "runs/live/_live.html", context, status=status)
    context |= _results(request, run, context["errors"]) | _controls(request, run) | {"moved": True}
    answer = render(request, "runs/live/_moved.html", context, status=status)
    return trigger_client_event(answer, "run:moved")


@team_page(Role.VIEWER)
@require_safe
def log(request: TeamRequest, run_id: int) -> HttpResponse:
    """Everything that was decided, newest first."""
    run = access.access_run(request.team, run_id)
    page = run_log.run_log(run, viewer=request.user, cursor=request.GET.get("cursor"), size=100)
    progress = run_progress.progress(run, viewer=request.user, now=database_now())
    return render(request, "runs/log.html", {"run": run, "page": page, "progress": progress})


def _live(request: TeamRequest, run: Run) -> dict[str, Any]:
    progress = run_progress.progress(run, viewer=request.user, now=database_now())
    # The provider has its items, or is about to, and no process works on them.
    by_batch = run.mode == RunMode.BATCH and bool(progress.working) and not progress.workers
    return {
        "run": run,
        "progress": progress,
        "notice": words.live_notice(run, progress),
        "tiles": words.live_tiles(run, progress, by_batch=by_batch),
        "no_workers": words.workers_words(progress, by_batch=by_batch),
        "phase": f"{run.state}{'-moving' if progress.is_moving else ''}",
        "log": run_log.run_log(run, viewer=request.user, size=LOG_SHOWN),
    } | _rights(request)


def _errors(request: TeamRequest, run: Run) -> dict[str, Any]:
    """What failed, for the list of it; of a finished run for the notice above the results as well."""
    classes = errors.error_classes(run, viewer=request.user)
    return {"errors": classes, "failed_verdicts": sum(error.count for error in classes)}


def _examples(classes: Iterable[errors.ErrorClass]) -> list[int]:
    """The items that the list of errors names."""
    return [error.newest.item_id for error in classes if error.newest]


def _controls(request: TeamRequest, run: Run) -> dict[str, Any]:
    """What may be done with the run, beside the progress and at the head of the page."""
    return {
        "new_items": new_item_count(run),
    }


@team_page(Role.VIEWER)
@require_POST
def select(request: TeamRequest, run_id: int) -> HttpResponse:
    """Goes on with the ticked items, or with all that the list has, to what is to be done with them."""
    run = access.access_run(request.team, run_id)
    order, where = request.POST.get("sort", "score"), read_where(run.dataset, request.POST.getlist("where"))
    chosen = selected_items(request.POST)
    if request.POST.get("all") == "1":
        chosen = results.listed_ids(run, viewer=request.user, order=order, most=SELECTED_MAX + 1, where=where)
    back = reverse("run", args=[request.team.slug, run.pk])
    narrowed = [("sort", order), *(("where", f"{name}={value}") for name, value in where)]
    return use(request, chosen, back=f"{back}?{urlencode(narrowed)}#items", run_id=run.pk)


def _results(request: TeamRequest, run: Run, classes: Iterable[errors.ErrorClass]) -> dict[str, Any]:
    order = request.GET.get("sort", "score")
    result = results.result(run, viewer=request.user)
    # After the result: of items it counts, none that is graded meanwhile is missing in the list.
    where = read_where(run.dataset, request.GET.getlist("where"))
    page = results.run_items(
        run, viewer=request.user, order=order, cursor=request.GET.get("cursor"), where=where
    )
    holistic = is_holistic(run)
    # A holistic judge says nothing about single criteria; checks do.
    rates = [rate for rate in result.rates if not holistic or rate.criterion.kind == "check"]
    failed = results.errored_items(run, viewer=request.user) if result.errored else []
    by_score = order == "score" and not where and not request.GET.get("cursor")
    scores = [row.score for row in page.rows if row.score is not None] if by_score else []
    return {
        "run": run,
        "answer": run_answer(run, result),
        "plotted": plotted_rates(rates),
        "share_axis": SHARE_AXIS,
        "lowest": lowest_items(run, page.rows) if by_score and not holistic else [],
        # One by one they are drawn from 0 to 1, which raw scores leave.
        "scores": scores if run.normalize and len(scores) == result.scored < FEW_SCORES else [],
        # Those of the list of errors too: asked for apart they would take as many queries again.
        **titles(request, [*(row.item_id for row in (*page.rows, *failed)), *_examples(classes)]),
        "result": result,
        "rates": rates,
        "choices": [rate for rate in rates if rate.criterion.kind == "choice"],
        "measured": any(rate.criterion.kind == "check" for rate in result.rates),
        "votes": votes.run_votes(run, viewer=request.user),
        "failed": failed,
        "page": page,
        "rows": results.with_counts(run, page.rows),
        "order": order,
        "columns": columns(run.dataset, where),
        "where": [f"{name}={value}" for name, value in where],
        "holistic": holistic,
        "one_score": no_groups(run) == ONE_SCORE,
        "results_seconds": _results_seconds(run, result),
        "estimate": _estimate(request, run),
        "trial": run.name.startswith(TRIAL),
        "labelled": labelled_queues(run.dataset_id, team=request.team).exists(),
    } | _rights(request)


def _estimate(request: TeamRequest, run: Run) -> PeopleEstimate | None:
    """What people would say of the items of an ended run, once they have labelled some."""
    queues = [] if run.state == RunState.RUNNING else queues_to_compare(run)
    estimate = estimate_of(run, queues, viewer=request.user) if queues else None
    return estimate if estimate and estimate.labelled.n else None


def _results_seconds(run: Run, result: results.Result) -> int | None:
    """How soon to ask for the results again while they still change; many take long to count."""
    if run.state != RunState.RUNNING:
        return None
    if not result.graded:
        return 2
    return 10 if result.graded <= MANY_GRADED else 60


def _rights(request: TeamRequest) -> dict[str, Any]:
    """Answers to htmx come without the frame that knows them."""
    return {"may_edit": request.membership.may(Role.EDITOR)}


# ── One item ─────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_safe
def item(request: TeamRequest, run_id: int, item_id: int) -> HttpResponse:
    """The full report on one item, or a notice while the reader is still to review it blind."""
    found, one = access.access_run(request.team, run_id), access.access_item(request.team, item_id)
    order = request.GET.get("sort", "score")
    context: dict[str, Any] = {
        "run": found,
        "item": one,
        **titles(request, [one.pk]),
        "order": order,
        "thread": comments.thread(one, viewer=request.user, run=found),
    }
    try:
        report = reports.item_report(found, one, viewer=request.user)
    except Withheld as error:
        context |= {"withheld": str(error), "submission": one.to_engine()}
        return render(request, "runs/item.html", context)
    if report is None:
        raise NotFound("item in this run")
    around = reports.neighbours(found, report.row, viewer=request.user, order=order)
    links = {
        f"{side}_url": reverse("run_item", args=[request.team.slug, found.pk, pk]) + f"?sort={order}"
        for side, pk in (("previous", around.previous), ("next", around.next))
        if pk is not None
    }
    return render(
        request, "runs/item.html", context | links | {"report": report, "submission": report.submission}
    )
