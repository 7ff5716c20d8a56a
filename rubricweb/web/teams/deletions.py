"""Deleting for good: what goes with a thing and what stays, its name typed, and how far removals are."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from rubricweb import access, tasks
from rubricweb.models import DeletionState, Role
from rubricweb.selectors import deletions as selected
from rubricweb.services.deletions import deletions as services
from rubricweb.services.teams import teams
from rubricweb.web.http import TeamRequest, now, team_page
from rubricweb.web.shared.refused_forms import RefusableForm
from rubricweb.web.teams.archive import LISTS, page_of

STOP_POLLING = 286


class DeletionForm(RefusableForm):
    name = forms.CharField(max_length=500, label="Type its name to delete it")


class TeamNameForm(RefusableForm):
    name = forms.CharField(max_length=teams.TEAM_NAME_MAX)


@team_page(Role.OWNER)
def delete(request: TeamRequest, kind: str, row_id: int) -> HttpResponse:
    """Says what goes and what stays; a POST with its name deletes it."""
    row = access.access_named(request.team, kind, row_id)
    slug = request.team.slug
    places = [
        (reverse(LISTS[kind], args=[slug]), "Review" if kind == "queue" else LISTS[kind].capitalize()),
        (page_of(slug, kind, row), str(row)),
        (reverse("manage", args=[slug, kind, row.pk]), "Manage"),
    ]
    return _delete(request, row, places)


@team_page(Role.OWNER, archived_too=True)
def delete_team(request: TeamRequest) -> HttpResponse:
    """The same for the whole team."""
    return _delete(request, request.team, [(reverse("settings", args=[request.team.slug]), "Settings")])


def _delete(request: TeamRequest, row: selected.Deletable, places: list[tuple[str, str]]) -> HttpResponse:
    """`places` lead to the page: each an address and what it is called."""
    form = DeletionForm(request.POST if request.method == "POST" else None)
    form.fields["name"].widget.attrs["autocomplete"] = "off"

    def done() -> str:
        name = form.cleaned_data["name"]
        deletion = services.delete(row, name, by=request.user, now=now(), enqueue=tasks.notify_deletion)
        return f"{deletion} is deleted. Its rows are removed in the background."

    if request.method == "POST" and (told := form.carried_out(done)):
        messages.success(request, told)
        if row == request.team:
            return redirect("home")
        return redirect("settings_deletions", request.team.slug)
    plan = selected.plan(row, now=now())
    context = {"row": row, "places": places, "plan": plan, "form": form, "cancel_url": places[-1][0]}
    return render(request, "teams/delete.html", context, status=422 if form.errors else 200)


@team_page(Role.OWNER, archived_too=True)
def rename_team(request: TeamRequest) -> HttpResponse:
    """Another name for the team; its address stays."""
    form = TeamNameForm(request.POST if request.method == "POST" else None, initial={"name": request.team})

    def done() -> str:
        teams.rename_team(request.team, form.cleaned_data["name"], by=request.user)
        return f"The team is called {request.team} now."

    if request.method == "POST" and (told := form.carried_out(done)):
        messages.success(request, told)
        return redirect("settings", request.team.slug)
    return render(request, "teams/rename.html", {"form": form}, status=422 if form.errors else 200)


@team_page(Role.OWNER)
@require_safe
def deletions(request: TeamRequest) -> HttpResponse:
    """What was deleted, the newest first; asks for itself while rows are being removed."""
    page = selected.deletions(request.team, cursor=request.GET.get("cursor"))
    is_moving = any(one.state in (DeletionState.WAITING, DeletionState.RUNNING) for one in page.rows)
    context = {"page": page, "is_moving": is_moving}
    if request.htmx:
        status = 200 if is_moving else STOP_POLLING
        return render(request, "teams/_deletions.html", context, status=status)
    return render(request, "teams/deletions.html", context)
