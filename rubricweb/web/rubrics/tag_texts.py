"""Tags as a text that people edit."""

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Any

from rubricweb.web.shared.numbers import number_shown


def tags_shown(tags: Iterable[Any]) -> str:
    """Tags with commas between them; a tag that holds a comma or a quote is quoted as in CSV."""
    shown = [number_shown(tag) for tag in tags]
    return ", ".join(
        f'"{tag.replace(chr(34), chr(34) * 2)}"' if {",", '"', "\n", "\r"} & set(tag) else tag
        for tag in shown
    )


def tags_typed(text: str) -> list[str]:
    """Tags as typed, between commas or on lines of their own; one text that is too long for CSV stays one."""
    try:
        rows = list(csv.reader(StringIO(text, newline=""), skipinitialspace=True))
    except csv.Error:
        rows = [[text]]
    return [tag.strip() for row in rows for tag in row if tag.strip()]
