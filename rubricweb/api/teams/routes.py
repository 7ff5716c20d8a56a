"""Operations about the team of the token, and who holds it."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from ninja import Query
from ninja.responses import Status

from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.api.teams import schemas
from rubricweb.models import Role
from rubricweb.selectors.teams import invitations as open_invitations
from rubricweb.selectors.teams import members as selected
from rubricweb.services.teams import invitations as services
from rubricweb.services.teams import teams as team_services

teams = Room("team")


@teams.read("/me", Role.VIEWER, schemas.Me)
def get_me(request: TokenRequest) -> Any:
    """Whom this token stands for."""
    return _me(request)


@teams.write("PATCH", "/me", Role.VIEWER, schemas.Me)
def change_me(request: TokenRequest, body: schemas.OwnChoices) -> Any:
    """Change what you choose for yourself, such as single keys.

    It holds in all your teams and on every device.
    """
    team_services.choose_single_keys(request.auth.user, on=body.single_keys)
    return _me(request)


@teams.read("/team", Role.VIEWER, schemas.TeamWithMembers)
def get_team(request: TokenRequest) -> Any:
    """The token's team and its members."""
    team = request.auth.team
    return WithFields(team, members=schemas.members_in_team(selected.members(team), viewer=request.auth.user))


@teams.write("PATCH", "/team", Role.OWNER, schemas.TeamWithMembers, archived_too=True)
def change_team(request: TokenRequest, body: schemas.TeamChanges) -> Any:
    """Rename the team, archive or restore it. Its address stays.

    Archived, everything in it can be read and exported, and what would change it is refused (409). So is
    archiving while a run or an import has not ended or a queue is not closed.
    """
    caller = request.auth
    team_services.change_team(caller.team, by=caller.user, now=timezone.now(), **body.model_dump())
    return get_team(request)


@teams.read("/team/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_team_deletion(request: TokenRequest) -> Any:
    """What deleting the team would take with it, and what would stay."""
    return planned(request.auth.team)


@teams.write("DELETE", "/team", Role.OWNER, deletion_schemas.Deletion, status=202, archived_too=True)
def delete_team(request: TokenRequest, body: deletion_schemas.DeletionName) -> Any:
    """Delete the whole team for good: nobody is in it any more, this token too stops at once.

    Refused (409) while a run has not ended or a queue is not closed.
    """
    return deleted(request, request.auth.team, body)


@teams.write("PATCH", "/team/members/{int:user_id}", Role.OWNER, schemas.Member)
def change_member(request: TokenRequest, user_id: int, body: schemas.NewRole) -> Any:
    """Give a member another role. Refused (409) for the only owner.

    Below annotator nobody reviews: whoever becomes a viewer leaves the queues they are in.
    """
    membership = selected.member_for(request.auth.team, user_id)
    team_services.change_role(membership, Role[body.role.upper()], by=request.auth.user)
    members = schemas.members_in_team(selected.members(request.auth.team), viewer=request.auth.user)
    return next(one for one in members if one.membership == membership)


@teams.write("DELETE", "/team/members/{int:user_id}", Role.OWNER, None, status=204, archived_too=True)
def remove_member(request: TokenRequest, user_id: int) -> Any:
    """Take a person out of the team at once. Refused (409) for the only owner.

    Their tokens and invitations stop, their reviews stay, and what waited for them in queues is others' to
    review.
    """
    membership = selected.member_for(request.auth.team, user_id)
    team_services.remove_member(membership, by=request.auth.user)
    return Status(204, None)


@teams.read("/tokens", Role.VIEWER, list_of(schemas.OwnToken))
def list_tokens(request: TokenRequest) -> Any:
    """Your own tokens in this team, newest first; all on one page. Nobody sees another's."""
    caller, now = request.auth, timezone.now()
    tokens = [schemas.own_token(one, now=now) for one in selected.tokens(caller.team, caller.user)]
    return {"items": tokens, "next_cursor": None}


@teams.write("DELETE", "/tokens/{int:token_id}", Role.VIEWER, None, status=204)
def revoke_token(request: TokenRequest, token_id: int) -> Any:
    """Revoke one of your own tokens, also the one you send: programs that use it are refused at once."""
    token = selected.token_for(request.auth.team, request.auth.user, token_id)
    team_services.revoke_token(token, by=request.auth.user, now=timezone.now())
    return Status(204, None)


@teams.read("/invitations", Role.OWNER, list_of(schemas.Invitation))
def list_invitations(request: TokenRequest) -> Any:
    """Who was asked into the team and has not come yet, newest first; all on one page."""
    invitations = open_invitations.invitations_of(request.auth.team, now=timezone.now())
    return {"items": invitations, "next_cursor": None}


@teams.write("POST", "/invitations", Role.OWNER, schemas.HandedInvitation, status=201)
def invite(request: TokenRequest, body: schemas.NewInvitation) -> Any:
    """Ask a person into the team.

    The link goes to their address where mail is set up, else into the answer, once. It works once, for seven
    days, and stops when the person is invited again.
    """
    caller = request.auth
    invited = services.invite(
        caller.team,
        body.who,
        Role[body.role.upper()],
        by=caller.user,
        now=timezone.now(),
        link=_link,
        name=body.name,
        hand_over=body.hand_over,
    )
    return Status(201, WithFields(invited.invitation, link=invited.link))


@teams.write("POST", "/invitations/{int:invitation_id}/link", Role.OWNER, schemas.HandedInvitation)
def renew_invitation(request: TokenRequest, invitation_id: int, body: schemas.NewLink) -> Any:
    """Make a new link for an open invitation; the old one stops working."""
    now = timezone.now()
    invitation = open_invitations.invitation_for(request.auth.team, invitation_id, now=now)
    invited = services.renew(invitation, by=request.auth.user, now=now, link=_link, hand_over=body.hand_over)
    return WithFields(invited.invitation, link=invited.link)


@teams.write("DELETE", "/invitations/{int:invitation_id}", Role.OWNER, None, status=204, archived_too=True)
def withdraw_invitation(request: TokenRequest, invitation_id: int) -> Any:
    """Withdraw an open invitation: its link stops working."""
    now = timezone.now()
    invitation = open_invitations.invitation_for(request.auth.team, invitation_id, now=now)
    services.withdraw(invitation, by=request.auth.user, now=now)
    return Status(204, None)


def _link(secret: str) -> str:
    return f"{settings.SITE_URL}{reverse('invitation')}?token={secret}"


@teams.read("/audit-log", Role.VIEWER, list_of(schemas.AuditLogEntry))
def list_audit_log(request: TokenRequest, asked: Query[schemas.AuditLogQuery]) -> Any:
    """Who did what, newest first."""
    page = selected.audit_log(
        request.auth.team,
        viewer=request.auth.user,
        actor=asked.actor or "",
        kind=asked.kind or "",
        cursor=asked.cursor,
        size=asked.limit,
    )
    return {"items": page.rows, "next_cursor": page.next_cursor}


def _me(request: TokenRequest) -> dict[str, Any]:
    caller = request.auth
    return {
        "username": caller.user.username,
        "name": str(caller.user),
        "role": caller.membership.get_role_display(),
        "team": caller.team,
        "token": caller.token,
        "single_keys": caller.user.single_keys is not False,
    }
