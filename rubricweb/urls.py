"""Addresses: `/t/<team>/…` for pages, `/api/v1/…` for programs, `/accounts/…` for signing in."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import include, path, re_path

from rubricweb.api.root import api, unknown_route
from rubricweb.web.teams import accounts, invitations
from rubricweb.web.urls import team_urls

handler400 = "rubricweb.web.errors.bad_request"
handler403 = "rubricweb.web.errors.forbidden"
handler404 = "rubricweb.web.errors.not_found"
handler500 = "rubricweb.web.errors.server_error"


@login_not_required
def health(request: HttpRequest) -> HttpResponse:
    """For load balancers and `rubricweb serve`: the process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


urlpatterns = [
    path("", accounts.home, name="home"),
    path("health", health, name="health"),
    path("sign-in/", accounts.one_time_link, name="one_time_link"),
    path("invitation/", invitations.invitation, name="invitation"),
    path("preferences/keys/", accounts.single_keys, name="single_keys"),
    path("accounts/email/", accounts.own_address, name="account_email"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("api/v1/", api.urls),
    re_path(r"^api/", unknown_route),
    path("t/<slug:slug>/", include(team_urls)),
]
if settings.DEBUG:
    from rubricweb.web.patterns.views import patterns

    urlpatterns.append(path("patterns/", patterns, name="patterns"))
