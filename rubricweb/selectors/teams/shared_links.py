"""The links of a team that show figures to people outside, by what can be said of them."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet

from rubricweb.errors import Conflict, NotFound
from rubricweb.models import SharedLink, Team
from rubricweb.selectors.blinding import HiddenRuns

LINK_STATES = ("live", "paused", "expired", "revoked")
"""What becomes of a link: `paused` shows nothing while somebody is still to review some of it blind."""
SHOWN_MAX = 500


def live_links(now: datetime) -> QuerySet[SharedLink]:
    """Those that have neither ended nor been revoked."""
    return SharedLink.objects.filter(revoked_at=None, expires_at__gt=now)


def links_of(team: Team) -> list[SharedLink]:
    """The newest SHOWN_MAX links of a team, without what they show."""
    rows = SharedLink.objects.filter(team=team).select_related("created_by", "team").defer("page")
    return list(rows.prefetch_related("runs")[:SHOWN_MAX])


def link_for(team: Team, link_id: int) -> SharedLink:
    """The access check of a link."""
    rows = SharedLink.objects.filter(team=team).select_related("team", "created_by").defer("page")
    link = rows.filter(pk=link_id).first() if 0 < link_id < 2**63 else None
    if link is None:
        raise NotFound("shared link")
    return link


def link_called(team: Team, name: str) -> SharedLink:
    """By its number, else by its title. Raises NotFound, and Conflict where several have that title."""
    if name.isascii() and name.isdigit() and len(name) < 19:
        return link_for(team, int(name))
    found = [link for link in links_of(team) if link.title == name]
    if not found:
        raise NotFound(f"shared link {name!r}")
    if len(found) > 1:
        raise Conflict(f"{len(found)} links are called {name!r}: say which by its number.")
    return found[0]


def is_paused(link: SharedLink, hidden: Sequence[HiddenRuns]) -> bool:
    """Whether somebody, from whom one of `hidden` is hidden, is still to review some of what it shows."""
    return bool(hidden) and any(run in one for run in link.runs.all() for one in hidden)


def link_state(link: SharedLink, hidden: Sequence[HiddenRuns], *, now: datetime) -> str:
    """One of LINK_STATES."""
    if link.revoked_at is not None:
        return "revoked"
    if link.expires_at <= now:
        return "expired"
    return "paused" if is_paused(link, hidden) else "live"
