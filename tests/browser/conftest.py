"""The browser that is driven: Debian's Chromium, or whichever CHROMIUM names."""

import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started

from tests.processes.conftest import installation, serve, wait_for  # noqa: F401  fixtures of the walk

NAMES = ("chromium", "chromium-browser", "google-chrome")


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
        "args": ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    }


@pytest.fixture(autouse=True)
def _requests_end_before_the_rows_go(_django_db_helper: None) -> Iterator[None]:
    """A closed page's server may still be answering, and its locks would meet the emptying of the tables."""
    answering: set[int] = set()

    def started(**kwargs: Any) -> None:
        answering.add(threading.get_ident())

    def finished(**kwargs: Any) -> None:
        answering.discard(threading.get_ident())

    request_started.connect(started)
    request_finished.connect(finished)
    yield
    answering.discard(threading.get_ident())
    wait_for(lambda: not answering, seconds=30)
    request_started.disconnect(started)
    request_finished.disconnect(finished)
