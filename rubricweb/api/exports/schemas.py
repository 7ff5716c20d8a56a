"""What an export is asked for."""

from typing import Annotated

from pydantic import BaseModel, Field

from rubricweb.api.schemas import Id, OneOf
from rubricweb.api.shapes import Shape
from rubricweb.selectors.exports import recorded
from rubricweb.services.exports import CONTENTS, EXPORT_FORMATS


class ExportQuery(BaseModel):
    what: Annotated[str, OneOf(CONTENTS)]
    format: Annotated[str, OneOf(EXPORT_FORMATS)]
    dataset: Id
    queue: Annotated[list[Id], Field(max_length=100, description="Queues of labels; repeat it.")] = []
    run: Annotated[Id | None, Field(description="The run whose verdicts go in as well.")] = None
    item: Annotated[
        list[Id], Field(max_length=500, description="Only these items; repeat it. All of them by default.")
    ] = []


class WithheldQuery(BaseModel):
    dataset: Id


class WithheldItems(BaseModel):
    items: Annotated[list[str], Field(description="Ids of the items as files hold them, in dataset order.")]
    why: Annotated[str, Field(description="What is left out and what to do; empty where nothing is.")]


class ExportedDecision(Shape[recorded.ExportedDecision]):
    """A decision by which an export counts labels of earlier words; `replaced_at` once it holds no more."""


class RecordedExport(Shape[recorded.RecordedExport]):
    """One export as the audit log has it."""
