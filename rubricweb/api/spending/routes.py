"""Operations about what is spent and kept: prices, the month's cap, how long calls are kept."""

from typing import Any

from django.utils import timezone
from ninja import Query, Status

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.schemas import list_of
from rubricweb.api.spending import schemas
from rubricweb.models import Role
from rubricweb.selectors.spending import month_figures
from rubricweb.services.endpoints import prices as services
from rubricweb.services.runs import budgets
from rubricweb.services.teams import retention

spending = Room("spending")


@spending.read("/prices", Role.VIEWER, list_of(schemas.PriceLine))
def list_prices(request: TokenRequest) -> Any:
    """What the team's models cost, by model, all on one page."""
    return {"items": services.list_for(request.auth.team), "next_cursor": None}


@spending.write("PUT", "/prices", Role.OWNER, schemas.Price)
def set_price(request: TokenRequest, body: schemas.PriceChange) -> Any:
    """Set what one model costs the team.

    Runs that have started keep the price they started with.
    """
    return services.set_price(request.auth.team, by=request.auth.user, **body.model_dump())


@spending.write("DELETE", "/prices", Role.OWNER, None, status=204)
def remove_price(request: TokenRequest, asked: Query[schemas.PriceQuery]) -> Any:
    """Forget the team's own price of a model: the shipped one counts again."""
    services.remove_price(request.auth.team, by=request.auth.user, model=asked.model)
    return Status(204, None)


@spending.read("/spending", Role.VIEWER, schemas.Spending)
def get_spending(request: TokenRequest) -> Any:
    """What this month has cost, run by run, and the cap on it."""
    return _month(request)


@spending.write("PATCH", "/spending", Role.OWNER, schemas.Spending)
def change_spending(request: TokenRequest, body: schemas.SpendingChange) -> Any:
    """Change the cap on a month.

    Calls asked from now on go by it.
    """
    caller = request.auth
    budgets.change_monthly_budget(caller.team, by=caller.user, monthly_budget_usd=body.monthly_budget_usd)
    return _month(request)


@spending.read("/retention", Role.VIEWER, schemas.Retention)
def get_retention(request: TokenRequest) -> Any:
    """How long prompts and raw replies are kept."""
    return _retention(request)


@spending.write("PATCH", "/retention", Role.OWNER, schemas.Retention)
def change_retention(request: TokenRequest, body: schemas.RetentionChange) -> Any:
    """Change how long prompts and raw replies are kept.

    What is due is pruned within the hour.
    """
    retention.change_retention(request.auth.team, by=request.auth.user, days=body.keep_calls_days)
    return _retention(request)


def _month(request: TokenRequest) -> month_figures.MonthFigures:
    caller = request.auth
    return month_figures.month_figures(caller.team, viewer=caller.user, now=timezone.now())


def _retention(request: TokenRequest) -> dict[str, Any]:
    caller = request.auth
    rounds = month_figures.pruning_rounds(caller.team, viewer=caller.user)
    return {"keep_calls_days": caller.team.keep_calls_days, "rounds": rounds}
