"""Rules a rubric may carry beyond its criteria: when a submission passes, what length costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from rubricweb.engine.errors import nearest, shown
from rubricweb.engine.rubric.field_types import MAX_WEIGHT, number_from, refusal, whole_from

Counts: TypeAlias = Literal["ALL", "OUTPUT_ONLY", "THINKING_ONLY"]
"""Which words a length penalty counts."""

COUNTS = get_args(Counts)
MAX_WORDS = 10_000_000
MAX_EXPONENT = 100.0


def _limit(value: object) -> object:
    return None if value is None else number_from(0.0, 1.0, "a number")(value)


def _counts(value: object) -> object:
    if value not in COUNTS:
        raise refusal(
            shown(value), nearest(value, COUNTS) if isinstance(value, str) else f"one of {', '.join(COUNTS)}"
        )
    return value


Limit: TypeAlias = Annotated[float | None, BeforeValidator(_limit)]


class PassRule(BaseModel):
    """When a submission passes; both limits run from 0 to 1, None is no limit, one is needed.

    ``min_score``: the score reaches it. ``min_criterion``: every criterion that moves the score reaches it
    in its good direction, which for a negative weight is 1 − value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_score: Limit = None
    min_criterion: Limit = None

    @model_validator(mode="after")
    def _says_something(self) -> PassRule:
        if self.min_score is None and self.min_criterion is None:
            raise refusal("nothing", "min_score, min_criterion or both")
        return self

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data, limits that are not set left out."""
        return self.model_dump(exclude_none=True)


class LengthPenalty(BaseModel):
    """What a long submission loses: nothing up to ``free_budget`` words, ``penalty_at_cap`` from ``max_cap``.

    Between the two the penalty is ``penalty_at_cap · ((n − free) / (cap − free)) ** exponent``. ``counts``
    says which words are meant; files may call it ``penalty_type``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    free_budget: Annotated[int, BeforeValidator(whole_from(0, MAX_WORDS))] = 6000
    max_cap: Annotated[int, BeforeValidator(whole_from(1, MAX_WORDS))] = 8000
    penalty_at_cap: Annotated[float, BeforeValidator(number_from(0.0, MAX_WEIGHT))] = 0.5
    exponent: Annotated[float, BeforeValidator(number_from(0.01, MAX_EXPONENT))] = 1.6
    counts: Annotated[Counts, BeforeValidator(_counts)] = Field(
        default="ALL", validation_alias=AliasChoices("counts", "penalty_type")
    )

    @model_validator(mode="before")
    @classmethod
    def _counts_words(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "count_fn" in data:
            raise refusal("a count_fn", "none: words are counted, so that everybody scores a rubric alike")
        return data

    @model_validator(mode="after")
    def _cap_above_budget(self) -> LengthPenalty:
        if self.max_cap <= self.free_budget:
            raise refusal(
                f"max_cap {self.max_cap:,} with free_budget {self.free_budget:,}",
                "a max_cap above the free_budget",
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain data, every field written."""
        return self.model_dump()
