"""Links under which people without an account read figures as they were: made, opened, revoked."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from rubricweb.errors import Conflict, Invalid, NotFound, Withheld
from rubricweb.models import ReviewQueue, Run, SharedLink, Team, User
from rubricweb.selectors.blinding import hidden_from_somebody
from rubricweb.selectors.teams.shared_links import is_paused, live_links
from rubricweb.services.shared.journal import record
from rubricweb.services.sharing.pages import FrozenPage, Shown, freeze
from rubricweb.services.teams.teams import digest

DAYS = (1, 7, 30)
"""How long a link may live."""
LIVE_MAX = 100
"""How many links of a team may live at once."""
TITLE_MAX = 120
SECRET_BYTES = 32
"""256 random bits."""


def share(
    team: Team, shown: Shown, *, title: str, days: int, by: User, now: datetime
) -> tuple[SharedLink, str]:
    """A link that shows the page as it is now, and its secret, which is never stored. Raises as `freeze`.

    An empty `title` is the name of what is shown.
    """
    if len(title) > TITLE_MAX:
        raise Invalid.at("title", f"{len(title)} characters", f"at most {TITLE_MAX}")
    if days not in DAYS:
        raise Invalid.at("days", str(days), ", ".join(map(str, DAYS)))
    frozen = freeze(team, shown, by=by)
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        # Two who share at once are counted one after the other.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if live_links(now).filter(team=team).count() >= LIVE_MAX:
            raise Conflict(f"{LIVE_MAX} links are open, the most a team may have; revoke some first.")
        _require_still_there(team, frozen)
        link = SharedLink.objects.create(
            team=team,
            kind=frozen.kind,
            title=title.strip() or frozen.title[:TITLE_MAX],
            digest=digest(secret),
            page=frozen.page,
            address=frozen.address,
            created_by=by,
            expires_at=now + timedelta(days=days),
        )
        link.runs.set(frozen.runs)
        link.queues.set(frozen.queues)
        record(team, by, "shared", link, days=days)
    return link, secret


def open_link(secret: str, *, now: datetime, counts: bool = True) -> SharedLink:
    """The link of this secret, which is counted as opened; the first time stands in the audit log.

    Raises NotFound alike for one that was never made, has ended or is revoked, and Withheld while somebody is
    still to review some of it blind.
    """
    link = live_links(now).select_related("team").filter(digest=digest(secret)).first()
    if link is None or link.team.deleted_at is not None:
        raise NotFound("link")
    if is_paused(link, hidden_from_somebody(link.team)):
        raise Withheld(
            "People are reviewing these answers without seeing results. What this link shows appears again "
            "once they have finished."
        )
    if counts:
        with transaction.atomic():
            first = SharedLink.objects.filter(pk=link.pk, opened=0).update(opened=1, opened_at=now)
            if first:
                record(link.team, None, "first opened", link)
            else:
                SharedLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, opened_at=now)
    return link


@transaction.atomic
def revoke(link: SharedLink, *, by: User, now: datetime) -> None:
    """The link shows nothing from now on. Done twice it is written down once."""
    if SharedLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=now):
        record(link.team, by, "revoked", link, opened=SharedLink.objects.get(pk=link.pk).opened)


def _require_still_there(team: Team, frozen: FrozenPage) -> None:
    """What was deleted while the figures were counted is in no link. Holds the runs until that is stored."""
    runs = Run.objects.select_for_update(no_key=True).filter(
        team=team, pk__in=[run.pk for run in frozen.runs]
    )
    queues = ReviewQueue.objects.filter(team=team, pk__in=[queue.pk for queue in frozen.queues])
    if len(runs) != len(frozen.runs) or len(queues) != len(frozen.queues):
        raise Conflict("Something that this page shows has just been deleted. Look at it again, then share.")
