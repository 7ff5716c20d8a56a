"""Shapes of teams, tokens and the audit log."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.schemas import Input, Naming, OneOf, Username, WithFields
from rubricweb.models import ApiToken, Role, User
from rubricweb.selectors.teams.members import KINDS
from rubricweb.selectors.teams.members import TeamMember as MemberRow
from rubricweb.selectors.teams.tokens import TOKEN_STATES, token_state

RoleName = Annotated[str, OneOf(role.label for role in Role)]


class Team(Schema):
    slug: str
    name: str
    created_at: datetime
    archived_at: Annotated[datetime | None, Field(description="Since when it is only read and exported.")]


class Member(Schema):
    """A queue names its raters by their `username`; annotators and above may review."""

    id: Annotated[int, Field(description="Names the member in `/team/members/{user_id}`.")]
    username: str
    name: str
    email: Annotated[str | None, Field(description="Null unless you are an owner.")]
    role: Annotated[str, Field(examples=["annotator"])]
    never_signed_in: bool

    @staticmethod
    def resolve_id(row: Any) -> int:
        return int(row.membership.user_id)

    @staticmethod
    def resolve_username(row: Any) -> str:
        return str(row.membership.user.username)

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row.membership.user)

    @staticmethod
    def resolve_role(row: Any) -> str:
        return str(row.membership.get_role_display())

    @staticmethod
    def resolve_email(row: Any) -> str | None:
        return row.membership.user.email if row.shows_email else None


def members_in_team(members: Iterable[MemberRow], *, viewer: User) -> list[WithFields]:
    """The members of a team, for the schema `Member`; addresses for owners only."""
    members = list(members)
    owner = any(one.membership.user == viewer and one.membership.role == Role.OWNER for one in members)
    return [WithFields(one, shows_email=owner) for one in members]


class TeamChanges(Naming):
    name: Annotated[str | None, Field(max_length=120)] = None


class NewRole(Input):
    role: RoleName


class NewLink(Input):
    hand_over: Annotated[
        bool, Field(description="Answer with the link even where mail is set up; then it is not mailed.")
    ] = False


class NewInvitation(NewLink):
    """Who is asked into the team; nobody is in before they accept."""

    who: Annotated[str, Field(min_length=1, max_length=150, description="A user name or an e-mail address.")]
    role: RoleName = "annotator"
    name: Annotated[str, Field(max_length=120, description="How others see somebody new.")] = ""


class Invitation(Schema):
    """Somebody asked into the team who has not come yet; `email` or `username` is what was typed."""

    id: int
    email: str
    username: str
    name: str
    role: Annotated[str, Field(examples=["annotator"])]
    invited_by: Username
    mailed: bool
    expires_at: datetime

    @staticmethod
    def resolve_role(row: Any) -> str:
        return str(row.get_role_display())


class HandedInvitation(Invitation):
    link: Annotated[
        str | None, Field(description="To be handed over, shown this once; null where it was mailed.")
    ]


class TeamWithMembers(Team):
    members: list[Member]


class Token(Schema):
    name: str
    may_write: bool
    expires_at: datetime


class OwnToken(Token):
    """A token of yours in this team; its secret was shown when it was made, and never is again."""

    id: int
    begins: Annotated[str, Field(examples=["rw_3kJq9"], description="With what its secret begins.")]
    state: Annotated[str, OneOf(TOKEN_STATES)]
    created_at: datetime
    last_used_at: datetime | None


def own_token(token: ApiToken, *, now: datetime) -> WithFields:
    """A token as OwnToken shows it."""
    return WithFields(token, begins=token.hint, state=token_state(token, now=now))


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


class AuditLogQuery(ListQuery):
    actor: Annotated[
        str | None, Field(max_length=150, description="The user name of who did it.", examples=["alice"])
    ] = None
    kind: Annotated[str, OneOf(KINDS.values())] | None = None


class AuditLogEntry(Schema):
    """What was done to which row; decisions on items you are still to review blind are left out."""

    at: datetime
    actor: Annotated[str | None, Field(description="Null for what the app did by itself.")]
    verb: Annotated[str, Field(examples=["published"])]
    kind: Annotated[str, Field(examples=["rubric version"], description="Empty where it is about no row.")]
    target_id: int | None
    label: Annotated[
        str,
        Field(
            description="Empty for an item to which nobody gave a key, or whose key would tell who answered."
        ),
    ]
    detail: dict[str, Any]

    @staticmethod
    def resolve_detail(row: Any) -> dict[str, Any]:
        return dict(row.detail)
