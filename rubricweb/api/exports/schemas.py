"""What an export is asked for."""

from typing import Annotated

from pydantic import BaseModel, Field

from rubricweb.api.schemas.shared import Id, OneOf
from rubricweb.services.exports import CONTENTS, EXPORT_FORMATS


class ExportQuery(BaseModel):
    what: Annotated[str, OneOf(CONTENTS)]
    format: Annotated[str, OneOf(EXPORT_FORMATS)]
    dataset: Id
    queue: Annotated[list[Id], Field(max_length=100, description="Queues of labels; repeat it.")] = []
    run: Annotated[Id | None, Field(description="The run whose verdicts go in as well.")] = None
