"""Shapes of datasets and items."""

# Long because all that is said of a dataset stands here: its items, files that come in, splits, raters.

from datetime import datetime
from typing import Annotated, Any, cast

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ArchivableQuery, ListQuery
from rubricweb.api.rubrics.schemas import VersionReference
from rubricweb.api.schemas import Id, Input, InputAsText, OneOf, Prompt, Share, Username, WithFields
from rubricweb.api.shapes import Shape
from rubricweb.engine.errors import Fault as ShownFault
from rubricweb.engine.formats.dataset_values import ColumnsRead as ShownColumnsRead
from rubricweb.engine.formats.datasets.case_tags import MAX_TAG, MAX_TAGS
from rubricweb.engine.formats.label_files import SHAPES
from rubricweb.engine.formats.labels.reading import UnknownValue as ShownUnknownValue
from rubricweb.models import NOT_RETIRED, Duplicates, ImportKind, ImportState, RaterKind, User
from rubricweb.models import Dataset as StoredDataset
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.datasets.halves import split_is_withheld
from rubricweb.selectors.datasets.imports import ImportedRater as ShownImportedRater
from rubricweb.selectors.datasets.items import ITEM_ORDERS, own_rubric_counts
from rubricweb.selectors.datasets.judged.filters import ERRORS, FIELDS, LABELS
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS
from rubricweb.services.datasets.answers import AnswersPlan
from rubricweb.services.datasets.datasets import StoredItems
from rubricweb.services.datasets.previews import (
    CASES_NAMED,
    NAME_KINDS,
    DuplicateItem,
    ImportChoices,
    preview_from,
)
from rubricweb.services.datasets.previews import ItemsPreview as ShownPreview
from rubricweb.services.datasets.previews import NewName as ShownNewName
from rubricweb.services.datasets.splits import Split as MadeSplit
from rubricweb.services.label_files import RaterInFile as ShownRaterInFile

Sealed = Annotated[
    Annotated[str, OneOf(SEALS)] | None,
    Field(description="Which split it is: examples (dev) or test; null for all other datasets."),
]


RaterKindName = Annotated[str, OneOf(RaterKind.values)]


class ImportedRater(Shape[ShownImportedRater]):
    """Somebody whose labels of the dataset came in files; machines count in no figure about people."""

    rater_kind: RaterKindName
    member: Annotated[str, Field(description="The user name of the member this is, or empty.")]
    is_said: Annotated[
        bool, Field(description="Somebody said so of a name in files, which can be taken back.")
    ]


class ChangedRater(Input):
    """What is left out stays as it is."""

    rater_kind: RaterKindName | None = None
    member: Annotated[
        str | None,
        Field(description="The user name of the member this person is; empty takes that back."),
    ] = None


class DatasetQuery(ArchivableQuery):
    search: Annotated[str, Field(max_length=SEARCH_CHARACTERS, description="Part of the name.")] = ""


class DatasetInList(Schema):
    id: int
    name: str
    description: str
    item_count: int
    run_count: int
    sealed_as: Sealed
    created_at: datetime
    archived_at: datetime | None

    @staticmethod
    def resolve_item_count(row: Any) -> int:
        return row.item_count or 0

    @staticmethod
    def resolve_sealed_as(row: Any) -> str | None:
        return row.sealed_as or None


class LabelBalance(Schema):
    """How many items of each split carry one label of one criterion."""

    criterion: str
    label: str
    dev: int
    test: int


class SameContent(Schema):
    """Two items, one in each split, with the same prompt and submission."""

    dev: str
    test: str


class SealedReport(Schema):
    """How alike the two splits are.

    `largest_difference` is the largest gap between the splits' shares of a label, 0 to 1. What is in
    `same_content` or `groups_in_both` leaks from one split into the other.
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

    A sealed split has a `seal`, the digest of its items and ground truth with a random `seal_salt`, and
    the split's report, which counts the labels of both splits. All three are null while you are still to
    review an item of it, of the other split or of the dataset both come from blind.
    """

    id: int
    name: str
    description: str
    prompt: Prompt
    reference: str | None
    rubric_version: VersionReference | None
    version: Annotated[int, Field(description="Counts the changes of its items.")]
    item_count: int
    own_rubric_count: int
    sealed_as: Sealed
    seal: str | None
    seal_salt: Annotated[
        str | None,
        Field(description="Key of the HMAC-SHA256 that gives the seal: `RubricDataset.seal(salt)`."),
    ]
    split_of_id: int | None
    split_report: SealedReport | None
    created_by: Username
    created_at: datetime
    archived_at: datetime | None

    @staticmethod
    def resolve_sealed_as(row: Any) -> str | None:
        return row.sealed_as or None


def dataset_in_full(dataset: StoredDataset, viewer: User) -> WithFields:
    """What a split's report and seals tell of labels is withheld like the labels themselves."""
    items, own = own_rubric_counts(dataset)
    withheld = split_is_withheld(dataset, viewer)
    return WithFields(
        dataset,
        item_count=items,
        own_rubric_count=own,
        seal=None if withheld else dataset.seal or None,
        # A dataset with marked cases has one too, for seals of looks.
        seal_salt=None if withheld or not dataset.seal else dataset.seal_salt,
        split_report=None if withheld else dataset.split_report,
    )


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
    final_verdict: Annotated[
        str | None, Field(description="What they said after the others' labels; null for nothing.")
    ]
    final_reason: str


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


class NewSealedCopies(Input):
    """`n_dev` labelled items become examples, all others the test; `seed` makes the split repeatable."""

    n_dev: Annotated[int, Field(ge=1, le=1_000_000)]
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    queue_ids: Annotated[
        list[Id],
        Field(max_length=100, description="Whose labels count; everybody's unless given."),
    ] = []


class SealedCopies(Schema):
    dev: Dataset
    test: Dataset


def sealed_copies(made: MadeSplit, viewer: User) -> dict[str, WithFields]:
    """The two datasets of a split, for the schema `Split`."""
    return {"dev": dataset_in_full(made.dev, viewer), "test": dataset_in_full(made.test, viewer)}


class LeftOutOfFile(Shape[ShownFault]):
    """A place of another program's file that has no counterpart here."""


class ColumnsRead(Shape[ShownColumnsRead]):
    """What the columns (or keys) of a file were read as; empty for another program's file."""

    fields: Annotated[dict[str, str], Field(description="Field by field the column it was read from.")]
    metadata: Annotated[list[str], Field(description="Columns that became metadata, the first 200.")]
    own_id: Annotated[
        bool, Field(description="Whether the ids are a column of another name, whose values are unique.")
    ]


class SameWords(Shape[DuplicateItem]):
    """An item of a file and the earlier one, of the file or the dataset, that says the same."""


class NewName(Shape[ShownNewName]):
    """A name that the file brings: of a system, of a version of one there is, or of a case of the dataset.

    `nearest` is the existing name it resembles, empty for none; where `is_doubtful` that one may be meant.
    """

    what: Annotated[str, OneOf(NAME_KINDS)]


class ItemsPreview(Shape[ShownPreview]):
    """What the items of a file come to: how many say what an earlier one says, and what is new by name."""

    first_duplicates: list[SameWords]
    new_cases: Annotated[int, Field(description="Cases that the dataset does not have; 0 for a new one.")]
    new_names: Annotated[
        list[NewName], Field(description=f"All systems and versions, the first {CASES_NAMED} cases.")
    ]


class ImportedDataset(Dataset):
    """`left_out` are the first places that were left out of another program's file, of `left_out_count`."""

    left_out: list[LeftOutOfFile]
    left_out_count: int
    columns_read: ColumnsRead
    preview: ItemsPreview


class AddedItems(Schema):
    """`left_out` are the first places that were left out of another program's file, of `left_out_count`."""

    items: Annotated[int, Field(description="How many items were added.")]
    dataset: Dataset
    left_out: list[LeftOutOfFile]
    left_out_count: int
    columns_read: ColumnsRead
    preview: ItemsPreview


def left_out_of(stored: StoredItems) -> dict[str, Any]:
    """What was read of a file as what, and what was left out, as answers tell it."""
    return {
        "columns_read": stored.columns,
        "left_out": list(stored.left_out),
        "left_out_count": len(stored.left_out) + stored.more_left_out,
        "preview": stored.preview,
    }


class AddedAnswers(Shape[AnswersPlan]):
    """What a file of answers came to, or would: cases by their keys, in the order of the dataset."""

    preview: ItemsPreview


class ConfirmedForm(InputAsText):
    """What is said beforehand of items whose words came before, and of names that are new."""

    duplicates: Annotated[
        Annotated[str, OneOf(Duplicates.values)],
        Field(description="What becomes of items whose words came before: `ask` refuses the file (409)."),
    ] = "ask"
    new_names: Annotated[
        bool, Field(description="A system or version that is named much like another is meant so.")
    ] = False
    columns: Annotated[
        list[str],
        Field(
            max_length=100,
            description="Where fields are found, as in submission=reply_text; id= where no column is the id.",
        ),
    ] = []

    def choices(self, *, strict: bool = True) -> ImportChoices:
        return ImportChoices(self.duplicates, self.new_names, strict)


class ItemsFileForm(ConfirmedForm):
    strict: Annotated[
        bool, Field(description="False leaves out what has no counterpart here in another program's file.")
    ] = True


class DatasetFileForm(ItemsFileForm):
    name: str = ""
    system: str = ""


class AnswersForm(ConfirmedForm):
    system: str
    as_attempt: bool = False
    plan: bool = False


Narrowed = Annotated[
    list[Annotated[str, Field(max_length=301)]],
    Field(max_length=16, description="`column=value` of declared columns, all of which must hold."),
]


SPLIT_ASKED = "Of `dev` or `test` cases, or of those in neither split: `none`."


class ItemQuery(ListQuery):
    search: Annotated[
        str,
        Field(max_length=SEARCH_CHARACTERS, description="Part of the id, description or submission."),
    ] = ""
    sort: Annotated[str, OneOf(ITEM_ORDERS)] = "position"
    where: Narrowed = []
    split: Annotated[str, Field(max_length=20, description=SPLIT_ASKED)] = ""
    tag: Annotated[
        list[Annotated[str, Field(max_length=MAX_TAG)]],
        Field(max_length=MAX_TAGS, description="Of cases that have this tag; several must all be there."),
    ] = []
    system: Annotated[
        str, Field(max_length=201, description="Answers of a system, or of one version: assistant@v4.")
    ] = ""
    version: Annotated[
        str, Field(max_length=20, description="`current`, `retired`, or the number of a version.")
    ] = "current"
    labels: Annotated[
        Annotated[str, OneOf(LABELS)] | None,
        Field(description="By how many people have labelled them, `3` is or more."),
    ] = None
    by: Annotated[Id | None, Field(description="Labelled by this rater.")] = None
    score_from: Annotated[
        float | None, Field(description="Of `run`, without one of the newest run that graded the item.")
    ] = None
    score_to: float | None = None
    errors: Annotated[Annotated[str, OneOf(ERRORS)] | None, Field(description="Of the same run.")] = None
    run: Annotated[Id | None, Field(description="Only items of this run.")] = None

    @property
    def judged(self) -> dict[str, str]:
        """What is asked of labels and scores, as addresses say it."""
        values = {name: getattr(self, name) for name in FIELDS}
        return {name: str(value) for name, value in values.items() if value is not None}


class Columns(Input):
    """Keys of the items' metadata, in the order in which lists show them."""

    columns: list[Annotated[str, Field(max_length=100)]]


class ColumnInList(Schema):
    """A declared column with its most frequent values."""

    name: str
    values: list[str]


TagsOrNone = Annotated[
    list[str] | None,
    Field(description="Those of its case. Null in reviews, and while you are to review an answer blind."),
]


class AnswerToCase(Schema):
    """Which case an item answers, and who answered."""

    case_id: int
    case_key: Annotated[
        str | None,
        Field(
            description="The key of the case it answers: the same for other answers to it. Null while you "
            "are to review an answer to it blind."
        ),
    ]
    split: Annotated[
        str | None,
        Field(description="In which split of the dataset its case is: dev or test, null for neither."),
    ]
    system: Annotated[
        str | None,
        Field(
            description="The version that answered, as assistant@v4; empty where its file named none, "
            "null in reviews, and while you are to review an answer to the same case blind."
        ),
    ]
    attempt: Annotated[
        int | None,
        Field(
            description="Counts the answers of the same version to the case from 1. Null where `key` is: a "
            "second attempt is of a version that answered twice.",
        ),
    ]
    added_in: Annotated[
        int | None,
        Field(
            description="The first version of the dataset that holds it. Null where `key` is: each file of "
            "answers makes a version."
        ),
    ]
    retired_in: Annotated[
        int | None,
        Field(description="The version that holds it no more; null while it is current, and where `key` is."),
    ]

    replaces_id: Annotated[
        int | None, Field(description="The id of the first item at its place, which it corrects.")
    ]

    @staticmethod
    def resolve_split(item: Any) -> str | None:
        return item.case.half or None

    # As `name_systems` says them.
    @staticmethod
    def resolve_attempt(item: Any) -> int | None:
        return cast(int | None, item.shown_attempt)

    @staticmethod
    def resolve_added_in(item: Any) -> int | None:
        return None if item.shown_key is None else item.added_in

    @staticmethod
    def resolve_retired_in(item: Any) -> int | None:
        return None if item.shown_key is None or item.retired_in == NOT_RETIRED else item.retired_in

    key: Annotated[
        str | None,
        Field(
            description="Its id in the file it came from. Null while you are to review an answer to the same "
            "case blind: it may tell who answered."
        ),
    ]

    # As `name_systems` says them.
    @staticmethod
    def resolve_key(item: Any) -> str | None:
        return cast(str | None, item.shown_key)


class ItemInList(AnswerToCase):
    """An item without its bodies."""

    id: int
    position: int
    description: str
    excerpt: Annotated[str, Field(description="The beginning of the submission.")]
    characters: Annotated[int, Field(description="The length of the submission.")]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]
    tags: TagsOrNone

    @staticmethod
    def resolve_tags(item: Any) -> Any:
        return item.shown_tags


class Item(AnswerToCase):
    """A submission as raters and judges see it: the dataset fills in a missing prompt or reference."""

    id: int
    dataset_id: int
    position: int
    description: str
    submission: str
    thinking: str | None
    prompt: Prompt
    reference: str | None
    metadata: Annotated[
        dict[str, Any],
        Field(description="Empty where `key` is null and a system answered: they may tell which."),
    ]
    content_hash: Annotated[
        str, Field(description="Equal for items that ask and answer the same, whatever their keys.")
    ]
    rubric_version_id: Annotated[int | None, Field(description="Set when the item brings its own rubric.")]
    tags: TagsOrNone

    @staticmethod
    def resolve_tags(item: Any) -> Any:
        return item.shown_tags

    @staticmethod
    def resolve_prompt(item: Any) -> Any:
        return item.to_engine().query

    @staticmethod
    def resolve_metadata(item: Any) -> Any:
        return item.shown_metadata

    @staticmethod
    def resolve_reference(item: Any) -> str | None:
        reference: str | None = item.to_engine().reference
        return reference


class ImportForm(ItemsFileForm):
    """Where a file's items go: `dataset_id` names a dataset there is, null a new one called `name`."""

    dataset_id: Annotated[Id | None, Field(description="A dataset the items are added to.")] = None
    name: Annotated[str, Field(max_length=200, description="Of a new dataset.")] = ""
    system: Annotated[
        str, Field(max_length=201, description="Which version all of them are answers of, as assistant@v5.")
    ] = ""
    as_attempt: Annotated[bool, Field(description="Cases answered before get another attempt.")] = False
    duplicates: Annotated[
        Annotated[str, OneOf(Duplicates.values)],
        Field(description="What becomes of items whose words came before."),
    ] = "ask"
    preview: Annotated[bool, Field(description="Ask before anything is stored, whatever is found.")] = False


class DuplicatesDecision(Input):
    duplicates: Annotated[str, OneOf(("keep", "skip"))]


class DatasetImport(Schema):
    """A file on its way into a dataset.

    `asks` waits to be told what becomes of duplicates and that new names are meant; `done`, `refused`,
    `failed` and `cancelled` are ends.
    """

    id: int
    kind: Annotated[str, OneOf(ImportKind.values)]
    state: Annotated[str, OneOf(ImportState.values)]
    filename: Annotated[
        str,
        Field(
            description="Empty, as all that was found in it, where somebody else sent the file and you are "
            "to review items of the dataset blind."
        ),
    ]
    dataset_id: Annotated[int | None, Field(description="Null until a new dataset stands.")]
    rows_read: int
    rows_stored: int
    duplicate_count: Annotated[int, Field(description="Items whose words came before.")]
    duplicates: Annotated[str, OneOf(Duplicates.values)]
    first_duplicates: Annotated[
        list[SameWords], Field(description="Empty while you are to review items of the dataset blind.")
    ]
    preview: Annotated[ItemsPreview | None, Field(description="Null until all of the file is read.")]
    message: Annotated[str, Field(description="Why nothing was stored, where nothing was.")]
    fault_count: int
    left_out: list[LeftOutOfFile]
    left_out_count: int
    columns_read: ColumnsRead
    missing_cases: Annotated[list[str], Field(description="Cases without an answer of the version.")]
    created_by: Username
    created_at: datetime
    ended_at: datetime | None

    @staticmethod
    def resolve_first_duplicates(row: Any) -> list[DuplicateItem]:
        return [DuplicateItem(*one) for one in row.found.get("duplicates", [])]

    @staticmethod
    def resolve_preview(row: Any) -> ShownPreview | None:
        stored = row.found.get("preview")
        return preview_from(stored) if stored is not None else None

    @staticmethod
    def resolve_left_out(row: Any) -> list[ShownFault]:
        return [ShownFault(*one) for one in row.found.get("left_out", [])]

    @staticmethod
    def resolve_left_out_count(row: Any) -> int:
        return int(row.found.get("left_out_count", 0))

    @staticmethod
    def resolve_columns_read(row: Any) -> ShownColumnsRead:
        return ShownColumnsRead(**row.found.get("columns", {}))

    @staticmethod
    def resolve_missing_cases(row: Any) -> list[str]:
        return list((row.found.get("plan") or {}).get("missing", []))
