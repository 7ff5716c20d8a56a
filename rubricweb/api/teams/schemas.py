"""Shapes of teams, tokens and the journal."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas.shared import Input, OneOf
from rubricweb.selectors.teams import KINDS


class Team(Schema):
    slug: str
    name: str
    created_at: datetime


class Member(Schema):
    """A queue names its raters by their `username`; annotators and above may review."""

    username: str
    name: str
    role: Annotated[str, Field(examples=["annotator"])]

    @staticmethod
    def resolve_username(row: Any) -> str:
        return str(row.membership.user.username)

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.membership.user)

    @staticmethod
    def resolve_role(row: Any) -> str:
        return str(row.membership.get_role_display())


class TeamWithMembers(Team):
    members: list[Member]


class Token(Schema):
    name: str
    may_write: bool
    expires_at: datetime


class Me(Schema):
    """Whom the token stands for."""

    username: str
    name: str
    role: Annotated[str, Field(examples=["editor"])]
    team: Team
    token: Token
    single_keys: Annotated[
        bool,
        Field(description="Whether keys without Ctrl or Alt act at once on every page; yes until chosen."),
    ]


class OwnChoices(Input):
    """What you choose for yourself, in all your teams and on every device."""

    single_keys: bool


class JournalQuery(ListQuery):
    actor: Annotated[
        str | None, Field(max_length=150, description="The user name of who did it.", examples=["alice"])
    ] = None
    kind: Annotated[str, OneOf(KINDS.values())] | None = None


class JournalEntry(Schema):
    """What was done to which row; decisions on items you are still to review blind are left out."""

    at: datetime
    actor: Annotated[str | None, Field(description="Null for what the app did by itself.")]
    verb: Annotated[str, Field(examples=["published"])]
    kind: Annotated[str, Field(examples=["rubric version"], description="Empty where it is about no row.")]
    target_id: int | None
    label: str
    detail: dict[str, Any]

    @staticmethod
    def resolve_detail(row: Any) -> dict[str, Any]:
        return dict(row.detail)
