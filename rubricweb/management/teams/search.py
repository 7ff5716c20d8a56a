"""`rubricweb search`: what of a team goes by some words, at the terminal."""

import argparse

from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import Table, terminal, words
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.search import search


def run(options: argparse.Namespace) -> int:
    """Kind, id and name of what was found, without what is hidden from the person."""
    actor = resolve_actor(options, Role.VIEWER)
    text = " ".join(options.text)
    hits = search(actor.team, text, viewer=actor.user, kinds=options.kind, size=options.limit)
    if options.json:
        from rubricweb.api.search.schemas import SearchHit

        for hit in hits:
            print_shape(SearchHit, hit)
    elif hits:
        table = Table()
        for title in ("kind", "id", "name", "where"):
            table.add_column(title, justify="right" if title == "id" else "left")
        for hit in hits:
            table.add_row(hit.kind, str(hit.id), words(hit.name), words(hit.detail))
        terminal().print(table)
    if not hits:
        note(f"Nothing is called {text!r}.")
    return 0
