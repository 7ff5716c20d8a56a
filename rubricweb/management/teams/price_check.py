"""`rubricweb prices check`: whether the shipped prices are still those of a list that others keep."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from rubricweb.engine.errors import Invalid as InvalidList
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.judges.prices.lists import PriceComparison, compare_prices, read_price_list
from rubricweb.judges.prices.shipped import AS_OF
from rubricweb.management.terminal.named_files import read_text_file
from rubricweb.management.terminal.printed import print_json, say, table, terminal

DIFFERENT = 100
"""The exit code when a price differs."""
STANDARD_INPUT = "-"


def check(options: argparse.Namespace) -> int:
    """Prints what differs first; 100 when anything does, else 0."""
    name = str(options.file)
    text = sys.stdin.read() if name == STANDARD_INPUT else read_text_file(Path(name))
    try:
        found = compare_prices(read_price_list(text))
    except InvalidList as error:
        raise Invalid(f"{name} holds no prices.", error.faults) from error
    if options.json:
        print_json({"shipped_as_of": AS_OF.isoformat(), **asdict(found)}, indent=2)
    else:
        _print(found)
    return DIFFERENT if found.differences else 0


def _print(found: PriceComparison) -> None:
    if found.differences:
        rows = table(("model", "price of"), ("shipped", "listed"))
        for one in found.differences:
            shipped = "none" if one.shipped is None else f"{one.shipped:g}"
            rows.add_row(one.model, one.price.replace("_", " "), shipped, f"{one.listed:g}")
        terminal().print(rows)
    differing = len({one.model for one in found.differences})
    differ = f"{counted(differing, 'model')} {'differs' if differing == 1 else 'differ'}"
    say(
        f"{differ}, of {found.compared} compared. Shipped prices are as of {AS_OF:%Y-%m-%d}, "
        "in US dollars per million tokens."
    )
    if found.not_listed:
        say(f"Shipped and not in the list: {', '.join(found.not_listed)}.")
    if found.not_shipped:
        more = counted(len(found.not_shipped), "other model")
        say(f"The list has {more} of the same makers (--json names them).")
