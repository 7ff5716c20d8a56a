"""Pages where a thing is renamed, archived and restored, and a team archived; and systems."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Role, System, SystemVersion
from rubricweb.selectors.datasets import systems as selected
from rubricweb.services.datasets import systems
from rubricweb.services.shared import archiving
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.archived import ACTIONS, archive_link, archive_words, done_by
from rubricweb.web.shared.refused_forms import RefusableForm

LISTS = {
    "rubric": "rubrics",
    "dataset": "datasets",
    "run": "runs",
    "queue": "queues",
    "system": "systems",
    "system-version": "systems",
}
"""The list a kind stands in; its own page is called like the kind, where it has one."""
OWN_PAGES = ("rubric", "dataset", "run", "queue")
Managed = archiving.Named | System | SystemVersion


class NameForm(RefusableForm):
    name = forms.CharField(max_length=archiving.NAME_MAX)


@team_page(Role.EDITOR)
def manage(request: TeamRequest, kind: str, row_id: int) -> HttpResponse:
    """Asks for a new name, and whether to archive it; a POST says by `action` which."""
    row = access.access_named(request.team, kind, row_id)
    action = request.POST.get("action", "")
    form = NameForm(request.POST if action == "rename" else None, initial={"name": _name_of(row)})
    form.fields["name"].required = kind != "run"
    if isinstance(row, SystemVersion):
        form.fields["name"].label = "Label"
    if request.method == "POST":
        told = _done(request, row, action, form)
        if told:
            messages.success(request, told)
            return redirect(page_of(request.team.slug, kind, row))
    context: dict[str, Any] = {"row": row, "kind": kind, "list_name": LISTS[kind], "form": form}
    context |= {"row_url": page_of(request.team.slug, kind, row), "may_archive": kind in archiving.KINDS}
    if not isinstance(row, SystemVersion):
        context |= archive_words(row)
    status = 422 if form.errors else 200
    return render(request, "teams/manage.html", context, status=status)


def page_of(slug: str, kind: str, row: Managed) -> str:
    """The address of its own page, or of the list it stands in."""
    return reverse(kind, args=[slug, row.pk]) if kind in OWN_PAGES else reverse(LISTS[kind], args=[slug])


def _name_of(row: Managed) -> str:
    if isinstance(row, SystemVersion):
        return row.label
    return row.name if isinstance(row, System) else archiving.name_of(row)


def _rename(row: Managed, name: str, request: TeamRequest) -> None:
    if isinstance(row, System):
        systems.rename_system(row, name, by=request.user)
    elif isinstance(row, SystemVersion):
        systems.rename_version(row, name, by=request.user)
    else:
        archiving.rename(row, name, by=request.user)


def _done(request: TeamRequest, row: Managed, action: str, form: NameForm) -> str:
    """What was done, in a sentence; "" where the name was refused, which its form then says."""
    if action in ACTIONS and not isinstance(row, SystemVersion):
        return done_by(action, row, by=request.user)
    if action != "rename":
        raise Invalid.at("action", repr(action[:40]), "rename, archive or restore")
    if not form.is_valid():
        return ""
    try:
        _rename(row, form.cleaned_data["name"], request)
    except (Conflict, Invalid) as error:
        form.refuse(error)
        return ""
    return f"It is called {row} now."


@team_page(Role.VIEWER)
@require_safe
def systems_page(request: TeamRequest) -> HttpResponse:
    """The systems whose answers the team has, with their versions; or those archived."""
    archived = archive_link(request, System)
    systems = selected.systems(request.team, archived=archived["archived"])
    return render(request, "datasets/systems.html", {"systems": systems, **archived})


@team_page(Role.OWNER, archived_too=True)
def archive_team(request: TeamRequest) -> HttpResponse:
    """Says what archiving or restoring the team does; a POST does it."""
    if request.method == "POST":
        messages.success(request, _archive_or_restore(request, request.POST.get("action", "")))
        return redirect("settings", request.team.slug)
    return render(request, "teams/archiving/team.html", {"row": request.team, **archive_words(request.team)})


def _archive_or_restore(request: TeamRequest, action: str) -> str:
    """Does it, and says what is so now."""
    done_by(action, request.team, by=request.user)
    return f"{request.team} is {'archived: nothing in it changes' if action == 'archive' else 'open again'}."
