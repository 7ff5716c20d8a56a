"""Operations that hold a run against another one over the same dataset."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import cut
from rubricweb.api.runs.diff import schemas
from rubricweb.api.schemas import Id, WithFields, list_of
from rubricweb.errors import NotFound
from rubricweb.models import Role, Run
from rubricweb.selectors.runs.diff import diff as selected
from rubricweb.selectors.runs.diff import items
from rubricweb.selectors.runs.diff.item import item_in_both
from rubricweb.selectors.runs.over_time.version_pairs import version_called, version_pair
from rubricweb.selectors.shared.left_out import left_out

run_diff = Room("comparison")


@run_diff.read("/runs/{int:run_id}/against/{int:baseline_id}", Role.VIEWER, schemas.RunDiff)
def compare_runs(request: TokenRequest, run_id: int, baseline_id: int) -> Any:
    """A run against an earlier one over the same dataset: scores, criteria, what differs between them.

    Paired by item where both judged the same items, else by case, as the answers of two system versions are.
    Items without a score in both runs, abstentions and errors are counted beside the differences, never in
    them. Items you are still to review blind are left out.
    """
    run, baseline = _both(request, run_id, baseline_id)
    return selected.run_diff(run, baseline, viewer=request.auth.user)


@run_diff.read("/system-versions/against", Role.VIEWER, schemas.RunDiff)
def compare_versions(request: TokenRequest, asked: Query[schemas.VersionsQuery]) -> Any:
    """Two system versions, by the newest finished runs over their answers that were graded alike.

    `run` and `baseline` say which runs were taken. Refused (422) naming the one that is missing.
    """
    team = request.auth.team
    pair = version_pair(
        team,
        version_called(team, asked.version),
        version_called(team, asked.baseline),
        dataset=access.access_dataset(team, asked.dataset) if asked.dataset is not None else None,
        judge=asked.judge,
    )
    return selected.run_diff(pair.run, pair.baseline, viewer=request.auth.user)


@run_diff.read(
    "/runs/{int:run_id}/against/{int:baseline_id}/items",
    Role.VIEWER,
    list_of(schemas.ItemChange, leaves_out=True),
)
def list_item_changes(
    request: TokenRequest, run_id: int, baseline_id: int, asked: Query[schemas.ItemChangeQuery]
) -> Any:
    """The items, or cases, of two runs: regressions first, then fixes, the largest first; then all others.

    `left_out` counts those you are still to review blind.
    """
    run, baseline = _both(request, run_id, baseline_id)
    selected.require_comparable(run, baseline)
    changes = items.item_changes(run, baseline, items.hidden_from(run, request.auth.user))
    hidden = left_out(to_review_blind=changes.paired.hidden)
    page = cut(items.narrowed(changes, asked.change or ""), asked, key=lambda one: one.place)
    return page | {"items": items.item_rows(page["items"], run, baseline), "left_out": hidden}


@run_diff.read(
    "/runs/{int:run_id}/against/{int:baseline_id}/items/{int:item_id}", Role.VIEWER, schemas.ItemInBoth
)
def get_item_in_both_runs(
    request: TokenRequest, run_id: int, baseline_id: int, item_id: int, beside: Id | None = None
) -> Any:
    """One item, or two answers to its case, side by side: both runs' verdicts with their reasons.

    Of several answers to a case `beside` is the item to show on the other side. Withheld (403) while you are
    still to review one of them blind.
    """
    run, baseline = _both(request, run_id, baseline_id)
    item = access.access_item(request.auth.team, item_id)
    both = item_in_both(run, baseline, item, viewer=request.auth.user, beside=beside)
    if both is None:
        raise NotFound("item in these runs")
    return WithFields(both, answers_changed=both.differing)


def _both(request: TokenRequest, run_id: int, baseline_id: int) -> tuple[Run, Run]:
    team = request.auth.team
    return access.access_run(team, run_id), access.access_run(team, baseline_id)
