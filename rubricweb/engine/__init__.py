"""Rubrics, autograders and scores in pure Python: no Django, no network, no clock.

``evaluate`` and the ``default_*_generate_fn`` of the published packages are here by name only: they need a
network client or files, which live one floor up and are imported when one of them is first used, also by
``from rubricweb.engine import *``. Names of the published packages that are others here say which.
"""

import importlib
from typing import TYPE_CHECKING, Any

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
from rubricweb.engine.published.former_names import refuse_name
from rubricweb.engine.report import CriterionReport, EvaluationReport
from rubricweb.engine.rubric import Criterion, LengthPenalty, Option, PassRule, Rubric, Section
from rubricweb.engine.scoring import compute_length_penalty
from rubricweb.engine.submission import Submission
from rubricweb.engine.thinking import (
    ThinkingOutputDict,
    normalize_to_grade_input,
    parse_thinking_output,
    word_count,
)
from rubricweb.engine.verdict import CriterionVerdict, Verdict

if TYPE_CHECKING:
    from rubricweb.judges.defaults import default_oneshot_generate_fn as default_oneshot_generate_fn
    from rubricweb.judges.defaults import (
        default_per_criterion_generate_fn as default_per_criterion_generate_fn,
    )
    from rubricweb.judges.defaults import (
        default_rubric_as_judge_generate_fn as default_rubric_as_judge_generate_fn,
    )
    from rubricweb.judges.evaluation import EvalResult as EvalResult
    from rubricweb.judges.evaluation import ItemResult as ItemResult
    from rubricweb.judges.evaluation import evaluate as evaluate
    from rubricweb.judges.evaluation import report_usage as report_usage

__all__ = [
    "Criterion",
    "CriterionEvaluation",
    "CriterionReport",
    "CriterionVerdict",
    "DataItem",
    "EvalResult",
    "EvaluationReport",
    "InvalidFile",
    "InvalidRubric",
    "ItemResult",
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
    "Section",
    "Submission",
    "ThinkingOutputDict",
    "UnreadableReply",
    "Verdict",
    "compute_length_penalty",
    "default_oneshot_generate_fn",
    "default_per_criterion_generate_fn",
    "default_rubric_as_judge_generate_fn",
    "evaluate",
    "normalize_to_grade_input",
    "parse_thinking_output",
    "report_usage",
    "word_count",
]


EVALUATION_NAMES = ("EvalResult", "ItemResult", "evaluate", "report_usage")

if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> Any:
        if name in DEFAULT_NAMES:
            return default_generate_fn(name)
        if name in EVALUATION_NAMES:
            return getattr(importlib.import_module("rubricweb.judges.evaluation"), name)
        return refuse_name(__name__, name)
