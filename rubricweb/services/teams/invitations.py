"""Inviting people into a team: who comes is decided by who holds the link, never by a claimed address."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, count
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models.functions import Lower
from django.utils.text import slugify

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import Invitation, Membership, Role, Team, User
from rubricweb.selectors.teams import addresses, invitations
from rubricweb.services.notices import plain_words
from rubricweb.services.shared.journal import record
from rubricweb.services.teams.teams import add_member, create_person, digest, prove_address

LIVES = timedelta(days=7)
"""How long an invitation can be accepted."""
OPEN_MAX = 200
"""How many of a team may wait at once, so that nobody sends mails to the whole world."""

Link = Callable[[str], str]
"""The address of the page that takes a secret."""


@dataclass(frozen=True)
class Invited:
    """An invitation and its link, to be shown this once; `link` is None where it was mailed."""

    invitation: Invitation
    link: str | None


def invite(
    team: Team,
    who: str,
    role: Role,
    *,
    by: User,
    now: datetime,
    link: Link,
    name: str = "",
    hand_over: bool = False,
) -> Invited:
    """Asks the person with this user name or e-mail address into the team; nobody is in before they accept.

    The link goes to the address where mail is set up, else it is returned to be handed over. For a user name
    the address is the one that person has proven. An earlier invitation of the same person stops working.
    Raises Invalid, and Conflict for a member, too many open invitations, and a mail that cannot be sent.
    """
    who = who.strip()
    if not who:
        raise Invalid("Give a user name or an e-mail address.")
    with transaction.atomic():
        earlier = invitations.invitation_called(team, who, now=now)
        if earlier is not None:
            withdraw(earlier, by=by, now=now)
        if invitations.open_invitations(now).filter(team=team).count() >= OPEN_MAX:
            raise Conflict(f"{OPEN_MAX} invitations are open, the most a team may have; withdraw some first.")
        invitation = _invitation(team, who, role, by=by, name=name.strip())
        secret = _new_secret(invitation, now=now, hand_over=hand_over)
        record(team, by, "invited", invitation, role=Role(role).label)
    return _handed_out(invitation, secret, link)


def renew(invitation: Invitation, *, by: User, now: datetime, link: Link, hand_over: bool = False) -> Invited:
    """A new link for the same person; the old one stops working. Raises Conflict as `invite` does, and where
    the invitation was accepted or withdrawn meanwhile.
    """
    with transaction.atomic():
        still_open = invitations.open_invitations(now).select_for_update(of=("self",))
        # Asked whether it exists, the database would lock its owner's rows as well: `of` is lost there.
        if still_open.filter(pk=invitation.pk).first() is None:
            raise Conflict(f"The invitation of {invitation} is not open any more.")
        invitation.invited_by = by
        secret = _new_secret(invitation, now=now, hand_over=hand_over)
        record(invitation.team, by, "made a new link for", invitation)
    return _handed_out(invitation, secret, link)


def invite_to_sign_in(membership: Membership, *, by: User, now: datetime, link: Link) -> Invited:
    """A link by which a member who has never been here sets their first password, to be handed over.

    Raises Forbidden where the account is in use or belongs to another team too: it would open that as well.
    """
    team, user = membership.team, membership.user
    if not invitations.is_unused(membership):
        raise Forbidden(
            f"{user} has an account in use, so only the operator can make a link: "
            f"rubricweb sign-in-link {user.username}"
        )
    with transaction.atomic():
        for earlier in invitations.open_invitations(now).filter(team=team, user=user):
            withdraw(earlier, by=by, now=now)
        invitation = Invitation(
            team=team, invited_by=by, user=user, username=user.username, role=membership.role
        )
        secret = _new_secret(invitation, now=now, hand_over=True)
        record(team, by, "made a sign-in link for", membership)
    return _handed_out(invitation, secret, link)


@transaction.atomic
def withdraw(invitation: Invitation, *, by: User, now: datetime) -> None:
    """Its link stops working. Nothing happens to one that was accepted or withdrawn before."""
    rows = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    if rows.update(withdrawn_at=now):
        record(invitation.team, by, "withdrew", invitation)


@transaction.atomic
def accept(secret: str, *, user: User, now: datetime) -> Membership:
    """Lets a person who is signed in into the team.

    Raises NotFound for a secret that is spent, withdrawn or expired; Forbidden for the invitation of somebody
    else; Conflict for somebody who is in the team already, and while the team is archived.
    """
    invitation = _locked(secret, now)
    named = invitations.receiver(invitation)
    if named is not None and named != user:
        raise Forbidden(
            f"You are signed in as {user.username}, and this invitation is for another account. "
            "Sign in with that one and open the link again."
        )
    if invitation.mailed and invitation.email:
        prove_address(user, invitation.email)
    return _let_in(invitation, user, now)


@transaction.atomic
def accept_as_new(secret: str, *, username: str, name: str, password: str, now: datetime) -> User:
    """Makes an account for whoever holds the link and lets it into the team.

    Its address is proven when the link came by mail. Raises NotFound and Conflict as `accept` does, Forbidden
    where the invitation is for an account there is already, Invalid for a user name or password that does
    not fit.
    """
    invitation = _locked(secret, now)
    if invitations.receiver(invitation) is not None:
        raise Forbidden("This invitation is for an account there is already: sign in with it.")
    user = create_person(
        username.strip(), email=invitation.email, name=name.strip(), proven=invitation.mailed
    )
    _set_password(user, password)
    _let_in(invitation, user, now)
    return user


@transaction.atomic
def set_first_password(secret: str, *, password: str, now: datetime) -> User:
    """The member an owner made a sign-in link for, with the password they chose; the link is spent.

    Raises NotFound as `accept` does, Forbidden once the account is in use or in another team too.
    """
    invitation = _locked(secret, now)
    if invitation.user is None or not invitations.is_first_sign_in(invitation):
        raise Forbidden("This account is in use: sign in with its password.")
    _set_password(invitation.user, password)
    _spend(invitation, now)
    record(invitation.team, invitation.user, "used the sign-in link", invitation)
    return invitation.user


def free_username(who: str) -> str:
    """The user name itself, or one made of the part before the @, numbered until it is free."""
    if "@" not in who:
        return who
    stem = slugify(who.partition("@")[0])[:100] or "person"
    taken = set(User.objects.filter(username__istartswith=stem).values_list(Lower("username"), flat=True))
    numbered = (f"{stem}{number}" for number in count(2))
    return next(name for name in chain([stem], numbered) if name not in taken)


# ── Parts ────────────────────────────────────────────────────────────────────────────────────────


def _invitation(team: Team, who: str, role: Role, *, by: User, name: str) -> Invitation:
    """For whom it is, not stored yet."""
    by_mail = "@" in who
    try:
        if by_mail:
            validate_email(who)
        else:
            User.username_validator(who)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    user = None if by_mail else User.objects.filter(username__iexact=who, is_active=True).first()
    known = user or addresses.holder(who if by_mail else "")
    if known is not None and Membership.objects.filter(team=team, user=known).exists():
        raise Conflict(f"{known} is already in {team}.")
    return Invitation(
        team=team,
        invited_by=by,
        user=user,
        email=who if by_mail else "",
        username="" if by_mail else who,
        name=name[:120],
        role=role,
    )


def _new_secret(invitation: Invitation, *, now: datetime, hand_over: bool) -> str:
    """Stores the invitation with a new secret, for the mailbox or for the caller; never for both."""
    mails = bool(settings.SENDS_MAIL and _address(invitation) and not hand_over)
    secret = secrets.token_urlsafe(32)
    invitation.digest, invitation.expires_at, invitation.mailed = digest(secret), now + LIVES, mails
    invitation.save()
    return secret


def _handed_out(invitation: Invitation, secret: str, link: Link) -> Invited:
    """Mails the link where that was decided. One that fails leaves an invitation whose link nobody has."""
    if not invitation.mailed:
        return Invited(invitation, link(secret))
    address = _address(invitation)
    try:
        _mail(invitation, address, link(secret)).send()
    except (SMTPException, OSError) as error:
        raise Conflict(
            f"The mail to {address} could not be sent ({type(error).__name__}). "
            "Make a link and hand it over, or try again."
        ) from error
    return Invited(invitation, None)


def _address(invitation: Invitation) -> str:
    return invitation.email or (addresses.proven_address(invitation.user) if invitation.user else "")


def _mail(invitation: Invitation, address: str, link: str) -> EmailMessage:
    by, team = plain_words(str(invitation.invited_by)), plain_words(invitation.team.name)
    lines = [
        f"{by} invites you to review with the team {team} in rubricweb.",
        "",
        link,
        "",
        f"The link works once, for {LIVES.days} days. If you do not know {by}, ignore this mail.",
    ]
    return EmailMessage(
        f"An invitation to {team}",
        "\n".join(lines),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )


def _locked(secret: str, now: datetime) -> Invitation:
    """The open invitation of a secret, held until the transaction ends, so that it is accepted once."""
    rows = invitations.open_invitations(now).select_for_update(of=("self",))
    invitation = rows.filter(digest=digest(secret)).first()
    if invitation is None:
        raise NotFound("open invitation")
    return invitation


def _let_in(invitation: Invitation, user: User, now: datetime) -> Membership:
    access.require_changeable(invitation.team)
    # Before the others of this person are withdrawn.
    _spend(invitation, now)
    membership = add_member(invitation.team, user, Role(invitation.role), by=invitation.invited_by)
    record(invitation.team, user, "accepted", invitation)
    return membership


def _spend(invitation: Invitation, now: datetime) -> None:
    invitation.accepted_at = now
    invitation.save(update_fields=["accepted_at"])


def _set_password(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    user.set_password(password)
    user.save(update_fields=["password"])
