"""What a list says of rows that are archived."""

from typing import Any

from rubricweb.models import Dataset, ReviewQueue, Rubric, unarchived
from rubricweb.web.http import TeamRequest


def archive_link(request: TeamRequest, model: type[Dataset | Rubric | ReviewQueue]) -> dict[str, Any]:
    """Whether the archived rows are asked for, and how many there are: for `shared/frame/_archived.html`."""
    rows = model._default_manager.filter(unarchived(archived=True), team=request.team)
    return {"archived": request.GET.get("archived") == "1", "archived_count": rows.count()}
