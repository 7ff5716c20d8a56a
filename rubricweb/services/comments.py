"""What people say to each other about an item: writing, editing, removing, resolving."""

from collections import Counter
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from rubricweb.engine.parsers.mentions import folded_name, mentions
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import Comment, Criterion, Item, Judgement, NoticeKind, User
from rubricweb.services.notices import notify_comment
from rubricweb.services.shared.journal import record

TEXT_MAX = 10_000


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

    Criterion and verdict come through their access checks, `criterion_for` and `judgement_for`. Whoever is
    mentioned is told so; others who wrote on the item before are told that there is an answer. Raises Invalid
    for a text that is empty or too long.
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
    _look_again(comment)
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
    _look_again(comment)
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


def _look_again(comment: Comment) -> None:
    """Locks the comment, and reads what became of it since it was looked up: others may have changed it."""
    locked = Comment.objects.select_for_update(no_key=True).only("text", "removed_at")
    current = locked.filter(pk=comment.pk).first()
    if current is None:
        raise NotFound("comment")
    comment.text, comment.removed_at = current.text, current.removed_at


def _require_own(comment: Comment, by: User, what: str) -> None:
    if comment.author_id != by.pk:
        raise Forbidden(f"You can {what} your own comments only.")
    if comment.removed_at is not None:
        raise Conflict("This comment was removed.")


def _storable(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not text:
        raise Invalid.about("text", "Write something first.")
    if len(text) > TEXT_MAX:
        raise Invalid.about("text", f"A comment has at most {TEXT_MAX:,} characters, not {len(text):,}.")
    return text


def _mentioned(comment: Comment) -> list[User]:
    """The members whose user names are in the text, or whose shown name is and is nobody else's here.

    Never its author, whose own shown name counts as somebody's.
    """
    names = mentions(comment.text)
    if not (names.usernames or names.shown_names):
        return []
    members = list(_members(comment))
    bearers = Counter(folded_name(str(user)) for user in members)
    unambiguous = {name for name in names.shown_names if bearers[name] == 1}
    return [
        user
        for user in members
        if user.pk != comment.author_id
        and (user.username.casefold() in names.usernames or folded_name(str(user)) in unambiguous)
    ]


def _earlier_authors(comment: Comment) -> QuerySet[User]:
    """Members who wrote on the same item before."""
    before = Comment.objects.filter(item=comment.item_id, pk__lt=comment.pk, removed_at=None)
    return _others(comment).filter(pk__in=before.values("author"))


def _others(comment: Comment) -> QuerySet[User]:
    """Everybody in the team but the author."""
    members = _members(comment)
    return members.exclude(pk=comment.author_id) if comment.author_id is not None else members


def _members(comment: Comment) -> QuerySet[User]:
    return User.objects.filter(memberships__team=comment.item.dataset.team_id, is_active=True)
