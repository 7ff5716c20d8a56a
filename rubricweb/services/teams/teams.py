"""Teams: who is in them, what they may do, and the tokens programs carry for them."""

import hashlib
import secrets
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.validators import validate_email, validate_slug
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.text import slugify

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import ApiToken, Invitation, Membership, Role, Team, User
from rubricweb.selectors.teams import addresses
from rubricweb.services.reviews import raters
from rubricweb.services.shared import archiving
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

TOKEN_DAYS_MAX = 366
TEAM_NAME_MAX = 120


@transaction.atomic
def create_team(name: str, *, owner: User, slug: str = "") -> Team:
    """A new team with `owner` in it. The slug is made from the name unless given."""
    name = name.strip()
    slug = slug or slugify(name)[:60]
    if not name or not slug:
        raise Invalid("A team needs a name with at least one letter or digit.")
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise Invalid(
            f"The team address {slug!r} may hold letters, digits, hyphens and underscores only."
        ) from error
    taken = f"There is already a team at {slug!r}; choose another name."
    if Team.objects.filter(slug__iexact=slug).exists():
        raise Conflict(taken)
    with saved_unless_taken(taken):
        team = Team.objects.create(name=name[:TEAM_NAME_MAX], slug=slug)
    add_member(team, owner, Role.OWNER, by=owner)
    return team


@transaction.atomic
def rename_team(team: Team, name: str, *, by: User) -> None:
    """Another name; its address stays. Raises Invalid for an empty or too long one."""
    name, before = name.strip(), team.name
    if not name:
        raise Invalid.at("name", "nothing", "a name for the team")
    if len(name) > TEAM_NAME_MAX:
        raise Invalid.at("name", f"{len(name)} characters", f"at most {TEAM_NAME_MAX}")
    if name != before:
        team.name = name
        team.save(update_fields=["name"])
        record(team, by, "renamed", team, before=before)


@transaction.atomic
def change_team(team: Team, *, by: User, name: str | None, archived: bool | None, now: datetime) -> None:
    """Renames it, and archives or restores it; None leaves either as it is.

    An archived team is read and exported, and nothing in it changes. Raises as `rename_team`, and Conflict
    while a run or an import has not ended or a queue is not closed.
    """
    if name is not None:
        rename_team(team, name, by=by)
    archiving.archive_or_restore(team, archived, by=by, now=now)


@transaction.atomic
def create_person(username: str, *, email: str = "", name: str = "", proven: bool = False) -> User:
    """A person without a password; they come in by a one-time link and may set one.

    `proven` says that the address is theirs. One that is not proven is nobody's: others may have it too.
    """
    try:
        User.username_validator(username)
        if email:
            validate_email(email)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    if "@" in username:
        raise Invalid(f"The user name {username!r} holds an @: it could be somebody's e-mail address.")
    if User.objects.filter(username__iexact=username).exists():
        raise Conflict(f"The user name {username!r} is taken.")
    if email and addresses.holder(email) is not None:
        raise Conflict(f"Somebody with the address {email} is already here.")
    user = User(username=username, email=email, name=name[:120])
    user.set_unusable_password()
    user.save()
    if email and proven:
        prove_address(user, email)
    return user


def prove_address(user: User, email: str) -> None:
    """Notes that the address is theirs; it is the one they go by where they have no other."""
    email = email.lower()
    # One that they claimed may have capitals, which no look-up finds.
    EmailAddress.objects.filter(user=user, email__iexact=email).delete()
    goes_by = not EmailAddress.objects.filter(user=user, primary=True).exists()
    goes_by = goes_by and user.email.lower() in ("", email)
    EmailAddress.objects.create(user=user, email=email, primary=goes_by, verified=True)
    if goes_by:
        user.email = email
        user.save(update_fields=["email"])


def choose_single_keys(user: User, *, on: bool) -> None:
    """Whether keys without Ctrl or Alt act at once on every page for this person."""
    user.single_keys = on
    user.save(update_fields=["single_keys"])


@transaction.atomic
def add_member(team: Team, user: User, role: Role, *, by: User | None) -> Membership:
    """Puts a person in the team; every member can be a rater, so a rater row is made as well."""
    if Membership.objects.filter(team=team, user=user).exists():
        raise Conflict(f"{user} is already in {team}.")
    membership = Membership.objects.create(team=team, user=user, role=role)
    _withdraw_invitations(team, user, by=by)
    raters.join_queues_of_everyone(membership, raters.rater_for(team, user))
    record(team, by, "added", membership, role=Role(role).label)
    return membership


@transaction.atomic
def change_role(membership: Membership, role: Role, *, by: User) -> None:
    """Refused when it would leave the team without an owner."""
    _keep_an_owner(membership, still_owner=role == Role.OWNER)
    membership.role = role
    membership.save(update_fields=["role"])
    if role < Role.ANNOTATOR:
        raters.leave_queues(membership.team, membership.user)
    raters.join_queues_of_everyone(membership, raters.rater_for(membership.team, membership.user))
    record(membership.team, by, "changed role", membership, role=Role(role).label)


@transaction.atomic
def remove_member(membership: Membership, *, by: User) -> None:
    """Takes a person out of the team at once: their tokens and invitations stop, their reviews stay, and what
    waited for them in queues is others' to review.
    """
    _keep_an_owner(membership, still_owner=False)
    now = datetime.now().astimezone()
    ApiToken.objects.filter(team=membership.team, user=membership.user, revoked_at=None).update(
        revoked_at=now
    )
    _withdraw_invitations(membership.team, membership.user, by=by)
    raters.leave_queues(membership.team, membership.user)
    record(membership.team, by, "removed", membership)
    membership.delete()


def _withdraw_invitations(team: Team, user: User, *, by: User | None) -> None:
    """Whoever joins needs no other link into the team, and who is removed must not have kept one."""
    theirs = Q(user=user) | Q(username__iexact=user.username)
    proven = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    for email in filter(None, {user.email, *proven}):
        theirs |= Q(email__iexact=email)
    now = datetime.now().astimezone()
    unused = Invitation.objects.filter(theirs, team=team, accepted_at=None, withdrawn_at=None)
    for invitation in unused.filter(expires_at__gt=now):
        invitation.withdrawn_at = now
        invitation.save(update_fields=["withdrawn_at"])
        record(team, by, "withdrew", invitation)


def _keep_an_owner(membership: Membership, *, still_owner: bool) -> None:
    # What the row says now: whoever asked may have read it a while ago.
    owners = Membership.objects.select_for_update().filter(team=membership.team, role=Role.OWNER)
    if not still_owner and [one.pk for one in owners] == [membership.pk]:
        raise Conflict(
            f"{membership.user} is the only owner of {membership.team}; make somebody else owner first."
        )


def create_token(
    membership: Membership, *, name: str, may_write: bool, days: int, now: datetime
) -> tuple[ApiToken, str]:
    """A bearer token and its secret, which is shown this once and never stored."""
    if not name.strip():
        raise Invalid("A token needs a name, so that you know later which one to revoke.")
    if not 1 <= days <= TOKEN_DAYS_MAX:
        raise Invalid(f"A token lives 1 to {TOKEN_DAYS_MAX} days, not {days}.")
    secret = f"rw_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        token = ApiToken.objects.create(
            team=membership.team,
            user=membership.user,
            name=name.strip()[:80],
            digest=digest(secret),
            hint=secret[:8],
            may_write=may_write,
            expires_at=now + timedelta(days=days),
        )
        record(membership.team, membership.user, "created", token)
    return token, secret


def digest(secret: str) -> str:
    """SHA-256 in hex: enough for a secret of 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def revoke_token(token: ApiToken, *, by: User, now: datetime) -> None:
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now)
    record(token.team, by, "revoked", token)


def touch_token(token: ApiToken, *, now: datetime) -> None:
    """Notes the use of a token, at most once a minute."""
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def ensure_person(username: str, *, email: str = "", name: str = "") -> User:
    """The person with this user name or proven address, created when missing; safe to call twice at once."""
    try:
        with transaction.atomic():
            return addresses.person_named(username) or create_person(username, email=email, name=name)
    except (IntegrityError, Conflict):
        person = addresses.person_named(username)
        if person is None:  # the e-mail address is somebody else's
            raise
        return person
