"""Operations about comments on items."""

from typing import Any

from django.utils import timezone
from ninja import Query
from ninja.responses import Status

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery
from rubricweb.api.reviews import comment_schemas as schemas
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.reviews import comments as selected
from rubricweb.services import comments as services

comments = Room("comments")


@comments.read("/items/{int:item_id}/comments", Role.VIEWER, list_of(schemas.Comment))
def list_comments(request: TokenRequest, item_id: int, asked: Query[ListQuery]) -> Any:
    """Comments on an item, oldest first.

    While the item is hidden from you (blind review), your own only.
    """
    item = access.access_item(request.auth.team, item_id)
    page = selected.comments(item, viewer=request.auth.user, cursor=asked.cursor, size=asked.limit)
    return {"items": page.rows, "next_cursor": page.next_cursor}


@comments.write("POST", "/items/{int:item_id}/comments", Role.ANNOTATOR, schemas.Comment, status=201)
def add_comment(request: TokenRequest, item_id: int, body: schemas.NewComment) -> Any:
    """Comment on an item, one criterion of it, or one verdict on it.

    A verdict that is hidden from you cannot be commented on (403).
    """
    user = request.auth.user
    item = access.access_item(request.auth.team, item_id)
    criterion = None if body.criterion_id is None else criterion_for(item, body.criterion_id)
    judgement = None if body.judgement_id is None else selected.judgement_for(item, body.judgement_id, user)
    comment = services.write(item, by=user, text=body.text, criterion=criterion, judgement=judgement)
    return Status(201, selected.line(comment, user))


@comments.read("/comments/{int:comment_id}", Role.VIEWER, schemas.Comment)
def get_comment(request: TokenRequest, comment_id: int) -> Any:
    """One comment."""
    user = request.auth.user
    return selected.line(selected.comment_for(request.auth.team, comment_id, user), user)


@comments.write("PATCH", "/comments/{int:comment_id}", Role.ANNOTATOR, schemas.Comment)
def edit_comment(request: TokenRequest, comment_id: int, body: schemas.EditedComment) -> Any:
    """Edit your comment, or resolve or reopen anybody's."""
    user = request.auth.user
    comment = selected.comment_for(request.auth.team, comment_id, user)
    if body.text is not None:
        services.edit(comment, by=user, text=body.text, now=timezone.now())
    if body.resolved is not None:
        services.resolve(comment, by=user, resolved=body.resolved)
    return selected.line(comment, user)


@comments.write("DELETE", "/comments/{int:comment_id}", Role.ANNOTATOR, None, status=204)
def remove_comment(request: TokenRequest, comment_id: int) -> Any:
    """Remove your comment: its words go for good, its place stays. Safe to repeat."""
    user = request.auth.user
    comment = selected.comment_for(request.auth.team, comment_id, user)
    services.remove(comment, by=user, now=timezone.now())
    return Status(204, None)
