"""Whose an e-mail address is: only who has proven it counts, anybody can claim one."""

from allauth.account.models import EmailAddress
from django.db.models import QuerySet

from rubricweb.models import User


def proven() -> QuerySet[EmailAddress]:
    """Every address that somebody has proven to be theirs."""
    rows: QuerySet[EmailAddress] = EmailAddress.objects.filter(verified=True)
    return rows


def holder(email: str) -> User | None:
    """The person who has proven that the address is theirs, None when nobody has."""
    row = proven().filter(email=email.lower()).select_related("user").first() if email else None
    return row.user if row is not None else None


def person_named(name: str) -> User | None:
    """The person with this user name, or who has proven this e-mail address.

    The address comes first: earlier releases let anybody take somebody else's for a user name.
    """
    known = holder(name) if "@" in name else None
    return known or User.objects.filter(username__iexact=name).first()


def proven_address(user: User) -> str:
    """The address this person has proven, "" for none."""
    row = EmailAddress.objects.get_verified(user)
    return row.email if row is not None else ""
