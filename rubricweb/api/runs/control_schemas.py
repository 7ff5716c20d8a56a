"""Shapes of what is asked of a run that was started."""

from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from rubricweb.api.runs.schemas import Run
from rubricweb.api.schemas import Id, Input
from rubricweb.services.runs.starting import MAX_CHOSEN


class Stop(Input):
    in_flight: Annotated[
        Literal["finish", "break_off"],
        Field(
            description="Whether calls that were sent may finish and be stored, or are broken off, "
            "which does not mean that they cost nothing."
        ),
    ] = "finish"


class Resumption(Input):
    error_kinds: Annotated[
        list[str] | None,
        Field(
            description="Ask again only for verdicts that failed this way, by the `kind` of an error; null "
            "for all of them, an empty list for none: then the run goes on with what was never graded."
        ),
    ] = None
    item_ids: Annotated[
        list[Id] | None,
        Field(max_length=MAX_CHOSEN, description="Ask again only for verdicts on these items; null for all."),
    ] = None


class ResumedRun(Schema):
    items: Annotated[int, Field(description="How many items will be worked on; 0 when nothing is missing.")]
    run: Run


class ExtendedRun(Schema):
    items: Annotated[int, Field(description="How many items are new in the run; 0 when none was added.")]
    run: Run


class Budget(Input):
    budget_usd: Annotated[
        float | None, Field(ge=0, lt=1e9, allow_inf_nan=False, description="US dollars; null for no cap.")
    ]
