"""Programmatic criteria: functions of a submission that ask no judge, and the published rubric classes.

Adding one is a module and a line in ``registry.py``; outside packages announce theirs in the entry point
group ``rubricweb.checks``.
"""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.checks import criteria
from rubricweb.engine.checks.base import CannotCheck, Check, CheckParams, CheckResult, NoParams
from rubricweb.engine.checks.criteria import check_params, describe_check, run_check
from rubricweb.engine.checks.published.evaluators import (
    AllReport,
    AllRubric,
    RubricPart,
    RubricReport,
    WeightedRubric,
)
from rubricweb.engine.checks.published.rubric_set import Report, Rubric, RubricSet, Score
from rubricweb.engine.checks.published.rubrics import (
    CheckRubric,
    ContainsKeywords,
    JsonSchema,
    LengthBetween,
    MatchesRegex,
    NoForbiddenPhrases,
    threshold_rubric,
)
from rubricweb.engine.checks.registry import BUILT_IN, CHECKS, ENTRY_POINTS, PLUGIN_FAULTS, load_plugins
from rubricweb.engine.published.former_names import refuse_name
from rubricweb.engine.rubric.criterion import read_checks_with

__all__ = [
    "BUILT_IN",
    "CHECKS",
    "ENTRY_POINTS",
    "PLUGIN_FAULTS",
    "AllReport",
    "AllRubric",
    "CannotCheck",
    "Check",
    "CheckParams",
    "CheckResult",
    "CheckRubric",
    "ContainsKeywords",
    "JsonSchema",
    "LengthBetween",
    "MatchesRegex",
    "NoForbiddenPhrases",
    "NoParams",
    "Report",
    "Rubric",
    "RubricPart",
    "RubricReport",
    "RubricSet",
    "Score",
    "WeightedRubric",
    "check_params",
    "describe_check",
    "load_plugins",
    "run_check",
    "threshold_rubric",
]

read_checks_with(criteria)

# Last, when everything a package's checks may import from here is there.
load_plugins()


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
