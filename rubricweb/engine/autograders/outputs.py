"""The replies a judge is asked for, as pydantic models whose JSON schema can constrain decoding.

The explanation comes before the verdict in every schema: a model that decodes left to right has then reasoned
before it decides. Unknown reply keys are ignored, labels match after strip and casefold.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from rubricweb.engine.autograders.material import neutralised


def _label(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number from 0 to 100, not true or false")
    return value


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


class _Output(BaseModel):
    # Replies may carry more than was asked for; the schema sent to the model says they should not.
    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False})


class PerCriterionOutput(_Output):
    """A judge's reply about one criterion."""

    explanation: str = Field(description="The reasoning that leads to the verdict, citing the response.")
    criterion_status: Annotated[VerdictLabel, _verdict_field()]


class CriterionEvaluation(_Output):
    """One entry of a one-shot reply; ``criterion_number`` is the number the prompt showed, from 1."""

    criterion_number: int = Field(description="The number of the criterion as listed, starting at 1.")
    explanation: str = Field(description="The reasoning that leads to the verdict, citing the response.")
    criterion_status: Annotated[VerdictLabel, _verdict_field()]


class OneShotOutput(_Output):
    """A judge's reply about several criteria at once."""

    criteria_evaluations: list[CriterionEvaluation] = Field(
        min_length=1, description="Exactly one entry for every listed criterion."
    )


class ChoiceOutput(_Output):
    """A judge's reply about one choice criterion: an option's label, or the number it was shown under."""

    explanation: str = Field(description="The reasoning that leads to the choice, citing the response.")
    option: Annotated[str, BeforeValidator(_option), Field(description=_OPTION_HELP)]


class ChoiceEvaluation(_Output):
    """One entry of a one-shot reply about a choice criterion."""

    criterion_number: int = Field(description="The number of the criterion as listed, starting at 1.")
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
    allowed: Any = Literal[spelled]
    about = Field(description="The label of the option that describes the response best, word for word.")
    return create_model("ChoiceOutput", __base__=ChoiceOutput, option=(allowed, about))


class RubricAsJudgeOutput(_Output):
    """A judge's holistic reply: one number from 0 to 100, clamped when scored; NaN is refused."""

    explanation: str = Field(description="How the criteria and their weights lead to the score.")
    overall_score: Annotated[float, BeforeValidator(_number)] = Field(
        allow_inf_nan=False, description="The overall score from 0 to 100."
    )
