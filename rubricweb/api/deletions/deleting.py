"""What every operation that deletes does."""

from typing import Any

from django.utils import timezone

from rubricweb import tasks
from rubricweb.api.deletions.schemas import DeletionName
from rubricweb.api.operations import TokenRequest
from rubricweb.selectors.deletions import Deletable, DeletionPlan, plan
from rubricweb.services.deletions import deletions as services


def planned(row: Deletable) -> DeletionPlan:
    return plan(row, now=timezone.now())


def deleted(request: TokenRequest, row: Deletable, body: DeletionName) -> Any:
    """The deletion, which a worker then carries out."""
    return services.delete(
        row, body.name, by=request.auth.user, now=timezone.now(), enqueue=tasks.notify_deletion
    )
