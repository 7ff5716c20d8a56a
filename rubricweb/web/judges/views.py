"""Settings pages about models: which there are, one of them, and the button that tests it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import JudgeEndpoint, Role
from rubricweb.services.endpoints import discovery, endpoints
from rubricweb.services.endpoints.caching import caching_of
from rubricweb.services.endpoints.trials import try_judge
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.judges.forms import JudgeForm
from rubricweb.web.shared.archived import archive_link, archive_words, done_by


@team_page(Role.VIEWER)
@require_safe
def judges(request: TeamRequest) -> HttpResponse:
    """Those one can grade with; or the archived endpoints."""
    return _judges_page(request, archived=request.GET.get("archived") == "1")


@team_page(Role.OWNER)
@require_safe
@never_cache
def found(request: TeamRequest) -> HttpResponse:
    """What answers on this machine, and whose keys are in the environment; with htmx that alone."""
    servers = discovery.local_servers()
    context: dict[str, Any] = {
        "servers": discovery.not_added(request.team, servers),
        "all_added": bool(servers),
        "providers": discovery.providers_with_keys(),
    }
    if request.htmx:
        return render(request, "judges/models/_found.html", context)
    return _judges_page(request, is_found=True, **context)


@team_page(Role.OWNER)
@require_POST
def add_found(request: TeamRequest) -> HttpResponse:
    """Adds a model that was found, by its address and its name there."""
    base_url, model = request.POST.get("base_url", ""), request.POST.get("model", "")
    try:
        added = discovery.add_found(request.team, by=request.user, base_url=base_url, model=model)
    except (Invalid, Conflict) as error:
        return _judges_page(request, refused=str(error), status=422)
    return _to_added(request, added)


@team_page(Role.OWNER)
@never_cache
def new(request: TeamRequest) -> HttpResponse:
    """A new endpoint; `?provider=mistral`, or its address, fills in what is known of a provider."""
    if request.method != "POST":
        preset = discovery.preset_called(request.GET.get("provider", ""))
        form = JudgeForm(initial=discovery.filled_in(preset) if preset else {})
        context = {"form": form, "presets": discovery.presets(), "preset": preset}
        return render(request, "judges/models/model.html", context)
    form = JudgeForm(request.POST)
    if form.is_valid():
        try:
            endpoint = endpoints.add_endpoint(request.team, by=request.user, **form.said)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            return _to_added(request, endpoint)
    return render(request, "judges/models/model.html", {"form": form.without_secrets()}, status=422)


@team_page(Role.OWNER)
@require_POST
def listed_models(request: TeamRequest) -> HttpResponse:
    """Which models the address in the form lists, for its field of the model; nothing without an address.

    `endpoint` is the stored one that is being changed: its key goes to its own address alone. `provider` is
    one whose key is in the environment instead.
    """
    provider = request.GET.get("provider", "")
    base_url, api_key = request.POST.get("base_url", "").strip(), request.POST.get("api_key", "")
    endpoint_id = whole_number(request.GET.get("endpoint"), "The model")
    stored = None if endpoint_id is None else access.access_endpoint(request.team, endpoint_id)
    listed = discovery.models_of_provider(provider)
    if listed is None and stored is not None and base_url == stored.base_url and not api_key:
        listed = discovery.models_of(request.team, stored)
    elif listed is None and base_url:
        listed = discovery.models_at(base_url, api_key=api_key)
    context = {"listed": listed, "models": discovery.offered(listed) if listed else [], "of": provider}
    return render(request, "judges/models/_listed.html", context)


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
        return render(request, "judges/models/_trial.html", context)
    return _judges_page(request, tested=judge_id, **context)


def _to_added(request: TeamRequest, endpoint: JudgeEndpoint) -> HttpResponse:
    """Back to the list, which leads on to a run with it."""
    return redirect(f"{reverse('settings_judges', args=[request.team.slug])}?added={endpoint.judge_id}")


def _judges_page(
    request: TeamRequest, *, archived: bool = False, status: int = 200, **more: Any
) -> HttpResponse:
    rows = {row.judge_id: row for row in endpoints.endpoints_of(request.team, archived=archived)}
    judges = endpoints.archived_judges(request.team) if archived else endpoints.judges_of(request.team)
    found = [
        {
            "id": judge_id,
            "config": config,
            "endpoint": rows.get(judge_id),
            "is_free": config.input_usd_per_million == config.output_usd_per_million == 0,
        }
        for judge_id, config in judges.items()
    ]
    offline = {"offline": endpoints.OFFLINE, "offline_about": endpoints.OFFLINE_ABOUT}
    context = {"judges": found, **offline, **archive_link(request, JudgeEndpoint), **more}
    context["added"] = judges.get(request.GET.get("added", ""))
    context["looks_around"] = settings.JUDGE_ALLOW_PRIVATE_HOSTS and not archived
    return render(request, "judges/models/models.html", context, status=status)


def _judge_page(
    request: TeamRequest, endpoint: JudgeEndpoint, form: JudgeForm, *, status: int = 200
) -> HttpResponse:
    context = {"endpoint": endpoint, "form": form, "header_names": endpoints.header_names(endpoint)}
    context |= archive_words(endpoint)
    [context["caching"]] = caching_of([endpoint], now=now())
    return render(request, "judges/models/model.html", context, status=status)
