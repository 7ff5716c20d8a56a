"""Invitations into a team that still work."""

from datetime import datetime

from django.db.models import F, QuerySet

from rubricweb.errors import NotFound
from rubricweb.models import Invitation, Membership, Role, Team, User
from rubricweb.selectors.teams import addresses


def open_invitations(now: datetime) -> QuerySet[Invitation]:
    """Those neither accepted, withdrawn nor expired, whose maker still owns the team: an owner who was
    removed must not keep a way back.
    """
    rows = Invitation.objects.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=now)
    still_owner = rows.filter(
        invited_by__is_active=True,
        invited_by__memberships__team=F("team"),
        invited_by__memberships__role=Role.OWNER,
    )
    return still_owner.select_related("team", "invited_by", "user")


def invitations_of(team: Team, *, now: datetime) -> list[Invitation]:
    """Everybody who is asked into the team and has not come yet, the newest first."""
    return list(open_invitations(now).filter(team=team).order_by("-pk"))


def invitation_for(team: Team, invitation_id: int, *, now: datetime) -> Invitation:
    """The access check of one open invitation of the team."""
    rows = open_invitations(now).filter(team=team)
    invitation = rows.filter(pk=invitation_id).first() if 0 < invitation_id < 2**63 else None
    if invitation is None:
        raise NotFound("open invitation")
    return invitation


def invitation_called(team: Team, who: str, *, now: datetime) -> Invitation | None:
    """The open invitation of this user name or e-mail address as an owner typed it."""
    rows = open_invitations(now).filter(team=team)
    by = {"email__iexact": who} if "@" in who else {"username__iexact": who}
    return rows.filter(**by).order_by("-pk").first()


def invitation_of_digest(digest: str, *, now: datetime) -> Invitation | None:
    """The open invitation whose secret has this digest."""
    return open_invitations(now).filter(digest=digest).first()


def receiver(invitation: Invitation) -> User | None:
    """The only person who may accept: who was named or has proven the address; None for who has the link."""
    return invitation.user or addresses.holder(invitation.email)


def is_first_sign_in(invitation: Invitation) -> bool:
    """Whether it is for a member whose account nobody has used yet and that belongs to this team alone."""
    membership = Membership.objects.filter(team=invitation.team, user=invitation.user).first()
    return membership is not None and is_unused(membership)


def is_unused(membership: Membership) -> bool:
    """Whether the account was never signed in to, has no password, and belongs to this team alone."""
    user = membership.user
    return (
        user.is_active
        and user.last_login is None
        and not user.has_usable_password()
        and user.memberships.count() == 1
    )
