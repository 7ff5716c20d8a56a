"""Operations that combine several datasets in one."""

from typing import Any

from ninja import Query

from rubricweb import access, tasks
from rubricweb.api.datasets import combination_schemas as schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors.datasets import combinations as selected
from rubricweb.selectors.shared.clock import database_now
from rubricweb.services.combinations import combinations as services
from rubricweb.services.combinations import plans, reruns
from rubricweb.services.combinations.matching import AskedPart

combinations = Room("datasets")


@combinations.write("POST", "/datasets/combinations/plan", Role.EDITOR, schemas.CombinationPlan)
def plan_combination(request: TokenRequest, body: schemas.NewCombination) -> Any:
    """Say what combining datasets would come to.

    Nothing is stored. The answer says which cases they share, what keeps them from being combined, what comes
    along, and how many calls of their runs would be answered from the cache.
    """
    asked = _asked(request, body)
    plan = plans.plan(request.auth.team, asked, viewer=request.auth.user)
    runs = reruns.planned(asked.parts, viewer=request.auth.user, now=database_now())
    return schemas.plan_as_data(plan, runs)


@combinations.write("POST", "/datasets/combinations", Role.EDITOR, schemas.Combination, status=202)
def combine_datasets(request: TokenRequest, body: schemas.NewCombination) -> Any:
    """Combine datasets in the background.

    Items are copied with submitted reviews, revisions, adjudications and imported runs; the originals stay as
    they are. The new dataset appears once all of it is copied. Ask for the combination again until it has
    ended. Refused (409) for a sealed split and while a blind queue over one of them is open.
    """
    asked = _asked(request, body)
    return services.start(request.auth.team, asked, by=request.auth.user, enqueue=tasks.notify_combination)


@combinations.read("/datasets/combinations", Role.EDITOR, list_of(schemas.Combination))
def list_combinations(request: TokenRequest, asked: Query[ListQuery]) -> Any:
    """Combinations of datasets, newest first."""
    return listed(selected.combinations(request.auth.team, cursor=asked.cursor, size=asked.limit))


@combinations.read("/datasets/combinations/{int:combination_id}", Role.EDITOR, schemas.Combination)
def get_combination(request: TokenRequest, combination_id: int) -> Any:
    """How far datasets are combined."""
    return access.access_combination(request.auth.team, combination_id)


@combinations.write(
    "POST", "/datasets/combinations/{int:combination_id}/cancel", Role.EDITOR, schemas.Combination
)
def cancel_combination(request: TokenRequest, combination_id: int) -> Any:
    """Stop combining datasets.

    Nothing of it stays. Refused (409) once it has ended.
    """
    combination = access.access_combination(request.auth.team, combination_id)
    services.cancel(combination, now=database_now())
    return combination


@combinations.read("/datasets/combinations/{int:combination_id}/runs", Role.EDITOR, list[schemas.Rerun])
def list_combined_runs(request: TokenRequest, combination_id: int) -> Any:
    """The runs of the originals to start again.

    The twenty newest that finished, each with the run it was started as; none before all is combined.
    """
    combination = access.access_combination(request.auth.team, combination_id)
    return reruns.of_combination(combination, viewer=request.auth.user, now=database_now())


@combinations.write(
    "POST",
    "/datasets/combinations/{int:combination_id}/runs",
    Role.EDITOR,
    schemas.StartedRuns,
    status=201,
)
def start_combined_runs(request: TokenRequest, combination_id: int, body: schemas.CombinationRuns) -> Any:
    """Start runs of the originals again over the combined dataset.

    Each is over the version its answers became, by the same judge and rubric: what was asked before is
    answered from the cache. All start or none. Refused (409) for a run that was started again before.
    """
    combination = access.access_combination(request.auth.team, combination_id)
    runs = reruns.start(
        combination,
        body.run_ids,
        by=request.auth.user,
        enqueue=tasks.notify,
        budget_usd=body.budget_usd,
        no_cap=body.no_cap,
    )
    return {"run_ids": [run.pk for run in runs]}


def _asked(request: TokenRequest, body: schemas.NewCombination) -> plans.CombinationRequest:
    parts = tuple(
        AskedPart(access.access_dataset(request.auth.team, one.dataset_id), one.system)
        for one in body.datasets
    )
    return plans.CombinationRequest(
        name=body.name,
        parts=parts,
        as_attempts=body.as_attempts,
        match=body.match,
        archive_originals=body.archive_originals,
    )
