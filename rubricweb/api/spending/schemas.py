"""Shapes of what models cost, what a month has cost, and how long calls are kept."""

from datetime import date, datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Input, InputAsText, Named
from rubricweb.api.shapes import Shape
from rubricweb.selectors.spending.month_figures import RunCost as ShownRunCost

Usd = Annotated[float, Field(description="US dollars per million tokens.")]
CachedUsd = Annotated[
    float | None,
    Field(description="US dollars per million tokens; null bills what the provider had in its cache alike."),
]


class Price(Schema):
    input_usd_per_million: Usd
    cached_input_usd_per_million: CachedUsd
    output_usd_per_million: Usd


class PriceLine(Schema):
    """What one model costs the team, where no endpoint has a price of its own."""

    model: str
    price: Annotated[Price | None, Field(description="What runs go by; null when nobody knows it.")]
    price_source: Annotated[
        str,
        Field(
            description="Whose price it is: the team's, a dated list's, or nobody's.",
            examples=["team", "list of 2026-11-28", ""],
        ),
    ]
    shipped: Annotated[Price | None, Field(description="What the list says; null when it is not listed.")]
    shipped_as_of: Annotated[
        date | None, Field(description="The day of which `shipped` is; null when it is not listed.")
    ]
    updated_at: Annotated[
        datetime | None, Field(description="When the team set its own price; null when it has none.")
    ]
    endpoints: Annotated[list[str], Field(description="Names of those that ask the model at this price.")]
    apart: Annotated[list[str], Field(description="Names of those that ask it at a price of their own.")]

    @staticmethod
    def resolve_price_source(row: Any) -> str:
        return str(row.source)

    @staticmethod
    def resolve_endpoints(row: Any) -> list[str]:
        return list(row.endpoints)

    @staticmethod
    def resolve_apart(row: Any) -> list[str]:
        return list(row.apart)


class PriceChange(Input):
    """The whole price of one model: a cached price that is left out is none."""

    model: Annotated[str, Field(description="As endpoints name it, to the letter.", examples=["gpt-5-mini"])]
    input_usd_per_million: Usd
    cached_input_usd_per_million: CachedUsd = None
    output_usd_per_million: Usd


class PriceQuery(InputAsText):
    model: Annotated[str, Field(description="The model, to the letter.")]


class RunCost(Shape[ShownRunCost]):
    """What one run cost within the month; `unpriced` calls, of unknown cost, are in it with what was set
    aside for them, where a cap held. `lost_calls`, requests that were cut off or never answered and may have
    been paid for, cost at most `lost_at_most_usd` on top.

    Every figure is null while the run is `withheld`: you are to review some of its items blind. `of_tries`
    are all judges that were tried, which are no runs.
    """

    run: Annotated[
        Named | None, Field(description="Null: all runs that were deleted since, or, `of_tries`, none.")
    ]

    @staticmethod
    def resolve_run(row: Any) -> dict[str, Any] | None:
        return None if row.run is None else {"id": row.run.pk, "name": str(row.run)}


class Spent(Schema):
    spent_usd: float
    held_usd: Annotated[float, Field(description="Set aside for calls in flight.")]
    left_usd: Annotated[float | None, Field(description="What may still be set aside; null without a cap.")]
    share: Annotated[float | None, Field(description="Spent or lost at most, of the cap; null without one.")]
    unpriced: Annotated[
        int,
        Field(
            description="Calls of unknown cost; in `spent_usd` with what was set aside for them, where a cap "
            "held."
        ),
    ]
    lost_calls: Annotated[int, Field(description="Requests cut off or never answered; perhaps paid for.")]
    lost_at_most_usd: Annotated[
        float, Field(description="What those cost at most; not in `spent_usd`, but counted against the cap.")
    ]


class Spending(Schema):
    """What all runs of the team have cost in this calendar month, UTC, and the cap on it."""

    month: Annotated[date, Field(description="Its first day.")]
    monthly_budget_usd: Annotated[float | None, Field(description="Null is no cap.")]
    spending: Annotated[Spent | None, Field(description="Null while a run in it is withheld from you.")]
    runs: Annotated[list[RunCost], Field(description="The dearest first, twenty at most.")]
    more_runs: int

    @staticmethod
    def resolve_monthly_budget_usd(row: Any) -> float | None:
        cap: float | None = row.cap_usd
        return cap

    @staticmethod
    def resolve_runs(row: Any) -> list[Any]:
        return list(row.runs)


class SpendingChange(Input):
    monthly_budget_usd: Annotated[
        float | None, Field(description="US dollars per calendar month, all runs together; null for no cap.")
    ]


class PruningRound(Schema):
    at: datetime
    calls: Annotated[int | None, Field(description="Null while a run is withheld from you.")]
    before: Annotated[datetime, Field(description="Calls made before this were pruned.")]


class Retention(Schema):
    keep_calls_days: Annotated[
        int | None, Field(description="Days from when a call was made; null keeps them for ever.")
    ]
    rounds: Annotated[list[PruningRound], Field(description="The latest ten, newest first.")]


class RetentionChange(Input):
    keep_calls_days: Annotated[int | None, Field(description="Days; null keeps them for ever.")]
