"""`rubricweb rubrics starters` and `rubricweb rubrics new`: rubrics to begin with, at the terminal."""

import argparse

from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.services.rubrics.starters import NAMES, start_from, starters
from rubricweb.templatetags.display import count


def list_starters(options: argparse.Namespace) -> int:
    """The starters, in the order they are offered."""
    resolve_actor(options, Role.VIEWER)
    if options.json:
        from rubricweb.api.rubrics.schemas import Starter

        for starter in starters():
            print_shape(Starter, starter)
        return 0
    rows = table(("starter", "rubric", "for"), ("criteria",))
    for starter in starters():
        rows.add_row(starter.name, starter.title, starter.purpose, count(starter.criterion_count))
    terminal().print(rows)
    return 0


def new(options: argparse.Namespace) -> int:
    """Makes a starter the draft of a new rubric."""
    actor = resolve_actor(options, Role.EDITOR)
    if options.starter not in NAMES:
        raise Invalid.at("--starter", options.starter, f"one of {', '.join(NAMES)}")
    rubric = start_from(options.starter, actor.team, by=actor.user, title=options.title)
    note(f"{rubric} is rubric {rubric.pk}, a draft yet.")
    return 0
