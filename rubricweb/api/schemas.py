"""What the shapes of all rooms share: figures, lists, problems.

Inputs refuse keys they do not know. Outputs say None where a figure is undefined or something is missing,
never a stand-in 0.
"""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any

from ninja import Schema
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic_core import core_schema

from rubricweb.api.shapes import Shape
from rubricweb.engine.agreement.intervals import Figure as ShownFigure
from rubricweb.engine.origin import Origin
from rubricweb.engine.scoring.effect import Effect
from rubricweb.selectors.shared.left_out import REASONS
from rubricweb.selectors.shared.pages import CURSOR_CHARACTERS

Id = Annotated[int, Field(ge=1, lt=2**63)]
Share = Annotated[float | None, Field(description="0 to 1; null when there is nothing to divide by.")]
Prompt = Annotated[
    str | list[dict[str, Any]] | None, Field(description="A text, or chat turns of `role` and `content`.")
]
Answered = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="MET, UNMET or CANNOT_ASSESS; where the criterion is a choice, the label of an option.",
        examples=["MET"],
    ),
]
"""The label of an answer."""
Username = Annotated[
    str | None, BeforeValidator(lambda user: getattr(user, "username", user)), Field(examples=["alice"])
]

JudgeVersionName = Annotated[
    str | None,
    BeforeValidator(lambda version: None if version is None else str(version)),
    Field(
        description="The version of the judge, as a new run names it; null where there is none, and while it "
        "would tell you what people said.",
        examples=["support-judge@v3"],
    ),
]


class OneOf:
    """A text from a closed list that lives elsewhere: a registry, an enum, a selector's orders."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.literal_schema(self.names)


class Input(BaseModel):
    """A JSON body. Every value has the type the description says: no text passes for a number.

    What JSON can only write as a text, a time or a name of an enum, says `strict=False` at its field.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, sent: Any) -> Any:
        """1.0 as 1, also in lists: to JSON they are one number, and an integer."""
        return {key: _whole(value) for key, value in sent.items()} if isinstance(sent, dict) else sent


class InputAsText(Input):
    """A form or a query string, where all is text: 1 is an integer, true a boolean."""

    model_config = ConfigDict(strict=False)


def _whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Naming(Input):
    """What is left out stays as it is."""

    name: Annotated[str | None, Field(max_length=200)] = None
    archived: bool | None = None


NextCursor = Annotated[
    str | None,
    Field(
        max_length=CURSOR_CHARACTERS,
        description="Send it as `cursor` for the following page; null on the last one.",
    ),
]


class LeftOut(Schema):
    """What a list leaves out for one reason."""

    why: Annotated[str, OneOf(REASONS)]
    items: Annotated[int, Field(description="How many, of whatever is listed.")]
    says: Annotated[str, Field(description="The same as a sentence.")]


@cache
def list_of(row: type[Schema], *, leaves_out: bool = False) -> type[Schema]:
    """One page of a list of `row`: {items, next_cursor}, and with `leaves_out` what the whole list lacks, and
    why.
    """
    name = f"{row.__name__.removesuffix('InList')}List"
    if leaves_out:
        beside = (list[LeftOut], Field(description="Of the whole list; empty where nothing is left out."))
        return create_model(  # a class made here
            name,
            __base__=Schema,
            items=(list[row], ...),  # type: ignore[valid-type]  # the same
            next_cursor=(NextCursor, ...),
            left_out=beside,
        )
    return create_model(name, __base__=Schema, items=(list[row], ...), next_cursor=(NextCursor, ...))  # type: ignore[valid-type]  # a class made here


class WithFields:
    """A row and what was counted beside it, for a schema that shows both as one."""

    def __init__(self, row: Any, **beside: Any) -> None:
        self._row = row
        self.__dict__.update(beside)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


EffectOrNone = Annotated[
    Effect | None,
    Field(description="What it does to the score: MET of a negative weight hurt. Null for an abstention."),
]


OriginName = Annotated[str, OneOf(Origin)]

OriginOrNone = Annotated[
    OriginName | None,
    Field(description="Who gave it; null for the verdict of a run that was graded here."),
]


class Figure(Shape[ShownFigure]):
    """A statistic with its 95 % interval over `n` units. Null means undefined, never 0.

    `small` where a class has fewer than ten units, so that the figure tells little; `reason` says so, or why
    the value is null.
    """

    small: bool = False
    reason: str = ""
    # What intervals are stretched by is not shown: those handed out are at 95 %.
    df: Annotated[int | None, Field(exclude=True)] = None


class Fault(Schema):
    place: Annotated[str, Field(examples=["criteria[3].weight"])]
    found: Annotated[str, Field(examples=["NaN"])]
    allowed: Annotated[str, Field(examples=["a finite number"])]


class Problem(Schema):
    """Why a request was refused (RFC 9457). Compare `type`, show `detail`."""

    type: Annotated[str, Field(examples=["urn:rubricweb:problem:invalid"])]
    title: Annotated[str, Field(examples=["Not valid"])]
    status: Annotated[int, Field(examples=[422])]
    detail: Annotated[str, Field(examples=["The rubric has 2 faults."])]
    faults: Annotated[list[Fault] | None, Field(description="With 422: every fault, with its place.")] = None


class Named(Schema):
    id: int
    name: str
