"""Notices: telling people what waits for them, in the app and by e-mail."""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.models import Comment, Membership, Notice, NoticeKind, ReviewQueue, Team, User
from rubricweb.selectors.teams import addresses
from rubricweb.selectors.teams.notices import asks_still, visible_notices

log = logging.getLogger(__name__)

MAIL_AFTER = timedelta(minutes=2)
"""What is read within this time is not mailed."""
TRY_AGAIN_AFTER = timedelta(minutes=10)
LINES_OF_A_MAIL = 50


def notify_comment(comment: Comment, users: Iterable[User], kind: NoticeKind) -> None:
    """Tells these people of a comment, each of them once, whatever it was for."""
    team = comment.item.dataset.team
    Notice.objects.bulk_create(
        [Notice(team=team, user=user, kind=kind, comment=comment) for user in users],
        ignore_conflicts=True,
    )


def notify_queue(queue: ReviewQueue, users: Iterable[User], *, by: User | None = None) -> None:
    """Tells people that a queue asks them to review; never whoever put them in it, and nobody twice."""
    Notice.objects.bulk_create(
        [
            Notice(team_id=queue.team_id, user=user, kind=NoticeKind.QUEUE, queue=queue)
            for user in users
            if by is None or user.pk != by.pk
        ],
        ignore_conflicts=True,
    )


def mark_read(team: Team, user: User, *, now: datetime, ids: Sequence[int] | None = None) -> int:
    """Marks these notices of the person as read, or all they can see; how many were not yet."""
    rows = visible_notices(user, team).filter(read_at=None)
    if ids is not None:
        rows = rows.filter(pk__in=ids)
    found = list(rows.values_list("pk", flat=True))
    return Notice.objects.filter(pk__in=found, read_at=None).update(read_at=now)


def want_mail(user: User, wanted: bool, *, now: datetime) -> None:
    """Whether this person gets unread notices by e-mail, in all their teams."""
    if wanted != (user.no_mail_since is None):
        user.no_mail_since = None if wanted else now
        user.save(update_fields=["no_mail_since"])


# ── E-mail ───────────────────────────────────────────────────────────────────────────────────────


def mail_is_due(now: datetime) -> bool:
    """Whether somebody may be waiting for a mail; cheap enough to be asked all the time."""
    return bool(settings.SENDS_MAIL) and _due(now).exists()


def send_mails(*, now: Callable[[], datetime], link: Callable[[Notice], str]) -> int:
    """One mail to everybody who has not read what waits for them; how many were sent.

    A mail is claimed before it is sent, so two workers never send the same. A failure is logged and tried
    again later; when the server cannot be reached at all, the others wait as well.
    """
    if not settings.SENDS_MAIL:
        return 0
    sent = 0
    for user in list(User.objects.filter(pk__in=_due(now()).values("user"))):
        waiting = _claimed(user, now())
        if not waiting:
            continue
        try:
            _mail(user, waiting, link).send()
        except SMTPException as error:  # this mail was refused: others may pass
            _put_back(waiting, user, error, now())
        except OSError as error:
            _put_back(waiting, user, error, now())
            break
        else:
            sent += 1
    return sent


def _due(now: datetime) -> QuerySet[Notice]:
    """Unread notices nobody was mailed yet, of members who want mail and have proven an address."""
    member = Membership.objects.filter(team=OuterRef("team"), user=OuterRef("user"))
    return Notice.objects.filter(
        Q(email_tried_at=None) | Q(email_tried_at__lte=now - TRY_AGAIN_AFTER),
        Exists(member),
        Exists(addresses.proven().filter(user=OuterRef("user"))),
        asks_still(OuterRef("user")),
        read_at=None,
        emailed_at=None,
        created_at__lte=now - MAIL_AFTER,
        user__is_active=True,
        user__no_mail_since=None,
    )


def _claimed(user: User, now: datetime) -> list[Notice]:
    """What this person may be told now, marked as sent by nobody but us."""
    due = _due(now).filter(user=user)
    teams = list(Team.objects.filter(pk__in=due.values("team")).order_by("name"))
    return [
        notice
        for team in teams
        for notice in visible_notices(user, team).filter(pk__in=due.values("pk")).order_by("pk")
        if Notice.objects.filter(pk=notice.pk, emailed_at=None, read_at=None).update(emailed_at=now)
    ]


def _put_back(waiting: Sequence[Notice], user: User, error: Exception, now: datetime) -> None:
    Notice.objects.filter(pk__in=[notice.pk for notice in waiting]).update(
        emailed_at=None, email_tried_at=now
    )
    log.warning("mail to %s not sent, it is tried again: %s: %s", user.username, type(error).__name__, error)


def _mail(user: User, waiting: Sequence[Notice], link: Callable[[Notice], str]) -> EmailMessage:
    """Who wants what, with a link each; never the words of a comment, which may tell a verdict."""
    many = len(waiting)
    subject = "rubricweb: one thing waits for you" if many == 1 else f"rubricweb: {many} things wait for you"
    lines = [f"{plain_words(str(user))},", ""]
    for notice in waiting[:LINES_OF_A_MAIL]:
        lines += [f"{_said(notice)} ({plain_words(notice.team.name)})", link(notice), ""]
    if many > LINES_OF_A_MAIL:
        lines += [f"… and {many - LINES_OF_A_MAIL} more, see the bell in rubricweb.", ""]
    lines += ["To get no such mails, say so on the page of notifications."]
    return EmailMessage(
        subject,
        "\n".join(lines),
        to=[addresses.proven_address(user)],
        headers={"Auto-Submitted": "auto-generated"},
    )


def _said(notice: Notice) -> str:
    words = NoticeKind(notice.kind).label
    if notice.queue is not None:
        return f"The queue {plain_words(notice.queue.name)} {words}"
    author = notice.comment.author if notice.comment else None
    return f"{plain_words(str(author)) if author else 'Somebody'} {words}"


def plain_words(name: str) -> str:
    """A name without what a mail program would make a link of: "evil.example/x" is "evil example x"."""
    return " ".join(re.sub(r"[^\w '-]+", " ", name).split())
