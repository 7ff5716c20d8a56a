"""Shapes of the tags of cases."""

from typing import Annotated

from ninja import Schema
from pydantic import Field

from rubricweb.api.datasets.version_schemas import Ids
from rubricweb.api.schemas import Input
from rubricweb.api.shapes import Shape
from rubricweb.engine.formats.datasets.case_tags import MAX_TAG, MAX_TAGS
from rubricweb.selectors.datasets.tags import TagCount as ShownTagCount
from rubricweb.services.datasets.tags.tagging import TagChange as ShownTagChange

Tags = Annotated[
    list[str],
    Field(
        max_length=MAX_TAGS,
        description=f"Up to {MAX_TAG} characters each, without comma and semicolon; kept in lower case.",
    ),
]


class TagCount(Shape[ShownTagCount]):
    """A tag, and how many cases of the dataset have it."""


class TagsToChange(Input):
    """Cases by their ids, by the ids of items that answer them, or both; and what becomes of their tags."""

    item_ids: Ids = []
    case_ids: Ids = []
    add: Tags = []
    remove: Tags = []


class TagChange(Shape[ShownTagChange]):
    """Which tags so many cases were given, and which were taken away from them.

    `cases` counts those that were named, whichever tags they had.
    """


class TagsOfCase(Input):
    tags: Tags


class CaseTags(Schema):
    tags: Annotated[list[str], Field(description="In alphabetical order.")]
