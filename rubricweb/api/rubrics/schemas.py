"""Shapes of rubrics: drafts, versions, criteria."""

from datetime import datetime
from typing import Annotated, Any, get_args

from ninja import Schema
from pydantic import ConfigDict, Field

from rubricweb.api.paging import ArchivableQuery
from rubricweb.api.rubrics.label_schemas import LabelDecisionInput
from rubricweb.api.schemas import Input, OneOf, Share, Username
from rubricweb.engine.lint import RULES, Severity
from rubricweb.engine.rubric import MAX_CRITERIA
from rubricweb.engine.rubric.criterion import KINDS, MAX_OPTIONS, SCALE_TYPES
from rubricweb.engine.rubric.rules import COUNTS
from rubricweb.engine.rubric.sections import MAX_SECTIONS
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS
from rubricweb.services.rubrics.starters import NAMES

NOT_SHOWN = "Kept for the programs that read the rubric's file; no grader sees it."


class RubricQuery(ArchivableQuery):
    search: Annotated[str, Field(max_length=SEARCH_CHARACTERS, description="Part of the title.")] = ""


class RubricInList(Schema):
    """`newest_number` is null while there is only a draft."""

    id: int
    title: str
    newest_number: int | None
    run_count: int
    draft_revision: int
    created_at: datetime
    archived_at: datetime | None
    updated_at: datetime


class Rubric(Schema):
    """The draft as it was saved last, valid or not, and how many times it was saved."""

    id: int
    title: str
    draft: dict[str, Any]
    draft_revision: int
    created_by: Username
    created_at: datetime
    archived_at: datetime | None
    updated_at: datetime


class RubricTable(Schema):
    """`left_out` says of each criterion what the table does not hold; empty where it reads back the same."""

    csv: str
    left_out: list[str]


class DraftOption(Input):
    """`value` is 0 to 1; choosing an option with `na` abstains."""

    label: str | None = None
    value: float | str | None = None
    na: bool | None = None


class DraftCriterion(Input):
    """Keys left out stay out. Whether a criterion is valid is checked when the draft is published.

    The kind follows from the keys: `options` make a choice, `check` (with its `params`, see GET /checks) a
    check, anything else is binary.
    """

    id: Annotated[
        str | None,
        Field(description="Which criterion it is across versions; else found by words and name."),
    ] = None
    description: Annotated[str | None, Field(description=NOT_SHOWN)] = None
    name: str | None = None
    weight: float | str | None = None
    requirement: str | None = None
    group: str | None = None
    guidance: str | None = None
    tags: list[str] | None = None
    met_example: str | None = None
    unmet_example: str | None = None
    kind: str | None = None
    options: Annotated[list[DraftOption] | None, Field(max_length=MAX_OPTIONS)] = None
    scale_type: str | None = None
    aggregation: Annotated[str | None, Field(description="The vote rule of panels here.")] = None
    check: str | None = None
    params: dict[str, Any] | None = None


class DraftSection(Input):
    """A section of the rubric's file: its criteria, if any, are those whose `group` is its title."""

    title: Annotated[str | None, Field(description="Without one it is called by its id.")] = None
    id: str | None = None
    description: Annotated[str | None, Field(description=NOT_SHOWN)] = None


class DraftPassRule(Input):
    """When a submission passes: limits from 0 to 1, on the score and on every criterion."""

    min_score: float | str | None = None
    min_criterion: float | str | None = None


class DraftLengthPenalty(Input):
    """What a long submission loses: nothing up to `free_budget` words, `penalty_at_cap` from `max_cap`."""

    free_budget: int | str | None = None
    max_cap: int | str | None = None
    penalty_at_cap: float | str | None = None
    exponent: float | str | None = None
    counts: str | None = None


EXAMPLE_DRAFT: Any = {
    "title": "Capitals",
    "guidelines": "Judge the answer only.",
    "criteria": [
        {"name": "capital", "weight": 10, "requirement": "Names Paris as the capital."},
        {"name": "wrong_country", "weight": -15, "requirement": "Places Paris outside France."},
        {
            "name": "tone",
            "weight": 5,
            "requirement": "How friendly is the answer?",
            "options": [
                {"label": "rude", "value": 0},
                {"label": "plain", "value": 0.5},
                {"label": "warm", "value": 1},
            ],
        },
        {"name": "short", "weight": 2, "check": "length_between", "params": {"unit": "words", "max": 50}},
    ],
}


class Draft(Input):
    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_DRAFT]})

    title: Annotated[str, Field(min_length=1, max_length=200)]
    id: str | None = None
    description: Annotated[str | None, Field(description=NOT_SHOWN)] = None
    guidelines: str = ""
    criteria: Annotated[list[DraftCriterion], Field(max_length=MAX_CRITERIA)] = []
    sections: Annotated[list[DraftSection], Field(max_length=MAX_SECTIONS)] = []
    pass_rule: DraftPassRule | None = None
    length_penalty: DraftLengthPenalty | None = None

    def content(self) -> dict[str, Any]:
        """The draft as it is stored: with what was sent and nothing else."""
        return self.model_dump(exclude_unset=True)


class DraftSave(Input):
    """`revision` is the `draft_revision` your change began from; a newer one is a conflict."""

    revision: Annotated[int, Field(ge=0)]
    draft: Draft


class Restoration(Input):
    revision: Annotated[
        int, Field(ge=0, description="The `draft_revision` it replaces; a newer is a conflict.")
    ]


class CopiedRubric(Input):
    title: Annotated[str, Field(max_length=200, description="Empty: the version's title and (copy).")] = ""


class CopiedStarter(Input):
    starter: Annotated[str, OneOf(NAMES), Field(examples=["summary"])]
    title: Annotated[str, Field(max_length=200, description="Empty: the starter's title.")] = ""


class Publication(Input):
    note: Annotated[str, Field(max_length=300, description="What changed, in a line.")] = ""
    revision: Annotated[
        int | None,
        Field(
            ge=0, description="The `draft_revision` you looked at; a newer draft is a conflict. Null: any."
        ),
    ] = None
    label_decisions: Annotated[
        dict[str, LabelDecisionInput],
        Field(
            description="By the uid of a reworded criterion, or `guidelines`; without one its labels wait."
        ),
    ] = {}


class Option(Schema):
    """One answer of a choice: worth `value` (0 to 1), or an abstention where `na`."""

    label: str
    value: float = 0.0
    na: bool = False


class Criterion(Schema):
    """`weight` is negative for an error to avoid.

    A choice has `options` and a `scale_type`; a check has a name (`check`, see GET /checks) and `params`.
    """

    id: int
    uid: Annotated[str, Field(description="The same in every version of the rubric; files call it `id`.")]
    position: int
    description: Annotated[str, Field(description=NOT_SHOWN)]
    name: str
    weight: float
    requirement: str
    group: str
    guidance: str
    tags: list[str]
    met_example: str
    unmet_example: str
    kind: Annotated[str, OneOf(KINDS)]
    options: list[Option]
    scale_type: Annotated[str, OneOf(SCALE_TYPES)] | None
    aggregation: Annotated[str | None, Field(description="The vote rule of panels here; null is theirs.")]
    check: str | None
    params: dict[str, Any]

    @staticmethod
    def resolve_description(row: Any) -> str:
        return str(row.version.metadata.get("descriptions", {}).get(str(row.position), ""))

    @staticmethod
    def resolve_scale_type(row: Any) -> str | None:
        return row.scale_type or None

    @staticmethod
    def resolve_aggregation(row: Any) -> str | None:
        return row.aggregation or None

    @staticmethod
    def resolve_check(row: Any) -> str | None:
        return row.check_name or None


class PassRule(Schema):
    """When a submission passes; null is no limit."""

    min_score: Share = None
    min_criterion: Share = None


class LengthPenalty(Schema):
    """What a long submission loses: nothing up to `free_budget` words, `penalty_at_cap` from `max_cap`."""

    free_budget: int
    max_cap: int
    penalty_at_cap: float
    exponent: float
    counts: Annotated[str, OneOf(COUNTS)]


class Section(Schema):
    """A section of the rubric's file: its criteria, if any, are those whose `group` is its title."""

    title: str = ""
    uid: Annotated[str, Field(description="Files call it `id`.")] = ""
    description: Annotated[str, Field(description=NOT_SHOWN)] = ""


class VersionInList(Schema):
    id: int
    number: int
    title: str
    note: str
    criterion_count: int
    run_count: int
    queue_count: int
    published_by: Username
    published_at: datetime


class RubricVersion(Schema):
    """A rubric as published: it never changes."""

    id: int
    rubric_id: int
    number: int
    uid: Annotated[str, Field(description="The id of the rubric's file, which calls it `id`.")]
    title: str
    description: Annotated[str, Field(description=NOT_SHOWN)]
    guidelines: str
    note: str
    published_by: Username
    published_at: datetime
    criteria: list[Criterion]
    pass_rule: PassRule | None
    length_penalty: LengthPenalty | None
    sections: Annotated[
        list[Section], Field(description="Those of its file, where one says more than the groups do.")
    ]

    @staticmethod
    def resolve_uid(row: Any) -> str:
        return str(row.metadata.get("id", ""))

    @staticmethod
    def resolve_description(row: Any) -> str:
        return str(row.metadata.get("description", ""))

    @staticmethod
    def resolve_sections(row: Any) -> list[dict[str, str]]:
        sections = row.metadata.get("sections", [])
        return [{("uid" if key == "id" else key): value for key, value in one.items()} for one in sections]


class Check(Schema):
    """A function of the submission that a criterion can name; it asks no judge."""

    name: str
    title: str
    description: str
    params: Annotated[dict[str, Any], Field(description="JSON Schema of its parameters.")]


class Starter(Schema):
    """A rubric to begin with; `source` says where its idea comes from."""

    name: str
    title: str
    purpose: str
    source: str
    criterion_count: int
    rubric: Annotated[
        dict[str, Any], Field(description="Title, guidelines and criteria, as a rubric file has them.")
    ]


class Finding(Schema):
    """Something about a rubric that is likely to go wrong.

    `criterion` is the place (from 0) of the criterion it is about, null for the rubric as a whole; `others`
    are further ones. `span` marks characters (start, end) of that criterion's requirement. `reads` is what it
    was found in: the rubric's text, or data, the labels given so far.
    """

    rule: Annotated[str, OneOf(RULES)]
    reads: Annotated[str, OneOf(("text", "data"))]
    title: str
    explanation: str
    severity: Annotated[str, OneOf(get_args(Severity))]
    criterion: int | None
    others: list[int]
    message: str
    suggestion: str
    span: tuple[int, int] | None

    @staticmethod
    def resolve_title(finding: Any) -> str:
        return RULES[finding.rule].title

    @staticmethod
    def resolve_reads(finding: Any) -> str:
        return RULES[finding.rule].reads

    @staticmethod
    def resolve_explanation(finding: Any) -> str:
        return RULES[finding.rule].explanation


class VersionReference(Schema):
    id: int
    number: Annotated[int | None, Field(description="Null for a rubric that came with an item.")]
    title: str
