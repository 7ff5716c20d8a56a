"""The browser that is driven: Debian's Chromium, or whichever CHROMIUM names."""

import os
import shutil
from typing import Any

import pytest

from tests.processes.conftest import installation, serve  # noqa: F401  fixtures of the walk

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
