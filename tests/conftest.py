"""Fixtures every floor's tests share."""

import os

import pytest
from django.test import Client

from tests.factories import Cast, cast

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs beside Django's ORM


@pytest.fixture
def people(db: None) -> Cast:
    """A team with one member per role, and a stranger."""
    return cast()


@pytest.fixture
def sign_in(client: Client):
    """`sign_in(user)` gives a browser-like client signed in as that person."""

    def as_user(user) -> Client:
        fresh = Client()
        fresh.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return fresh

    return as_user
