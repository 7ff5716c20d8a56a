"""Signing in and what belongs to an account: people an owner invited. There is no sign-up."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.utils import perform_login
from allauth.account.views import EmailView
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from rubricweb import access
from rubricweb.models import User, unarchived
from rubricweb.services.teams.sign_in_links import person_of_link
from rubricweb.services.teams.teams import choose_single_keys

log = logging.getLogger(__name__)


class ClosedSignup(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Whose wrong passwords are counted: the address that the outermost trusted proxy saw.

        A request that came past some of these proxies counts for whoever connected.
        """
        try:
            return str(super().get_client_ip(request))
        except ImproperlyConfigured:
            log.warning("X-Forwarded-For names fewer addresses than TRUSTED_PROXY_COUNT proxies would")
            return str(request.META["REMOTE_ADDR"])

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Marks an address as proven; only for who is signed in to the account that claims it.

        Without that, whoever opens a mail they did not ask for would prove their address for a stranger.
        """
        if request.user.pk != email_address.user_id:
            messages.error(request, "Sign in to the account that asked for this, then open the link again.")
            return False
        return bool(super().confirm_email(request, email_address))


class OwnAddress(EmailView):
    """The address of an account: a new one counts once the link mailed to it was opened."""

    def _action_primary(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Takes no address over that is not proven; proving one makes it the address of the account."""


own_address = OwnAddress.as_view()


def sign_in(request: HttpRequest, user: User) -> HttpResponse:
    """Signs in by a link as a password does: who has set up a second factor is asked for it."""
    if request.user.is_authenticated:
        logout(request)
    answer: HttpResponse = perform_login(request, user)
    return answer


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def one_time_link(request: HttpRequest) -> HttpResponse:
    """Signs in the holder of a one-time link.

    Opening it only shows a button: mail scanners and link previews follow links, and would use it up.
    """
    if request.method == "GET":
        return render(request, "account/one_time_link.html", {"token": request.GET.get("token", "")})
    user = person_of_link(request.POST.get("token", ""))
    if user is None:
        return render(request, "account/one_time_link.html", {"spent": True}, status=400)
    answer = sign_in(request, user)
    if not user.has_usable_password():
        messages.info(
            request, "You have no password yet. Set one under Account, to come back without a link."
        )
    return answer


@require_POST
def single_keys(request: HttpRequest) -> HttpResponse:
    """Whether keys without Ctrl or Alt act at once, for this person on every device."""
    assert isinstance(request.user, User)
    choose_single_keys(request.user, on=request.POST.get("single_keys") == "on")
    if "application/json" in request.headers.get("Accept", ""):
        return HttpResponse(status=204)
    return redirect("home")


def home(request: HttpRequest) -> HttpResponse:
    """The dashboard of the team that was open last, or of the first one; archived ones only in their list."""
    assert isinstance(request.user, User)
    teams = access.access_teams(request.user)
    listed, archived = teams.filter(unarchived()), teams.filter(unarchived(archived=True))
    team = listed.filter(pk=request.user.last_team_id or 0).first() or listed.first()
    if archived and (team is None or request.GET.get("archived") == "1"):
        return render(request, "teams/archiving/teams.html", {"rows": archived, "others": team is not None})
    if team is None:
        return render(request, "teams/no_team.html")
    return redirect("dashboard", team.slug)
