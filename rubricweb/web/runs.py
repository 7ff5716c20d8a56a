"""Pages of the runs room: the list, the launch form, a run while it runs and after, one item's report."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access, tasks
from rubricweb.errors import Conflict, Invalid, NotFound, Withheld
from rubricweb.models import Role, Run, RunState
from rubricweb.selectors import run_reports, run_votes
from rubricweb.selectors import runs as selectors
from rubricweb.services import runs as services
from rubricweb.web.forms_runs import PLANNED_BY, NewRun, read_retry
from rubricweb.web.http import TeamRequest, now, team_page, whole_number

# htmx takes this status as: show it, and stop asking.
STOP_POLLING = 286


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def runs(request: TeamRequest) -> HttpResponse:
    asked = request.GET
    context = {
        "page": selectors.run_list(
            request.team,
            dataset_id=whole_number(asked.get("dataset"), "The dataset"),
            rubric_id=whole_number(asked.get("rubric"), "The rubric"),
            state=asked.get("state", ""),
            cursor=asked.get("cursor"),
        ),
        "filtered": any(asked.get(name) for name in ("dataset", "rubric", "state")),
    }
    if request.htmx:
        return render(request, "runs/_runs.html", context | _rights(request))
    return render(request, "runs/runs.html", context | {"filters": selectors.run_filters(request.team)})


# ── Starting ─────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
@vary_on_headers("HX-Request")
def new(request: TeamRequest) -> HttpResponse:
    """The launch form; `count` in the form only counts the calls, and so does every change with htmx."""
    if request.method != "POST":
        chosen = _planned(request.GET)
        form = NewRun(team=request.team, initial=chosen)
        template = "runs/_plan.html" if request.htmx else "runs/new.html"
        return render(request, template, _launch(form))
    form = NewRun(request.POST, team=request.team)
    if "count" in request.POST:
        return render(
            request, "runs/new.html", _launch(NewRun(team=request.team, initial=_typed(request.POST)))
        )
    if form.is_valid():
        try:
            run = _start(request, form)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, f"{run} has started.")
            return redirect("run", request.team.slug, run.pk)
    return render(request, "runs/new.html", _launch(form), status=422)


def _start(request: TeamRequest, form: NewRun) -> Run:
    chosen, panel = form.cleaned_data, form.panel()
    return services.start_run(
        request.team,
        by=request.user,
        dataset=chosen["dataset"],
        rubric_version=chosen["rubric_version"],
        judge_id="" if panel else chosen["judge"],
        panel=panel,
        few_shot_from=form.examples(),
        enqueue=tasks.ring,
        autograder=chosen["autograder"],
        reply_format=chosen["reply_format"],
        name=chosen["name"],
    )


def _planned(query: QueryDict) -> dict[str, Any]:
    """What an address asks to begin with."""
    typed = _typed(query)
    return {name: typed[name] for name in PLANNED_BY if typed.get(name)}


def _typed(data: QueryDict) -> dict[str, Any]:
    """Everything typed, lists where several can be chosen."""
    return data.dict() | {name: data.getlist(name) for name in ("further", "escalate_on") if name in data}


def _launch(form: NewRun) -> dict[str, Any]:
    return {"form": form, "plan": form.plan(), "judge": form.chosen_judge()}


# ── One run ──────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def run(request: TeamRequest, run_id: int) -> HttpResponse:
    """The page; with htmx the results alone, which are asked for again while the run goes on."""
    found = access.run_for(request.team, run_id)
    context = _results(request, found)
    if request.htmx:
        return render(request, "runs/_results.html", context)
    return render(request, "runs/run.html", context | _live(request, found))


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def live(request: TeamRequest, run_id: int) -> HttpResponse:
    """Progress for polling. Once the run has ended it comes with the results and ends the polling.

    A reader who opens the address by hand is sent to the page.
    """
    found = access.run_for(request.team, run_id)
    if not request.htmx:
        return redirect("run", request.team.slug, found.pk)
    context = _live(request, found)
    if found.state == RunState.RUNNING:
        return render(request, "runs/_live.html", context)
    context |= _results(request, found) | {"ended": True}
    return render(request, "runs/_ended.html", context, status=STOP_POLLING)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def cancel(request: TeamRequest, run_id: int) -> HttpResponse:
    found = access.run_for(request.team, run_id)
    services.cancel_run(found, by=request.user, now=now())
    if found.state == RunState.CANCELLED:
        messages.success(request, f"{found} is cancelled; what was graded stays.")
    else:
        messages.info(request, f"{found} had already ended.")
    return redirect("run", request.team.slug, found.pk)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def resume(request: TeamRequest, run_id: int) -> HttpResponse:
    """Goes on with what is missing: everything, one kind of error (`kind`), or only=pending items."""
    found = access.run_for(request.team, run_id)
    try:
        items = services.resume_run(
            found, by=request.user, enqueue=tasks.ring, error_kinds=read_retry(request.POST)
        )
    except Conflict as error:
        messages.error(request, str(error))
    else:
        words = (
            f"Working on {items} item{'s' * (items != 1)}." if items else "Nothing is missing in this run."
        )
        messages.success(request, words)
    return redirect("run", request.team.slug, found.pk)


def _live(request: TeamRequest, run: Run) -> dict[str, Any]:
    return {
        "run": run,
        "progress": selectors.progress(run, now=now()),
        "errors": selectors.error_classes(run, viewer=request.user),
    } | _rights(request)


def _results(request: TeamRequest, run: Run) -> dict[str, Any]:
    order = request.GET.get("sort", "score")
    page = selectors.run_items(run, viewer=request.user, order=order, cursor=request.GET.get("cursor"))
    result = selectors.result(run, viewer=request.user)
    return {
        "run": run,
        "result": result,
        "choices": [rate for rate in result.rates if rate.criterion.kind == "choice"],
        "measured": any(rate.criterion.kind == "check" for rate in result.rates),
        "votes": run_votes.run_votes(run, viewer=request.user),
        "page": page,
        "rows": selectors.with_counts(run, page.rows),
        "order": order,
        "holistic": run.autograder == "rubric_as_judge",
    } | _rights(request)


def _rights(request: TeamRequest) -> dict[str, Any]:
    """Answers to htmx come without the frame that knows them."""
    return {"may_edit": request.membership.role >= Role.EDITOR}


# ── One item ─────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_safe
def item(request: TeamRequest, run_id: int, item_id: int) -> HttpResponse:
    """The full report on one item, or a notice while the reader is still to review it blind."""
    found, one = access.run_for(request.team, run_id), access.item_for(request.team, item_id)
    order = request.GET.get("sort", "score")
    context: dict[str, Any] = {"run": found, "item": one, "order": order}
    try:
        report = run_reports.item_report(found, one, viewer=request.user)
    except Withheld as error:
        context |= {"withheld": str(error), "submission": one.to_engine()}
        return render(request, "runs/item.html", context)
    if report is None:
        raise NotFound("item in this run")
    around = run_reports.neighbours(found, report.row, viewer=request.user, order=order)
    links = {
        f"{side}_url": reverse("run_item", args=[request.team.slug, found.pk, pk]) + f"?sort={order}"
        for side, pk in (("previous", around.previous), ("next", around.next))
        if pk is not None
    }
    return render(
        request, "runs/item.html", context | links | {"report": report, "submission": report.submission}
    )
