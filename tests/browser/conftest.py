"""The browser that is driven: Debian's Chromium, or whichever CHROMIUM names; and who is signed in there."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import ConsoleMessage, Keyboard, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from rubricweb.models import User
from tests.processes.conftest import installation, serve, wait_for  # noqa: F401  fixtures of the walk

Open = Callable[..., Page]

# The first does without windows and what belongs to them.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Playwright's own list, which ours replaces; then what costs more than a small test and is never seen: the
# address bar's pop-ups, each a page of its own in every window, and a process kept ready for the next page.
SWITCHED_OFF = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
)


def _chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Skips every browser test where there is no browser; fails it when RUBRICWEB_REQUIRE_BROWSER is set."""
    path = _chromium()
    if path is None:
        why = f"NO BROWSER: install one of {', '.join(NAMES)}, or name one in CHROMIUM"
        if os.environ.get("RUBRICWEB_REQUIRE_BROWSER") == "1":
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    return {
        **browser_type_launch_args,
        "executable_path": path,
        "args": [
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            f"--disable-features={','.join(SWITCHED_OFF)}",
        ],
    }


@pytest.fixture(autouse=True)
def _requests_end_before_the_rows_go(request: pytest.FixtureRequest) -> Iterator[None]:
    """A closed page's server may still be answering, and its locks would meet the emptying of the tables.

    Walks have an installation of their own, and no tables here.
    """
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("_django_db_helper")  # ends after this
    answering: set[int] = set()

    def started(**kwargs: Any) -> None:
        answering.add(threading.get_ident())

    def finished(**kwargs: Any) -> None:
        answering.discard(threading.get_ident())

    request_started.connect(started)
    request_finished.connect(finished)
    yield
    answering.discard(threading.get_ident())
    wait_for(lambda: not answering)
    request_started.disconnect(started)
    request_finished.disconnect(finished)


# What a person does to a page, as Playwright calls it.
GESTURES = ("check", "click", "fill", "focus", "press", "press_sequentially", "select_option", "uncheck")


@pytest.fixture(autouse=True)
def _nobody_acts_before_the_scripts_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's words are there before its scripts, which hear keys and clicks: every gesture waits for them.

    On a busy machine seconds lie between, and a key would be heard by nobody.
    """

    def waiting(gesture: Callable[..., None]) -> Callable[..., None]:
        def go(self: Locator, *args: Any, **options: Any) -> None:
            self.page.wait_for_load_state()
            gesture(self, *args, **options)

        return go

    for name in GESTURES:
        monkeypatch.setattr(Locator, name, waiting(getattr(Locator, name)))


def _hear_keys_when_loaded(page: Page) -> None:
    """The same for keys that go to no element; a keyboard does not know its page."""
    press = Keyboard.press

    def go(key: str, **options: Any) -> None:
        page.wait_for_load_state()
        press(page.keyboard, key, **options)

    page.keyboard.press = go  # type: ignore[method-assign]  # an object of its own for each page


@pytest.fixture
def violations() -> list[str]:
    """What the console says of scripts and styles the policy forbids, and of faults; must stay empty."""
    return []


@pytest.fixture
def open_as(live_server: LiveServer, page: Page, violations: list[str]) -> Open:
    """`open_as(user, path)` opens a page signed in as that person; `on` is another than the test's own."""

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            violations.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: violations.append(str(error)))
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)

    def go(user: User, path: str, on: Page = page) -> Page:
        _hear_keys_when_loaded(on)
        on.context.add_cookies([session(user, live_server)])
        on.goto(f"{live_server.url}{path}")
        return on

    return go


def session(user: User, server: LiveServer) -> Any:
    """The cookie of somebody who is signed in."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": server.url}
