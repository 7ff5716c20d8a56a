"""Numbers as people type them: read where they are numbers, otherwise kept as the text they are."""

from typing import Any

from rubricweb.engine.number_format import plain_number


def number_typed(text: str) -> int | float | str:
    """A finite number, or the text itself. "1,5" and "1,000" look alike, so a comma is never guessed at.

    "4" is 4, "4.5" is 4.5, "−3" with a true minus is −3, and "half" stays "half".
    """
    number = plain_number(text)
    if number is None:
        return text
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def number_shown(value: Any) -> str:
    """A stored value as its control shows it: 4.0 is "4", nothing is empty, a text is itself."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)
