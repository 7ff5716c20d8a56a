"""Operations about links that show figures to people without an account."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from ninja.responses import Status

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.schemas import list_of
from rubricweb.api.teams import shared_link_schemas as schemas
from rubricweb.models import Role, SharedKind
from rubricweb.selectors.blinding import hidden_from_somebody
from rubricweb.selectors.teams import shared_links as selected
from rubricweb.services.sharing import links as services
from rubricweb.services.sharing.pages import Shown

shared_links = Room("team")


@shared_links.read("/shared-links", Role.OWNER, list_of(schemas.Link))
def list_shared_links(request: TokenRequest) -> Any:
    """The links of the team to people outside, newest first; all on one page."""
    team = request.auth.team
    hidden, now = hidden_from_somebody(team), timezone.now()
    links = [
        schemas.shown_link(link, selected.link_state(link, hidden, now=now))
        for link in selected.links_of(team)
    ]
    return {"items": links, "next_cursor": None}


@shared_links.write("POST", "/shared-links", Role.OWNER, schemas.MadeLink, status=201)
def share(request: TokenRequest, body: schemas.NewSharedLink) -> Any:
    """Make a link that shows the dashboard, a comparison or two runs as they are now, without an account.

    It holds figures and names, no item and no rater. Refused (403) while anybody is still to review some of
    it blind, and (409) where there is nothing to show. Of test cases it is a look.
    """
    caller = request.auth
    fields = body.model_dump()
    title, days = fields.pop("title"), fields.pop("days")
    shown = Shown(SharedKind(fields.pop("page")), queue_ids=tuple(fields.pop("queue_ids")), **fields)
    link, secret = services.share(
        caller.team, shown, title=title, days=days, by=caller.user, now=timezone.now()
    )
    url = f"{settings.SITE_URL}{reverse('shared', args=[secret])}"
    return Status(201, schemas.shown_link(link, "live", url=url))


@shared_links.write("DELETE", "/shared-links/{int:link_id}", Role.OWNER, None, status=204, archived_too=True)
def revoke_shared_link(request: TokenRequest, link_id: int) -> Any:
    """Revoke a link: it shows nothing any more."""
    link = selected.link_for(request.auth.team, link_id)
    services.revoke(link, by=request.auth.user, now=timezone.now())
    return Status(204, None)
