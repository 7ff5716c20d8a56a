"""Shapes of saved views."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.schemas import Id, Input, OneOf
from rubricweb.models import ViewKind

ViewKindName = Annotated[str, OneOf(ViewKind.values)]


class SavedViewQuery(BaseModel):
    kind: ViewKindName | None = None


class SavedView(Schema):
    """A list as somebody narrowed it. Only views of items have a dataset."""

    id: int
    name: str
    kind: ViewKindName
    dataset_id: int | None
    query: Annotated[str, Field(description="What the address of its list says, as `labels=none&split=dev`.")]
    shared: bool
    pinned: bool
    created_at: datetime


class NewView(Input):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: ViewKindName
    dataset_id: Id | None = None
    query: Annotated[str, Field(max_length=2000)] = ""
    shared: Annotated[bool, Field(description="With the team; needs an editor.")] = False


class ViewChanges(Input):
    """What is left out, or null, stays."""

    name: Annotated[str | None, Field(max_length=100)] = None
    shared: bool | None = None
    pinned: bool | None = None
