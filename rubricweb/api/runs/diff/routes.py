"""Operations that hold a run against another one over the same dataset."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import cut
from rubricweb.api.runs.diff import schemas
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.errors import NotFound
from rubricweb.models import Role, Run
from rubricweb.selectors.runs.diff import diff as selected
from rubricweb.selectors.runs.diff import items
from rubricweb.selectors.runs.diff.item import item_in_both

run_diff = Room("comparison")


@run_diff.read("/runs/{int:run_id}/against/{int:baseline_id}", Role.VIEWER, schemas.RunDiff)
def compare_runs(request: TokenRequest, run_id: int, baseline_id: int) -> Any:
    """A run against an earlier one over the same dataset: scores, criteria, what differs between them.

    Items without a score in both runs, abstentions and errors are counted beside the differences, never in
    them. Items you are still to review blind are left out.
    """
    run, baseline = _both(request, run_id, baseline_id)
    return selected.run_diff(run, baseline, viewer=request.auth.user)


@run_diff.read("/runs/{int:run_id}/against/{int:baseline_id}/items", Role.VIEWER, list_of(schemas.ItemChange))
def list_item_changes(
    request: TokenRequest, run_id: int, baseline_id: int, asked: Query[schemas.ItemChangeQuery]
) -> Any:
    """The items of two runs: regressions first, then fixes, the largest first; then all others.

    Items you are still to review blind are left out.
    """
    run, baseline = _both(request, run_id, baseline_id)
    selected.require_comparable(run, baseline)
    changes = items.item_changes(run, baseline, items.hidden_from(run, request.auth.user))
    page = cut(items.narrowed(changes, asked.change or ""), asked, key=lambda one: one.place)
    return page | {"items": items.item_rows(page["items"], run, baseline)}


@run_diff.read(
    "/runs/{int:run_id}/against/{int:baseline_id}/items/{int:item_id}", Role.VIEWER, schemas.ItemInBoth
)
def get_item_in_both_runs(request: TokenRequest, run_id: int, baseline_id: int, item_id: int) -> Any:
    """One item side by side: both runs' answers with their reasons.

    Withheld (403) while you are still to review the item blind.
    """
    run, baseline = _both(request, run_id, baseline_id)
    item = access.access_item(request.auth.team, item_id)
    found = item_in_both(run, baseline, item, viewer=request.auth.user)
    if found is None:
        raise NotFound("item in these runs")
    return WithFields(found, answers_changed=found.differing)


def _both(request: TokenRequest, run_id: int, baseline_id: int) -> tuple[Run, Run]:
    team = request.auth.team
    return access.access_run(team, run_id), access.access_run(team, baseline_id)
