"""`rubricweb prices`: what models cost the team, at the terminal."""

import argparse

from rubricweb.judges.prices.shipped import AS_OF, Price
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.services.endpoints import prices as services


def list_prices(options: argparse.Namespace) -> int:
    """A line per model: those the team's judges ask, and those it has set a price for."""
    lines = services.list_for(resolve_actor(options, Role.VIEWER).team)
    if options.json:
        from rubricweb.api.spending.schemas import PriceLine

        for line in lines:
            print_shape(PriceLine, line)
        return 0
    if not lines:
        note("No judge asks any model, and no price is set.")
        return 0
    rows = table(("model", "set by", "asked by"), ("input", "cached", "output"))
    for line in lines:
        own = [f"{name} (own price)" for name in line.apart]
        words = (line.model, line.source or "not known", ", ".join([*line.endpoints, *own]))
        rows.add_row(*words, *_figures(line.price))
    terminal().print(rows)
    note(f"US dollars per million tokens; prices of the shipped list are as of {AS_OF:%Y-%m-%d}.")
    return 0


def set_price(options: argparse.Namespace) -> int:
    """What a model costs the team from now on."""
    actor = resolve_actor(options, Role.OWNER)
    price = services.set_price(
        actor.team,
        by=actor.user,
        model=options.model,
        input_usd_per_million=options.input,
        output_usd_per_million=options.output,
        cached_input_usd_per_million=options.cached,
    )
    return say(f"{price.model} costs {options.input:g} in and {options.output:g} out per million tokens.")


def remove(options: argparse.Namespace) -> int:
    """The shipped price counts again, where there is one."""
    actor = resolve_actor(options, Role.OWNER)
    services.remove_price(actor.team, by=actor.user, model=options.model)
    return say(f"The team's own price of {options.model} is removed.")


def _figures(price: Price | None) -> tuple[str, str, str]:
    if price is None:
        return ("", "", "")
    cached = price.cached_input_usd_per_million
    return (
        f"{price.input_usd_per_million:g}",
        "" if cached is None else f"{cached:g}",
        f"{price.output_usd_per_million:g}",
    )
