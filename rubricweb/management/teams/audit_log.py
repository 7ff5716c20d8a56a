"""`rubricweb audit-log`: who did what in a team, at the terminal."""

import argparse

from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.paging import first
from rubricweb.management.terminal.printed import moment, terminal, words
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.teams.members import AuditLogLine, audit_log


def run(options: argparse.Namespace) -> int:
    """The newest lines, without what is hidden from the person."""
    actor = resolve_actor(options, Role.VIEWER)
    page = first(
        options.limit,
        lambda cursor, size: audit_log(
            actor.team, viewer=actor.user, actor=options.actor, kind=options.kind, cursor=cursor, size=size
        ),
    )
    if options.json:
        from rubricweb.api.teams.schemas import AuditLogEntry

        for line in page.rows:
            print_shape(AuditLogEntry, line)
    else:
        console = terminal()
        for line in page.rows:
            console.print(words(_as_one_line(line)), soft_wrap=True)
    if not page.rows and not options.json:
        note(
            "There is nothing of that in the audit log." if options.actor or options.kind else "Nothing yet."
        )
    if page.more:
        note(f"There is more; --limit {options.limit * 2} shows it.")
    return 0


def _as_one_line(line: AuditLogLine) -> str:
    """As the page says it, on one line."""
    label = "" if line.kind == "review" else line.label
    if line.kind == "item" and not label:
        label = f"id:{line.target_id}"
    detail = [f"· {name} {value}" for name, value in line.detail_words]
    words = [moment(line.at), line.actor or "rubricweb", line.verb, line.kind, label, *detail]
    return " ".join(" ".join(filter(None, words)).split())
