"""What a list shows of the views people saved of it."""

from typing import Any

from rubricweb.models import Dataset
from rubricweb.selectors.saved_views import saved_views
from rubricweb.services.teams.saved_views import narrowing
from rubricweb.web.http import TeamRequest


def views_of_list(request: TeamRequest, kind: str, dataset: Dataset | None = None) -> dict[str, Any]:
    """The pinned views of the list, and how it is narrowed now, "" where it is not. One query."""
    query = narrowing(kind, request.META.get("QUERY_STRING", ""))
    pinned = [
        row for row in saved_views(request.team, request.user, kind=kind, dataset=dataset) if row.pinned
    ]
    return {
        "view_kind": kind,
        "view_dataset": dataset,
        "view_query": query,
        "pinned_views": pinned,
    }
