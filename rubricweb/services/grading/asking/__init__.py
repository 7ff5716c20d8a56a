"""How a run asks about its items: one judge or several, by criterion or for the whole."""

from collections.abc import Mapping

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Run
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.services.grading.asking.base import GradingStrategy
from rubricweb.services.grading.asking.single import HolisticJudge, SingleJudge
from rubricweb.services.grading.asking.voting import PanelVoting


def strategy_of(run: Run, judges: Mapping[str, JudgeConfig]) -> "GradingStrategy":
    """How this run asks."""
    if run.panel is not None:
        return PanelVoting(run, judges)
    return HolisticJudge(run, judges) if run.autograder == PER_ITEM else SingleJudge(run, judges)
