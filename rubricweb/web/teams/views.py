"""Settings pages of a team: members, API tokens, journal."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import Role
from rubricweb.selectors.teams import invitations as open_invitations
from rubricweb.selectors.teams import members as selectors
from rubricweb.services.endpoints import endpoints
from rubricweb.services.teams import invitations as inviting
from rubricweb.services.teams import teams as services
from rubricweb.web.http import TeamRequest, now, team_page
from rubricweb.web.shared.titles import titles
from rubricweb.web.teams.forms import ChangedRole, NewMember, NewToken


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
    """The list; a POST invites a person and, where no mail goes out, shows the link this once."""
    if request.method != "POST":
        return _members_page(request)
    form = NewMember(request.POST)
    if not form.is_valid():
        return _members_page(request, form=form, status=422)
    sent = form.cleaned_data
    try:
        invited = inviting.invite(
            request.team,
            sent["who"],
            Role(sent["role"]),
            by=request.user,
            now=now(),
            link=_link(request),
            name=sent["name"],
            hand_over=sent.get("hand_over", False),
        )
    except (Invalid, Conflict) as error:
        form.add_error("who", str(error))
        return _members_page(request, form=form, status=422)
    return _handed(request, invited)


@team_page(Role.VIEWER, post=Role.OWNER, archived_too=True)
@never_cache
@require_POST
def invitation(request: TeamRequest, invitation_id: int) -> HttpResponse:
    """What is done to one open invitation: a new link, mailed or shown, or withdrawal, even when archived."""
    invitation = open_invitations.invitation_for(request.team, invitation_id, now=now())
    action = request.POST.get("action")
    if action == "withdraw":
        inviting.withdraw(invitation, by=request.user, now=now())
        messages.success(
            request, f"The invitation of {invitation.email or invitation.username} is withdrawn."
        )
        return redirect("settings_members", request.team.slug)
    access.require_changeable(request.team)
    try:
        invited = inviting.renew(
            invitation, by=request.user, now=now(), link=_link(request), hand_over=action != "mail"
        )
    except Conflict as error:
        return _members_page(request, problem=str(error), status=422)
    return _handed(request, invited)


@team_page(Role.VIEWER, post=Role.OWNER, archived_too=True)
@never_cache
@require_POST
def member(request: TeamRequest, user_id: int) -> HttpResponse:
    """What is done to one member: a new role, a new sign-in link; removal, even when archived."""
    membership = selectors.member_for(request.team, user_id)
    action = request.POST.get("action", "role")
    if action != "remove":
        access.require_changeable(request.team)
    try:
        if action == "link":
            invited = inviting.invite_to_sign_in(membership, by=request.user, now=now(), link=_link(request))
            return _handed(request, invited)
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
    is_owner = request.membership.role >= Role.OWNER  # addresses are for owners only
    context = {
        "members": selectors.members(request.team),
        "invitations": open_invitations.invitations_of(request.team, now=now()) if is_owner else [],
        "form": form or NewMember(),
        "roles": Role.choices,
        **more,
    }
    return render(request, "teams/members.html", context, status=status)


def _handed(request: TeamRequest, invited: inviting.Invited) -> HttpResponse:
    """The link, shown this once; or back to the list where it was mailed."""
    if invited.link is not None:
        return _members_page(request, handed=invited.invitation, link=invited.link)
    whom = invited.invitation.email or invited.invitation.username
    messages.success(request, f"An invitation is on its way to {whom}.")
    return redirect("settings_members", request.team.slug)


def _link(request: TeamRequest) -> Callable[[str], str]:
    return lambda secret: request.build_absolute_uri(f"{reverse('invitation')}?token={secret}")


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


# ── Audit log ────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_GET
def audit_log(request: TeamRequest) -> HttpResponse:
    page = selectors.audit_log(request.team, viewer=request.user, cursor=request.GET.get("cursor"))
    named = titles(request, [line.target_id for line in page.rows if line.kind == "item" and line.target_id])
    return render(request, "teams/audit_log.html", {"page": page, **named})
