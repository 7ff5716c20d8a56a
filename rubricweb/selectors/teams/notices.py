"""What waits for one person to read; a notice about a hidden comment waits until it is not."""

from dataclasses import dataclass

from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, When

from rubricweb.errors import NotFound
from rubricweb.models import Notice, QueueState, ReviewQueue, Team, User
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.shared.pages import Page, keyset_page
from rubricweb.selectors.teams import addresses


def visible_notices(user: User, team: Team) -> QuerySet[Notice]:
    """The person's notices in this team; those about removed comments are gone, and those of queues that ask
    them nothing any more.
    """
    return _readable(user, team).filter(asks_still(user))


def asks_still(user: User | OuterRef) -> Q:
    """The condition on notices that one about a queue is of one not closed in which this person rates."""
    asking = ReviewQueue.objects.filter(pk=OuterRef("queue"), raters__user=user)
    return Q(queue=None) | Q(Exists(asking.exclude(state=QueueState.CLOSED)))


def _readable(user: User, team: Team) -> QuerySet[Notice]:
    hidden = hidden_items(user, team, item=OuterRef("comment__item_id"))
    return (
        Notice.objects.filter(user=user, team=team, comment__removed_at=None)
        .filter(Q(comment=None) | Q(comment__item__dataset__team=team) & ~Exists(hidden))
        .select_related("team", "queue", "comment__item__dataset", "comment__author")
    )


def notices(
    team: Team, user: User, *, unread: bool = False, cursor: str | None = None, size: int = 50
) -> Page[Notice]:
    """One page of the person's notices: those not read first, then the newest."""
    rows = visible_notices(user, team)
    if unread:
        rows = rows.filter(read_at=None)
    read_last = Case(When(read_at=None, then=0), default=1, output_field=IntegerField())
    rows = rows.annotate(read_last=read_last)
    return keyset_page(rows, order=("read_last", "-pk"), cursor=cursor, size=size)


def unread_count(team: Team, user: User) -> int:
    """The number in the bell of every page: where no comment is unread, what is hidden is not asked."""
    unread = Notice.objects.filter(asks_still(user), user=user, team=team, read_at=None)
    counts = unread.aggregate(all=Count("pk"), of_comments=Count("comment"))
    if not counts["of_comments"]:
        return int(counts["all"])
    return visible_notices(user, team).filter(read_at=None).count()


def notice_for(team: Team, notice_id: int, user: User) -> Notice:
    """The access check of a notice: only the person it is for comes in, from an older mail too."""
    notice = _readable(user, team).filter(pk=notice_id).first() if 0 < notice_id < 2**63 else None
    if notice is None:
        raise NotFound("notification")
    return notice


@dataclass(frozen=True)
class MailSettings:
    """Whether somebody gets notices by e-mail: they want it, have proven an address, mail is set up."""

    wanted: bool
    address: str
    configured: bool


def mail_settings(user: User, *, configured: bool) -> MailSettings:
    return MailSettings(user.no_mail_since is None, addresses.proven_address(user), configured)
