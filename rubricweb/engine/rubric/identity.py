"""Which criterion of an earlier version one is: by its id, else by its words, else by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rubricweb.engine.rubric.reading import new_id
from rubricweb.engine.rubric.rubric import Rubric

WORDING = ("requirement", "guidance", "met_example", "unmet_example", "scale_type", "check", "params")
"""What makes a criterion the same question to those who answer it, beside the labels of its options.

Its name, group, tags, weight and the values of its options may differ.
"""

Entry = Mapping[str, Any]
"""A criterion as plain data, as ``Criterion.to_dict`` gives it or as somebody typed it."""


def wording(entry: Entry) -> tuple[Any, ...]:
    """The question a criterion asks; equal ones may share labels. Spaces and line breaks count as one
    space.

    Not in the labels of options, which are what people's answers are kept as, space by space.
    """
    options = entry.get("options") or ()
    labels = [
        (_stripped(option.get("label")), bool(option.get("na")))
        for option in (options if isinstance(options, list | tuple) else ())
        if isinstance(option, Mapping)
    ]
    return (*(_spaced(entry.get(field) or None) for field in WORDING), tuple(labels))


def matched_ids(criteria: Sequence[Entry], earlier: Sequence[Entry]) -> list[str | None]:
    """The id of every criterion: its own, else that of the earlier criterion it is; None for a new one.

    Without an id it is the earlier one with the same wording, else the one of the same name, unless that is
    one of the default names C1, C2, … . No earlier criterion is taken twice, nor one whose id is given.
    """
    found: list[str | None] = [entry.get("id") or None for entry in criteria]
    free = [entry for entry in earlier if entry.get("id") and entry["id"] not in found]
    for key in (wording, given_name):
        known: dict[str, list[Entry]] = {}
        for entry in free:
            known.setdefault(repr(key(entry)), []).append(entry)
        for place, entry in enumerate(criteria):
            partners = known.get(repr(key(entry))) if key(entry) is not None else None
            if found[place] is None and partners:
                found[place] = partners.pop(0)["id"]
        free = [entry for entry in free if entry["id"] not in found]
    return found


def ids_in_versions(criteria: Sequence[Entry], versions: Iterable[Sequence[Entry]]) -> list[str | None]:
    """The same against several earlier versions: what the first of them does not have, the next one may.

    No more of them are read than it takes until every criterion has an id.
    """
    found: list[str | None] = [entry.get("id") or None for entry in criteria]
    remaining = iter(versions)
    while None in found and (earlier := next(remaining, None)) is not None:
        places = [place for place, own in enumerate(found) if own is None]
        free = [entry for entry in earlier if entry.get("id") not in found]
        for place, own in zip(places, matched_ids([criteria[at] for at in places], free), strict=True):
            found[place] = own
    return found


def with_ids(content: Rubric, versions: Iterable[Sequence[Entry]] = ()) -> Rubric:
    """The rubric with an id for every criterion: see ``ids_in_versions``; what is new gets a random one."""
    ids = ids_in_versions([criterion.to_dict() for criterion in content.criteria], versions)
    criteria = [
        criterion.model_copy(update={"id": own or new_id()})
        for criterion, own in zip(content.criteria, ids, strict=True)
    ]
    return content.model_copy(update={"criteria": tuple(criteria)})


def given_name(entry: Entry) -> str | None:
    """The name somebody gave it, for comparing; None for none and for a default one."""
    name = str(entry.get("name") or "").strip().casefold()
    return None if not name or re.fullmatch(r"c\d+", name) else name


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _spaced(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value
