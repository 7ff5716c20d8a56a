"""Sign-in links of the operator: good once, for half an hour."""

from django.db import transaction
from sesame.utils import get_user

from rubricweb.models import User


@transaction.atomic
def person_of_link(token: str) -> User | None:
    """Whose link it is, None for one that was used, is too old or was never made. It is spent by asking,
    and of two who ask at the same moment one is told.
    """
    found = get_user(token, update_last_login=False)
    if found is None:
        return None
    User.objects.select_for_update().get(pk=found.pk)
    user: User | None = get_user(token)
    return user
