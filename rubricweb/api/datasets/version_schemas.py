"""Shapes of what changes a dataset, and of its versions."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Id, Input, OneOf, Prompt, Username
from rubricweb.api.shapes import Shape
from rubricweb.models import ChangeKind
from rubricweb.selectors.datasets.versions import Behind as ShownBehind
from rubricweb.services.dataset_versions import NOTE_MAX
from rubricweb.services.datasets.changes.retirement import ChangePlan as ShownPlan
from rubricweb.services.datasets.changes.undoing import UndoPlan as ShownUndoPlan

MOST_CHOSEN = 10_000

ChangeKindName = Annotated[str, OneOf(ChangeKind.values)]
Ids = Annotated[list[Id], Field(max_length=MOST_CHOSEN)]
Note = Annotated[str, Field(max_length=NOTE_MAX, description="Why, for those who read it later.")]
JustPlan = Annotated[bool, Field(description="Say what it would do, and change nothing.")]


class ItemsToMove(Input):
    """Items by their ids, all answers to cases by the ids of these, or both."""

    item_ids: Ids = []
    case_ids: Ids = []
    note: Note = ""
    plan: JustPlan = False


class CaseWords(Input):
    """The right words; null leaves what there is. `rubric` is as a draft has it."""

    prompt: Prompt = None
    reference: str | None = None
    rubric: dict[str, Any] | None = None
    note: Note = ""
    plan: JustPlan = False


class ItemWords(CaseWords):
    """The right words; null leaves what there is. Those of its case only where no other answer shares it."""

    submission: str | None = None
    thinking: str | None = None


class Behind(Shape[ShownBehind]):
    """What people and judges did with the items: counts of labels, adjudications, reviews and runs.

    `open_reviews` are still asked for in `queues`, `begun_reviews` of them are drafts; `unended_runs` of the
    `runs` are under way; `held_out` items have a copy in a test split.
    """


class ChangePlan(Shape[ShownPlan]):
    """What a change of a dataset comes to, or came to: it makes `version`.

    `unchanged` items were so before. `cases` are left without an answer, have one again, or are corrected:
    `items` are then the answers that keep the words before. `taken` items, as id:7, cannot be restored:
    another one, current or restored with it, has the id, or answers the same case for the same version.
    `replacement` is the id of the item that stands in the place of a corrected one.
    """

    change: ChangeKindName


class VersionToUndo(Input):
    version: Annotated[int, Field(ge=1, description="The newest one, as it was seen; another is a conflict.")]
    plan: JustPlan = False


class UndoPlan(Shape[ShownUndoPlan]):
    """What undoing the newest version of a dataset comes to, or came to.

    `change` of `items` made it. `system_versions` came with it alone and are removed as well. What `stands`
    on it keeps it from being undone.
    """

    change: ChangeKindName


class DatasetVersion(Schema):
    """What made a version of a dataset, of how many items.

    `note` is empty while you are to review answers of the dataset blind.
    """

    version: int
    kind: ChangeKindName
    items: int
    note: str
    created_by: Username
    created_at: datetime
