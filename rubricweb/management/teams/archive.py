"""`rubricweb rename` and `rubricweb archive`, at the terminal."""

import argparse

from django.utils import timezone

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import say
from rubricweb.models import Role, System, SystemVersion, Team, User
from rubricweb.selectors.runs.over_time.version_pairs import version_called
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets import systems
from rubricweb.services.shared import archiving
from rubricweb.services.teams import teams


def rename(options: argparse.Namespace) -> int:
    """Another name for a rubric, dataset, run, queue, system, version of one, or team."""
    if options.kind == "team":
        team, owner = own_team(options)
        teams.rename_team(team, options.name, by=owner)
        return say(f"It is called {team} now.")
    actor = resolve_actor(options, Role.EDITOR)
    row = anything_called(actor.team, options.kind, options.row)
    if isinstance(row, System):
        systems.rename_system(row, options.name, by=actor.user)
    elif isinstance(row, SystemVersion):
        systems.rename_version(row, options.name, by=actor.user)
    else:
        archiving.rename(row, options.name, by=actor.user)
    return say(f"It is called {row} now.")


def archive(options: argparse.Namespace) -> int:
    """Out of lists and choosers, or back."""
    actor = resolve_actor(options, Role.EDITOR)
    row = called(actor.team, options.kind, options.row)
    if options.restore:
        archiving.restore(row, by=actor.user)
        return say(f"{row} is back in the lists.")
    archiving.archive(row, by=actor.user, now=timezone.now())
    return say(f"{row} is archived. Back: rubricweb archive {options.kind} {row.pk} --restore")


def own_team(options: argparse.Namespace) -> tuple[Team, User]:
    """The team at the address that was named, and its owner who acts."""
    options.team = options.team or options.row
    actor = resolve_actor(options, Role.OWNER)
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
