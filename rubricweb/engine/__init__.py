"""Rubrics, autograders and scores in pure Python: no Django, no network, no clock.

The ``default_*_generate_fn`` of the published packages are here by name only: they need a network client,
which lives one floor up and is imported when one of them is first used.
"""

from typing import Any

from rubricweb.engine.autograders.generate import (
    DEFAULT_NAMES,
    OneShotGenerateFn,
    PerCriterionGenerateFn,
    RubricAsJudgeGenerateFn,
    default_generate_fn,
)
from rubricweb.engine.autograders.outputs import (
    CriterionEvaluation,
    OneShotOutput,
    PerCriterionOutput,
    RubricAsJudgeOutput,
)
from rubricweb.engine.datasets import DataItem, RubricDataset
from rubricweb.engine.errors import InvalidFile, InvalidRubric, UnreadableReply
from rubricweb.engine.report import CriterionReport, EvaluationReport
from rubricweb.engine.rubric import Criterion, LengthPenalty, Option, PassRule, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import CriterionVerdict, Verdict

__all__ = [
    "Criterion",
    "CriterionEvaluation",
    "CriterionReport",
    "CriterionVerdict",
    "DataItem",
    "EvaluationReport",
    "InvalidFile",
    "InvalidRubric",
    "LengthPenalty",
    "OneShotGenerateFn",
    "OneShotOutput",
    "Option",
    "PassRule",
    "PerCriterionGenerateFn",
    "PerCriterionOutput",
    "Rubric",
    "RubricAsJudgeGenerateFn",
    "RubricAsJudgeOutput",
    "RubricDataset",
    "Submission",
    "UnreadableReply",
    "Verdict",
]


def __getattr__(name: str) -> Any:
    if name in DEFAULT_NAMES:
        return default_generate_fn(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
