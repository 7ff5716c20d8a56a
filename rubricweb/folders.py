"""Where files are: beside the package in a checkout; inside it, and in the user's folder, once installed."""

import os
from pathlib import Path

import platformdirs

PACKAGE = Path(__file__).resolve().parent
INSTALLED = (PACKAGE / "templates").is_dir()
ASSETS = PACKAGE if INSTALLED else PACKAGE.parent
"""Holds `templates`, `static` and `docs`."""


def data_folder() -> Path:
    """What the embedded form keeps: RUBRICWEB_VAR_DIR, else the platform's folder for a user's data.

    A checkout keeps its own in `var`. Never a folder of installed packages, which an upgrade would replace.
    """
    if chosen := os.environ.get("RUBRICWEB_VAR_DIR"):
        return Path(chosen).resolve()
    return platformdirs.user_data_path("rubricweb", appauthor=False) if INSTALLED else ASSETS / "var"


def settings_file() -> Path:
    """Variables of the operator's own, which the environment overrides; it need not exist."""
    return (data_folder() if INSTALLED else ASSETS) / ".env"
