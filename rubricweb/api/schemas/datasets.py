"""Shapes of datasets and items."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.rubrics import VersionReference
from rubricweb.api.schemas.shared import OneOf, Prompt, Username
from rubricweb.selectors.datasets import ITEM_ORDERS


class DatasetQuery(ListQuery):
    search: Annotated[str, Field(max_length=200, description="Part of the name.")] = ""


class DatasetInList(Schema):
    id: int
    name: str
    description: str
    item_count: int
    run_count: int
    created_at: datetime

    @staticmethod
    def resolve_item_count(row: Any) -> int:
        return row.item_count or 0


class Dataset(Schema):
    """`own_rubric_count` items bring a rubric of their own; `rubric_version` came in the same file."""

    id: int
    name: str
    description: str
    prompt: Prompt
    reference: str | None
    rubric_version: VersionReference | None
    item_count: int
    own_rubric_count: int
    created_by: Username
    created_at: datetime


class ItemQuery(ListQuery):
    search: Annotated[
        str, Field(max_length=200, description="Part of the id, description or submission.")
    ] = ""
    sort: Annotated[str, OneOf(ITEM_ORDERS)] = "position"


class ItemInList(Schema):
    """An item without its bodies. `key` is its id in the file it came from."""

    id: int
    key: str
    position: int
    description: str
    excerpt: Annotated[str, Field(description="The beginning of the submission.")]
    characters: Annotated[int, Field(description="The length of the submission.")]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]


class Item(Schema):
    """A submission as raters and judges see it: the dataset fills in a missing prompt or reference."""

    id: int
    dataset_id: int
    key: str
    position: int
    description: str
    submission: str
    thinking: str | None
    prompt: Prompt
    reference: str | None
    metadata: dict[str, Any]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]

    @staticmethod
    def resolve_prompt(item: Any) -> Any:
        return item.to_engine().query

    @staticmethod
    def resolve_reference(item: Any) -> str | None:
        reference: str | None = item.to_engine().reference
        return reference
