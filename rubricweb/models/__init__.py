"""Every table, importable from one place."""

from rubricweb.models.adjudications import Adjudication, Cause, Choice, Revision
from rubricweb.models.comments import Comment, Notice, NoticeKind
from rubricweb.models.datasets import Dataset, Item
from rubricweb.models.journal import JournalEntry
from rubricweb.models.judgements import Judgement, Vote
from rubricweb.models.queues import (
    Blind,
    Calibration,
    Order,
    QueueItem,
    QueueState,
    Rater,
    Rationale,
    ReviewQueue,
)
from rubricweb.models.reviews import Review, ReviewState
from rubricweb.models.rubrics import Criterion, Rubric, RubricVersion
from rubricweb.models.runs import (
    UNENDED,
    BatchJob,
    IdempotencyKey,
    JudgeCall,
    Run,
    RunCriterionSummary,
    RunEvent,
    RunItem,
    RunMode,
    RunState,
    RunSummary,
    RunTally,
    Worker,
)
from rubricweb.models.teams import (
    ApiToken,
    EndpointMemory,
    JudgeEndpoint,
    Membership,
    ModelPrice,
    Role,
    Team,
    User,
)

__all__ = [
    "UNENDED",
    "Adjudication",
    "ApiToken",
    "BatchJob",
    "Blind",
    "Calibration",
    "Cause",
    "Choice",
    "Comment",
    "Criterion",
    "Dataset",
    "EndpointMemory",
    "IdempotencyKey",
    "Item",
    "JournalEntry",
    "JudgeCall",
    "JudgeEndpoint",
    "Judgement",
    "Membership",
    "ModelPrice",
    "Notice",
    "NoticeKind",
    "Order",
    "QueueItem",
    "QueueState",
    "Rater",
    "Rationale",
    "Review",
    "ReviewQueue",
    "ReviewState",
    "Revision",
    "Role",
    "Rubric",
    "RubricVersion",
    "Run",
    "RunCriterionSummary",
    "RunEvent",
    "RunItem",
    "RunMode",
    "RunState",
    "RunSummary",
    "RunTally",
    "Team",
    "User",
    "Vote",
    "Worker",
]
