"""Writing down what was done, in the same transaction as the doing."""

from typing import Any

from django.db.models import Model

from rubricweb.models import JournalEntry, Team, User


def record(team: Team, actor: User | None, verb: str, target: Model | None = None, **detail: Any) -> None:
    """One line of the team's journal: who did what to which row. `detail` must be JSON."""
    JournalEntry.objects.create(
        team=team,
        actor=actor,
        verb=verb,
        target_kind=target._meta.model_name or "" if target is not None else "",
        target_id=target.pk if target is not None else None,
        target_label=str(target)[:200] if target is not None else "",
        detail=detail,
    )
