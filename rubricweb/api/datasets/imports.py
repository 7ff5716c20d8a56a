"""Operations about files of items that come in as background work."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from ninja import File, Form, Query, UploadedFile

from rubricweb import access, tasks
from rubricweb.api import uploads
from rubricweb.api.datasets import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, listed
from rubricweb.api.schemas import list_of
from rubricweb.models import DatasetImport, Role
from rubricweb.selectors.datasets import imports as selected
from rubricweb.selectors.shared.clock import database_now
from rubricweb.services.datasets import imports as services
from rubricweb.services.datasets.datasets import said_columns
from rubricweb.services.shared.uploads import keep

imports = Room("datasets")


@imports.write(
    "POST",
    "/datasets/imports",
    Role.EDITOR,
    schemas.DatasetImport,
    status=202,
    body_setting="IMPORT_MAX_BYTES",
)
def start_import(request: TokenRequest, file: File[UploadedFile], asked: Form[schemas.ImportForm]) -> Any:
    """Import a file in the background.

    The answer names the import; ask for it again until its state is `done`, `refused`, `failed` or
    `cancelled`. All of the file is stored or nothing. In the state `asks` it waits to be told what becomes of
    items whose words came before, and that names much like others are meant, unless `duplicates` and
    `new_names` say so at once; with `preview` it always waits. Files may be larger than elsewhere.
    While you are to review answers blind of a dataset with several system versions, only `keep` is taken
    (else 403): what is a duplicate would tell who answered.
    """
    data, filename = uploads.pieces(file)
    dataset = None
    if asked.dataset_id is not None:
        dataset = access.access_dataset(request.auth.team, asked.dataset_id)
    wanted = services.ImportRequest(
        filename=filename,
        dataset=dataset,
        name=asked.name,
        system=asked.system,
        as_attempt=asked.as_attempt,
        columns=said_columns(asked.columns),
        strict=asked.strict,
        duplicates=asked.duplicates,
        new_names=asked.new_names,
        preview=asked.preview,
    )
    services.check(request.auth.team, wanted, by=request.auth.user)
    return services.start(
        request.auth.team,
        wanted,
        by=request.auth.user,
        upload_id=keep(data),
        enqueue=tasks.notify_import,
    )


@imports.read("/datasets/imports", Role.EDITOR, list_of(schemas.DatasetImport))
def list_imports(request: TokenRequest, asked: Query[ListQuery]) -> Any:
    """Imports, newest first."""
    team = request.auth.team
    imports_page = selected.imports(team, cursor=asked.cursor, size=asked.limit)
    rows = selected.without_hidden_names(imports_page.rows, viewer=request.auth.user, team=team)
    return listed(replace(imports_page, rows=tuple(rows)))


@imports.read("/datasets/imports/{int:import_id}", Role.EDITOR, schemas.DatasetImport)
def get_import(request: TokenRequest, import_id: int) -> Any:
    """How far an import is."""
    return _shown(request, access.access_import(request.auth.team, import_id))


@imports.read(
    "/datasets/imports/{int:import_id}/faults",
    Role.EDITOR,
    None,
    files={"text/csv": "Where, found and allowed of every fault, a row each."},
)
def list_import_faults(request: TokenRequest, import_id: int) -> HttpResponse:
    """Every fault of a refused file."""
    job = _shown(request, access.access_import(request.auth.team, import_id))
    return HttpResponse(selected.faults_csv(job), content_type="text/csv; charset=utf-8")


@imports.write("POST", "/datasets/imports/{int:import_id}/duplicates", Role.EDITOR, schemas.DatasetImport)
def decide_duplicates(request: TokenRequest, import_id: int, body: schemas.DuplicatesDecision) -> Any:
    """Go on with an import that asks, and say what becomes of duplicates.

    New names are taken as they are written. Refused (409) for an import that does not ask.
    """
    job = access.access_import(request.auth.team, import_id)
    services.decide(job, body.duplicates, by=request.auth.user, enqueue=tasks.notify_import)
    return _shown(request, job)


@imports.write("POST", "/datasets/imports/{int:import_id}/cancel", Role.EDITOR, schemas.DatasetImport)
def cancel_import(request: TokenRequest, import_id: int) -> Any:
    """Cancel an import.

    Nothing of the file is stored. Refused (409) once the import has ended.
    """
    job = access.access_import(request.auth.team, import_id)
    services.cancel(job, now=database_now())
    return _shown(request, job)


def _shown(request: TokenRequest, job: DatasetImport) -> DatasetImport:
    [shown] = selected.without_hidden_names([job], viewer=request.auth.user, team=request.auth.team)
    return shown
