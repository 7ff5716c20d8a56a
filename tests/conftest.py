"""Fixtures every floor's tests share."""

import gc
import os
import re
import signal
from collections.abc import Callable, Generator, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

import hypothesis
import pytest
from django.core.management import call_command
from django.core.management.commands import flush
from django.test import Client
from pytest_django import DjangoDbBlocker

from rubricweb.models import User
from tests.factories import Cast, cast
from tests.legs import LEGS, QUICK, REST, WHOLE, is_quick, legs_of
from tests.progress import Progress
from tests.worlds.furnished import Furnished, furnish_teams
from tests.worlds.remembered import remembered

# The collector of garbage need not come after every 700 new objects: importing and collecting tests makes
# hundreds of thousands that stay, a page makes thousands.
gc.set_threshold(20_000, 20, 50)
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # Playwright's loop runs beside Django's ORM
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job's children would not hear Ctrl+C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test that draws its examples fails because a busy machine is slow at one of them.
hypothesis.settings.register_profile(
    "by no clock", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("by no clock")


# A test that commits ends with empty tables. Django would fill two of them again, with permissions: nothing
# here asks for any.
mock.patch.object(flush, "emit_post_migrate_signal").start()

# Python keeps frames in pieces of 16 KB. A call at the end of one asks the system for the next; its return
# gives that back: so deep in Django a thousand times for a page. A frame that says it needs a megabyte has
# them all in one piece.
from_call = pytest.CallInfo.from_call.__func__  # type: ignore[attr-defined]  # a class method, as mypy forgets
from_call.__code__ = from_call.__code__.replace(co_stacksize=1 << 17)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--leg", choices=(*LEGS, QUICK, REST, WHOLE), help="which tests (tests/legs.py)")
    parser.addoption("--progress", action="store_true", help="how far it is instead of dots")
    parser.addoption("--renew-seconds", action="store_true", help="write tests/data/seconds.json anew")


def pytest_configure(config: pytest.Config) -> None:
    started_by_xdist = hasattr(config, "workerinput")
    if (config.getoption("--progress") or config.getoption("--renew-seconds")) and not started_by_xdist:
        config.pluginmanager.register(Progress(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A leg does not even import what it does not run."""
    leg = config.getoption("--leg")
    if leg in (None, REST, WHOLE) or not collection_path.match("test_*.py"):
        return None
    below = collection_path.relative_to(Path(__file__).parent)
    runs = is_quick(below) if leg == QUICK else leg in legs_of(below)
    return None if runs else True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """What can only be done one at a time is done by one process; the longest begins first.

    Tests that start processes would take each other's time, and wait much of it: two at once are enough.
    Browser tests come last: Playwright leaves an event loop in the thread, and `asyncio.run` minds.
    """
    if config.getoption("--leg") == REST:
        items[:] = [item for item in items if item.get_closest_marker("long") or not is_quick(_below(item))]
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "playwright" in fixtures:
            half = crc32(item.path.name.encode()) % 2
            item.add_marker(pytest.mark.xdist_group(f"browser {half}"))
        elif item.nodeid.startswith("tests/processes/"):
            which = "kills" if item.nodeid.startswith("tests/processes/kills/") else "others"
            item.add_marker(pytest.mark.xdist_group(f"processes {which}"))
        elif any("installation" in one for one in fixtures):
            item.add_marker(pytest.mark.xdist_group("commands"))
    yield
    # What is imported and collected stays: the collector of garbage need not look through it again and again.
    gc.collect()
    gc.freeze()
    items.sort(key=_turn)


def _below(item: pytest.Item) -> Path:
    return item.path.relative_to(Path(__file__).parent)


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: those that test processes and commands wait much of the time."""
    return (os.cpu_count() or 1) + 2


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """A test is named by the beginning of a long value, not by megabytes of it."""
    return repr(val[:60]) if isinstance(val, str | bytes) and len(val) > 60 else None


# One test of these files takes as long as hundreds of others: begun last, it would keep one core busy alone.
LONG = ("test_blinding.py", "test_hostile_requests.py", "test_probe_blinding.py")


def _turn(item: pytest.Item) -> int:
    marker = item.get_closest_marker("xdist_group")
    group = str(marker.args[0]) if marker else ""
    if group.startswith("browser"):
        return 4
    if group:
        return ("processes", "commands", "migrated").index(group.partition(" ")[0])
    return 2 if item.path.name in LONG else 3


@pytest.fixture(autouse=True)
def _no_server_of_this_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages look for servers of models on the usual ports: what listens there is no part of a test."""
    if {"db", "transactional_db"} & {*request.fixturenames}:
        monkeypatch.setattr("rubricweb.services.endpoints.discovery.LOCAL_PORTS", {})


@pytest.fixture
def people(db: None) -> Cast:
    """A team with one member per role, and a stranger."""
    return remembered("cast", cast)


@pytest.fixture(scope="module")
def _furnished_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Furnished]:
    with django_db_blocker.unblock():
        furnished = furnish_teams()
    yield furnished
    with django_db_blocker.unblock():
        call_command("flush", verbosity=0, interactive=False)


@pytest.fixture
def furnished(_furnished_once: Furnished, db: None) -> Furnished:
    """Two teams with one of everything, built once per module; what a test does to them is undone.

    A module that uses it says so by a `people` of its own, since the cast can be made only once.
    """
    return deepcopy(_furnished_once)


BLOCKS = (
    "html|head|body|title|meta|link|p|div|section|article|header|footer|nav|main|ul|ol|li|dl|dt|dd|table|thead"
    "|tbody|tr|td|th|h1|h2|h3|form|fieldset|legend|details|summary|select|option|optgroup|dialog"
)
UNSEEN = re.compile(
    rf"(?s)<(?P<verbatim>pre|textarea|script)\b.*?</(?P=verbatim)>"
    rf"|(?P<before></?(?:{BLOCKS})\b[^<>]*>)?\s*\n\s*(?P<after>(?=</?(?:{BLOCKS})\b))?"
)


class Browser(Client):
    """Reads pages as a browser shows them: a line of a template ends in one blank, beside a block in none."""

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        if response.get("Content-Type", "").startswith("text/html") and not response.streaming:
            response.content = UNSEEN.sub(self._seen, response.content.decode()).encode()
        return response

    def _seen(self, found: re.Match[str]) -> str:
        if found["verbatim"]:
            return found[0]
        return found["before"] or ("" if found["after"] is not None else " ")


@pytest.fixture
def sign_in(client: Client) -> Callable[[User], Client]:
    """`sign_in(user)` gives a browser-like client signed in as that person."""

    def as_user(user: User) -> Client:
        fresh = Browser()
        fresh.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return fresh

    return as_user
