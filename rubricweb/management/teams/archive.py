"""`rubricweb rename` and `rubricweb archive`, at the terminal."""

import argparse

from django.db.models import Model
from django.utils import timezone

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import say
from rubricweb.models import Role, System, SystemVersion, Team, User
from rubricweb.selectors.runs.over_time.version_pairs import version_called
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets import systems
from rubricweb.services.endpoints import endpoints
from rubricweb.services.shared import archiving
from rubricweb.services.teams import teams


def rename(options: argparse.Namespace) -> int:
    """Another name for a rubric, dataset, run, queue, system, version of one, endpoint, or team."""
    if options.kind == "team":
        team, owner = own_team(options)
        teams.rename_team(team, options.name, by=owner)
        return _called_now(team)
    actor = resolve_actor(options, Role.OWNER if options.kind == "endpoint" else Role.EDITOR)
    if options.kind == "endpoint":
        endpoint = lookup.endpoint_called(actor.team, options.row)
        return _called_now(endpoints.edit_endpoint(endpoint, by=actor.user, name=options.name))
    row = anything_called(actor.team, options.kind, options.row)
    if isinstance(row, System):
        systems.rename_system(row, options.name, by=actor.user)
    elif isinstance(row, SystemVersion):
        systems.rename_version(row, options.name, by=actor.user)
    else:
        archiving.rename(row, options.name, by=actor.user)
    return _called_now(row)


def _called_now(row: Model) -> int:
    return say(f"It is called {row} now.")


def archive(options: argparse.Namespace) -> int:
    """Out of lists and choosers, or back; a team is not changed until it is."""
    row, by = _to_archive(options)
    archiving.archive_or_restore(row, not options.restore, by=by, now=timezone.now())
    if options.restore:
        return say(f"{row} {'can be changed again' if isinstance(row, Team) else 'is back in the lists'}.")
    which = row.slug if isinstance(row, Team) else row.pk
    return say(f"{row} is archived. Back: rubricweb archive {options.kind} {which} --restore")


def _to_archive(options: argparse.Namespace) -> tuple[archiving.CanBeArchived, User]:
    """What is named, and who acts: an owner where it is an endpoint or the team."""
    if options.kind == "team":
        return own_team(options)
    actor = resolve_actor(options, Role.OWNER if options.kind == "endpoint" else Role.EDITOR)
    if options.kind == "endpoint":
        return lookup.endpoint_called(actor.team, options.row), actor.user
    if options.kind == "system":
        return lookup.system_called(actor.team, options.row), actor.user
    return called(actor.team, options.kind, options.row), actor.user


def own_team(options: argparse.Namespace) -> tuple[Team, User]:
    """The team at the address that was named, archived or not, and its owner who acts."""
    options.team = options.team or options.row
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    if actor.team.slug.casefold() != options.row.casefold():
        raise Invalid.at("team", repr(options.row), f"the address of {actor.team}, {actor.team.slug!r}")
    return actor.team, actor.user


def anything_called(team: Team, kind: str, name: str) -> archiving.Named | System | SystemVersion:
    """The same, or a system, or a version of it such as assistant@v4."""
    if kind == "system":
        return lookup.system_called(team, name)
    if kind == "system-version":
        return version_called(team, name)
    return called(team, kind, name)


def called(team: Team, kind: str, name: str) -> archiving.Named:
    """A rubric, dataset, run or queue by its number or name; a run by its number alone."""
    if kind == "rubric":
        return lookup.rubric_called(team, name)
    if kind == "dataset":
        return lookup.dataset_called(team, name)
    if kind == "queue":
        return lookup.queue_called(team, name)
    if not name.isascii() or not name.isdigit():
        raise Invalid.at("run", repr(name), "its number")
    return access.access_run(team, int(name))
