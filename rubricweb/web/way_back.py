"""Where a person goes on who cannot stay at the address that was asked for."""

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def page_before(request: HttpRequest) -> str:
    """The page of ours that a link or form was on, as path and query; "" where that is not known.

    A browser says it, so it may be anything: the path alone must lead here too, as `//elsewhere` does not.
    """
    referer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        return ""
    there = urlsplit(referer)._replace(scheme="", netloc="", fragment="").geturl()
    return there if there.startswith("/") and url_has_allowed_host_and_scheme(there, None) else ""


def team_page_of(request: HttpRequest) -> str:
    """The dashboard of the team whose address was asked for; without one the start page."""
    slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
    return reverse("dashboard", args=[slug]) if slug else reverse("home")
