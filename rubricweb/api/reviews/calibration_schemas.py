"""Shapes of gold items and calibration."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Answered, Id, Input, OneOf, Share
from rubricweb.models import ReviewQueue
from rubricweb.selectors.reviews.calibration import CalibrationStage, GoldOverview
from rubricweb.selectors.reviews.calibration import RaterCalibration as ShownCalibration

Asked = Annotated[float | None, Field(gt=0, le=1, description="0 to 1; null asks for nothing.")]


class NewGold(Input):
    """Either `item_ids` or `at_random`."""

    item_ids: Annotated[list[Id], Field(max_length=10_000)] = []
    at_random: Annotated[
        int | None, Field(ge=1, description="So many, drawn from those whose labels are known.")
    ] = None


class Rules(Input):
    calibration_items: Annotated[
        int, Field(ge=0, description="So many gold items come first for everybody; 0 for no round.")
    ]
    pass_mark: Annotated[
        Asked, Field(description="The share of labels in the round that must be right to go on.")
    ] = None
    extra_rater_below: Annotated[
        Asked,
        Field(description="An item whose raters agree on a smaller share of criteria gets one more, once."),
    ] = None
    gold_floor: Annotated[
        Asked,
        Field(
            description="Who has a smaller share of labels right over their last `gold_window` gold items is "
            "handed nothing more until an editor lets them go on."
        ),
    ] = None
    gold_window: Annotated[int, Field(ge=1, le=1000)] = 10


class Calibration(Schema):
    """How a round went: `right` of `total` labels like the known ones; both 0 where nothing was counted."""

    right: int
    total: int
    passed: Annotated[
        bool,
        Field(
            description="Whether the mark was reached, be it after it was lowered or taken away, or somebody "
            "let them go on. A mark that is raised later takes nothing back."
        ),
    ]
    passed_by: Annotated[str | None, Field(description="Who let them go on below the mark.")]
    decided_at: datetime

    @staticmethod
    def resolve_passed_by(row: object) -> str | None:
        by = getattr(row, "passed_by", None)
        return None if by is None else str(by)


class GoldAccuracy(Schema):
    """Over all gold items submitted, those after the round too; `low` to `high` is a 95 % interval.

    Labels of one item count together in it; both ends are null where all labels are of one item.
    """

    right: int
    total: int
    share: Share
    low: float | None
    high: float | None


class Paused(Schema):
    """A pause of a rater: `right` of `total` labels of their last gold items were like the known ones."""

    right: int | None
    total: int | None
    paused_at: datetime


class RaterCalibration(Schema):
    id: int
    name: str
    stage: Annotated[str, OneOf([stage.value for stage in CalibrationStage])]
    calibration: Calibration | None
    accuracy: GoldAccuracy
    pause: Annotated[Paused | None, Field(description="Null for who may go on.")]
    withheld: Annotated[
        bool, Field(description="Whether figures are left out: you are still to review gold items blind.")
    ]


class GoldItem(Schema):
    id: int
    key: Annotated[
        str | None,
        Field(alias="shown_key", description="null while it would tell you whose answer you review blind."),
    ]


class Gold(Schema):
    """`gold` items there are, `more` could be marked; `items` are those that may be named, 200 at most."""

    calibration_items: int
    pass_mark: float | None
    extra_rater_below: float | None
    gold_floor: float | None
    gold_window: int
    gold: int
    more: int
    items: list[GoldItem]
    raters: list[RaterCalibration]


class KnownAnswer(Schema):
    item: GoldItem
    criterion: str
    mine: Answered
    truth: Answered
    is_right: bool


class MyCalibration(Schema):
    """`answers` are empty until the round is over; `withheld` items are hidden by another blind queue."""

    stage: Annotated[str, OneOf([stage.value for stage in CalibrationStage])]
    size: Annotated[int, Field(description="How many items the round has; 0 after it.")]
    submitted: int
    pass_mark: float | None
    paused: Annotated[
        bool,
        Field(description="Whether nothing is handed to you: too few of your latest gold labels are right."),
    ]
    calibration: Calibration | None
    answers: list[KnownAnswer]
    withheld: int


def gold(queue: ReviewQueue, overview: GoldOverview) -> dict[str, Any]:
    """The gold items and raters of a queue, as Gold shows them."""
    return {
        "calibration_items": queue.calibration_items,
        "pass_mark": queue.pass_mark,
        "extra_rater_below": queue.extra_rater_below,
        "gold_floor": queue.gold_floor,
        "gold_window": queue.gold_window,
        "gold": overview.gold,
        "more": overview.more,
        "items": overview.items,
        "raters": [
            {
                "id": row.rater.pk,
                "name": row.rater.name,
                "stage": row.round.stage.value,
                "calibration": None if row.withheld else row.round.calibration,
                "accuracy": row.accuracy,
                "pause": _paused(row),
                "withheld": row.withheld,
            }
            for row in overview.raters
        ],
    }


def _paused(row: ShownCalibration) -> dict[str, Any] | None:
    if row.pause is None:
        return None
    right, total = (None, None) if row.withheld else (row.pause.right, row.pause.total)
    return {"right": right, "total": total, "paused_at": row.pause.paused_at}
