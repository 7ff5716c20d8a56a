"""Files that come in as background work: read and checked in steps, stored by one transaction.

Reading writes batches of checked items beside the dataset, where nobody sees them; storing moves all of them
at once. Whatever is killed in between, a process, a machine, the database, leaves no half dataset: the import
is taken up again (decision 0027).
"""

# Long because the whole life of an import is told here, from the file to its items.

import logging
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from rubricweb import engine
from rubricweb.engine.errors import Fault, named_as
from rubricweb.engine.formats.dataset_values import DatasetFile, RefusedFile
from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.engine.formats.datasets.files import read_in_batches
from rubricweb.engine.formats.limited_reading import CPU_SECONDS, READ_HERE_BYTES
from rubricweb.engine.number_format import counted
from rubricweb.errors import Busy, Conflict, Invalid, Refusal
from rubricweb.models import (
    Dataset,
    DatasetImport,
    Duplicates,
    ImportBatch,
    ImportKind,
    ImportState,
    KeptFile,
    Team,
    User,
)
from rubricweb.services.datasets import answers, datasets, systems
from rubricweb.services.datasets.intake import CheckedItems, Intake, header_as_data
from rubricweb.services.datasets.previews import (
    ImportChoices,
    preview_from,
    preview_of,
    require_untold,
    tells_who_answered,
    without_skipped,
)
from rubricweb.services.datasets.storing import store
from rubricweb.services.file_reading import stream_limited
from rubricweb.services.shared import uploads
from rubricweb.services.shared.archiving import hold_team
from rubricweb.services.shared.database_retry import DATABASE_AWAY, retry_while_away
from rubricweb.services.shared.journal import record

log = logging.getLogger(__name__)

AT_ONCE_BYTES = 1024 * 1024
"""A file up to this size is done with while its sender waits: some two thousand rows."""
AT_ONCE_ROWS = 2_000
SILENT_AFTER = timedelta(minutes=10)
CHANGES_MET = 5
UNENDED = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)


@dataclass(frozen=True)
class ImportRequest:
    """What is asked of a file: `dataset` is the one its items come into, None for a new one called `name`.

    With `system` its rows are answers of that version: to the cases there are, or to those a new dataset gets
    with them. `duplicates` says what becomes of items whose words came before, `new_names` that names which
    resemble others are meant; with `preview` it asks in any case before it stores. `strict` and `columns` are
    as for `import_dataset_file`.
    """

    filename: str
    dataset: Dataset | None = None
    name: str = ""
    system: str = ""
    as_attempt: bool = False
    columns: Mapping[str, str] | None = None
    strict: bool = True
    duplicates: str = Duplicates.ASK
    new_names: bool = False
    preview: bool = False


class _Stopped(Exception):
    """Somebody cancelled the import, or another process has it."""


@transaction.atomic
def start(
    team: Team, asked: ImportRequest, *, by: User, upload_id: str, enqueue: Callable[[int], None] | None
) -> DatasetImport:
    """Begins the import of a kept file; `enqueue` wakes a worker, None leaves the work to the caller.

    Another import of the same kept file that still asks is replaced, and so cancelled.
    """
    kind = check(team, asked, by=by)
    file = uploads.kept_file(upload_id)
    replaced = DatasetImport.objects.filter(team=team, file=file, state=ImportState.ASKS)
    ImportBatch.objects.filter(dataset_import__in=replaced).delete()
    replaced.update(state=ImportState.CANCELLED, ended_at=timezone.now(), file=None)
    made = DatasetImport.objects.create(
        team=team,
        kind=kind,
        dataset=asked.dataset,
        name=asked.name.strip()[:200],
        filename=asked.filename[:200],
        file=file,
        columns=dict(asked.columns or {}),
        system=systems.read_system_name(asked.system) if asked.system else "",
        as_attempt=asked.as_attempt,
        strict=asked.strict,
        duplicates=asked.duplicates,
        new_names=asked.new_names,
        preview=asked.preview,
        created_by=by,
    )
    hold_team(team)
    if enqueue is not None:
        transaction.on_commit(lambda: enqueue(made.pk))
    return made


def check(team: Team, asked: ImportRequest, *, by: User) -> ImportKind:
    """What the import is of. Raises what can be told before the file is read: Conflict for a name that is
    taken and for a half of a split, Invalid for a system or a choice that is none, Withheld where duplicates
    would tell who answered.
    """
    kind = ImportKind.DATASET
    if asked.duplicates not in Duplicates.values:
        raise Invalid.at("duplicates", repr(asked.duplicates[:40]), ", ".join(Duplicates.values))
    if asked.dataset is not None:
        datasets.require_unsealed(asked.dataset)
        require_untold(asked.dataset, asked.duplicates, by)
        kind = ImportKind.ANSWERS if asked.system else ImportKind.ITEMS
    elif asked.name.strip():
        datasets.require_free_name(team, asked.name.strip()[:200])
    if asked.system:
        systems.read_system_name(asked.system)
    return kind


def decide(job: DatasetImport, duplicates: str, *, by: User, enqueue: Callable[[int], None] | None) -> None:
    """Goes on with an import that asks, keeping or skipping duplicates; names are meant as they are written.

    Raises Conflict for an import that does not ask, Withheld as `check` does.
    """
    if duplicates not in (Duplicates.KEEP, Duplicates.SKIP):
        raise Invalid.at("duplicates", repr(duplicates[:40]), "keep, skip")
    require_untold(job.dataset, duplicates, by)
    asking = DatasetImport.objects.filter(pk=job.pk, state=ImportState.ASKS)
    answered = {"duplicates": duplicates, "new_names": True, "preview": False}
    if not asking.update(state=ImportState.WAITING, **answered):
        raise Conflict("The import does not ask anything.")
    if enqueue is not None:
        transaction.on_commit(lambda: enqueue(job.pk))
    job.refresh_from_db()


def cancel(job: DatasetImport, *, now: datetime) -> None:
    """Stores nothing of the file. Raises Conflict for an import that has ended."""
    if not _end(job.pk, ImportState.CANCELLED, now):
        job.refresh_from_db()
        raise Conflict(f"The import has ended already: {job.get_state_display().lower()}.")
    job.refresh_from_db()


def due(now: datetime, *, is_dead: Callable[[str, datetime], bool]) -> list[int]:
    """The ids of imports nobody is at; first those of dead and long silent processes are freed."""
    for one in DatasetImport.objects.filter(state=ImportState.RUNNING):
        is_silent = one.beat_at is None or one.beat_at < now - SILENT_AFTER
        if is_silent or is_dead(one.worker, now):
            held = DatasetImport.objects.filter(pk=one.pk, state=ImportState.RUNNING, worker=one.worker)
            held.update(state=ImportState.WAITING, worker="")
    return list(
        DatasetImport.objects.filter(state=ImportState.WAITING).order_by("pk").values_list("pk", flat=True)
    )


def work(pk: int, *, worker: str, now: Callable[[], datetime]) -> DatasetImport:
    """Reads, checks and stores the file of an import that waits; done twice, it is done once.

    Returns the import as it then is: done, asking, refused with every fault, or failed by a fault of ours.
    Raises what a database that is away raises; the import then waits for whoever comes next.
    """
    waiting = DatasetImport.objects.filter(pk=pk, state=ImportState.WAITING)
    if waiting.update(state=ImportState.RUNNING, worker=worker, beat_at=now()):
        try:
            _advance(pk, worker, now)
        except _Stopped:
            pass  # whoever has it now, or has ended it, keeps or forgets its batches
        except Busy:
            # It waits its turn: the reaper sends it again.
            _held(pk, worker).update(state=ImportState.WAITING, worker="")
        except Refusal as refusal:
            faults = refusal.faults if isinstance(refusal, Invalid) else ()
            _end(pk, ImportState.REFUSED, now(), message=str(refusal), faults=faults, worker=worker)
        except DATABASE_AWAY:
            retry_while_away(lambda: _held(pk, worker).update(state=ImportState.WAITING, worker=""))
            raise
        except Exception as fault:
            log.exception("import %s ended", pk)
            message = f"An internal error: {type(fault).__name__}: {fault}"
            _end(pk, ImportState.FAILED, now(), message=message, worker=worker)
    return DatasetImport.objects.select_related("dataset", "team", "created_by", "file").get(pk=pk)


def _advance(pk: int, worker: str, now: Callable[[], datetime]) -> None:
    for _ in range(CHANGES_MET):
        job = DatasetImport.objects.select_related("dataset__rubric_version", "team", "file").get(pk=pk)
        if "header" not in job.found:
            _read(job, worker, now)
        if _asks(job):
            _held(pk, worker).update(state=ImportState.ASKS, worker="")
            return
        if _store(job, worker, now):
            return
        # The dataset changed since the file was checked against it: it is checked anew.
        if not _held(pk, worker).update(found={}, duplicate_count=0, rows_read=0):
            raise _Stopped
    raise Conflict(f"{job.dataset} changed again and again meanwhile; import the file once it does not.")


def _asks(job: DatasetImport) -> bool:
    """Whether somebody is to answer before the items are stored: the rule of `previews.require_confirmed`."""
    if job.preview or (job.duplicate_count and job.duplicates == Duplicates.ASK):
        return True
    return not job.new_names and bool(preview_from(job.found.get("preview")).doubtful)


def _held(pk: int, worker: str) -> QuerySet[DatasetImport]:
    """The import as long as this worker has it: from one that is silent for long another takes it over."""
    return DatasetImport.objects.filter(pk=pk, worker=worker, state=ImportState.RUNNING)


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def _read(job: DatasetImport, worker: str, now: Callable[[], datetime]) -> None:
    """Checks the whole file and keeps its items in batches; what was found of it is in `found`."""
    mine = _held(job.pk, worker)
    with transaction.atomic():
        if not mine.update(beat_at=now()):
            raise _Stopped
        ImportBatch.objects.filter(dataset_import=job.pk).delete()
    stamp = _stamp(job.dataset)
    # Its sender may have become a rater since it was sent.
    require_untold(job.dataset, job.duplicates, job.created_by)
    intake = Intake(job.dataset, compares=not tells_who_answered(job.dataset, job.created_by))
    reading = None
    if job.kind == ImportKind.ANSWERS:
        assert job.dataset is not None, "a constraint of the table"
        reading = answers.AnswersReading(
            job.dataset, job.system, as_attempt=job.as_attempt, viewer=job.created_by
        )
    header: DatasetFile | None = None
    number = -1
    for number, part in enumerate(_file_parts(job)):
        if isinstance(part, RefusedFile):
            total = len(part.faults) + part.more
            file = named_as(job.filename, part.read_as)
            raise Invalid(f"{file}: {counted(total, 'fault')}, nothing was imported.", part.faults)
        header = part
        if reading is not None:
            part = reading.take(part)
        batch = intake.take(part)
        data = zlib.compress(batch.to_json().encode(), 1)
        read = {"rows_read": intake.taken, "duplicate_count": intake.duplicate_count, "beat_at": now()}
        # Both or neither: a batch of one who lost the import would stand among those of whoever has it.
        with transaction.atomic():
            if not mine.update(**read):
                raise _Stopped
            ImportBatch.objects.create(dataset_import=job, number=number, data=data)
    faults = (reading.faults if reading is not None else []) or intake.faults
    if faults:
        raise Invalid(f"{job.filename}: {counted(len(faults), 'fault')}, nothing was imported.", faults)
    assert header is not None, "a file without items is refused"
    job.rows_read, job.duplicate_count = intake.taken, intake.duplicate_count
    job.found = {
        "header": header_as_data(header),
        "batches": number + 1,
        "stamp": stamp,
        "duplicates": intake.duplicates,
        "preview": asdict(preview_of(intake, job.team)),
        "left_out": [list(astuple(fault)) for fault in header.left_out],
        "left_out_count": len(header.left_out) + header.more_left_out,
        "columns": asdict(header.columns),
        "plan": None if reading is None else asdict(reading.plan()),
    }
    if not mine.update(found=job.found, beat_at=now()):
        raise _Stopped


def _file_parts(job: DatasetImport) -> Iterator[DatasetFile | RefusedFile]:
    """The file part by part; a large one is read by a process of its own, under limits."""
    if job.file is None:
        raise Conflict(f"The file {job.filename} is not kept any more; send it again.")
    options: dict[str, Any] = {
        "filename": job.filename,
        "columns": job.columns or None,
        "rubric": datasets.own_rubric(job.dataset) if job.dataset else None,
        "in_part": not job.strict,
        # Of answers to cases there are, `AnswersReading` says whose they are, once they were read.
        "version": job.system if job.kind == ImportKind.DATASET else UNNAMED,
        "max_bytes": settings.IMPORT_MAX_BYTES,
    }
    with tempfile.TemporaryDirectory(prefix="rubricweb-import-") as folder:
        path = Path(folder) / "file"
        uploads.write_to(path, job.file)
        if job.file.size <= READ_HERE_BYTES:
            yield from read_in_batches(path, **options)
        else:
            cpu_seconds = CPU_SECONDS + 2 * job.file.size // 1_000_000
            yield from stream_limited(read_in_batches, path, cpu_seconds=cpu_seconds, **options)


def _stamp(dataset: Dataset | None) -> list[int]:
    """What tells that items or words of a dataset changed: its version."""
    rows = Dataset.objects.none() if dataset is None else Dataset.objects.filter(pk=dataset.pk)
    return list(rows.values_list("version", flat=True))


# ── Storing ──────────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def _store(job: DatasetImport, worker: str, now: Callable[[], datetime]) -> bool:
    """Stores the batches; False where the dataset is not any more as the file was checked against it."""
    held = DatasetImport.objects.select_for_update(no_key=True).get(pk=job.pk)
    if held.state != ImportState.RUNNING or held.worker != worker:
        raise _Stopped
    header = job.found["header"]
    rubric = engine.Rubric.from_dict(header["rubric"]) if header["rubric"] else None
    file = DatasetFile(header["name"], header["prompt"], rubric, header["reference"], ())
    by, dataset = held.created_by, job.dataset
    if dataset is None:
        name = datasets.dataset_name(file, job.filename, job.name)
        dataset = datasets.new_dataset(job.team, file, name, by=by)
    else:
        datasets.hold_with_rubric(dataset)
        if _stamp(dataset) != job.found["stamp"]:
            return False
    count = store(
        dataset, without_skipped(_batches(job), ImportChoices(job.duplicates)), by=by, filename=job.filename
    )
    left_out = tuple(Fault(*one) for one in job.found["left_out"])
    more = job.found["left_out_count"] - len(left_out)
    stored = datasets.StoredItems(dataset, count, left_out, more, preview_from(job.found.get("preview")))
    verb = "imported" if job.kind == ImportKind.DATASET else "added items to"
    record(job.team, by, verb, dataset, **datasets.audit_details(stored, job.filename))
    job.dataset = dataset
    DatasetImport.objects.filter(pk=job.pk).update(dataset=dataset, rows_stored=count)
    _end(job.pk, ImportState.DONE, now())
    return True


def _batches(job: DatasetImport) -> Iterator[CheckedItems]:
    """The kept batches in their order, one in memory at a time."""
    kept = ImportBatch.objects.filter(dataset_import=job)
    # One that is missing is an error, not the end. Those read under an earlier release are not counted.
    for number in range(job.found.get("batches", kept.count())):
        batch = CheckedItems.from_json(zlib.decompress(kept.get(number=number).data))
        yield batch


@transaction.atomic
def _end(
    pk: int,
    state: ImportState,
    now: datetime,
    *,
    message: str = "",
    faults: tuple[Fault, ...] = (),
    worker: str | None = None,
) -> bool:
    """Ends an import, whether it had not ended before; a refused file is kept, to be mapped anew.

    For a `worker` only as long as it has the import.
    """
    unended = DatasetImport.objects.filter(pk=pk, state__in=UNENDED)
    open_ones = unended if worker is None else _held(pk, worker)
    file_id = open_ones.values_list("file", flat=True).first()
    fields: dict[str, Any] = {"state": state, "ended_at": now, "worker": "", "message": message}
    fields |= {"faults": [list(astuple(one)) for one in faults], "fault_count": len(faults)}
    ended = bool(open_ones.update(**fields))
    if ended:
        ImportBatch.objects.filter(dataset_import=pk).delete()
        if state != ImportState.REFUSED and file_id is not None:
            KeptFile.objects.filter(pk=file_id).delete()
    return ended
