"""What a command prints with `--json`: what the API answers to the same question, made by the same schema.

Commands import the schemas where they print with them: a table for people is there sooner without.
"""

import json
from typing import Any

from pydantic import BaseModel

from rubricweb.management.terminal.printed import print_json


def print_shape(shape: type[BaseModel], row: Any, *, indent: int | None = None) -> None:
    """Prints a row as the API gives it."""
    print_json(as_shape(shape, row), indent=indent)


def as_shape(shape: type[BaseModel], row: Any) -> Any:
    """A row as the API gives it."""
    from ninja.responses import NinjaJSONEncoder

    answer = shape.model_validate(row).model_dump()
    return json.loads(json.dumps(answer, cls=NinjaJSONEncoder))
