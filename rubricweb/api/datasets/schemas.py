"""Shapes of datasets and items."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.rubrics.schemas import VersionReference
from rubricweb.api.schemas import Id, Input, OneOf, Prompt, Share, Username, WithFields
from rubricweb.api.shapes import Shape
from rubricweb.engine.errors import Fault as ShownFault
from rubricweb.engine.formats.label_files import SHAPES
from rubricweb.engine.formats.labels.reading import UnknownValue as ShownUnknownValue
from rubricweb.models import Dataset as StoredDataset
from rubricweb.models import RaterKind, User
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.datasets.items import ITEM_ORDERS, own_rubric_counts
from rubricweb.selectors.datasets.items import ImportedRater as ShownImportedRater
from rubricweb.selectors.exports.exports import withheld_from
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS
from rubricweb.services.datasets.answers import AnswersPlan
from rubricweb.services.datasets.datasets import StoredItems
from rubricweb.services.datasets.splits import Split as MadeSplit
from rubricweb.services.label_files import RaterInFile as ShownRaterInFile

Sealed = Annotated[
    Annotated[str, OneOf(SEALS)] | None,
    Field(description="Which half of a split it is: examples (dev) or test; null for all other datasets."),
]


RaterKindName = Annotated[str, OneOf(RaterKind.values)]


class ImportedRater(Shape[ShownImportedRater]):
    """Somebody whose labels of the dataset came in files; machines count in no figure about people."""

    rater_kind: RaterKindName


class ChangedRater(Input):
    rater_kind: RaterKindName


class DatasetQuery(ListQuery):
    search: Annotated[str, Field(max_length=SEARCH_CHARACTERS, description="Part of the name.")] = ""


class DatasetInList(Schema):
    id: int
    name: str
    description: str
    item_count: int
    run_count: int
    sealed_as: Sealed
    created_at: datetime

    @staticmethod
    def resolve_item_count(row: Any) -> int:
        return row.item_count or 0

    @staticmethod
    def resolve_sealed_as(row: Any) -> str | None:
        return row.sealed_as or None


class LabelBalance(Schema):
    """How many items of each half carry one label of one criterion."""

    criterion: str
    label: str
    dev: int
    test: int


class SameContent(Schema):
    """Two items, one in each half, with the same prompt and submission."""

    dev: str
    test: str


class SplitReport(Schema):
    """How alike the halves of a split are.

    `largest_difference` is the largest gap between the halves' shares of a label, 0 to 1. What is in
    `same_content` or `groups_in_both` leaks from one half into the other.
    """

    seed: int
    n_dev: int
    n_test: int
    largest_difference: Share
    labels: list[LabelBalance]
    same_content: list[SameContent]
    groups_in_both: list[str]


class Dataset(Schema):
    """`own_rubric_count` items bring a rubric of their own; `rubric_version` came in the same file.

    A half of a split has a `seal`, the SHA-256 of its items and ground truth, and the split's report; the
    report counts labels, so it is null while you are still to review items of the half blind.
    """

    id: int
    name: str
    description: str
    prompt: Prompt
    reference: str | None
    rubric_version: VersionReference | None
    item_count: int
    own_rubric_count: int
    sealed_as: Sealed
    seal: str | None
    split_of_id: int | None
    split_report: SplitReport | None
    created_by: Username
    created_at: datetime

    @staticmethod
    def resolve_sealed_as(row: Any) -> str | None:
        return row.sealed_as or None

    @staticmethod
    def resolve_seal(row: Any) -> str | None:
        return row.seal or None


def dataset_in_full(dataset: StoredDataset, viewer: User) -> WithFields:
    """The counts of labels in a split's report are withheld like the labels themselves."""
    items, own = own_rubric_counts(dataset)
    report = None if withheld_from(viewer, dataset) else dataset.split_report
    return WithFields(dataset, item_count=items, own_rubric_count=own, split_report=report)


class RaterInFile(Shape[ShownRaterInFile]):
    rater_kind: RaterKindName
    member: Annotated[str, Field(description="The user name of the member this is, or empty.")]


class ColumnInFile(Schema):
    """A column of a file of labels and the field it is read as, empty where it is not read."""

    column: str
    field: str


class LeftOutLabels(Schema):
    """Rows of a file of labels that are left out for one reason."""

    why: str
    rows: int
    says: Annotated[str, Field(description="The same as a sentence, with the first names it is about.")]


class UnknownValue(Shape[ShownUnknownValue]):
    """A value that is no answer to its criteria; `values` can say which of `allowed` it stands for."""


class LabelInFile(Schema):
    item_id: str
    criterion: str
    rater: str
    verdict: str
    reason: str
    rater_kind: RaterKindName


class LabelsPlan(Schema):
    """What a file of labels would become: a closed queue of this name, with labels of these raters."""

    queue_name: str
    labels: int
    items: Annotated[int, Field(description="Items with at least one of the labels.")]
    criteria: Annotated[int, Field(description="Criteria with at least one of the labels.")]
    raters: list[RaterInFile]
    shape: Annotated[str, OneOf(SHAPES)]
    columns: list[ColumnInFile]
    left_out: list[LeftOutLabels]
    unknown_values: list[UnknownValue]
    first: Annotated[list[LabelInFile], Field(description="The first ten, as they would be read.")]


class NewSplit(Input):
    """`n_dev` labelled items become examples, all others the test; `seed` makes the split repeatable."""

    n_dev: Annotated[int, Field(ge=1, le=1_000_000)]
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    queue_ids: Annotated[
        list[Id],
        Field(max_length=100, description="Whose labels count; everybody's unless given."),
    ] = []


class Split(Schema):
    dev: Dataset
    test: Dataset


def halves(made: MadeSplit, viewer: User) -> dict[str, WithFields]:
    """The two datasets of a split, for the schema `Split`."""
    return {"dev": dataset_in_full(made.dev, viewer), "test": dataset_in_full(made.test, viewer)}


class LeftOutOfFile(Shape[ShownFault]):
    """A place of another program's file that has no counterpart here."""


class ImportedDataset(Dataset):
    """`left_out` are the first places that were left out of another program's file, of `left_out_count`."""

    left_out: list[LeftOutOfFile]
    left_out_count: int


class AddedItems(Schema):
    """`left_out` are the first places that were left out of another program's file, of `left_out_count`."""

    items: Annotated[int, Field(description="How many items were added.")]
    dataset: Dataset
    left_out: list[LeftOutOfFile]
    left_out_count: int


def left_out_of(stored: StoredItems) -> dict[str, Any]:
    """What was left out of a file, as answers tell it."""
    return {
        "left_out": list(stored.left_out),
        "left_out_count": len(stored.left_out) + stored.more_left_out,
    }


class AddedAnswers(Shape[AnswersPlan]):
    """What a file of answers came to, or would: cases by their keys, in the order of the dataset."""


class ItemQuery(ListQuery):
    search: Annotated[
        str,
        Field(max_length=SEARCH_CHARACTERS, description="Part of the id, description or submission."),
    ] = ""
    sort: Annotated[str, OneOf(ITEM_ORDERS)] = "position"


class AnswerToCase(Schema):
    """Which case an item answers, and who answered."""

    case_key: Annotated[
        str, Field(description="The key of the case it answers: the same for other answers to it.")
    ]
    system: Annotated[
        str | None,
        Field(
            description="The version that answered, as assistant@v4; empty where its file named none, "
            "null in reviews, and while you are to review the item blind."
        ),
    ]
    attempt: Annotated[int, Field(description="Counts the answers of the same version to the case from 1.")]

    @staticmethod
    def resolve_case_key(item: Any) -> str:
        return str(item.case.key)

    @staticmethod
    def resolve_system(item: Any) -> str | None:
        """As `name_systems` says it; a review never says who answered."""
        return getattr(item, "system", None)


class ItemInList(AnswerToCase):
    """An item without its bodies. `key` is its id in the file it came from."""

    id: int
    key: str
    position: int
    description: str
    excerpt: Annotated[str, Field(description="The beginning of the submission.")]
    characters: Annotated[int, Field(description="The length of the submission.")]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]


class Item(AnswerToCase):
    """A submission as raters and judges see it: the dataset fills in a missing prompt or reference."""

    id: int
    dataset_id: int
    key: str
    position: int
    description: str
    submission: str
    thinking: str | None
    prompt: Prompt
    reference: str | None
    metadata: dict[str, Any]
    content_hash: Annotated[
        str, Field(description="Equal for items that ask and answer the same, whatever their keys.")
    ]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]

    @staticmethod
    def resolve_prompt(item: Any) -> Any:
        return item.to_engine().query

    @staticmethod
    def resolve_reference(item: Any) -> str | None:
        reference: str | None = item.to_engine().reference
        return reference
