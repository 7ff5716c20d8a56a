"""Who looks behind the letters that stand for raters: each look is a POST, for one item."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from rubricweb import access
from rubricweb.models import Item, Role
from rubricweb.selectors.blinding import require_visible
from rubricweb.services import adjudications as services
from rubricweb.web.http import TeamRequest, team_page, text_of

KEPT = "names_shown"
ITEMS_MAX = 1000


def are_names_shown(request: TeamRequest, item: Item) -> bool:
    """Whether this person has asked for the names of the item's raters since they signed in."""
    return item.pk in request.session.get(KEPT, [])


@team_page(Role.VIEWER)
@require_POST
def item_names(request: TeamRequest, item_id: int) -> HttpResponse:
    """Shows the names of the item's raters on its pages, which is written down, or hides them again."""
    item = access.access_item(request.team, item_id)
    require_visible(request.user, item)
    kept = request.session.get(KEPT, [])
    if request.POST.get("names") != "1":
        request.session[KEPT] = [one for one in kept if one != item.pk]
    elif item.pk not in kept:
        services.note_names_shown(item, by=request.user)
        request.session[KEPT] = [*kept, item.pk][-ITEMS_MAX:]
    there = text_of(request.POST, "next")
    is_ours = there.startswith(f"/t/{request.team.slug}/") and url_has_allowed_host_and_scheme(there, None)
    return redirect(there if is_ours else reverse("item", args=[request.team.slug, item.pk]))
