"""The replies a judge is asked for, as pydantic models whose JSON schema can constrain decoding.

The explanation comes before the verdict in every schema: a model that decodes left to right has then reasoned
before it decides. Unknown reply keys are ignored, labels match after strip and casefold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo

from rubricweb.engine.autograders.material import neutralised
from rubricweb.engine.autograders.option_reply import chosen_option
from rubricweb.engine.errors import UnreadableReply, shortened
from rubricweb.engine.number_format import plain_number


def _label(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _number(value: object) -> object:
    """A number written as a text counts where it is plainly one: "85", not "8_5"."""
    if isinstance(value, bool):
        raise ValueError("a number is needed, not true or false")
    if not isinstance(value, str):
        return value
    number = plain_number(value)
    if number is None:
        raise ValueError(f"{shortened(value)!r} is no number")
    return number


def _of_100(score: float) -> float:
    # Not as limits of the field: those would stand in the schema, and change every question that is asked.
    if not 0 <= score <= 100:
        raise ValueError(f"{score:g} is not from 0 to 100")
    return score


def _option(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_OPTION_HELP = (
    "The label of the option that describes the response best, word for word as listed, or its number."
)


def _verdict_field() -> FieldInfo:
    field: FieldInfo = Field(
        description="MET if what the criterion describes is present in the response, UNMET if it is not, "
        "CANNOT_ASSESS only if the response gives no basis to decide."
    )
    return field


VerdictLabel: TypeAlias = Annotated[Literal["MET", "UNMET", "CANNOT_ASSESS"], BeforeValidator(_label)]


CriterionNumber: TypeAlias = Annotated[int, BeforeValidator(_number)]
"""The number of a criterion as listed, from 1."""


class _Output(BaseModel):
    # Replies may carry more than was asked for; the schema sent to the model says they should not.
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False})


class _Explained(_Output):
    """An output with an explanation. The schema requires one; a reply without it is read all the same."""

    @model_validator(mode="before")
    @classmethod
    def _explanation_as_text(cls, data: Any) -> Any:
        """No score rests on the explanation: without one it is "", and a list of texts is written as JSON."""
        if not isinstance(data, Mapping) or isinstance(data.get("explanation"), str):
            return data
        explanation = data.get("explanation")
        if explanation is None:
            return {**data, "explanation": ""}
        if isinstance(explanation, list) and all(isinstance(line, str) for line in explanation):
            return {**data, "explanation": json.dumps(explanation, ensure_ascii=False)}
        return data


class PerCriterionOutput(_Explained):
    """A judge's reply about one criterion."""

    explanation: str = Field(description="The reasoning that leads to the verdict, citing the response.")
    criterion_status: Annotated[VerdictLabel, _verdict_field()]


class CriterionEvaluation(_Explained):
    """One entry of a one-shot reply; ``criterion_number`` is the number the prompt showed, from 1."""

    criterion_number: CriterionNumber = Field(
        description="The number of the criterion as listed, starting at 1."
    )
    explanation: str = Field(description="The reasoning that leads to the verdict, citing the response.")
    criterion_status: Annotated[VerdictLabel, _verdict_field()]


class OneShotOutput(_Output):
    """A judge's reply about several criteria at once."""

    criteria_evaluations: list[CriterionEvaluation] = Field(
        min_length=1, description="Exactly one entry for every listed criterion."
    )


class ChoiceOutput(_Explained):
    """A judge's reply about one choice criterion: an option's label, or the number it was shown under."""

    explanation: str = Field(description="The reasoning that leads to the choice, citing the response.")
    option: Annotated[str, BeforeValidator(_option), Field(description=_OPTION_HELP)]


class ChoiceEvaluation(_Explained):
    """One entry of a one-shot reply about a choice criterion."""

    criterion_number: CriterionNumber = Field(
        description="The number of the criterion as listed, starting at 1."
    )
    explanation: str = Field(description="The reasoning that leads to the choice, citing the response.")
    option: Annotated[str, BeforeValidator(_option), Field(description=_OPTION_HELP)]


class MixedOneShotOutput(_Output):
    """A judge's reply about several criteria of which some are choices."""

    criteria_evaluations: list[CriterionEvaluation | ChoiceEvaluation] = Field(
        min_length=1,
        description="Exactly one entry for every listed criterion: criterion_status for one without "
        "options, option for one with options.",
    )


@lru_cache(maxsize=1000)
def choice_schema(labels: tuple[str, ...]) -> type[ChoiceOutput]:
    """ChoiceOutput whose JSON schema allows just these labels, as the prompt spells them, in this order."""
    spelled = tuple(dict.fromkeys(neutralised(label) for label in labels))

    def as_spelled(option: object) -> object:
        """The label that a reply named in another spelling, or by its number."""
        try:
            return neutralised(chosen_option(option, labels)) if isinstance(option, str) else option
        except UnreadableReply as error:
            raise ValueError(error.detail) from None

    allowed: Any = Annotated[Literal[spelled], BeforeValidator(as_spelled), BeforeValidator(_option)]
    about = Field(description="The label of the option that describes the response best, word for word.")
    return create_model("ChoiceOutput", __base__=ChoiceOutput, option=(allowed, about))


class RubricAsJudgeOutput(_Explained):
    """A judge's holistic reply: one number from 0 to 100. Any other is no reply in the form asked for."""

    # What a judge is sent describes itself as it always has: new words would ask every question anew.
    model_config = ConfigDict(
        json_schema_extra={
            "additionalProperties": False,
            "description": "A judge's holistic reply: one number from 0 to 100, clamped when scored; "
            "NaN is refused.",
        }
    )

    explanation: str = Field(description="How the criteria and their weights lead to the score.")
    overall_score: Annotated[float, BeforeValidator(_number), AfterValidator(_of_100)] = Field(
        allow_inf_nan=False, description="The overall score from 0 to 100."
    )
