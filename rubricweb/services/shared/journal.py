"""Writing down what was done, in the same transaction as the doing."""

from typing import Any

from rubricweb.models import (
    ApiToken,
    Dataset,
    Invitation,
    Item,
    JournalEntry,
    Judge,
    JudgeEndpoint,
    Membership,
    ModelPrice,
    Rater,
    Review,
    ReviewQueue,
    Rubric,
    RubricVersion,
    Run,
    SharedLink,
    System,
    SystemVersion,
    Team,
    User,
)

# Named one by one, because the audit log has a word for each: `selectors.teams.members.KINDS`.
Recorded = (
    ApiToken
    | Dataset
    | Invitation
    | Item
    | Judge
    | JudgeEndpoint
    | Membership
    | ModelPrice
    | Rater
    | Review
    | ReviewQueue
    | Rubric
    | RubricVersion
    | Run
    | SharedLink
    | System
    | SystemVersion
    | Team
)


def record(
    team: Team, actor: User | None, verb: str, target: Recorded | None = None, **detail: Any
) -> JournalEntry:
    """One line of the team's audit log: who did what to which row. `detail` must be JSON."""
    return JournalEntry.objects.create(
        team=team,
        actor=actor,
        verb=verb,
        target_kind=target._meta.model_name or "" if target is not None else "",
        target_id=target.pk if target is not None else None,
        target_label=str(target)[:200] if target is not None else "",
        detail=detail,
    )
