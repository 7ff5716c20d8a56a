"""Accepting an invitation: the page behind its link, for people with and without an account."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound
from rubricweb.models import Invitation, User
from rubricweb.selectors.teams import invitations as selected
from rubricweb.services.teams import invitations as services
from rubricweb.services.teams.teams import digest
from rubricweb.web.http import now
from rubricweb.web.teams.accounts import sign_in
from rubricweb.web.teams.forms import FirstPassword, NewAccount


@never_cache
@login_not_required
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest) -> HttpResponse:
    """Shows who invites to what; a POST accepts, as the person signed in or with a new account.

    Opening the link changes nothing: mail scanners and link previews follow links.
    """
    secret = request.POST.get("token") or request.GET.get("token", "")
    invitation = selected.invitation_of_digest(digest(secret), now=now())
    if invitation is None:
        return render(request, "account/invitation.html", {"spent": True}, status=400 if secret else 200)
    if request.method == "GET":
        return _page(request, invitation, secret)
    if request.POST.get("action") == "accept" and isinstance(request.user, User):
        try:
            services.accept(secret, user=request.user, now=now())
        except (Forbidden, Conflict, NotFound) as error:
            return _page(request, invitation, secret, problem=str(error), status=422)
        messages.success(request, f"You are now in {invitation.team}.")
        return redirect("dashboard", invitation.team.slug)
    return _with_password(request, invitation, secret)


def _with_password(request: HttpRequest, invitation: Invitation, secret: str) -> HttpResponse:
    """Makes the account, or gives an unused one its password, and signs in."""
    first = selected.is_first_sign_in(invitation)
    form = FirstPassword(request.POST) if first else NewAccount(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            if first:
                user = services.set_first_password(secret, password=sent["password"], now=now())
            else:
                user = services.accept_as_new(secret, now=now(), **sent)
        except (Invalid, Conflict, Forbidden, NotFound) as error:
            form.add_error(None, str(error))
        else:
            return sign_in(request, user)
    return _page(request, invitation, secret, form=form, status=422)


def _page(
    request: HttpRequest,
    invitation: Invitation,
    secret: str,
    *,
    form: NewAccount | FirstPassword | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    first = selected.is_first_sign_in(invitation)
    receiver = selected.receiver(invitation)
    if form is None and first:
        form = FirstPassword()
    elif form is None:
        suggested = services.free_username(invitation.email or invitation.username)
        form = NewAccount(initial={"username": suggested, "name": invitation.name})
    context = {
        "invitation": invitation,
        "token": secret,
        "first": first,
        "has_account": receiver is not None,
        "is_receiver": receiver is None or receiver == request.user,
        "form": form,
        "problem": problem,
    }
    return render(request, "account/invitation.html", context, status=status)
