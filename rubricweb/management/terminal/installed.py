"""What of rubricweb is installed: the library alone, or the app that keeps its own tables too."""

import functools
import sys
from importlib.util import find_spec

from rubricweb.errors import Conflict

APP_MODULES = (
    *("allauth", "argon2", "celery", "cryptography", "csp", "django", "django_htmx", "environ", "gunicorn"),
    *("kombu", "nh3", "ninja", "platformdirs", "psycopg", "redis", "sesame", "whitenoise"),
)
"""What the extra `app` brings, by the names it is imported under."""
HOW = "pip install 'rubricweb[app]'"


@functools.cache
def has_app() -> bool:
    return all(name in sys.modules or find_spec(name) for name in APP_MODULES)


def require_app(what: str) -> None:
    """Raises Conflict, with the command to type, where only the library is installed."""
    if not has_app():
        raise Conflict(f"{what} needs the app, which is not installed. Install it with: {HOW}")
