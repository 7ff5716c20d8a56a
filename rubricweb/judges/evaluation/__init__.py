"""Evaluating a dataset in Python alone, without the app and its tables."""

from rubricweb.judges.evaluation.experiment import ExperimentInUse
from rubricweb.judges.evaluation.results import EvalResult, EvalTimingStats, ItemResult
from rubricweb.judges.evaluation.runner import evaluate
from rubricweb.judges.usage import Usage, report_usage

__all__ = [
    "EvalResult",
    "EvalTimingStats",
    "ExperimentInUse",
    "ItemResult",
    "Usage",
    "evaluate",
    "report_usage",
]
