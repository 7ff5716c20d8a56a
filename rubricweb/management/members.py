"""`rubricweb members`: who is in a team and what they may do, at the terminal."""

import argparse
from typing import Any

from django.conf import settings

from rubricweb.management import prepare
from rubricweb.management.printed import print_json, say, table, terminal
from rubricweb.management.who import Who, acting, note
from rubricweb.models import Membership, Role
from rubricweb.selectors import operators
from rubricweb.selectors import teams as selected
from rubricweb.services import teams as services
from rubricweb.templatetags.display import duration


def list_members(options: argparse.Namespace) -> int:
    """A line per member, the highest role first; e-mail addresses for owners only."""
    who = acting(options, Role.VIEWER)
    found = selected.members(who.team)
    owner = any(one.membership.user == who.user and one.membership.role == Role.OWNER for one in found)
    if options.json:
        for one in found:
            row = _as_json(one.membership) | {"never_signed_in": one.never_signed_in}
            print_json(row if owner else {name: row[name] for name in row if name != "email"})
        return 0
    rows = table(("person", "user name", "role", *["e-mail"] * owner, "signed in"))
    for one in found:
        person = one.membership.user
        cells = [str(person), person.username, one.membership.get_role_display()]
        cells += [person.email] * owner + ["never yet" if one.never_signed_in else "yes"]
        rows.add_row(*cells)
    terminal().print(rows)
    return 0


def invite(options: argparse.Namespace) -> int:
    """Puts somebody in the team; the sign-in link of somebody new is the one line of standard output."""
    who = acting(options, Role.OWNER)
    role = Role[options.role.upper()]
    membership, created = services.invite(who.team, options.person, role, by=who.user, name=options.name)
    if created:
        return _handed(options, who, membership)
    if options.json:
        print_json(_as_json(membership) | {"link": None})
        return 0
    return say(f"{_named(membership)} is now {membership.get_role_display()} in {who.team}.")


def change_role(options: argparse.Namespace) -> int:
    """Another role; the team keeps an owner."""
    who, membership = _member(options)
    services.change_role(membership, Role[options.role.upper()], by=who.user)
    if options.json:
        print_json(_as_json(membership))
        return 0
    return say(f"{_named(membership)} is now {membership.get_role_display()} in {who.team}.")


def link(options: argparse.Namespace) -> int:
    """A new sign-in link for somebody who has not been here yet."""
    return _handed(options, *_member(options))


def remove(options: argparse.Namespace) -> int:
    """Takes a person out of the team at once."""
    who, membership = _member(options)
    services.remove_member(membership, by=who.user)
    return say(f"{_named(membership)} is no longer in {who.team}; their API tokens have stopped.")


def _member(options: argparse.Namespace) -> tuple[Who, Membership]:
    who = acting(options, Role.OWNER)
    found = operators.member_called(who.team, options.person)
    return who, selected.member_for(who.team, found.user_id)


def _handed(options: argparse.Namespace, who: Who, membership: Membership) -> int:
    from rubricweb.management.people import site_address

    query = services.sign_in_query(membership, by=who.user)
    address = prepare.sign_in_address(site_address(), query)
    lives = settings.SESAME_MAX_AGE
    if options.json:
        print_json(_as_json(membership) | {"link": address, "link_expires_in_seconds": lives})
        return 0
    say(address)
    note(
        f"{_named(membership)} is {membership.get_role_display()} in {who.team}. Hand the link over "
        f"yourself: it works once, for {duration(lives)}, and is shown only now."
    )
    return 0


def _named(membership: Membership) -> str:
    """Somebody new is often called by their user name alone."""
    person = membership.user
    return str(person) if str(person) == person.username else f"{person} ({person.username})"


def _as_json(membership: Membership) -> dict[str, Any]:
    person = membership.user
    return {
        "username": person.username,
        "name": str(person),
        "email": person.email,
        "role": membership.get_role_display(),
    }
