"""What `rubricweb grade` ends with once everything was asked, and why; other commands' gates end alike."""

import argparse

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring.scoring import ROUNDING
from rubricweb.management.terminal.remarks import remark

NOTHING = 1
"""The exit code where nothing was scored, or nothing can be compared."""
GATE_MISSED = 100
"""The exit code where what a gate asks for does not hold."""


def require_reachable(options: argparse.Namespace) -> None:
    """Ends as argparse ends at wrong arguments where `--min-score` is no score: those are from 0 to 1."""
    if options.min_score is not None and not 0 <= options.min_score <= 1:
        options.refuse(f"argument --min-score: {options.min_score:g} is not from 0 to 1")


def is_asked_for(options: argparse.Namespace) -> bool:
    """Whether a gate is to hold."""
    return options.min_score is not None or options.max_errors is not None


def exit_code(
    options: argparse.Namespace, *, mean: Figure, items: int, errored: int, how_to_retry: str
) -> int:
    """0, or the code that says that nothing was scored or that a gate does not hold; why is a remark.

    Of the `items` that were graded `errored` have an error.
    """
    if errored:
        _note_failed_items(options, items, errored)
        remark(how_to_retry)
    if mean.value is None:
        remark(nothing_scored(errored))
        return NOTHING
    misses = [*_too_many_errors(options, items, errored), *_too_low(options, mean.value)]
    remark(*misses)
    return GATE_MISSED if misses else 0


def undecided(hidden: int, noun: str = "item") -> str:
    """Says why no gate can be decided for somebody who is still to review some of it blind."""
    return (
        f"You are still to review {counted(hidden, noun)} blind: the figures are without that, and no gate "
        "can be decided. Ask in the name of somebody who reviews none of it (--user)."
    )


def nothing_scored(errored: int) -> str:
    """Says that no item has a score."""
    return "No item could be fully judged." if errored else "No item could be scored."


def _note_failed_items(options: argparse.Namespace, items: int, errored: int) -> None:
    """What became of items with an error."""
    what = "1 item has" if errored == 1 else f"{errored} items have"
    if options.failed_items == "include":
        remark(f"{what} errors and counted all the same: --failed-items include.")
        return
    remark(f"{what} errors: in no mean, pass rate or --min-score until retried.")
    if options.min_score is not None and options.max_errors is None and items > errored:
        others = counted(items - errored, "item")
        remark(f"--min-score is decided by the other {others}; --max-errors says how many may have errors.")


def _too_many_errors(options: argparse.Namespace, items: int, errored: int) -> list[str]:
    most = options.max_errors
    if most is None:
        return []
    allowed = most * items if isinstance(most, float) else most
    if errored <= allowed + ROUNDING:
        return []
    limit = f"{most * 100:g}%" if isinstance(most, float) else most
    return [f"{errored} of {counted(items, 'item')} with errors are more than --max-errors {limit}."]


def _too_low(options: argparse.Namespace, mean: float) -> list[str]:
    if options.min_score is None or mean >= options.min_score - ROUNDING:
        return []
    return [f"The mean score {mean:.4f} is below --min-score {options.min_score:g}."]
