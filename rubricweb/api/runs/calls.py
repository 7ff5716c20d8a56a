"""Operations about the calls behind a run's verdicts."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery
from rubricweb.api.runs import call_schemas as schemas
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.models import Role
from rubricweb.selectors.runs import calls as selected

run_calls = Room("runs")


@run_calls.read("/runs/{int:run_id}/items/{int:item_id}/calls", Role.VIEWER, list_of(schemas.Call))
def list_calls(request: TokenRequest, run_id: int, item_id: int, asked: Query[ListQuery]) -> Any:
    """Every call about one item of a run, oldest first: the exact request, the raw reply, usage.

    Withheld (403) while you are still to review the item blind.
    """
    run = access.access_run(request.auth.team, run_id)
    item = access.access_item(request.auth.team, item_id)
    page = selected.calls_in_full(run, item, viewer=request.auth.user, cursor=asked.cursor, size=asked.limit)
    rows = [
        WithFields(
            one.call,
            judge=one.judge,
            request=one.request,
            messages=one.messages,
            reasoning=one.reasoning,
            pruned_at=one.pruned_at,
            withheld=one.withheld,
        )
        for one in page.rows
    ]
    return {"items": rows, "next_cursor": page.next_cursor}
