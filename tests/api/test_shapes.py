"""Schemas derived from dataclasses: what they show, and what they refuse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import pytest
from ninja import Schema
from pydantic import Field

from rubricweb.api.shapes import Shape
from rubricweb.models import Team


@dataclass(frozen=True)
class Inner:
    label: str
    share: float | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner | None
    all: tuple[Inner, ...]
    by_name: Mapping[str, Sequence[int]]
    pairs: tuple[tuple[str, int], ...] = ()
    note: str = ""

    @property
    def size(self) -> int:
        return len(self.all)


class ShownInner(Shape[Inner]):
    share: Annotated[float | None, Field(description="0 to 1.")]


class ShownOuter(Shape[Outer]):
    """An outer one."""

    note: Annotated[str, Field(description="For people.")]
    size: int


def test_a_dataclass_is_shown_in_its_order_with_what_is_in_it() -> None:
    row = Outer("a", None, (Inner("x", 0.5), Inner("y")), {"n": (1, 2)}, (("k", 3),))
    assert ShownOuter.model_validate(row).model_dump(mode="json") == {
        "name": "a",
        "inner": None,
        "all": [{"label": "x", "share": 0.5}, {"label": "y", "share": None}],
        "by_name": {"n": [1, 2]},
        "pairs": [["k", 3]],
        "note": "",
        "size": 2,
    }
    assert list(ShownOuter.model_fields) == ["name", "inner", "all", "by_name", "pairs", "note", "size"]


def test_every_field_is_always_there_and_described_where_the_schema_says_so() -> None:
    described = ShownOuter.model_json_schema()
    assert described["description"] == "An outer one."
    assert described["required"] == ["name", "inner", "all", "by_name", "pairs", "note", "size"]
    assert described["properties"]["note"]["description"] == "For people."
    assert described["$defs"]["ShownInner"]["properties"]["share"]["description"] == "0 to 1."


@dataclass(frozen=True)
class Unseen:
    label: str


@dataclass(frozen=True)
class Holds:
    label: str
    rows: tuple[Unseen, ...]
    counts: tuple[tuple[Team, int], ...]


def test_a_field_that_nothing_shows_must_be_written() -> None:
    with pytest.raises(TypeError, match="Lost does not say how it shows rows, counts"):

        class Lost(Shape[Holds]):
            pass


def test_a_field_that_is_written_stands_for_itself() -> None:
    class Label(Schema):
        label: str

    class Found(Shape[Holds]):
        rows: list[Label]
        counts: int

        @staticmethod
        def resolve_counts(row: Holds) -> int:
            return len(row.counts)

    assert Found.model_validate(Holds("a", (Unseen("b"),), ())).model_dump() == {
        "label": "a",
        "rows": [{"label": "b"}],
        "counts": 0,
    }
