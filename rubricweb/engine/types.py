"""The types of the published packages under their published address."""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.autograders.generate import (
    OneShotGenerateFn,
    PerCriterionGenerateFn,
    RubricAsJudgeGenerateFn,
)
from rubricweb.engine.autograders.outputs import (
    CriterionEvaluation,
    OneShotOutput,
    PerCriterionOutput,
    RubricAsJudgeOutput,
)
from rubricweb.engine.published.former_names import refuse_name
from rubricweb.engine.report import CriterionReport, EvaluationReport, GradingError
from rubricweb.engine.rubric import Criterion, LengthPenalty, Option, PassRule
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import CriterionVerdict, Verdict

__all__ = [
    "Criterion",
    "CriterionEvaluation",
    "CriterionReport",
    "CriterionVerdict",
    "EvaluationReport",
    "GradingError",
    "LengthPenalty",
    "OneShotGenerateFn",
    "OneShotOutput",
    "Option",
    "PassRule",
    "PerCriterionGenerateFn",
    "PerCriterionOutput",
    "RubricAsJudgeGenerateFn",
    "RubricAsJudgeOutput",
    "Submission",
    "Verdict",
]


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
