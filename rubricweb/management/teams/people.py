"""`rubricweb sign-in-link`, `remove-second-factor`, `create-team`, `load-demo`: letting people in."""

import argparse
import os
import sys
from contextlib import ExitStack

from django.conf import settings
from django.utils import timezone

from rubricweb import tasks
from rubricweb.errors import Conflict
from rubricweb.management.judges.models import start_offline
from rubricweb.management.terminal import prepare
from rubricweb.management.terminal.actor import note
from rubricweb.management.terminal.serve_lock import running_at
from rubricweb.selectors.shared import workers
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services import demo
from rubricweb.services.teams import sign_in_links, teams


def sign_in_link(options: argparse.Namespace) -> int:
    prepare.require_tables(note)
    person = lookup.person_called(options.person)
    sys.stdout.write(f"{prepare.sign_in_link(person, site_address())}\n")
    return 0


def remove_second_factor(options: argparse.Namespace) -> int:
    """For who lost both phone and recovery codes; a sign-in link alone would ask for them."""
    prepare.require_tables(note)
    person = lookup.person_called(options.person)
    if not sign_in_links.remove_second_factor(person):
        raise Conflict(f"{person} has set up no second factor.")
    note(f"{person} signs in without a second factor from now on, and can set up another one.")
    note(f"By password, or by a link: rubricweb sign-in-link {person.username}")
    return 0


def site_address() -> str:
    """Where people reach the pages: SITE_URL where it is set, else a `rubricweb serve` that runs."""
    return settings.SITE_URL if "SITE_URL" in os.environ else running_at() or settings.SITE_URL


def create_team(options: argparse.Namespace) -> int:
    prepare.require_tables(note)
    owner = teams.ensure_person(options.owner, email=options.email)
    team = teams.create_team(options.name, owner=owner, slug=options.slug)
    note(f"{owner} owns the new team {team} ({team.slug}). Next: rubricweb sign-in-link {owner.username}")
    return 0


def load_demo(options: argparse.Namespace) -> int:
    """Adds the demo team; where no judge is set up its runs wait for the offline one, as under `serve`."""
    prepare.require_tables(note)
    with ExitStack() as stack:
        if not (settings.OFFLINE_JUDGE_URL or settings.OPENAI_API_KEY):
            start_offline(stack)
        team = demo.load_demo(enqueue=tasks.notify, now=timezone.now())
    note(f"The demo team is {team} ({team.slug}).")
    if not workers.alive(database_now()):
        note(f"Its runs wait for a worker. Start one: {workers.start_command()}")
    return 0
