"""The types of the published packages under their published address."""

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
