"""Reading requests strictly: only what every database can store gets in."""

import math
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from rubricweb.engine.errors import Fault, InvalidText, shortened
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode, unstorable
from rubricweb.errors import Invalid


class UnreadableBody(ValueError):
    """The body is not the JSON it should be; `str(error)` says where."""


class StrictParser(Parser):
    """JSON without NaN, Infinity or doubled keys, and texts without NUL or half surrogates."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The JSON value of the body. Raises UnreadableBody."""
        try:
            value = parse_json(decode(request.body))
        except InvalidText as error:
            raise UnreadableBody(f"The body is not valid JSON: {error}.") from error
        for one in _leaves(value):
            if isinstance(one, str) and (fault := unstorable(one)):
                raise UnreadableBody(f"The text {shortened(one)!a} holds {fault}.")
            if isinstance(one, float) and not math.isfinite(one):
                raise UnreadableBody(f"The body is not valid JSON: found {one}; allowed: finite numbers.")
        return value

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Query strings and form fields. Raises Invalid for texts no database stores."""
        for name, values in data.lists():
            for value in values:
                if isinstance(value, str) and (fault := unstorable(value)):
                    raise Invalid(f"{name} holds {fault}.", [Fault(name, fault, "text a database can store")])
        return super().parse_querydict(data, list_fields, request)


def _leaves(value: Any) -> Iterator[Any]:
    """Every key, text and number in a JSON value, without recursion."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        else:
            yield one
