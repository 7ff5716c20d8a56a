"""Shapes of links that show figures to people without an account."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Input, OneOf, Username, WithFields
from rubricweb.models import SharedKind, SharedLink
from rubricweb.selectors.teams.shared_links import LINK_STATES
from rubricweb.services.sharing import links as services


class NewSharedLink(Input):
    """Which page a link shows as it is now, by the ids of what it is of, and for how long."""

    page: Annotated[str, OneOf(SharedKind.values)]
    title: Annotated[
        str,
        Field(max_length=services.TITLE_MAX, description="The heading; empty is the name of what is shown."),
    ] = ""
    days: Annotated[int, Field(description="1, 7 or 30.")] = 7
    run_id: Annotated[int | None, Field(description="Of a comparison, or the run of a run-diff.")] = None
    baseline_id: Annotated[int | None, Field(description="The other run of a run-diff.")] = None
    queue_ids: Annotated[
        list[int], Field(max_length=100, description="Whose labels a comparison is with; empty is all.")
    ] = []
    dataset_id: Annotated[int | None, Field(description="Of a dashboard; null is all datasets.")] = None
    rubric_id: Annotated[int | None, Field(description="Narrows a dashboard.")] = None
    series: Annotated[str, Field(max_length=20, description="Narrows a dashboard to one series.")] = ""


class Link(Schema):
    """A link to figures as they were; `paused` shows nothing while somebody reviews its answers blind."""

    id: int
    page: str
    title: str
    state: Annotated[str, OneOf(LINK_STATES)]
    created_by: Username | None
    created_at: datetime
    expires_at: datetime
    opened: Annotated[int, Field(description="How often it was opened.")]
    opened_at: datetime | None


class MadeLink(Link):
    url: Annotated[str, Field(description="To be handed out, shown this once.")]


def shown_link(link: SharedLink, state: str, **more: Any) -> WithFields:
    """A link as `Link` shows it."""
    return WithFields(link, page=link.kind, state=state, **more)
