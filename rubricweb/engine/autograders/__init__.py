"""The autograders by the name they are stored under; adding one is a module and a line here."""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.autograders.base import (
    Answer,
    Autograder,
    Overall,
    Prompt,
    Reading,
    ReplyFormat,
    UnreadableReply,
)
from rubricweb.engine.autograders.examples.few_shot import (
    Candidate,
    Example,
    Examples,
    ExamplesOverlap,
    draw_examples,
)
from rubricweb.engine.autograders.generate import (
    GenerateFn,
    OneShotGenerateFn,
    PerCriterionGenerateFn,
    RubricAsJudgeGenerateFn,
)
from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording
from rubricweb.engine.autograders.one_shot import PerCriterionOneShotGrader
from rubricweb.engine.autograders.outputs import (
    CriterionEvaluation,
    OneShotOutput,
    PerCriterionOutput,
    RubricAsJudgeOutput,
)
from rubricweb.engine.autograders.panels.by_vote import Member, VoteGrader, VotePrompt
from rubricweb.engine.autograders.panels.cascade import CascadeGrader, Stage
from rubricweb.engine.autograders.panels.panel import PanelGrader
from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.autograders.prompted import PromptedAutograder
from rubricweb.engine.autograders.rubric_as_judge import RubricAsJudgeGrader
from rubricweb.engine.published.former_names import refuse_name
from rubricweb.engine.rubric import grade_by_default_with

AUTOGRADERS: dict[str, type[PromptedAutograder]] = {
    "per_criterion": PerCriterionGrader,
    "one_shot": PerCriterionOneShotGrader,
    "rubric_as_judge": RubricAsJudgeGrader,
}

__all__ = [
    "AUTOGRADERS",
    "Answer",
    "Autograder",
    "Candidate",
    "CascadeGrader",
    "CriterionEvaluation",
    "Example",
    "Examples",
    "ExamplesOverlap",
    "FormTexts",
    "GenerateFn",
    "JudgeWording",
    "Member",
    "OneShotGenerateFn",
    "OneShotOutput",
    "Overall",
    "PanelGrader",
    "PerCriterionGenerateFn",
    "PerCriterionGrader",
    "PerCriterionOneShotGrader",
    "PerCriterionOutput",
    "Prompt",
    "PromptedAutograder",
    "Reading",
    "ReplyFormat",
    "RubricAsJudgeGenerateFn",
    "RubricAsJudgeGrader",
    "RubricAsJudgeOutput",
    "Stage",
    "UnreadableReply",
    "VoteGrader",
    "VotePrompt",
    "draw_examples",
]

grade_by_default_with(PerCriterionGrader)


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
