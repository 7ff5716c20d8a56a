"""Programmatic criteria: functions of a submission that ask no judge, and the published rubric classes.

Adding one is a module and a line in ``registry.py``; outside packages announce theirs in the entry point
group ``rubricweb.checks``.
"""

from rubricweb.engine.checks.base import CannotCheck, Check, CheckParams, CheckResult, NoParams
from rubricweb.engine.checks.criteria import check_params, describe_check, run_check
from rubricweb.engine.checks.registry import BUILT_IN, CHECKS, ENTRY_POINTS, PLUGIN_FAULTS, load_plugins

__all__ = [
    "BUILT_IN",
    "CHECKS",
    "ENTRY_POINTS",
    "PLUGIN_FAULTS",
    "CannotCheck",
    "Check",
    "CheckParams",
    "CheckResult",
    "NoParams",
    "check_params",
    "describe_check",
    "load_plugins",
    "run_check",
]

# Last, when everything a package's checks may import from here is there.
load_plugins()
