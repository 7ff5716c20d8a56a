"""Shapes of comments and notifications."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, model_validator

from rubricweb.api.schemas import Answered, Id, Input, Named, OneOf, Username
from rubricweb.api.shapes import Shape
from rubricweb.models import NoticeKind
from rubricweb.selectors.teams.notices import MailSettings as ShownMailWish

Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=10_000,
        description='Markdown; `@username` or `@"Shown Name"` mentions a member, outside code.',
    ),
]


class NewComment(Input):
    """On the whole item, on one criterion of it, or on one verdict."""

    text: Text
    criterion_id: Id | None = None
    judgement_id: Annotated[
        Id | None, Field(description="A verdict you may see, by a judge or in a submitted review.")
    ] = None

    @model_validator(mode="after")
    def _about_one_thing(self) -> "NewComment":
        if self.criterion_id is not None and self.judgement_id is not None:
            raise ValueError("a comment is about a criterion or a verdict, not both")
        return self


class EditedComment(Input):
    """What is left out stays as it is; the text only its author may change."""

    text: Text | None = None
    resolved: bool | None = None


class Comment(Schema):
    """`text` is empty once the comment was removed. While the item is hidden from you, you see your own
    comments only, without the verdict they are about.
    """

    id: int
    item_id: int
    author: Annotated[str | None, Field(description="A user name; null when the account is gone.")]
    text: str
    criterion_id: int | None
    judgement_id: int | None
    verdict: Annotated[Answered | None, Field(description="What that judgement says.")]
    resolved: bool
    created_at: datetime
    edited_at: datetime | None
    removed_at: datetime | None

    @staticmethod
    def resolve_author(row: Any) -> str | None:
        author: str | None = row.username
        return author

    @staticmethod
    def resolve_criterion_id(row: Any) -> int | None:
        return row.criterion.pk if row.criterion else None


class NotificationComment(Schema):
    """The comment a notification is about, in short."""

    id: int
    item_id: int
    author: Username
    text: str


class Notification(Schema):
    """Something that waits for you: about a comment or about a queue."""

    id: int
    kind: Annotated[str, OneOf(NoticeKind.values)]
    created_at: datetime
    read_at: datetime | None
    comment: NotificationComment | None
    queue: Named | None


class ReadNotifications(Input):
    ids: Annotated[list[Id] | None, Field(max_length=200, description="Left out: all that you can see.")] = (
        None
    )


class Unread(Schema):
    read: Annotated[int, Field(description="How many were marked.")]
    unread: Annotated[int, Field(description="How many are left.")]


class MailChoice(Input):
    wanted: bool


class MailWish(Shape[ShownMailWish]):
    """Whether unread notifications come by e-mail: you want them, your address is proven, mail is set up."""
