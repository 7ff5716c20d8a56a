"""How large the body of a request may be, decided before a byte of it is read.

Who is not signed in may send `ANONYMOUS_MAX_BYTES`. Others may send what the address takes: the size of the
files it is for where its view `takes_up_to` one, else REQUEST_MAX_BYTES.
"""

from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from rubricweb.errors import TooLarge
from rubricweb.selectors.teams.tokens import live_token
from rubricweb.services.teams.teams import digest
from rubricweb.web.errors import refused

View = TypeVar("View", bound=Callable[..., Any])

ANONYMOUS_MAX_BYTES = 64 * 1024
AROUND_A_FILE_BYTES = 1024 * 1024
"""What a form with a file may hold beside the file itself."""


def takes_up_to(setting: str) -> Callable[[View], View]:
    """Lets a page take bodies as large as the file this setting allows, such as "UPLOAD_MAX_BYTES"."""

    def mark(view: View) -> View:
        view.body_settings = {"POST": setting}  # type: ignore[attr-defined]  # read below
        return view

    return mark


class BodiesHaveALimit(MiddlewareMixin):
    """Answers 413 before anything reads the body, which the check for forged forms does."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *arguments: Any
    ) -> HttpResponse | None:
        length = _length(request)
        if length <= ANONYMOUS_MAX_BYTES:
            return None
        # Operations of the API refuse a request without a live token by themselves, and read nothing of it.
        is_known = request.path.startswith("/api/") or request.user.is_authenticated
        if length <= (_taken_by(view, request.method) if is_known else ANONYMOUS_MAX_BYTES):
            return None
        answer: Callable[[HttpRequest, TooLarge], HttpResponse] = getattr(view, "refuse", refused)
        return answer(request, TooLarge(_sentence(_documented(view, request.method) if is_known else None)))


def largest_body(environ: dict[str, Any]) -> int:
    """The most bytes the body of this request may have, asked before it is read; see the head of this module.

    It reads the session or token of the request, and nothing else. For servers that read a whole request
    before they call the application: they hand over one that is too large without its body, but with its
    length, and the application says why it refuses it.
    """
    request = WSGIRequest({**environ, "wsgi.input": BytesIO()})
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return ANONYMOUS_MAX_BYTES
    is_known = _has_token(request) if request.path.startswith("/api/") else _has_session(request)
    return _taken_by(view, request.method) if is_known else ANONYMOUS_MAX_BYTES


def _taken_by(view: Callable[..., Any], method: str | None) -> int:
    around = AROUND_A_FILE_BYTES if method in getattr(view, "body_settings", {}) else 0
    return _documented(view, method) + around


def _documented(view: Callable[..., Any], method: str | None) -> int:
    setting = getattr(view, "body_settings", {}).get(method, "REQUEST_MAX_BYTES")
    return int(getattr(settings, setting))


def _length(request: HttpRequest) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    return int(text) if text.isascii() and text.isdigit() else 0


def _has_session(request: HttpRequest) -> bool:
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    return get_user(request).is_authenticated


def _has_token(request: HttpRequest) -> bool:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and live_token(digest(secret.strip()), now=timezone.now()) is not None


def _sentence(limit: int | None) -> str:
    """Why a request is refused; `limit` None is that of people who are not signed in."""
    if limit is None:
        return (
            f"The request is larger than {_size(ANONYMOUS_MAX_BYTES)}, the most this server takes from "
            "somebody who is not signed in. Sign in and send it again."
        )
    return f"The request is larger than {_size(limit)}, the most this address takes. Nothing was changed."


def _size(count: int) -> str:
    """65536 → "64 KB", 52428800 → "50 MB"."""
    return f"{count // 1024**2} MB" if count >= 1024**2 else f"{count // 1024} KB"
