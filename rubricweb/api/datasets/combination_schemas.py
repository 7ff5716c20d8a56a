"""Shapes of datasets that are combined in one."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Id, Input, OneOf, Username
from rubricweb.models import CombinationState
from rubricweb.services.combinations.matching import MATCHES
from rubricweb.services.combinations.plans import MOST
from rubricweb.services.runs.budgets import MAX_BUDGET_USD


class CombinedPart(Input):
    """A dataset, and the version its items become answers of, as assistant@v3; "" keeps those they name."""

    dataset_id: Id
    system: Annotated[str, Field(max_length=201)] = ""


class NewCombination(Input):
    """Datasets that become one. `match` is by case id, else by what is asked; or by the ids of items."""

    name: Annotated[str, Field(max_length=200)]
    datasets: Annotated[list[CombinedPart], Field(max_length=MOST)]
    as_attempts: Annotated[
        bool, Field(description="Further answers of a version to a case are its next attempts, else refused.")
    ] = False
    match: Annotated[str, OneOf(MATCHES)] = "cases"
    archive_originals: bool = False


class CombinationRuns(Input):
    """Runs of the originals to start again. `budget_usd` is what each may cost at most."""

    run_ids: Annotated[list[Id], Field(max_length=100)]
    budget_usd: Annotated[float | None, Field(ge=0, le=MAX_BUDGET_USD)] = None
    no_cap: bool = False


class PlannedPart(Schema):
    """A dataset; `cases_alone` are in no other of them."""

    dataset_id: int
    systems: list[str]
    items: int
    retired: int
    cases_alone: int


class SharedCases(Schema):
    """How many cases are in how many of the datasets."""

    datasets: int
    cases: int


class CombinationConflict(Schema):
    """Why an item keeps the datasets from being combined."""

    place: str
    found: str
    allowed: str


class Rerun(Schema):
    """A finished run of an original, and what the same run over the new dataset comes to.

    At least `cached` of its `calls` are answered from earlier answers. `refused` says why it cannot be
    started again; else empty. `started_as` is the run it was started as.
    """

    run_id: int
    system: str
    calls: int
    cached: float
    refused: str
    started_as: int | None

    @staticmethod
    def resolve_run_id(row: Any) -> int:
        return int(row.run.pk)

    @staticmethod
    def resolve_cached(row: Any) -> float:
        return float(row.cached.low)


class CombinationPlan(Schema):
    """What a combination comes to; nothing is stored. With conflicts it would be refused.

    `by_id` items are matched by a case id. Ids in `other_words` are in several datasets with other words.
    Labels, reviews, revisions, adjudications and imported runs come along; `stays` names what does not.
    """

    name: str
    parts: list[PlannedPart]
    items: int
    cases: int
    by_id: int
    shared: list[SharedCases]
    conflicts: list[CombinationConflict]
    conflict_count: int
    other_words: list[str]
    reviews: int
    labels: int
    revisions: int
    adjudications: int
    imported_runs: int
    stays: list[str]
    runs: list[Rerun]


class Original(Schema):
    """A dataset that is combined with others."""

    dataset_id: int
    name: str

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.dataset)


class Combination(Schema):
    """Datasets on their way into one; `done`, `refused`, `failed` and `cancelled` are ends."""

    id: int
    name: str
    state: Annotated[str, OneOf(CombinationState.values)]
    datasets: Annotated[list[Original], Field(description="Without those that were deleted since.")]
    dataset_id: Annotated[
        int | None, Field(description="Null until the new dataset stands, and once it is deleted.")
    ]
    items_planned: int
    items_copied: int
    message: Annotated[str, Field(description="Why it was refused or failed; else empty.")]
    created_by: Username
    created_at: datetime
    ended_at: datetime | None

    @staticmethod
    def resolve_datasets(row: Any) -> Any:
        return row.parts.all()

    @staticmethod
    def resolve_dataset_id(row: Any) -> int | None:
        return row.dataset_id if row.state == CombinationState.DONE else None


class StartedRuns(Schema):
    """The runs that were started, in the order of those they repeat."""

    run_ids: list[int]


def plan_as_data(plan: Any, runs: Any) -> dict[str, Any]:
    """A plan with its runs, as `CombinationPlan` shows them."""
    names = ("items", "cases", "by_id", "conflict_count", "reviews", "labels", "revisions", "adjudications")
    return {name: getattr(plan, name) for name in (*names, "name", "imported_runs")} | {
        "parts": [
            {
                "dataset_id": part.dataset.pk,
                "systems": list(part.systems),
                "items": part.items,
                "retired": part.retired,
                "cases_alone": part.cases_alone,
            }
            for part in plan.parts
        ],
        "shared": [{"datasets": datasets, "cases": cases} for datasets, cases in plan.shared],
        "conflicts": [
            {"place": one.place, "found": one.found, "allowed": one.allowed} for one in plan.conflicts
        ],
        "other_words": list(plan.other_words),
        "stays": list(plan.stays),
        "runs": list(runs),
    }
