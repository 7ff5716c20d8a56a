"""The page that launches a run: what it would cost first, then all of it or a few items to try."""

import json
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.vary import vary_on_headers

from rubricweb import access, tasks
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Role, Run
from rubricweb.selectors.rubrics.versions import missing_for_judging
from rubricweb.selectors.runs.planning import plans
from rubricweb.selectors.runs.planning.samples import sample_ids
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.shared.idempotency import Done, click_key, done_once
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.runs import words
from rubricweb.web.runs.forms import NewRun
from rubricweb.web.runs.run_again import TRIAL, filled_in, left_out, usual_judge
from rubricweb.web.shared.selections import Selection, selection

LISTS = ("further", "escalate_on", "systems")
TRIAL_ITEMS = 3


@team_page(Role.EDITOR)
@vary_on_headers("HX-Request")
def new(request: TeamRequest) -> HttpResponse:
    """The launch form, prefilled by `again=RUN` or by the names of fields.

    A change in the form asks for the plan alone, with htmx; the button named `count` does so without. `try`
    starts a run over three items.
    """
    if request.method != "POST":
        form, again, last = _opened(request)
        template = "runs/_plan.html" if request.htmx else "runs/new.html"
        return render(request, template, _launch(request, form, again) | {"last": last})
    selected = selection(request)
    if "count" in request.POST:
        form = NewRun(
            team=request.team, viewer=request.user, selection=selected, initial=_typed(request.POST)
        )
        return render(request, "runs/new.html", _launch(request, form))
    form = NewRun(request.POST, team=request.team, viewer=request.user, selection=selected)
    if form.is_valid():
        try:
            runs = _start(request, form, trial="try" in request.POST)
        except (Invalid, Conflict, Withheld) as error:
            form.refuse(error)
        else:
            return _started(request, runs)
    return render(request, "runs/new.html", _launch(request, form), status=422)


def _started(request: TeamRequest, runs: list[Run]) -> HttpResponse:
    """On to the run; to the list of them where there are several."""
    if len(runs) == 1:
        messages.success(request, f"{runs[0]} has started.")
        return redirect("run", request.team.slug, runs[0].pk)
    names = [run.system or "no system named" for run in runs]
    messages.success(request, f"{len(runs)} runs have started: {', '.join(names)}.")
    return redirect(f"{reverse('runs', args=[request.team.slug])}?dataset={runs[0].dataset_id}")


def _opened(request: TeamRequest) -> tuple[NewRun, Run | None, Run | None]:
    """The form as the address wants it, the run it is filled in for, and the one its judge is from."""
    asked, selected = request.GET, selection(request)
    if asked.get("sent"):
        return NewRun(asked, team=request.team, viewer=request.user, selection=selected), None, None
    run_id = whole_number(asked.get("again"), "The run")
    if run_id is None:
        usual, last = _usual_material(request, selected)
        initial = usual | _typed(asked)
        return NewRun(team=request.team, viewer=request.user, selection=selected, initial=initial), None, last
    run = access.access_run(request.team, run_id)
    judges = list(endpoints.judges_of(request.team))
    initial = filled_in(run, judges) | _typed(asked)
    return NewRun(team=request.team, viewer=request.user, selection=selected, initial=initial), run, None


def _usual_material(request: TeamRequest, selected: Selection | None) -> tuple[dict[str, Any], Run | None]:
    """What is chosen unless the address says more: the dataset graded last, its rubric and its judge.

    And the run that judge is from, None where it is from none.
    """
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    if dataset_id is None and selected is not None:
        dataset_id = selected.dataset_id
    if dataset_id is None:
        dataset = plans.usual_dataset(request.team)
    else:
        dataset = access.access_dataset(request.team, dataset_id)
    version = plans.usual_version(request.team, dataset)
    rows = {"dataset": dataset, "rubric_version": version}
    initial: dict[str, Any] = {name: row.pk for name, row in rows.items() if row is not None}
    # A way of asking belongs to its judge: neither is taken over where the address names one.
    if dataset is None or {"judge", "autograder", "reply_format"} & request.GET.keys():
        return initial, None
    last, judge = usual_judge(dataset, endpoints.judges_of(request.team))
    return initial | judge, last


def _typed(data: QueryDict) -> dict[str, Any]:
    """Everything typed that is not empty, lists where several can be chosen.

    A box that was not ticked is not sent: where the form was, it is no box left as it is at first.
    """
    typed = {name: value for name, value in data.dict().items() if value}
    boxes = dict.fromkeys(("use_cache", "normalize"), False) if data.get("sent") else {}
    return boxes | typed | {name: data.getlist(name) for name in LISTS if name in data}


def _start(request: TeamRequest, form: NewRun, *, trial: bool) -> list[Run]:
    """The runs the form asks for, one for each system version; pressed twice, those it has just started."""
    chosen, options = form.cleaned_data, form.options()
    if trial:
        systems = options.systems[-1:]  # one look is enough to try
        options = replace(
            options,
            systems=systems,
            item_ids=sample_ids(
                chosen["dataset"],
                TRIAL_ITEMS,
                viewer=request.user,
                half=options.half,
                systems=systems,
                among=options.item_ids,
            ),
            name=f"{TRIAL}: {chosen['name'] or chosen['dataset']}",
        )

    def start() -> Done:
        started = launch_runs(
            request.team,
            by=request.user,
            dataset=chosen["dataset"],
            rubric_version=chosen["rubric_version"],
            enqueue=tasks.notify,
            budget_usd=chosen["budget_usd"],
            no_cap=chosen["no_cap"] and chosen["budget_usd"] is None,
            options=options,
        )
        return started[0], 0

    values_sent = {name: values for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"}
    key = click_key(request.user, json.dumps(values_sent, sort_keys=True))
    return done_once(request.team, key, start, now=now())[0].launched_with


def _launch(request: TeamRequest, form: NewRun, again: Run | None = None) -> dict[str, Any]:
    forecast, refusal = form.forecast(request.user, now())
    typed = form["budget_usd"].value()
    budget = float(typed) if _is_amount(typed) else None
    plan, judge = form.plan(request.user), form.chosen_judge()
    if plan is not None and (request.htmx or not form["rubric_version"].errors):
        form.say_what_lacks_a_rubric(plan)
    return {
        "form": form,
        "missing": missing_for_judging(request.team),
        "plan": plan,
        "forecast": forecast,
        "refusal": refusal or (form.wrong() if request.method == "POST" else ""),
        "judge": judge,
        "tiles": words.plan_tiles(plan, forecast) if plan else [],
        "notices": words.plan_notices(forecast, budget, no_cap=bool(form["no_cap"].value())),
        "unjudged": words.unjudged_words(plan) if plan else "",
        "attempts": words.attempts_words(judge) if judge else "",
        "again": again,
        "left_out": left_out(again, form.judges) if again else "",
    }


def _is_amount(typed: Any) -> bool:
    try:
        return typed not in (None, "") and 0 <= float(typed) < float("inf")
    except (TypeError, ValueError):
        return False
