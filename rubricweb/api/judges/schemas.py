"""Shapes of judges with versions, of what differs between two of these, and of what makes one."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, GetJsonSchemaHandler
from pydantic_core import core_schema

from rubricweb.api.paging import ArchivableQuery
from rubricweb.api.schemas import Input, OneOf, Username, WithFields
from rubricweb.api.shapes import Shape
from rubricweb.engine.judging import definition as engine
from rubricweb.engine.judging.changes import DefinitionChange as ShownChange
from rubricweb.models import Judge, VersionOrigin
from rubricweb.selectors.judges import VisibleVersion
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS
from rubricweb.services.judges.definitions import NAME_MAX
from rubricweb.services.judges.versions import NOTE_MAX


class NamedJudgeQuery(ArchivableQuery):
    search: Annotated[
        str, Field(max_length=SEARCH_CHARACTERS, description="Judges whose name holds this.")
    ] = ""


class JudgeVersionReference(Schema):
    """`called` is what a run names as its `judge`."""

    id: int
    number: int
    called: Annotated[str, Field(examples=["support-judge@v3"])]

    @staticmethod
    def resolve_called(row: Any) -> str:
        return str(row)


class NamedJudgeInList(Schema):
    """A judge through all its versions. `current` is the version that is meant where a run names the slug
    alone. `versions` and `runs` count all; null while what changed in it is withheld from you.
    """

    id: int
    name: str
    slug: Annotated[str, Field(examples=["support-judge"])]
    note: str
    current: JudgeVersionReference | None
    versions: int | None
    runs: int
    created_by: Username
    created_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, row: Judge, withheld: frozenset[int]) -> WithFields:
        """A judge with its counts as this shape shows it."""
        counts = row.__dict__
        hidden = row.pk in withheld
        return WithFields(row, versions=None if hidden else counts["version_count"], runs=counts["run_count"])


class JudgeVersionInList(JudgeVersionReference):
    """A version without its definition. `parent` is the number of the version it was made from; `digest` is
    equal of versions that ask the same. `digest` and `note` are null while they are withheld from you.
    """

    origin: Annotated[str, OneOf(VersionOrigin.values)]
    parent: int | None
    digest: str | None
    note: str | None
    is_current: bool
    runs: int
    created_by: Username
    created_at: datetime

    @staticmethod
    def resolve_parent(row: Any) -> int | None:
        return None if row.parent is None else int(row.parent.number)

    @classmethod
    def of(cls, seen: VisibleVersion) -> WithFields:
        """A version with the count of its runs, as far as it may be seen, as this shape shows it."""
        return ShownVersion(
            seen.version,
            digest=seen.digest,
            note=seen.note,
            is_current=seen.is_current,
            runs=seen.version.__dict__["run_count"],
            definition=seen.definition,
            withheld=seen.withheld,
        )


class ShownVersion(WithFields):
    """A version of a judge, which its own name calls it by."""

    def __str__(self) -> str:
        return str(self._row)


class JudgeVersion(JudgeVersionInList):
    """A version in full. `withheld` while you are still to review items of the team blind and the judge is
    shown examples: they tell what people said, and are left out of `definition`.
    """

    judge: Annotated["NamedJudgeReference", Field(description="Whose version it is.")]
    definition: engine.JudgeDefinition
    withheld: bool


class NamedJudgeReference(Schema):
    id: int
    name: str
    slug: str


class NamedJudge(NamedJudgeInList):
    """A judge with its current version in full."""

    current: JudgeVersion | None


class WordSegment(Schema):
    """A piece of a text that was changed: in both, only in the earlier, or only in the later."""

    kind: Annotated[str, OneOf(("same", "gone", "new"))]
    text: str


class DefinitionChange(Shape[ShownChange]):
    """A field that differs. Null is a field that there is not; `words` are those of a text, null elsewhere.

    Instructions that are the shipped ones stand there as the shipped text.
    """

    before: Any
    after: Any
    words: list[WordSegment] | None


class JudgeDiff(Schema):
    """What differs from `before` to `after`; no change where both ask the same."""

    before: JudgeVersionReference
    after: JudgeVersionReference
    changes: list[DefinitionChange]


class _AsDefinition:
    """A JSON object that is described as a definition, and read as one by the service."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> Any:
        return handler(engine.JudgeDefinition.__pydantic_core_schema__)


SentDefinition = Annotated[
    Any,
    _AsDefinition,
    Field(
        description="What decides what is asked. A member's `address` may be left out where `endpoint` names "
        "a model of the team; its `name` and `model` are that one's then. Never a key or a header."
    ),
]
Note = Annotated[str, Field(max_length=NOTE_MAX, description="Why it is as it is, for people.")]


class NewJudge(Input):
    """Without `slug` it is made of the name. `parent` is the version of any judge it was made from."""

    name: Annotated[str, Field(max_length=NAME_MAX)]
    definition: SentDefinition
    slug: Annotated[str, Field(max_length=NAME_MAX)] = ""
    note: Note = ""
    parent: Annotated[int | None, Field(ge=1, lt=2**63, description="The id of a version.")] = None


class NewJudgeVersion(Input):
    """Either the whole `definition`, or the `changes` to that of `parent`.

    `parent` is the number of the version you began with.
    """

    parent: Annotated[int, Field(ge=1, lt=2**31)]
    definition: SentDefinition | None = None
    changes: Annotated[
        dict[str, Any] | None,
        Field(
            description="A JSON Merge Patch (RFC 7396): null puts a default back, objects are merged, lists "
            "are replaced.",
            examples=[{"wording": {"instructions": {"without_options": "{{frame}}\n\nBe strict."}}}],
        ),
    ] = None
    note: Note = ""


class NamedJudgeChanges(Input):
    """What is left out stays as it is."""

    name: Annotated[str | None, Field(max_length=NAME_MAX)] = None
    slug: Annotated[str | None, Field(max_length=NAME_MAX)] = None
    note: Annotated[str | None, Field(max_length=NOTE_MAX)] = None
    archived: bool | None = None
