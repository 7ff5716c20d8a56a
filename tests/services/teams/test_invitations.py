"""Invitations: what is locked when a new link is made."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from rubricweb.models import Role
from rubricweb.services.teams import invitations
from tests.factories import Cast


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks its whole database")
def test_a_new_link_locks_the_invitation_and_not_its_owner(people: Cast) -> None:
    now = timezone.now()
    made = invitations.invite(people.team, "charlie", Role.EDITOR, by=people.alice, now=now, link=str)
    with CaptureQueriesContext(connection) as asked:
        invitations.renew(made.invitation, by=people.alice, now=now, link=str)
    [locking] = [one["sql"] for one in asked if "FOR UPDATE" in one["sql"]]
    assert locking.endswith('FOR UPDATE OF "rubricweb_invitation"')
