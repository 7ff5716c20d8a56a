"""What people say to each other about an item: writing, editing, removing, resolving."""

import re
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from rubricweb.errors import Conflict, Forbidden
from rubricweb.models import Comment, Criterion, Item, Judgement, NoticeKind, User
from rubricweb.services.journal import record
from rubricweb.services.labels import refused
from rubricweb.services.notices import notify_comment

TEXT_MAX = 10_000
# An e-mail address mentions nobody: before the @ stands nothing that could belong to one.
MENTION = re.compile(r"(?<![\w@.+/-])@(\w[\w@.+-]*)")


@transaction.atomic
def write(
    item: Item,
    *,
    by: User,
    text: str,
    criterion: Criterion | None = None,
    judgement: Judgement | None = None,
) -> Comment:
    """A new comment on the item, one criterion of it, or one verdict on it.

    Criterion and verdict come through their doors, `criterion_for` and `judgement_for`. Whoever is mentioned
    is told so; others who wrote on the item before are told that there is an answer. Raises Invalid for a
    text that is empty or too long.
    """
    comment = Comment.objects.create(
        item=item,
        criterion=judgement.criterion if judgement is not None else criterion,
        judgement=judgement,
        author=by,
        text=_storable(text),
    )
    notify_comment(comment, _mentioned(comment), NoticeKind.MENTION)
    notify_comment(comment, _earlier_authors(comment), NoticeKind.REPLY)
    record(item.dataset.team, by, "commented on", item)
    return comment


@transaction.atomic
def edit(comment: Comment, *, by: User, text: str, now: datetime) -> None:
    """Other words for one's own comment; who is mentioned for the first time is told."""
    _require_own(comment, by, "edit")
    text = _storable(text)
    if text == comment.text:
        return
    comment.text = text
    comment.edited_at = now
    comment.save(update_fields=["text", "edited_at"])
    notify_comment(comment, _mentioned(comment), NoticeKind.MENTION)


@transaction.atomic
def remove(comment: Comment, *, by: User, now: datetime) -> None:
    """Takes the words of one's own comment away for good; its place stays. Safe to repeat."""
    if comment.author_id == by.pk and comment.removed_at is not None:
        return
    _require_own(comment, by, "remove")
    comment.text = ""
    comment.removed_at = now
    comment.save(update_fields=["text", "removed_at"])
    record(comment.item.dataset.team, by, "removed a comment on", comment.item)


@transaction.atomic
def resolve(comment: Comment, *, by: User, resolved: bool = True) -> None:
    """Says that a comment is dealt with, or that it is not after all. Safe to repeat."""
    if comment.removed_at is not None:
        raise Conflict("This comment was removed.")
    if Comment.objects.filter(pk=comment.pk, resolved=not resolved).update(resolved=resolved):
        verb = "resolved a comment on" if resolved else "reopened a comment on"
        record(comment.item.dataset.team, by, verb, comment.item)
    comment.resolved = resolved


def _require_own(comment: Comment, by: User, what: str) -> None:
    if comment.author_id != by.pk:
        raise Forbidden(f"You can {what} your own comments only.")
    if comment.removed_at is not None:
        raise Conflict("This comment was removed.")


def _storable(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not text:
        raise refused("text", "Write something first.")
    if len(text) > TEXT_MAX:
        raise refused("text", f"A comment has at most {TEXT_MAX:,} characters, not {len(text):,}.")
    return text


def mentioned_names(text: str) -> set[str]:
    """User names after an @, in small letters: "ask @Ann, or mail b@c.org" is {"ann"}.

    A name may end in a full stop or not, so "@ann." is both "ann." and "ann".
    """
    names: set[str] = set()
    for found in MENTION.findall(text):
        name = found.casefold()
        names |= {name, name.rstrip("@.+-")}
    return names - {""}


def _mentioned(comment: Comment) -> list[User]:
    """The members whose user names are in the text, but for its author."""
    names = mentioned_names(comment.text)
    return [user for user in _others(comment) if user.username.casefold() in names] if names else []


def _earlier_authors(comment: Comment) -> QuerySet[User]:
    """Members who wrote on the same item before."""
    before = Comment.objects.filter(item=comment.item_id, pk__lt=comment.pk, removed_at=None)
    return _others(comment).filter(pk__in=before.values("author"))


def _others(comment: Comment) -> QuerySet[User]:
    """Everybody in the team but the author."""
    members = User.objects.filter(memberships__team=comment.item.dataset.team_id, is_active=True)
    return members.exclude(pk=comment.author_id) if comment.author_id is not None else members
