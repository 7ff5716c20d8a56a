"""Combining datasets in one: which, as whose answers, what would come of it, and how far it is."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access, tasks
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Combination, Dataset, Role
from rubricweb.selectors.datasets import combinations as selected
from rubricweb.services.combinations import combinations, plans, reruns
from rubricweb.web.datasets.forms import CombineForm, RerunForm
from rubricweb.web.http import TeamRequest, now, team_page, whole_number

STOP_POLLING = 286
SHOWN_CONFLICTS = 100


@team_page(Role.EDITOR)
def combine(request: TeamRequest) -> HttpResponse:
    """First which datasets (?dataset=<id>), then as which versions; nothing is copied unplanned."""
    numbers = [whole_number(text, "A dataset") or 0 for text in request.GET.getlist("dataset")]
    if len(numbers) < plans.FEWEST:
        context: dict[str, Any] = {
            "datasets": selected.combinable(request.team),
            "chosen": numbers,
            "most": plans.MOST,
            "too_few": "dataset" in request.GET,
        }
        return render(request, "datasets/combine/choose.html", context)
    if len(numbers) > plans.MOST:
        raise Invalid.at("dataset", counted(len(numbers), "dataset"), f"{plans.FEWEST} to {plans.MOST}")
    datasets = [access.access_dataset(request.team, number) for number in dict.fromkeys(numbers)]
    return _planned(request, datasets)


def _planned(request: TeamRequest, datasets: list[Dataset]) -> HttpResponse:
    form = CombineForm(request.POST if request.method == "POST" else None, datasets=datasets)
    context: dict[str, Any] = {"form": form, "datasets": datasets}
    if request.method == "POST" and form.is_valid():
        asked = form.asked()
        try:
            if request.POST.get("confirmed") == "1":
                by, enqueue = request.user, tasks.notify_combination
                combination = combinations.start(request.team, asked, by=by, enqueue=enqueue)
                return redirect("combination", request.team.slug, combination.pk)
            plan = plans.plan(request.team, asked, viewer=request.user)
            runs = reruns.planned(asked.parts, viewer=request.user, now=now())
            context |= {"plan": plan, "conflicts": plan.conflicts[:SHOWN_CONFLICTS], "runs": runs}
        except (Invalid, Conflict) as error:
            form.refuse(error)
    return render(request, "datasets/combine/plan.html", context, status=422 if form.errors else 200)


@team_page(Role.EDITOR)
@require_safe
def combinations_page(request: TeamRequest) -> HttpResponse:
    """What was combined, the newest first; asked for again while some is under way."""
    page = selected.combinations(request.team, cursor=request.GET.get("cursor"))
    context = {"page": page, "is_moving": any(one.state in selected.UNENDED for one in page.rows)}
    if request.htmx:
        status = 200 if context["is_moving"] else STOP_POLLING
        return render(request, "datasets/combine/_combinations.html", context, status=status)
    return render(request, "datasets/combine/combinations.html", context)


@team_page(Role.EDITOR)
@require_safe
def combination(request: TeamRequest, combination_id: int) -> HttpResponse:
    """How far a combination is, asked for again until it has ended; then the runs to start again."""
    combination = access.access_combination(request.team, combination_id)
    is_moving = combination.state in selected.UNENDED
    context = {"found": combination, "is_moving": is_moving}
    if request.htmx:
        status = 200 if is_moving else STOP_POLLING
        return render(
            request, "datasets/combine/_progress.html", context | _runs(request, combination), status=status
        )
    return render(request, "datasets/combine/combination.html", context | _runs(request, combination))


def _runs(request: TeamRequest, combination: Combination, data: Any = None) -> dict[str, Any]:
    """The runs of the originals, with the form that starts them again; nothing before it is combined."""
    runs = reruns.of_combination(combination, viewer=request.user, now=now())
    return {"runs": runs, "form": RerunForm(data, runs=runs)} if runs else {}


@team_page(Role.EDITOR)
@require_POST
def start_runs(request: TeamRequest, combination_id: int) -> HttpResponse:
    """Starts runs of the originals again over the combined dataset."""
    combination = access.access_combination(request.team, combination_id)
    context = {"found": combination, "is_moving": False, **_runs(request, combination, request.POST)}
    form = context.get("form")
    if isinstance(form, RerunForm):
        said = form.carried_out(lambda: _started(request, combination, form))
        if said:
            messages.success(request, said)
            return redirect("combination", request.team.slug, combination.pk)
        return render(request, "datasets/combine/combination.html", context, status=422)
    messages.error(request, f"{combination} is not combined: there is nothing to run over.")
    return redirect("combination", request.team.slug, combination.pk)


def _started(request: TeamRequest, combination: Combination, form: RerunForm) -> str:
    made = reruns.start(combination, by=request.user, enqueue=tasks.notify, **form.chosen())
    return f"Started {counted(len(made), 'run')} over {combination.dataset}."


@team_page(Role.EDITOR)
@require_POST
def cancel(request: TeamRequest, combination_id: int) -> HttpResponse:
    combination = access.access_combination(request.team, combination_id)
    try:
        combinations.cancel(combination, now=now())
    except Conflict as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Combining {combination} is cancelled; nothing of it stays.")
    return redirect("combination", request.team.slug, combination.pk)
