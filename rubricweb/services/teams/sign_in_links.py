"""What the operator does for somebody who cannot get in."""

from allauth.mfa.models import Authenticator
from django.db import transaction
from sesame.utils import get_user

from rubricweb.models import Membership, User
from rubricweb.services.shared.journal import record


@transaction.atomic
def person_of_link(token: str) -> User | None:
    """Whose sign-in link it is (good once, for half an hour), None for one that was used, is too old or was
    never made. It is spent by asking, and of two who ask at the same moment one is told.
    """
    found = get_user(token, update_last_login=False)
    if found is None:
        return None
    User.objects.select_for_update().get(pk=found.pk)
    user: User | None = get_user(token)
    return user


@transaction.atomic
def remove_second_factor(user: User) -> bool:
    """Forgets the authenticator app and the recovery codes of somebody who lost them; False without any.

    The audit log of each of their teams says so.
    """
    removed, _ = Authenticator.objects.filter(user=user).delete()
    if removed:
        for membership in Membership.objects.filter(user=user).select_related("team", "user"):
            record(membership.team, None, "took off the second factor of", membership)
    return bool(removed)
