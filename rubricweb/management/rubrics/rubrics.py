"""`rubricweb rubrics`: the rubrics of a team and their versions, at the terminal."""

import argparse

from rubricweb import access
from rubricweb.engine import Rubric
from rubricweb.engine.formats.rubric_files import write_rubric
from rubricweb.engine.formats.tables.rubric_table_writer import write_rubric_table
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.paging import first_found, note_left_out, note_more
from rubricweb.management.terminal.printed import moment, print_file, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.models import Rubric as StoredRubric
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.selectors.teams import lookup
from rubricweb.services.rubrics import rubrics as services
from rubricweb.templatetags.display import count


def list_rubrics(options: argparse.Namespace) -> int:
    """The rubrics, newest edit first."""
    actor = resolve_actor(options, Role.VIEWER)
    page = first_found(options, actor.team, selected.rubrics)
    if options.json:
        from rubricweb.api.rubrics.schemas import RubricInList

        for row in page.rows:
            print_shape(RubricInList, row)
    elif page.rows:
        # Not "id": that of a version, which other commands take as id:N, stands beside its number.
        rows = table(("number", "rubric", "newest"), ("edited", "criteria", "runs"))
        for row in page.rows:
            number, version_id = row.newest_number, row.newest_id  # type: ignore[attr-defined]  # the selector finds them
            newest = f"v{number} (id:{version_id})" if number else "a draft"
            figures = (row.criterion_count, row.run_count)  # type: ignore[attr-defined]  # as above
            rows.add_row(str(row.pk), row.title, newest, moment(row.updated_at), *map(count, figures))
        terminal().print(rows)
    if not page.rows:
        note("There are no such rubrics. Bring one in: rubricweb import-rubric FILE")
    note_more(page, options.limit)
    note_left_out(archived_left_out(actor.team, StoredRubric, archived=options.archived), "--archived")
    return 0


def versions(options: argparse.Namespace) -> int:
    """The published versions of a rubric, newest first, with the id other commands name them by."""
    actor = resolve_actor(options, Role.VIEWER)
    rubric = access.access_rubric(actor.team, lookup.rubric_called(actor.team, options.rubric).pk)
    versions = list(selected.versions(rubric))
    if options.json:
        from rubricweb.api.rubrics.schemas import VersionInList

        for one in versions:
            print_shape(VersionInList, one)
    elif versions:
        rows = table(("id", "version", "by", "note"), ("published", "criteria", "runs", "queues"))
        for one in versions:
            by = str(one.published_by or "")
            figures = (one.criterion_count, one.run_count, one.queue_count)  # type: ignore[attr-defined]  # the selector counts
            cells = (f"id:{one.pk}", f"v{one.number}", by, one.note, moment(one.published_at))
            rows.add_row(*cells, *map(count, figures))
        terminal().print(rows)
    if not versions:
        note(f"{rubric} has only a draft yet.")
    return 0


def stored_rubric(options: argparse.Namespace, version_id: int) -> Rubric:
    """A published version that the person of the command may see, as the engine reads it."""
    return access.access_version(resolve_actor(options, Role.VIEWER).team, version_id).to_engine()


def show(options: argparse.Namespace) -> int:
    """A published version as the file `import-rubric` reads, or as the API answers it."""
    actor = resolve_actor(options, Role.VIEWER)
    version = selected.version_with_criteria(access.access_version(actor.team, options.version).pk)
    if options.json:
        from rubricweb.api.rubrics.schemas import RubricVersion

        print_shape(RubricVersion, version)
    else:
        content = version.to_engine()
        print_file([write_rubric(content, options.format)])
        if options.format == "csv" and (left_out := write_rubric_table(content)[1]):
            note(f"A table cannot hold: {'; '.join(left_out)}.")
    return 0


def restore(options: argparse.Namespace) -> int:
    """Puts a version into the draft of its rubric."""
    actor = resolve_actor(options, Role.EDITOR)
    version = selected.version_with_criteria(access.access_version(actor.team, options.version).pk)
    assert version.rubric is not None  # published
    rubric = services.restore(version, by=actor.user, revision=version.rubric.draft_revision)
    note(f"The draft of {rubric} is version {version.number} again.")
    return 0


def copy(options: argparse.Namespace) -> int:
    """Starts a rubric of its own from a version."""
    actor = resolve_actor(options, Role.EDITOR)
    version = selected.version_with_criteria(access.access_version(actor.team, options.version).pk)
    made = services.copy(version, by=actor.user, title=options.title)
    note(f"{made} is rubric {made.pk}, a draft yet.")
    return 0
