"""`rubricweb tokens`: one's own API tokens in a team, at the terminal."""

import argparse
from datetime import datetime
from typing import Any

from django.utils import timezone

from rubricweb import access
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import moment, print_json, say, table, terminal
from rubricweb.management.terminal.shapes import as_shape
from rubricweb.models import ApiToken, Role
from rubricweb.selectors.teams import lookup
from rubricweb.selectors.teams import members as selected
from rubricweb.selectors.teams.tokens import token_state
from rubricweb.services.teams import teams as services


def list_tokens(options: argparse.Namespace) -> int:
    """The person's own tokens, newest first; never their secrets."""
    actor = resolve_actor(options, Role.VIEWER)
    now = timezone.now()
    tokens = selected.tokens(actor.team, actor.user)
    if options.json:
        for token in tokens:
            print_json(_as_json(token, now))
        return 0
    if not tokens:
        note(f"{actor.user} has no tokens in {actor.team} yet. Make one: rubricweb tokens new NAME")
        return 0
    rows = table(("id", "token", "begins", "may"), ("last used", "ends"))
    for token in tokens:
        used = moment(token.last_used_at) if token.last_used_at else "never"
        state = token_state(token, now=now)
        ends = moment(token.expires_at) if state == "live" else state
        may = "read, write" if token.may_write else "read"
        cells = (str(token.pk), token.name, f"{token.hint}…", may, used, ends)
        rows.add_row(*cells)
    terminal().print(rows)
    return 0


def new(options: argparse.Namespace) -> int:
    """Makes a token; its secret is the one line of standard output, and is shown this once."""
    actor = resolve_actor(options, Role.VIEWER)
    membership = access.access_membership(actor.user, actor.team.slug)
    now = timezone.now()
    token, secret = services.create_token(
        membership, name=options.name, may_write=options.write, days=options.days, now=now
    )
    if options.json:
        print_json(_as_json(token, now) | {"secret": secret})
        return 0
    say(secret)
    note(
        f"Token {token.pk}, {token.name}, acts as {actor.user} in {actor.team} until "
        f"{moment(token.expires_at)}. Copy it now: it cannot be shown again."
    )
    return 0


def revoke(options: argparse.Namespace) -> int:
    """Stops a token; programs that use it are refused at once."""
    actor = resolve_actor(options, Role.VIEWER)
    api_token = lookup.token_called(actor.team, actor.user, options.token)
    token = selected.token_for(actor.team, actor.user, api_token.pk)
    services.revoke_token(token, by=actor.user, now=timezone.now())
    return say(f"Token {token.pk}, {token.name}, is revoked.")


def _as_json(token: ApiToken, now: datetime) -> Any:
    from rubricweb.api.teams.schemas import OwnToken, own_token

    return as_shape(OwnToken, own_token(token, now=now))
