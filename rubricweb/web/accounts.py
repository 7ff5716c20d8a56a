"""Who may sign in: people an owner added. There is no sign-up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from sesame.utils import get_user

from rubricweb import access
from rubricweb.models import User
from rubricweb.services.teams import choose_single_keys


class ClosedSignup(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def one_time_link(request: HttpRequest) -> HttpResponse:
    """Signs in the holder of a one-time link.

    Opening it only shows a button: mail scanners and link previews follow links, and would use it up.
    """
    if request.method == "GET":
        return render(request, "account/one_time_link.html", {"token": request.GET.get("token", "")})
    user = get_user(request.POST.get("token", ""))
    if user is None:
        return render(request, "account/one_time_link.html", {"spent": True}, status=400)
    login(request, user, backend="sesame.backends.ModelBackend")
    if not user.has_usable_password():
        messages.info(
            request, "You have no password yet. Set one under Account, to come back without a link."
        )
    return redirect("home")


@require_POST
def single_keys(request: HttpRequest) -> HttpResponse:
    """Whether keys without Ctrl or Alt act at once, for this person on every device."""
    assert isinstance(request.user, User)
    choose_single_keys(request.user, on=request.POST.get("single_keys") == "on")
    if "application/json" in request.headers.get("Accept", ""):
        return HttpResponse(status=204)
    return redirect("home")


def home(request: HttpRequest) -> HttpResponse:
    """The dashboard of the team that was open last, or of the first one."""
    assert isinstance(request.user, User)
    teams = access.teams_for(request.user)
    team = teams.filter(pk=request.user.last_team_id).first() or teams.first()
    if team is None:
        return render(request, "no_team.html")
    return redirect("dashboard", team.slug)
