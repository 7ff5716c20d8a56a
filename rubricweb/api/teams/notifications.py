"""Operations about what waits for the token's owner to read."""

from typing import Annotated, Any

from django.conf import settings
from django.utils import timezone
from ninja import Query
from pydantic import Field

from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.reviews import comment_schemas as schemas
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors.teams import notices as selected
from rubricweb.services import notices as services

notifications = Room("notifications")


class NotificationsQuery(ListQuery):
    unread: Annotated[bool, Field(description="Only those you have not read.")] = False


@notifications.read("/notifications", Role.VIEWER, list_of(schemas.Notification))
def list_notifications(request: TokenRequest, asked: Query[NotificationsQuery]) -> Any:
    """What waits for you in this team, unread first, newest first.

    A notification about an item that is hidden from you waits until you have submitted your review.
    """
    caller = request.auth
    return listed(
        selected.notices(caller.team, caller.user, unread=asked.unread, cursor=asked.cursor, size=asked.limit)
    )


@notifications.write("POST", "/notifications/read", Role.VIEWER, schemas.Unread)
def read_notifications(request: TokenRequest, body: schemas.ReadNotifications) -> Any:
    """Mark notifications as read: those named, or all you can see. Safe to repeat."""
    team, user = request.auth.team, request.auth.user
    read = services.mark_read(team, user, ids=body.ids, now=timezone.now())
    return {"read": read, "unread": selected.unread_count(team, user)}


@notifications.read("/notifications/mail", Role.VIEWER, schemas.MailWish)
def get_notification_mail(request: TokenRequest) -> Any:
    """Whether you get unread notifications by e-mail."""
    return selected.mail_settings(request.auth.user, configured=settings.SENDS_MAIL)


@notifications.write("PUT", "/notifications/mail", Role.VIEWER, schemas.MailWish)
def set_notification_mail(request: TokenRequest, body: schemas.MailChoice) -> Any:
    """Switch mails about unread notifications on or off, for all your teams."""
    services.want_mail(request.auth.user, body.wanted, now=timezone.now())
    return selected.mail_settings(request.auth.user, configured=settings.SENDS_MAIL)
