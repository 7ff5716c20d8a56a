"""Definitions of judges as people and programs write them: every fault with its place, and no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording
from rubricweb.engine.errors import Fault, Invalid, join_place, nearest, shown
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample, JudgeMember, Voting
from rubricweb.engine.judging.sampling import wrong_options
from rubricweb.engine.judging.shipped import shipped_left_out

_SECRET = re.compile(r"(?i)^(.*[_-])?(api[_-]?key|key|headers?|token|secret|password|authorization)$")
_MODELS: dict[str, type[BaseModel]] = {
    "members": JudgeMember,
    "examples": JudgeExample,
    "voting": Voting,
    "wording": JudgeWording,
    "instructions": FormTexts,
    "whole_messages": FormTexts,
}


def read_definition(told: Any) -> JudgeDefinition:
    """The definition that plain data say, instructions that are the shipped ones left out.

    Raises Invalid for unknown keys, what looks like a key or a header, and values of another type or out of
    their range. What else no judge can be is said by `faults_of_definition`.
    """
    if not isinstance(told, Mapping):
        raise Invalid([Fault("", shown(told), "a judge, as an object")])
    if faults := [*_secrets(told)]:
        raise Invalid(faults)  # before anything could repeat their values
    faults = [*_wrong_sampling(told)]
    try:
        read = JudgeDefinition.model_validate_json(json.dumps(told, allow_nan=False))
    except ValidationError as error:
        said = {fault.place.rpartition(".")[0] for fault in faults}
        faults += [one for one in map(_fault, error.errors(include_url=False)) if one.place not in said]
    except (ValueError, TypeError) as error:
        faults.append(Fault("", f"a value that JSON has not ({error})", "texts and finite numbers"))
    if faults:
        raise Invalid(faults)
    return shipped_left_out(read)


def _secrets(told: Mapping[Any, Any], place: str = "") -> Iterator[Fault]:
    """Names that look like those of keys and headers; their values are not repeated."""
    for name, value in told.items():
        here = join_place(place, str(name))
        if place.startswith("examples["):
            continue  # an example has a key, and whatever its item was asked
        if isinstance(name, str) and _SECRET.match(name):
            allowed = "none here: keys and headers stay with the endpoint, and in no judge"
            yield Fault(here, "what looks like a key or a header", allowed)
        for inner, one in _below(here, value):
            yield from _secrets(one, inner)


def _below(place: str, value: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    if isinstance(value, Mapping):
        yield place, value
    elif isinstance(value, list):
        yield from ((f"{place}[{i}]", one) for i, one in enumerate(value) if isinstance(one, Mapping))


def _wrong_sampling(told: Mapping[Any, Any]) -> Iterator[Fault]:
    """What `Sampling.stored` would take, for it was right in its day."""
    members = told.get("members")
    for i, member in enumerate(members if isinstance(members, list) else ()):
        sampling = member.get("sampling") if isinstance(member, Mapping) else None
        if isinstance(sampling, Mapping):
            for fault in wrong_options({str(name): value for name, value in sampling.items()}):
                yield Fault(f"members[{i}].sampling.{fault.place}", fault.found, fault.allowed)


def _fault(error: Any) -> Fault:
    place = ""
    for part in error["loc"]:
        if not str(part).startswith(("function-before", "constrained", "dict[", "tuple[", "str", "float")):
            place = join_place(place, f"[{part}]" if isinstance(part, int) else str(part))
    if error["type"] == "missing":
        return Fault(place, "nothing", "a value; it is required")
    if error["type"] == "extra_forbidden":
        return Fault(place, "an unknown key", nearest(str(error["loc"][-1]), _known(error["loc"][:-1])))
    allowed = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return Fault(place, shown(error.get("input")), allowed)


def _known(path: tuple[Any, ...]) -> list[str]:
    """The keys there are at a place."""
    names = [part for part in path if part in _MODELS]
    return list((_MODELS[names[-1]] if names else JudgeDefinition).model_fields)
