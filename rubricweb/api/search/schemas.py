"""Shapes of what a search finds."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.selectors.search import KINDS, PER_KIND


class SearchQuery(BaseModel):
    q: Annotated[str, Field(max_length=200, description="Words that must all stand in a name; or an id.")] = (
        ""
    )
    kind: Annotated[
        list[str], Field(max_length=len(KINDS), description=f"Only these kinds: {', '.join(KINDS)}.")
    ] = []
    limit: Annotated[int, Field(ge=1, le=50, description="How many of each kind at most.")] = PER_KIND


class SearchHit(Schema):
    """A row that was found. What it is called and where it belongs are texts for people."""

    kind: Annotated[str, Field(examples=["run"])]
    id: int
    name: str
    detail: Annotated[str, Field(description="The dataset it belongs to, a role, …; may be empty.")]
    when: Annotated[datetime | None, Field(description="When it was made or last changed.")]


class SearchHits(Schema):
    items: list[SearchHit]
