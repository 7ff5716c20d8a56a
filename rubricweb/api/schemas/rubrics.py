"""Shapes of rubrics: drafts, versions, criteria."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import ConfigDict, Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.shared import Input, Username
from rubricweb.engine.rubric import MAX_CRITERIA


class RubricQuery(ListQuery):
    search: Annotated[str, Field(max_length=200, description="Part of the title.")] = ""


class RubricInList(Schema):
    """`newest_number` is null while there is only a draft."""

    id: int
    title: str
    newest_number: int | None
    run_count: int
    draft_revision: int
    created_at: datetime
    updated_at: datetime


class Rubric(Schema):
    """The draft as it was saved last, valid or not, and how many times it was saved."""

    id: int
    title: str
    draft: dict[str, Any]
    draft_revision: int
    created_by: Username
    created_at: datetime
    updated_at: datetime


class DraftCriterion(Input):
    """Keys left out stay out. Whether a criterion is valid is checked when the draft is published."""

    name: str | None = None
    weight: float | str | None = None
    requirement: str | None = None
    group: str | None = None
    guidance: str | None = None
    tags: list[str] | None = None
    met_example: str | None = None
    unmet_example: str | None = None


EXAMPLE_DRAFT: Any = {
    "title": "Capitals",
    "guidelines": "Judge the answer only.",
    "criteria": [
        {"name": "capital", "weight": 10, "requirement": "Names Paris as the capital."},
        {"name": "wrong_country", "weight": -15, "requirement": "Places Paris outside France."},
    ],
}


class Draft(Input):
    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_DRAFT]})

    title: Annotated[str, Field(min_length=1, max_length=200)]
    guidelines: str = ""
    criteria: Annotated[list[DraftCriterion], Field(max_length=MAX_CRITERIA)] = []

    def content(self) -> dict[str, Any]:
        """The draft as it is stored: with what was sent and nothing else."""
        return self.model_dump(exclude_unset=True)


class DraftSave(Input):
    """`revision` is the `draft_revision` your change began from; a newer one is a conflict."""

    revision: Annotated[int, Field(ge=0)]
    draft: Draft


class Publication(Input):
    note: Annotated[str, Field(max_length=300, description="What changed, in a line.")] = ""


class Criterion(Schema):
    """`weight` is negative for an error to avoid."""

    id: int
    position: int
    name: str
    weight: float
    requirement: str
    group: str
    guidance: str
    tags: list[str]
    met_example: str
    unmet_example: str


class VersionInList(Schema):
    id: int
    number: int
    title: str
    note: str
    criterion_count: int
    run_count: int
    queue_count: int
    published_by: Username
    published_at: datetime


class RubricVersion(Schema):
    """A rubric as published: it never changes."""

    id: int
    rubric_id: int
    number: int
    title: str
    guidelines: str
    note: str
    published_by: Username
    published_at: datetime
    criteria: list[Criterion]


class VersionReference(Schema):
    id: int
    number: Annotated[int | None, Field(description="Null for a rubric that came with an item.")]
    title: str
