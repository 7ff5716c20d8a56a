"""Saved views: the list of them, what changes one, and the way to the list it is of."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import Role, SavedView
from rubricweb.selectors.saved_views import saved_views
from rubricweb.services.teams import saved_views as services
from rubricweb.web.http import TeamRequest, team_page, text_of, whole_number


@team_page(Role.VIEWER)
def views(request: TeamRequest) -> HttpResponse:
    """The person's views and the team's; a POST keeps the list that its form came from."""
    if request.method != "POST":
        rows = saved_views(request.team, request.user)
        return render(request, "views/views.html", {"rows": rows})
    number = whole_number(request.POST.get("dataset"), "The dataset")
    dataset = None if number is None else access.access_dataset(request.team, number)
    try:
        view = services.save_view(
            request.membership,
            kind=text_of(request.POST, "kind"),
            name=text_of(request.POST, "name"),
            query=text_of(request.POST, "query"),
            dataset=dataset,
            shared=request.POST.get("shared") == "1",
        )
    except (Invalid, Conflict, Forbidden) as error:
        messages.error(request, str(error))
        return redirect("views", request.team.slug)
    messages.success(request, f"The view {view} is kept.")
    return redirect(address(request.team.slug, view))


@team_page(Role.VIEWER)
@require_safe
def view(request: TeamRequest, view_id: int) -> HttpResponse:
    """On to its list."""
    return redirect(address(request.team.slug, access.access_view(request.team, request.user, view_id)))


@team_page(Role.VIEWER)
@require_POST
def change(request: TeamRequest, view_id: int) -> HttpResponse:
    """Another name, shared or not, pinned or not, or gone: as `action` says."""
    one, action = access.access_view(request.team, request.user, view_id), request.POST.get("action", "")
    changes = {
        "rename": {"name": text_of(request.POST, "name")},
        "share": {"shared": True},
        "unshare": {"shared": False},
        "pin": {"pinned": True},
        "unpin": {"pinned": False},
    }
    try:
        if action == "delete":
            services.delete_view(one, request.membership)
            messages.success(request, f"The view {one} is deleted.")
        elif action in changes:
            services.change_view(one, request.membership, **changes[action])  # type: ignore[arg-type]  # of one
        else:
            raise Invalid.at("action", repr(action[:40]), ", ".join((*changes, "delete")))
    except (Invalid, Conflict, Forbidden) as error:
        messages.error(request, str(error))
    return redirect("views", request.team.slug)


def address(slug: str, view: SavedView) -> str:
    """The list of a view, narrowed as it was."""
    rooms = {"items": "dataset", "runs": "runs", "inbox": "adjudication"}
    place = [view.dataset_id] if view.dataset_id else []
    url = reverse(rooms[view.kind], args=[slug, *place])
    return f"{url}?{view.query}" if view.query else url
