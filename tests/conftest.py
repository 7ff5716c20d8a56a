"""Fixtures every floor's tests share."""

import os
import signal
from collections.abc import Generator

import pytest
from django.test import Client

from tests.factories import Cast, cast

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs beside Django's ORM
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job's children would not hear Ctrl+C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Browser tests come last: Playwright leaves an event loop in the thread, and `asyncio.run` minds."""
    yield
    items.sort(key=lambda item: "playwright" in getattr(item, "fixturenames", ()))


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
