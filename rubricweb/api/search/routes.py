"""The operation that searches everything of a team."""

from typing import Any

from ninja import Query

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.search import schemas
from rubricweb.models import Role
from rubricweb.selectors import search as selectors

search = Room("search")


@search.read("/search", Role.VIEWER, schemas.SearchHits)
def search_team(request: TokenRequest, asked: Query[schemas.SearchQuery]) -> Any:
    """Find rubrics, datasets, runs, queues, judges, systems, cases, items and people by name.

    A number is also an id. Items are found by the first words of prompt and submission, among the first 500
    of each of the 20 newest datasets, and by their whole key in all of these; `GET /datasets/{dataset}/items`
    searches all of one. The newest of each kind come first. What is withheld finds nothing.
    Without `q` the answer is what was made or changed last.
    """
    if not asked.q.strip():
        return {"items": selectors.recent(request.auth.team, size=asked.limit)}
    hits = selectors.search(
        request.auth.team, asked.q, viewer=request.auth.user, kinds=asked.kind, size=asked.limit
    )
    return {"items": hits}
