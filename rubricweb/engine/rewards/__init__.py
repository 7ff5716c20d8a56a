"""Reward functions under their published names: ``import rubricweb.engine.rewards as vf``."""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.parsers.completion import Parser
from rubricweb.engine.parsers.think import MaybeThinkParser, ThinkParser
from rubricweb.engine.parsers.xml import XMLParser
from rubricweb.engine.published.former_names import refuse_name
from rubricweb.engine.rewards.arguments import InvalidRewards
from rubricweb.engine.rewards.judge_rubric import JudgeRubric
from rubricweb.engine.rewards.math_rubric import MathNotInstalled, MathRubric
from rubricweb.engine.rewards.rollouts import group_by, score_groups_of, states_from
from rubricweb.engine.rewards.rubric import Rubric
from rubricweb.engine.rewards.rubric_group import RubricGroup
from rubricweb.engine.rewards.teardowns import teardown
from rubricweb.engine.rewards.types import GroupRewardFunc, Info, Messages, RewardFunc, RolloutScore, State

__all__ = [
    "GroupRewardFunc",
    "Info",
    "InvalidRewards",
    "JudgeRubric",
    "MathNotInstalled",
    "MathRubric",
    "MaybeThinkParser",
    "Messages",
    "Parser",
    "RewardFunc",
    "RolloutScore",
    "Rubric",
    "RubricGroup",
    "State",
    "ThinkParser",
    "XMLParser",
    "group_by",
    "score_groups_of",
    "states_from",
    "teardown",
]


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
