"""Who looks behind the letters that stand for raters."""

from rubricweb.models import Item
from rubricweb.services import adjudications as services
from rubricweb.web.http import TeamRequest


def note_names(request: TeamRequest, item: Item) -> None:
    """Who looks behind the letters is written down, once per item and sign-in."""
    noted = request.session.get("names_shown", [])
    if item.pk not in noted:
        services.note_names_shown(item, by=request.user)
        request.session["names_shown"] = [*noted, item.pk][-1000:]
