"""What models cost: an endpoint's own price, else the team's, else the list that is shipped, else unknown."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.conf import settings
from django.db import transaction

from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, NotFound
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.prices.shipped import AS_OF, Price, shipped_price
from rubricweb.judges.prices.shipped import SHIPPED as LISTED
from rubricweb.models import JudgeEndpoint, ModelPrice, Team, User, unarchived
from rubricweb.services.shared.journal import record

ENDPOINT = "endpoint"
TEAM = "team"
SHIPPED = f"list of {AS_OF:%Y-%m-%d}"
UNKNOWN = ""
"""Where a price comes from, as `JudgeConfig.price_source` keeps it with a run."""

MAX_USD_PER_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class PriceLine:
    """What one model costs this team.

    `price` and `source` are what runs go by, unless an endpoint has a price of its own; None and UNKNOWN
    where nobody knows. `shipped` is the listed price, None when it is not listed; `updated_at` when the team
    set its own, None when it has none. `endpoints` are the names of the team's endpoints that ask the model
    at this price, `apart` of those that ask it at a price of their own.
    """

    model: str
    price: Price | None
    source: str
    shipped: Price | None
    updated_at: datetime | None
    endpoints: tuple[str, ...]
    apart: tuple[str, ...] = ()

    @property
    def shipped_as_of(self) -> date | None:
        """The day of which the listed price is."""
        return None if self.shipped is None else AS_OF


def model_names(judges: Mapping[str, JudgeConfig]) -> tuple[str, ...]:
    """Names to choose a model from: those these judges ask, then those of the shipped list."""
    asked = (name for config in judges.values() for name in (config.model, config.fallback_model) if name)
    return tuple(dict.fromkeys((*asked, *LISTED)))


def priced(team: Team, judges: Mapping[str, JudgeConfig]) -> dict[str, JudgeConfig]:
    """The same judges with their prices and where these come from; one query, none when all have one.

    A judge whose prices for input and output are both set keeps them: they are its endpoint's own. Its
    fallback model costs what the team or the list says; at an endpoint that is free, nothing.
    """
    models = {config.model for config in judges.values() if config.cost_usd(0, 0) is None}
    models |= {config.fallback_model for config in judges.values()} - {""}
    rows = ModelPrice.objects.filter(team=team, model__in=models) if models else ()
    own = {row.model: _of_row(row) for row in rows}
    return {judge_id: _with_fallback(_priced(config, own), own) for judge_id, config in judges.items()}


def for_model(team: Team, config: JudgeConfig, model: str) -> JudgeConfig:
    """The same endpoint asked for another model, under that model's name and at its price.

    The endpoint's own price is one for its own model, unless that is 0: then all its models are free.
    """
    if model == config.model:
        return replace(config, name=model)
    other = replace(config, model=model, name=model)
    if config.input_usd_per_million == 0.0 == config.output_usd_per_million:
        return other
    unpriced = replace(
        other,
        input_usd_per_million=None,
        cached_input_usd_per_million=None,
        output_usd_per_million=None,
        price_source=UNKNOWN,
    )
    return priced(team, {"": unpriced})[""]


def list_for(team: Team) -> list[PriceLine]:
    """The models this team's judges ask and those it has set a price for, by name. Two queries.

    Archived endpoints are no judges of it while they are.
    """
    rows = {row.model: row for row in ModelPrice.objects.filter(team=team)}
    asked: dict[str, list[str]] = {}
    apart: dict[str, list[str]] = {}
    for name, model, *own in (
        JudgeEndpoint.objects.filter(unarchived(), team=team, removed_at=None)
        .order_by("name")
        .values_list("name", "model", "input_usd_per_million", "output_usd_per_million")
    ):
        (asked if None in own else apart).setdefault(model, []).append(name)
    if settings.OPENAI_API_KEY:
        asked.setdefault(settings.OPENAI_MODEL, [])
    return [
        _line(model, rows.get(model), tuple(asked.get(model, ())), tuple(apart.get(model, ())))
        for model in sorted({*rows, *asked, *apart})
    ]


@transaction.atomic
def set_price(
    team: Team,
    *,
    by: User,
    model: str,
    input_usd_per_million: float,
    output_usd_per_million: float,
    cached_input_usd_per_million: float | None = None,
) -> ModelPrice:
    """What this model costs the team from now on; runs that have started keep the price they started with.

    The name is the one endpoints ask for, to the letter. Raises Invalid, naming the field, for an empty name
    and for what is no price.
    """
    model = model.strip()
    if not model or len(model) > 200:
        raise Invalid.at("model", repr(model[:60]), "the name of a model, 1 to 200 characters")
    prices = {
        "input_usd_per_million": input_usd_per_million,
        "cached_input_usd_per_million": cached_input_usd_per_million,
        "output_usd_per_million": output_usd_per_million,
    }
    faults = [
        Fault(place, repr(usd), "US dollars per million tokens, 0 to 1,000,000")
        for place, usd in prices.items()
        if usd is not None and not (math.isfinite(usd) and 0 <= usd <= MAX_USD_PER_MILLION)
    ]
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)
    price, _ = ModelPrice.objects.update_or_create(team=team, model=model, defaults=prices)
    record(team, by, "set the price of", price, **prices)
    return price


@transaction.atomic
def remove_price(team: Team, *, by: User, model: str) -> None:
    """Forgets the team's own price of a model: the shipped one counts again. NotFound without one."""
    price = ModelPrice.objects.filter(team=team, model=model).first()
    if price is None:
        raise NotFound(f"price of {model!r} set by this team")
    record(team, by, "removed the price of", price)
    price.delete()


def _priced(config: JudgeConfig, own: Mapping[str, Price]) -> JudgeConfig:
    if config.cost_usd(0, 0) is not None:
        return replace(config, price_source=config.price_source or ENDPOINT)
    price, source = own.get(config.model), TEAM
    if price is None:
        price, source = shipped_price(config.model), SHIPPED
    if price is None:
        return replace(config, price_source=UNKNOWN)
    return replace(
        config,
        input_usd_per_million=price.input_usd_per_million,
        output_usd_per_million=price.output_usd_per_million,
        cached_input_usd_per_million=price.cached_input_usd_per_million,
        price_source=source,
    )


def _with_fallback(config: JudgeConfig, own: Mapping[str, Price]) -> JudgeConfig:
    if not config.fallback_model:
        return config
    price = own.get(config.fallback_model) or shipped_price(config.fallback_model)
    if config.input_usd_per_million == 0.0 == config.output_usd_per_million:
        price = Price(0.0, 0.0)
    return replace(
        config,
        fallback_input_usd_per_million=price.input_usd_per_million if price else None,
        fallback_cached_input_usd_per_million=price.cached_input_usd_per_million if price else None,
        fallback_output_usd_per_million=price.output_usd_per_million if price else None,
    )


def _line(
    model: str, row: ModelPrice | None, endpoints: tuple[str, ...], apart: tuple[str, ...]
) -> PriceLine:
    shipped = shipped_price(model)
    if row is not None:
        return PriceLine(model, _of_row(row), TEAM, shipped, row.updated_at, endpoints, apart)
    return PriceLine(model, shipped, SHIPPED if shipped else UNKNOWN, shipped, None, endpoints, apart)


def _of_row(row: ModelPrice) -> Price:
    return Price(row.input_usd_per_million, row.output_usd_per_million, row.cached_input_usd_per_million)
