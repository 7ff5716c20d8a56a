"""Settings pages about models: which there are, one of them, and the button that tests it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import JudgeEndpoint, Role
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.trials import try_judge
from rubricweb.web.http import TeamRequest, now, team_page
from rubricweb.web.judges.forms import JudgeForm
from rubricweb.web.shared.archived import archive_link, archive_words, done_by


@team_page(Role.VIEWER)
@require_safe
def judges(request: TeamRequest) -> HttpResponse:
    """Those one can grade with; or the archived endpoints."""
    return _judges_page(request, archived=request.GET.get("archived") == "1")


@team_page(Role.OWNER)
@never_cache
def new(request: TeamRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "judges/model.html", {"form": JudgeForm()})
    form = JudgeForm(request.POST)
    if form.is_valid():
        try:
            endpoint = endpoints.add_endpoint(request.team, by=request.user, **form.said)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, f"{endpoint} can be asked now. Test it before a run depends on it.")
            return redirect("settings_judges", request.team.slug)
    return render(request, "judges/model.html", {"form": form.without_secrets()}, status=422)


@team_page(Role.VIEWER, post=Role.OWNER)
@never_cache
def judge(request: TeamRequest, endpoint_id: int) -> HttpResponse:
    """One endpoint: for owners to change, for others to read."""
    endpoint = access.access_endpoint(request.team, endpoint_id)
    if request.method != "POST":
        return _judge_page(request, endpoint, JudgeForm(endpoint=endpoint))
    form = JudgeForm(request.POST, endpoint=endpoint)
    if form.is_valid():
        try:
            endpoint = endpoints.edit_endpoint(endpoint, by=request.user, **form.said)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, f"{endpoint} is changed. Running runs keep what they started with.")
            return redirect("settings_judges", request.team.slug)
    return _judge_page(request, endpoint, form.without_secrets(), status=422)


@team_page(Role.VIEWER, post=Role.OWNER)
@require_POST
def archive(request: TeamRequest, endpoint_id: int) -> HttpResponse:
    """Archives or restores it, as `action` says; its key stays."""
    endpoint = access.access_endpoint(request.team, endpoint_id)
    messages.success(request, done_by(request.POST.get("action", ""), endpoint, by=request.user))
    return redirect("settings_judges", request.team.slug)


@team_page(Role.VIEWER, post=Role.OWNER, archived_too=True)
@require_POST
def remove(request: TeamRequest, endpoint_id: int) -> HttpResponse:
    endpoint = access.access_endpoint(request.team, endpoint_id)
    endpoints.remove_endpoint(endpoint, by=request.user, now=now())
    messages.success(request, f"{endpoint} is removed; its key is forgotten.")
    return redirect("settings_judges", request.team.slug)


@team_page(Role.VIEWER, post=Role.OWNER)
@require_POST
def test(request: TeamRequest) -> HttpResponse:
    """One tiny question to the judge called `judge`, live; with htmx what came of it alone."""
    judge_id = request.POST.get("judge", "")
    context: dict[str, Any] = {}
    try:
        context["trial"] = try_judge(request.team, judge_id, by=request.user, now=now())
    except (Invalid, Conflict) as error:
        context["refused"] = str(error)
    if request.htmx:
        return render(request, "judges/_trial.html", context)
    return _judges_page(request, tested=judge_id, **context)


def _judges_page(request: TeamRequest, *, archived: bool = False, **more: Any) -> HttpResponse:
    rows = {row.judge_id: row for row in endpoints.endpoints_of(request.team, archived=archived)}
    judges = endpoints.archived_judges(request.team) if archived else endpoints.judges_of(request.team)
    found = [
        {"id": judge_id, "config": config, "endpoint": rows.get(judge_id)}
        for judge_id, config in judges.items()
    ]
    offline = {"offline": endpoints.OFFLINE, "offline_about": endpoints.OFFLINE_ABOUT}
    context = {"judges": found, **offline, **archive_link(request, JudgeEndpoint), **more}
    return render(request, "judges/models.html", context)


def _judge_page(
    request: TeamRequest, endpoint: JudgeEndpoint, form: JudgeForm, *, status: int = 200
) -> HttpResponse:
    context = {"endpoint": endpoint, "form": form, "header_names": endpoints.header_names(endpoint)}
    context |= archive_words(endpoint)
    return render(request, "judges/model.html", context, status=status)
