"""Operations about the gold items of a queue and the calibration of its raters."""

from typing import Any

from django.utils import timezone

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.reviews import calibration_schemas as schemas
from rubricweb.models import ReviewQueue, Role, User
from rubricweb.selectors.reviews import calibration as selected
from rubricweb.selectors.reviews.leads import gold_pauses
from rubricweb.services.reviews import calibration as services
from rubricweb.services.reviews.leads import gold_pauses as pauses

calibration = Room("reviews")


@calibration.read("/queues/{int:queue_id}/gold", Role.EDITOR, schemas.Gold)
def get_gold(request: TokenRequest, queue_id: int) -> Any:
    """The gold items of a queue, and how each rater did on them.

    If you rate in the queue, items you have not submitted are not named, and figures over items that are
    hidden from you are left out.
    """
    return _gold(access.access_queue(request.auth.team, queue_id), request.auth.user)


def _gold(queue: ReviewQueue, viewer: User) -> dict[str, Any]:
    return schemas.gold(queue, selected.gold_overview(queue, viewer))


@calibration.write("POST", "/queues/{int:queue_id}/gold", Role.EDITOR, schemas.Gold)
def mark_gold(request: TokenRequest, queue_id: int, body: schemas.NewGold) -> Any:
    """Mark items of a queue as gold.

    These, or so many at random. The label to every criterion people are asked about must be known:
    adjudicated, or settled in a file of labels. Who rates in the queue can only have them drawn.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    services.mark_gold(queue, by=request.auth.user, item_ids=body.item_ids, at_random=body.at_random)
    return _gold(queue, request.auth.user)


@calibration.write("DELETE", "/queues/{int:queue_id}/gold/{int:item_id}", Role.EDITOR, schemas.Gold)
def unmark_gold(request: TokenRequest, queue_id: int, item_id: int) -> Any:
    """Make a gold item one like the others."""
    queue = access.access_queue(request.auth.team, queue_id)
    services.unmark_gold(queue, access.access_item(request.auth.team, item_id).pk, by=request.auth.user)
    return _gold(queue, request.auth.user)


@calibration.write("PUT", "/queues/{int:queue_id}/calibration", Role.EDITOR, schemas.Gold)
def set_calibration(request: TokenRequest, queue_id: int, body: schemas.Rules) -> Any:
    """Set how a queue calibrates its raters, and when an item gets one more."""
    queue = access.access_queue(request.auth.team, queue_id)
    services.set_rules(
        queue,
        by=request.auth.user,
        calibration_items=body.calibration_items,
        pass_mark=body.pass_mark,
        extra_rater_below=body.extra_rater_below,
        gold_floor=body.gold_floor,
        gold_window=body.gold_window,
    )
    return _gold(queue, request.auth.user)


@calibration.write("POST", "/queues/{int:queue_id}/raters/{int:rater_id}/let-on", Role.EDITOR, schemas.Gold)
def let_rater_on(request: TokenRequest, queue_id: int, rater_id: int) -> Any:
    """Let a rater go on, whatever their calibration round said."""
    queue = access.access_queue(request.auth.team, queue_id)
    services.let_on(queue, access.access_rater(queue, rater_id), by=request.auth.user)
    return _gold(queue, request.auth.user)


@calibration.write(
    "POST", "/queues/{int:queue_id}/raters/{int:rater_id}/try-again", Role.EDITOR, schemas.Gold
)
def let_rater_try_again(request: TokenRequest, queue_id: int, rater_id: int) -> Any:
    """Let a rater below the mark try again with other gold items."""
    queue = access.access_queue(request.auth.team, queue_id)
    services.try_again(queue, access.access_rater(queue, rater_id), by=request.auth.user)
    return _gold(queue, request.auth.user)


@calibration.write(
    "POST", "/queues/{int:queue_id}/raters/{int:rater_id}/end-pause", Role.EDITOR, schemas.Gold
)
def end_rater_pause(request: TokenRequest, queue_id: int, rater_id: int) -> Any:
    """Let a rater go on who was paused because too few labels of their last gold items were right.

    Gold items of before count no more for the next pause. 409 for who is not paused.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    rater = access.access_rater(queue, rater_id)
    pauses.end(queue, rater, by=request.auth.user, now=timezone.now())
    return _gold(queue, request.auth.user)


@calibration.read("/queues/{int:queue_id}/calibration", Role.ANNOTATOR, schemas.MyCalibration)
def get_my_calibration(request: TokenRequest, queue_id: int) -> Any:
    """How your own calibration round went.

    Your labels beside the known ones once the round is over; before, only how far you are.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    mine = selected.my_calibration(queue, request.auth.user)
    return {
        "stage": mine.round.stage.value,
        "size": mine.round.size,
        "submitted": mine.round.submitted,
        "pass_mark": queue.pass_mark,
        "paused": gold_pauses.own_pause(queue, request.auth.user.pk) is not None,
        "calibration": mine.round.calibration,
        "answers": [
            {
                "item": one.item,
                "criterion": one.criterion.name,
                "mine": one.mine,
                "truth": one.truth,
                "is_right": one.is_right,
            }
            for one in mine.answers
        ],
        "withheld": mine.withheld,
    }
