"""Shapes of a run's progress and its log."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import OneOf
from rubricweb.api.shapes import Shape
from rubricweb.models import RunState
from rubricweb.selectors.runs.progress import WAITING
from rubricweb.selectors.runs.progress import AtWork as ShownAtWork
from rubricweb.services.runs.events import EVENT_KINDS


class AtWork(Shape[ShownAtWork]):
    """A worker process at the run, as `host:pid`, with the calls it has in flight; null while `withheld`."""


class Progress(Schema):
    """How far a run is. `verdicts` and `errors` are those of `graded` items; `working` items are held by a
    worker. What is unknown is null.

    While it is `withheld`, everything about calls, their cost and what failed is null: in a cascade it would
    tell what a judge said about items you are still to review blind.
    """

    state: Annotated[str, OneOf(RunState.values)]
    items: int
    graded: int
    errored: Annotated[int | None, Field(description="Graded items with at least one error.")]
    working: int
    share: Annotated[float, Field(description="Share of items graded, 0 to 1.")]
    verdicts: int | None
    errors: int | None
    calls: Annotated[
        int | None, Field(description="Questions asked; a question and its retries are one call.")
    ]
    cached: Annotated[int | None, Field(description="Questions answered from earlier answers, at no cost.")]
    attempts: Annotated[int | None, Field(description="Requests sent, retries among them.")]
    in_flight: Annotated[int | None, Field(description="Requests under way right now.")]
    calls_per_second: Annotated[float | None, Field(description="Over the last minute.")]
    seconds_left: float | None
    prompt_tokens: int | None
    cached_prompt_tokens: Annotated[
        int | None, Field(description="Those of `prompt_tokens` that providers had in their caches.")
    ]
    completion_tokens: int | None
    cost_usd: Annotated[float | None, Field(description="What is known to be spent.")]
    cache_saved_usd: Annotated[
        float | None,
        Field(description="How much higher `cost_usd` would be without the providers' caches of prompts."),
    ]
    cache_saved_share: Annotated[
        float | None, Field(description="The same as a share of what it would be, 0 to 1.")
    ]
    unpriced: Annotated[
        int | None,
        Field(
            description="Calls of unknown cost; in `cost_usd` with what was set aside for them, where a cap "
            "held."
        ),
    ]
    lost_calls: Annotated[
        int | None,
        Field(description="Requests cut off or never answered, perhaps paid for."),
    ]
    lost_at_most_usd: Annotated[
        float | None, Field(description="What the lost calls cost at most; it counts against the caps.")
    ]
    held_usd: Annotated[
        float | None,
        Field(description="Set aside for calls in flight and batches at a provider; not in `cost_usd`."),
    ]
    budget_usd: Annotated[float | None, Field(description="What the run may cost; null is no cap.")]
    month_usd: Annotated[
        float | None,
        Field(
            description="What all runs of the team cost in this month (UTC); null without a cap on it, and "
            "while a run among them is withheld from you."
        ),
    ]
    month_budget_usd: float | None
    latest_call_at: datetime | None
    workers: list[AtWork]
    waiting: Annotated[
        str, OneOf(["", *WAITING]), Field(description="What it waits for; empty while it goes on.")
    ]
    stop_reason: Annotated[str, Field(description="Why it stopped before everything was graded.")]
    start_command: Annotated[str, Field(description="What starts a worker, while none is running.")]
    poll_seconds: Annotated[
        int | None, Field(description="How soon to ask again; null once nothing changes any more.")
    ]
    withheld: Annotated[
        bool, Field(description="Whether calls, cost and errors wait until you have reviewed blind.")
    ]


class RunEvent(Schema):
    """One line of the log. Equal lines within a minute are one, with a `count`."""

    id: int
    kind: Annotated[str, OneOf(EVENT_KINDS)]
    message: str
    count: int
    created_at: datetime
    latest_at: datetime
