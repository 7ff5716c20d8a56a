"""`rubricweb members`: who is in a team and what they may do, at the terminal."""

import argparse
from collections.abc import Iterable

from django.urls import reverse
from django.utils import timezone

from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.printed import say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Membership, Role
from rubricweb.selectors.teams import invitations as open_invitations
from rubricweb.selectors.teams import lookup
from rubricweb.selectors.teams import members as selected
from rubricweb.services.teams import invitations as inviting
from rubricweb.services.teams import teams as services


def list_members(options: argparse.Namespace) -> int:
    """A line per member, the highest role first; e-mail addresses for owners only."""
    actor = resolve_actor(options, Role.VIEWER)
    members = selected.members(actor.team)
    owner = any(one.membership.user == actor.user and one.membership.role == Role.OWNER for one in members)
    if options.json:
        _print_members(members, actor)
        return 0
    rows = table(("person", "user name", "role", *["e-mail"] * owner, "signed in"))
    for one in members:
        person = one.membership.user
        cells = [str(person), person.username, one.membership.get_role_display()]
        cells += [person.email] * owner + ["never yet" if one.never_signed_in else "yes"]
        rows.add_row(*cells)
    terminal().print(rows)
    return 0


def invite(options: argparse.Namespace) -> int:
    """Asks somebody into the team; a link to hand over is the one line of standard output."""
    actor = resolve_actor(options, Role.OWNER)
    invited = inviting.invite(
        actor.team,
        options.person,
        Role[options.role.upper()],
        by=actor.user,
        now=timezone.now(),
        link=_link,
        name=options.name,
        hand_over=options.hand_over,
    )
    return _handed(options, actor, invited)


def list_invitations(options: argparse.Namespace) -> int:
    """A line per person who was asked and has not come yet, the newest first."""
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    invitations = open_invitations.invitations_of(actor.team, now=timezone.now())
    if options.json:
        from rubricweb.api.teams.schemas import Invitation as Shown

        for one in invitations:
            print_shape(Shown, one)
        return 0
    rows = table(("for", "role", "by", "sent", "until"))
    for one in invitations:
        sent = "by mail" if one.mailed else "handed over"
        until = one.expires_at.strftime("%Y-%m-%d %H:%M")
        rows.add_row(one.email or one.username, one.get_role_display(), str(one.invited_by), sent, until)
    terminal().print(rows)
    return 0


def withdraw(options: argparse.Namespace) -> int:
    """Makes the link of an open invitation stop working."""
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    invitation = open_invitations.invitation_called(actor.team, options.person, now=timezone.now())
    if invitation is None:
        raise Invalid(f"{options.person!r} has no open invitation into {actor.team}.")
    inviting.withdraw(invitation, by=actor.user, now=timezone.now())
    return say(f"The invitation of {options.person} into {actor.team} is withdrawn.")


def change_role(options: argparse.Namespace) -> int:
    """Another role; the team keeps an owner."""
    actor, membership = _member(options)
    services.change_role(membership, Role[options.role.upper()], by=actor.user)
    if options.json:
        _print_members([one for one in selected.members(actor.team) if one.membership == membership], actor)
        return 0
    return say(f"{_named(membership)} is now {membership.get_role_display()} in {actor.team}.")


def link(options: argparse.Namespace) -> int:
    """A new link to hand over, for an open invitation or a member who has not been here yet."""
    actor = resolve_actor(options, Role.OWNER)
    now = timezone.now()
    invitation = open_invitations.invitation_called(actor.team, options.person, now=now)
    if invitation is not None:
        invited = inviting.renew(invitation, by=actor.user, now=now, link=_link, hand_over=True)
    else:
        _, membership = _member(options)
        invited = inviting.invite_to_sign_in(membership, by=actor.user, now=now, link=_link)
    return _handed(options, actor, invited)


def remove(options: argparse.Namespace) -> int:
    """Takes a person out of the team at once."""
    actor, membership = _member(options, archived_too=True)
    services.remove_member(membership, by=actor.user)
    return say(f"{_named(membership)} is no longer in {actor.team}; their API tokens have stopped.")


def _member(options: argparse.Namespace, *, archived_too: bool = False) -> tuple[Actor, Membership]:
    actor = resolve_actor(options, Role.OWNER, archived_too=archived_too)
    member = lookup.member_called(actor.team, options.person)
    return actor, selected.member_for(actor.team, member.user_id)


def _handed(options: argparse.Namespace, actor: Actor, invited: inviting.Invited) -> int:
    invitation = invited.invitation
    whom = invitation.email or invitation.username
    if options.json:
        from rubricweb.api.schemas import WithFields
        from rubricweb.api.teams.schemas import HandedInvitation

        print_shape(HandedInvitation, WithFields(invitation, link=invited.link))
        return 0
    if invited.link is None:
        return say(f"An invitation into {actor.team} is on its way to {whom}.")
    say(invited.link)
    note(
        f"Hand the link over to {whom} yourself, to nobody else: whoever opens it first is in {actor.team}, "
        f"as {invitation.get_role_display()}. It works once, for {inviting.LIVES.days} days, and is shown "
        "only now."
    )
    return 0


def _link(secret: str) -> str:
    from rubricweb.management.teams.people import site_address

    return f"{site_address()}{reverse('invitation')}?token={secret}"


def _named(membership: Membership) -> str:
    """Somebody new is often called by their user name alone."""
    person = membership.user
    return str(person) if str(person) == person.username else f"{person} ({person.username})"


def _print_members(members: Iterable[selected.TeamMember], actor: Actor) -> None:
    from rubricweb.api.teams.schemas import Member, members_in_team

    for row in members_in_team(members, viewer=actor.user):
        print_shape(Member, row)
