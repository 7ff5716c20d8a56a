"""`rubricweb shared-links`: links that show figures to people without an account, at the terminal."""

import argparse

from django.urls import reverse
from django.utils import timezone

from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role, SharedKind
from rubricweb.selectors.blinding import hidden_from_somebody
from rubricweb.selectors.teams import lookup
from rubricweb.selectors.teams import shared_links as selected
from rubricweb.services.sharing import links as services
from rubricweb.services.sharing.pages import Shown


def list_links(options: argparse.Namespace) -> int:
    """A line per link, newest first; never its secret."""
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    hidden, now = hidden_from_somebody(actor.team), timezone.now()
    links = [(link, selected.link_state(link, hidden, now=now)) for link in selected.links_of(actor.team)]
    if options.json:
        from rubricweb.api.teams.shared_link_schemas import Link, shown_link

        for link, state in links:
            print_shape(Link, shown_link(link, state))
        return 0
    if not links:
        note(f"{actor.team} shares nothing yet. Make a link: rubricweb shared-links new dashboard")
        return 0
    rows = table(("id", "title", "page", "opened"), ("state", "ends"))
    for link, state in links:
        rows.add_row(str(link.pk), link.title, link.kind, str(link.opened), state, moment(link.expires_at))
    terminal().print(rows)
    return 0


def new(options: argparse.Namespace) -> int:
    """Makes a link; it is the one line of standard output, and is shown this once."""
    actor = resolve_actor(options, Role.OWNER)
    team = actor.team
    shown = Shown(
        SharedKind(options.page),
        run_id=options.run,
        baseline_id=options.baseline,
        queue_ids=tuple(lookup.queue_called(team, name).pk for name in options.queue),
        dataset_id=lookup.dataset_called(team, options.dataset).pk if options.dataset else None,
        rubric_id=lookup.rubric_called(team, options.rubric).pk if options.rubric else None,
    )
    now = timezone.now()
    link, secret = services.share(team, shown, title=options.title, days=options.days, by=actor.user, now=now)
    from rubricweb.management.teams.people import site_address

    url = f"{site_address()}{reverse('shared', args=[secret])}"
    if options.json:
        from rubricweb.api.teams.shared_link_schemas import MadeLink, shown_link

        print_shape(MadeLink, shown_link(link, "live", url=url))
        return 0
    say(url)
    note(
        f"Whoever holds it reads {link.title} as it is now, until {moment(link.expires_at)}. Copy it now: it "
        "cannot be shown again."
    )
    return 0


def revoke(options: argparse.Namespace) -> int:
    """The link shows nothing any more."""
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    link = selected.link_called(actor.team, options.link)
    services.revoke(link, by=actor.user, now=timezone.now())
    return say(f"The link {link.pk}, {link.title}, is revoked.")
