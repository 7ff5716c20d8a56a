"""Links to people outside, under Settings: made from a page, listed, revoked."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Role, SharedKind
from rubricweb.selectors.blinding import hidden_from_somebody
from rubricweb.selectors.teams import shared_links as selected
from rubricweb.services.sharing import links as services
from rubricweb.services.sharing.pages import Shown, freeze
from rubricweb.web.http import TeamRequest, now, team_page, text_of, whole_number
from rubricweb.web.teams.forms import NewSharedLink
from rubricweb.web.teams.shared_page import drawn


@team_page(Role.OWNER)
@require_safe
def shared_links(request: TeamRequest) -> HttpResponse:
    """The links of the team, the newest first."""
    hidden = hidden_from_somebody(request.team)
    links = [(link, selected.link_state(link, hidden, now=now())) for link in selected.links_of(request.team)]
    return render(request, "teams/sharing/links.html", {"links": links})


@team_page(Role.OWNER)
@never_cache
def share(request: TeamRequest) -> HttpResponse:
    """What a link would show, which may be shared; a POST makes the link and shows it this once."""
    shown = _shown(request.GET)
    try:
        frozen = freeze(request.team, shown, by=request.user)
    except (Withheld, Conflict) as error:
        status = 409 if request.method == "POST" else 200
        return render(request, "teams/sharing/new.html", {"problem": str(error)}, status=status)
    context: dict[str, Any] = {"page": frozen.page, "tables": drawn(frozen.page)}
    if request.method != "POST":
        form = NewSharedLink(initial={"title": frozen.title[: services.TITLE_MAX]})
        return render(request, "teams/sharing/new.html", context | {"form": form})
    form = NewSharedLink(request.POST)
    if form.is_valid():
        try:
            link, secret = services.share(
                request.team, shown, by=request.user, now=now(), **form.cleaned_data
            )
        except (Conflict, Invalid, Withheld) as error:
            form.add_error(None, str(error))
        else:
            url = request.build_absolute_uri(reverse("shared", args=[secret]))
            return render(request, "teams/sharing/new.html", context | {"link": link, "url": url})
    return render(request, "teams/sharing/new.html", context | {"form": form}, status=422)


@team_page(Role.OWNER, archived_too=True)
@require_POST
def revoke(request: TeamRequest, link_id: int) -> HttpResponse:
    """The link shows nothing any more, even in an archived team."""
    link = selected.link_for(request.team, link_id)
    services.revoke(link, by=request.user, now=now())
    messages.success(request, f"The link {link.title} is revoked.")
    return redirect("settings_shared_links", request.team.slug)


def _shown(query: QueryDict) -> Shown:
    """Which page is to be shared, from the query string its menu gives. Raises Invalid for another kind."""
    kind = query.get("page", SharedKind.DASHBOARD)
    if kind not in SharedKind.values:
        raise Invalid.at("page", repr(kind[:40]), ", ".join(SharedKind.values))
    ids: Mapping[str, int | None] = {
        f"{name}_id": whole_number(query.get(name), f"The {name}")
        for name in ("run", "baseline", "dataset", "rubric")
    }
    queues = tuple(
        number for one in query.getlist("queue") if (number := whole_number(one, "A queue")) is not None
    )
    return Shown(SharedKind(kind), queue_ids=queues, series=text_of(query, "series")[:20], **ids)
