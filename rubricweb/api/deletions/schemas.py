"""Shapes of what is deleted for good."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Input, OneOf
from rubricweb.models import DeletionState
from rubricweb.selectors.deletions import KINDS

Counts = Annotated[
    dict[str, int],
    Field(description="How many of what go with it.", examples=[{"items": 300, "runs": 2, "verdicts": 1800}]),
]


class DeletionPlan(Schema):
    """What deleting something would do; nothing is deleted yet."""

    kind: Annotated[str, OneOf(KINDS)]
    name: Annotated[str, Field(description="What is to be sent to delete it.")]
    counts: Counts
    stays: Annotated[list[str], Field(description="What one might expect to go, and does not: sentences.")]
    refused: Annotated[
        str, Field(description="What is to be done before it can be deleted; empty when it can be.")
    ]

    @staticmethod
    def resolve_stays(row: Any) -> list[str]:
        return list(row.stays)


class DeletionName(Input):
    name: Annotated[str, Field(max_length=500, description="Its name, so that no other thing is deleted.")]


class Deletion(Schema):
    """Something that was deleted: out of sight at once, its rows removed in the background."""

    id: int
    kind: Annotated[str, OneOf(KINDS)]
    row_id: Annotated[int, Field(description="The id it had.")]
    name: str
    planned: Counts
    state: Annotated[str, OneOf(DeletionState.values)]
    share: Annotated[float, Field(description="Of the rows to be removed, those that are, about: 0 to 1.")]
    message: Annotated[str, Field(description="Why it failed; else empty.")]
    deleted_by: str | None
    deleted_at: datetime
    ended_at: datetime | None

    @staticmethod
    def resolve_deleted_by(row: Any) -> str | None:
        return None if row.deleted_by is None else str(row.deleted_by)
