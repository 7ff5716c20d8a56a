"""Rubrics, autograders and scores in pure Python: no Django, no network, no clock.

``evaluate`` and the ``default_*_generate_fn`` of the published packages are here by name only: they need a
network client or files, which live one floor up and are imported when one of them is first used, also by
``from rubricweb.engine import *``. Names of the published packages that are others here say which.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from rubricweb.engine.datasets import DataItem, RubricDataset
    from rubricweb.engine.errors import InvalidFile, InvalidRubric, UnreadableReply
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
    from rubricweb.judges.defaults import (
        default_oneshot_generate_fn,
        default_per_criterion_generate_fn,
        default_rubric_as_judge_generate_fn,
    )
    from rubricweb.judges.evaluation import EvalResult, ItemResult, evaluate, report_usage

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


# Where each name lives: imported when it is first used. A module of this package, such as the errors that the
# command line needs, would else cost the import of all others, a third of a second.
_PLACES = {
    "rubricweb.engine.autograders.generate": (
        "OneShotGenerateFn",
        "PerCriterionGenerateFn",
        "RubricAsJudgeGenerateFn",
    ),
    "rubricweb.engine.autograders.outputs": (
        "CriterionEvaluation",
        "OneShotOutput",
        "PerCriterionOutput",
        "RubricAsJudgeOutput",
    ),
    "rubricweb.engine.datasets": ("DataItem", "RubricDataset"),
    "rubricweb.engine.errors": ("InvalidFile", "InvalidRubric", "UnreadableReply"),
    "rubricweb.engine.report": ("CriterionReport", "EvaluationReport"),
    "rubricweb.engine.rubric": ("Criterion", "LengthPenalty", "Option", "PassRule", "Rubric", "Section"),
    "rubricweb.engine.scoring": ("compute_length_penalty",),
    "rubricweb.engine.submission": ("Submission",),
    "rubricweb.engine.thinking": (
        "ThinkingOutputDict",
        "normalize_to_grade_input",
        "parse_thinking_output",
        "word_count",
    ),
    "rubricweb.engine.verdict": ("CriterionVerdict", "Verdict"),
    "rubricweb.judges.evaluation": ("EvalResult", "ItemResult", "evaluate", "report_usage"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            value = globals()[name] = getattr(importlib.import_module(_MODULES[name]), name)
            return value
        if name in __all__:
            from rubricweb.engine.autograders.generate import default_generate_fn

            return default_generate_fn(name)
        from rubricweb.engine.published.former_names import refuse_name

        return refuse_name(__name__, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
