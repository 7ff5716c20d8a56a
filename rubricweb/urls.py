"""Addresses: `/t/<team>/…` for pages, `/api/v1/…` for programs, `/accounts/…` for signing in."""

from django.conf import settings
from django.urls import include, path, re_path

from rubricweb.api.root import api, unknown_route
from rubricweb.web import health
from rubricweb.web.help import views as help_views
from rubricweb.web.teams import accounts, invitations, shared_page
from rubricweb.web.urls import team_urls

handler400 = "rubricweb.web.errors.bad_request"
handler403 = "rubricweb.web.errors.forbidden"
handler404 = "rubricweb.web.errors.not_found"
handler500 = "rubricweb.web.errors.server_error"


urlpatterns = [
    path("", accounts.home, name="home"),
    path("health", health.health, name="health"),
    path("ready", health.ready, name="ready"),
    path("sign-in/", accounts.one_time_link, name="one_time_link"),
    path("invitation/", invitations.invitation, name="invitation"),
    path("shared/<str:secret>/", shared_page.shared, name="shared"),
    path("preferences/keys/", accounts.single_keys, name="single_keys"),
    path("accounts/email/", accounts.own_address, name="account_email"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("help/", help_views.page, name="help"),
    path("help/images/<str:name>", help_views.picture, name="help_picture"),
    path("help/<path:name>/", help_views.page, name="help_page"),
    path("api/v1/", api.urls),
    re_path(r"^api/", unknown_route),
    path("t/<slug:slug>/", include(team_urls)),
]
if settings.DEBUG:
    from rubricweb.web.patterns.views import patterns

    urlpatterns.append(path("patterns/", patterns, name="patterns"))
