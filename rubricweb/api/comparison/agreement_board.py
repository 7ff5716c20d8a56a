"""Operations that read how far the people of a queue agree."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.comparison import agreement_board_schemas as schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.comparison.board import board as selected

agreement = Room("agreement")


@agreement.read("/queues/{int:queue_id}/agreement", Role.VIEWER, schemas.AgreementBoard)
def get_agreement(request: TokenRequest, queue_id: int, asked: Query[schemas.BoardQuery]) -> Any:
    """How far the people of a queue agree: by criterion, pair, item, rater and week.

    Counts what people said first, before they saw anybody else's verdict. Withheld (403) while you are still
    to review any of its items blind.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    return selected.agreement_board(queue, request.auth.user, criterion_id=asked.criterion)
