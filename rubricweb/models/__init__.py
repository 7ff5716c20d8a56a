"""Every table, importable from one place."""

from rubricweb.models.datasets import Dataset, Item
from rubricweb.models.journal import JournalEntry
from rubricweb.models.judgements import Judgement, Vote
from rubricweb.models.reviews import Adjudication, Cause, QueueState, Rater, Review, ReviewQueue, ReviewState
from rubricweb.models.rubrics import Criterion, Rubric, RubricVersion
from rubricweb.models.runs import (
    JudgeCall,
    Run,
    RunCriterionSummary,
    RunItem,
    RunState,
    RunSummary,
)
from rubricweb.models.teams import ApiToken, JudgeEndpoint, Membership, Role, Team, User

__all__ = [
    "Adjudication",
    "ApiToken",
    "Cause",
    "Criterion",
    "Dataset",
    "Item",
    "JournalEntry",
    "JudgeCall",
    "JudgeEndpoint",
    "Judgement",
    "Membership",
    "QueueState",
    "Rater",
    "Review",
    "ReviewQueue",
    "ReviewState",
    "Role",
    "Rubric",
    "RubricVersion",
    "Run",
    "RunCriterionSummary",
    "RunItem",
    "RunState",
    "RunSummary",
    "Team",
    "User",
    "Vote",
]
