"""Settings pages of a team: members, API tokens, journal."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import Membership, Role
from rubricweb.selectors import teams as selectors
from rubricweb.services import endpoints
from rubricweb.services import teams as services
from rubricweb.web.forms_teams import ChangedRole, NewMember, NewToken
from rubricweb.web.http import TeamRequest, now, team_page


@team_page(Role.VIEWER)
@require_GET
def settings_page(request: TeamRequest) -> HttpResponse:
    judges = endpoints.judges_of(request.team)
    context = {"counts": selectors.role_counts(request.team), "judges": judges, "offline": endpoints.OFFLINE}
    return render(request, "teams/settings.html", context)


# ── Members ──────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER, post=Role.OWNER)
@never_cache
def members(request: TeamRequest) -> HttpResponse:
    """The list; a POST adds a person and, if they are new, shows their sign-in link this once."""
    if request.method != "POST":
        return _members_page(request)
    form = NewMember(request.POST)
    if not form.is_valid():
        return _members_page(request, form=form, status=422)
    sent = form.cleaned_data
    try:
        membership, created = services.invite(
            request.team, sent["who"], Role(sent["role"]), by=request.user, name=sent["name"]
        )
    except (Invalid, Conflict) as error:
        form.add_error("who", str(error))
        return _members_page(request, form=form, status=422)
    if created:
        return _members_page(request, handed=membership, link=_sign_in_link(request, membership))
    messages.success(request, f"{membership.user} is now in {request.team}.")
    return redirect("settings_members", request.team.slug)


@team_page(Role.VIEWER, post=Role.OWNER)
@never_cache
@require_POST
def member(request: TeamRequest, user_id: int) -> HttpResponse:
    """What is done to one member: a new role, a new sign-in link, removal."""
    membership = selectors.member_for(request.team, user_id)
    action = request.POST.get("action", "role")
    try:
        if action == "link":
            link = _sign_in_link(request, membership)
            return _members_page(request, handed=membership, link=link)
        if action == "remove":
            services.remove_member(membership, by=request.user)
            messages.success(request, f"{membership.user} is no longer in {request.team}.")
            if membership.user == request.user:
                return redirect("home")
        else:
            form = ChangedRole(request.POST)
            if not form.is_valid():
                raise Invalid("Choose one of the roles.")
            services.change_role(membership, Role(form.cleaned_data["role"]), by=request.user)
            messages.success(request, f"{membership.user} is now {membership.get_role_display()}.")
    except (Invalid, Conflict, Forbidden) as error:
        return _members_page(request, wrong=membership, problem=str(error), status=422)
    return redirect("settings_members", request.team.slug)


def _members_page(
    request: TeamRequest, *, form: NewMember | None = None, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "members": selectors.members(request.team),
        "form": form or NewMember(),
        "roles": Role.choices,
        **more,
    }
    return render(request, "teams/members.html", context, status=status)


def _sign_in_link(request: TeamRequest, membership: Membership) -> str:
    query = services.sign_in_query(membership, by=request.user)
    return request.build_absolute_uri(reverse("one_time_link") + query)


# ── API tokens ───────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@never_cache
def tokens(request: TeamRequest) -> HttpResponse:
    """One's own tokens; a POST makes one and shows its secret this once."""
    if request.method != "POST":
        return _tokens_page(request, NewToken())
    form = NewToken(request.POST)
    if form.is_valid():
        try:
            token, secret = services.create_token(request.membership, now=now(), **form.cleaned_data)
        except Invalid as error:
            form.add_error(None, str(error))
        else:
            return _tokens_page(request, NewToken(), token=token, secret=secret)
    return _tokens_page(request, form, status=422)


@team_page(Role.VIEWER)
@require_POST
def revoke_token(request: TeamRequest, token_id: int) -> HttpResponse:
    token = selectors.token_for(request.team, request.user, token_id)
    services.revoke_token(token, by=request.user, now=now())
    messages.success(request, f"{token.name} is revoked.")
    return redirect("settings_tokens", request.team.slug)


def _tokens_page(request: TeamRequest, form: NewToken, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {"tokens": selectors.tokens(request.team, request.user), "form": form, "now": now(), **more}
    return render(request, "teams/tokens.html", context, status=status)


# ── Journal ──────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_GET
def journal(request: TeamRequest) -> HttpResponse:
    page = selectors.journal(request.team, viewer=request.user, cursor=request.GET.get("cursor"))
    return render(request, "teams/journal.html", {"page": page})
