"""`rubricweb datasets import`: a file of items, imported by this process, which says how far it is."""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from django.conf import settings

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.dataset_values import ColumnsRead
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid, TooLarge
from rubricweb.management.datasets.imports import note_columns
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.background import left_to_workers, meanwhile
from rubricweb.management.terminal.named_files import require_file
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import DatasetImport, ImportState, Role
from rubricweb.selectors.datasets.imports import unseen_in_dataset, without_hidden_names
from rubricweb.selectors.datasets.titles import case_names
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets import imports, previews
from rubricweb.services.datasets.datasets import said_columns
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.shared import uploads

PIECE_BYTES = 1024 * 1024
SAID_EVERY_SECONDS = 2.0
SHOWN = 20


def bring_in(options: argparse.Namespace) -> int:
    """All of the file or nothing. Ended by Ctrl+C it stores nothing; killed, a worker goes on with it."""
    actor = resolve_actor(options, Role.EDITOR)
    require_file(options.file)
    if options.file.stat().st_size > settings.IMPORT_MAX_BYTES:
        limit = settings.IMPORT_MAX_BYTES // (1024 * 1024)
        raise TooLarge(f"{options.file} is larger than {limit} MB (IMPORT_MAX_BYTES).")
    asked = imports.ImportRequest(
        filename=options.file.name,
        dataset=lookup.dataset_called(actor.team, options.into) if options.into else None,
        name=options.name,
        system=options.system,
        as_attempt=options.as_attempt,
        columns=said_columns(options.column),
        strict=options.strict,
        duplicates=options.duplicates,
        new_names=options.new_names,
        preview=options.plan,
    )
    imports.check(actor.team, asked, by=actor.user)
    upload_id = uploads.keep(_pieces(options.file))
    job = imports.start(actor.team, asked, by=actor.user, upload_id=upload_id, enqueue=None)
    try:
        with left_to_workers(), meanwhile(partial(_say, job.pk), every_seconds=SAID_EVERY_SECONDS):
            job = imports.work(job.pk, worker=worker_name(), now=database_clock())
    except KeyboardInterrupt:
        imports.cancel(job, now=database_now())
        raise
    [job] = without_hidden_names([job], viewer=actor.user, team=actor.team)
    return _ended(job, as_json=options.json)


def _ended(job: DatasetImport, *, as_json: bool) -> int:
    preview = previews.preview_from(job.found.get("preview"))
    if job.state == ImportState.ASKS:
        imports.cancel(job, now=database_now())
        said = previews.ImportChoices(job.duplicates, job.new_names)
        for line in preview.says:
            note(line)
        if not job.preview:
            previews.require_confirmed(preview, said)
        note(f"{counted(preview.items, 'item')} in the file. Nothing was stored.")
        return _print(job) if as_json else 0
    if job.state != ImportState.DONE:
        raise Invalid(job.message, [Fault(*one) for one in job.faults])
    if as_json:
        return _print(job)
    assert job.dataset is not None, "a constraint of the table"
    note(f"Stored {counted(job.rows_stored, 'item')} in {job.dataset} (id:{job.dataset.pk})")
    note_columns(ColumnsRead(**job.found.get("columns", {})), job.found["header"].get("recognised", ""))
    if unseen := unseen_in_dataset(job.dataset):
        note(unseen)
    if job.duplicate_count:
        done = "skipped" if job.duplicates == "skip" else "kept"
        note(f"{counted(job.duplicate_count, 'item')} said what an earlier item says: {done}")
    for name in preview.new_names:
        if name.what != "case":
            note(str(name))
    for fault in job.found["left_out"]:
        note(f"Left out: {Fault(*fault)}")
    missing = (job.found.get("plan") or {}).get("missing") or []
    if missing:
        more = f" and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else ""
        named = ", ".join(case_names(job.dataset, missing[:SHOWN]))
        note(f"{counted(len(missing), 'case')} without an answer: {named}{more}")
    return 0


def _print(job: DatasetImport) -> int:
    from rubricweb.api.datasets.schemas import DatasetImport as Shown

    print_shape(Shown, job)
    return 0


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _say(pk: int) -> None:
    row = DatasetImport.objects.filter(pk=pk).values("rows_read", "found").first()
    if row is not None:
        what = "storing" if "header" in row["found"] else "reading"
        note(f"{what}: {row['rows_read']:,} rows")
