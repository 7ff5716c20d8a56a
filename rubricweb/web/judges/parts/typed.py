"""What was typed in the form of a judge, laid out again: rows added, moved, removed, our texts back."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS
from rubricweb.errors import Invalid
from rubricweb.web.http import text_of
from rubricweb.web.judges.parts.wording_fields import KEPT_BESIDE, put_back
from rubricweb.web.judges.words import FORMS

NEW = "new"
"""Begins what a row says it began with (`of`) where it is none of the version's."""

_ROW = re.compile(r"(member|example)([0-9]{1,4})-(.+)")

Values = dict[str, Any]


@dataclass(frozen=True)
class LaidOut:
    """Initial values of the form, and the row to go on with: "member2"; "member" or "example" where it is
    gone. `button` is the one in it that was pressed, "" for its first field.
    """

    values: Values
    focused: str = ""
    button: str = ""


def typed(data: QueryDict) -> Values:
    """What a browser sent, as initial values: a box that is not ticked is not sent, and is none."""
    sent: Values = {name: text_of(data, name) for name in data if name != "csrfmiddlewaretoken"}
    ticked = ["own", *(option.name for option in SAMPLING_OPTIONS if option.kind is bool)]
    boxes = [f"{prefix}{name}" for prefix in _member_prefixes(data) for name in ticked]
    several = {"escalate_on": data.getlist("escalate_on")}
    return {**sent, **several, **{name: name in data for name in boxes}}


def row_numbers(values: Iterable[str], kind: str) -> list[int]:
    """The numbers of the rows of a kind, "member" or "example", in their order."""
    found = (_ROW.fullmatch(name) for name in values)
    return sorted({int(match[2]) for match in found if match and match[1] == kind})


def turned(data: QueryDict, way: str, edition: int) -> Values:
    """The same with ours put back for another way of asking, everywhere."""
    values = typed(data)
    before = values["texts_for"]
    for prefix in ["", *_member_prefixes(data)]:
        for form in FORMS:
            put_back(values, prefix, form, (before, way), edition)
    return values | {"way": way, "texts_for": way}


def restored(data: QueryDict, place: str, edition: int, *, back: bool) -> Values:
    """The same with ours put back at one place, "with_options" or "member0-with_options"; or with what stands
    beside it `back` in its field.
    """
    values = typed(data)
    prefix, dash, form = place.rpartition("-")
    if form not in FORMS or f"{prefix}{dash}" not in ["", *_member_prefixes(data)]:
        raise Invalid.at("action", repr(place[:40]), "a text on this page")
    way = values["texts_for"]
    text, kept = (f"{prefix}{dash}{start}_{form}" for start in ("text", KEPT_BESIDE))
    beside = values.get(kept, "")
    put_back(values, f"{prefix}{dash}", form, (way, way), edition)
    if back:
        values[text] = beside
        values[kept] = values[kept] if values.get(kept) != beside else ""
    return values


def rearranged(data: QueryDict, verb: str, kind: str, place: str, models: Sequence[str]) -> LaidOut:
    """The same with a row more or less, in another order, or opened to be changed.

    `verb` is add, remove, up, down or change. `models` are those of the team, by id: a new member begins with
    the first that nobody asks yet.
    """
    values = typed(data)
    rows = [_row(values, kind, number) for number in row_numbers(values, kind)]
    if verb == "add":
        rows.append(_new(values, rows, kind, models))
        return LaidOut(_with_rows(values, kind, rows), f"{kind}{len(rows) - 1}")
    if place not in map(str, range(len(rows))):
        raise Invalid.at("action", repr(place[:40]), f"one of the {len(rows)} rows on this page")
    at = int(place)
    if verb == "remove":
        del rows[at]
        return LaidOut(_with_rows(values, kind, rows), kind)
    if verb == "change":
        rows[at]["open"] = "1"
        return LaidOut(_with_rows(values, kind, rows), f"{kind}{at}")
    there = max(0, at - 1) if verb == "up" else min(len(rows) - 1, at + 1)
    rows.insert(there, rows.pop(at))
    ended = there == (0 if verb == "up" else len(rows) - 1)
    other = "down" if verb == "up" else "up"  # the button that was pressed has nothing more to do
    return LaidOut(_with_rows(values, kind, rows), f"{kind}{there}", other if ended else verb)


def _new(values: Values, rows: list[Values], kind: str, models: Sequence[str]) -> Values:
    if kind == "example":
        return {"of": NEW, "open": "1", "rubric": values.get("examples_from", "")}
    asked = {row.get("endpoint") for row in rows}
    free = [judge_id for judge_id in models if judge_id not in asked] or list(models)
    return {"of": f"{NEW} {free[0]}" if free else NEW, "own": False}


def _row(values: Values, kind: str, number: int) -> Values:
    start = f"{kind}{number}-"
    row = {name.removeprefix(start): value for name, value in values.items() if name.startswith(start)}
    return {"of": str(number)} | row


def _with_rows(values: Values, kind: str, rows: list[Values]) -> Values:
    others = {name: value for name, value in values.items() if not re.match(rf"{kind}[0-9]", name)}
    counted = {f"{kind}{i}-{name}": value for i, row in enumerate(rows) for name, value in row.items()}
    return others | counted


def _member_prefixes(data: Mapping[str, Any]) -> list[str]:
    return [f"member{number}-" for number in row_numbers(data, "member")]
