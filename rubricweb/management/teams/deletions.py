"""`rubricweb delete` and `rubricweb deletions`, at the terminal."""

import argparse

from rubricweb.errors import Invalid
from rubricweb.management.teams.archive import anything_called, own_team
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.background import left_to_workers
from rubricweb.management.terminal.paging import first
from rubricweb.management.terminal.printed import moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import DeletionState, Role
from rubricweb.selectors import deletions as selected
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.services.deletions import deletions as services
from rubricweb.services.grading.workers.registry import worker_name


def delete(options: argparse.Namespace) -> int:
    """Says what would go and stay; with its name it is deleted. Killed meanwhile, a worker goes on."""
    row: selected.Deletable
    if options.kind == "team":
        row, by = own_team(options)
    else:
        actor = resolve_actor(options, Role.OWNER)
        row, by = anything_called(actor.team, options.kind, options.row), actor.user
    plan = selected.plan(row, now=database_now())
    if options.plan and options.json:
        from rubricweb.api.deletions.schemas import DeletionPlan

        print_shape(DeletionPlan, plan)
        return 0
    if options.plan or options.yes_delete is None:
        say(f"{plan.kind} {plan.name}", *(f"  goes: {one}" for one in plan.goes))
        say(*(f"  stays: {one}" for one in plan.stays), *[f"  not now: {plan.refused}"] * bool(plan.refused))
        if options.plan:
            return 0
        raise Invalid.at("--yes-delete", "nothing", f"its name, {plan.name!r}")
    deletion = services.delete(row, options.yes_delete, by=by, now=database_now(), enqueue=None)
    note(f"{deletion} is deleted; removing its rows.")
    with left_to_workers():
        deletion = services.work(deletion.pk, worker=worker_name(), now=database_clock())
    if deletion.state == DeletionState.FAILED:
        raise Invalid(deletion.message)
    if options.json:
        from rubricweb.api.deletions.schemas import Deletion

        print_shape(Deletion, deletion)
        return 0
    return say(f"All of {deletion.kind} {deletion} is removed.")


def deletions(options: argparse.Namespace) -> int:
    """What was deleted, the newest first."""
    actor = resolve_actor(options, Role.OWNER, archived_too=True)
    page = first(options.limit, lambda cursor, size: selected.deletions(actor.team, cursor=cursor, size=size))
    if options.json:
        from rubricweb.api.deletions.schemas import Deletion

        for one in page.rows:
            print_shape(Deletion, one)
    elif page.rows:
        rows = table(("id", "kind", "name", "by", "when", "its rows"))
        for one in page.rows:
            how = f"{one.share:.0%} removed" if one.state == DeletionState.RUNNING else one.state
            by = str(one.deleted_by or "")
            rows.add_row(str(one.pk), one.kind, one.name, by, moment(one.deleted_at), how)
        terminal().print(rows)
    else:
        note("Nothing was deleted.")
    if page.more:
        note(f"There is more; --limit {options.limit * 2} shows it.")
    return 0
