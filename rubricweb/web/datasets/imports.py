"""Bringing files of items in: the file, what its columns mean, and how far its import is."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access, tasks
from rubricweb.engine.errors import Fault, InvalidFile, named_as
from rubricweb.engine.formats.dataset_values import Preview
from rubricweb.engine.formats.datasets.files import preview
from rubricweb.engine.formats.limited_reading import READ_HERE_BYTES
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, TooLarge, Withheld
from rubricweb.models import Dataset, DatasetImport, Duplicates, ImportKind, ImportState, Role
from rubricweb.selectors.datasets.imports import faults_csv, unseen_in_dataset, without_hidden_names
from rubricweb.selectors.datasets.titles import case_names
from rubricweb.services import demo
from rubricweb.services.datasets import datasets as services
from rubricweb.services.datasets import imports
from rubricweb.services.datasets.previews import DuplicateItem, preview_from
from rubricweb.services.file_reading import read_limited
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.shared import uploads
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.datasets.forms import MappingForm, UploadForm, cells, kept_preview, preview_of
from rubricweb.web.http import TeamRequest, now, team_page, uploaded_file
from rubricweb.web.shared import kept_uploads

STOP_POLLING = 286
SHOWN_FAULTS = 200


@takes_up_to("IMPORT_MAX_BYTES")
@team_page(Role.EDITOR)
def import_file(request: TeamRequest) -> HttpResponse:
    """First the file, then (?upload=<id>) what its columns mean; the file is kept between the two."""
    return _bring_in(request, None)


@takes_up_to("IMPORT_MAX_BYTES")
@team_page(Role.EDITOR)
def add_items(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """The same two steps for more items of a dataset there is."""
    dataset = access.access_dataset(request.team, dataset_id)
    if dataset.sealed_as:
        raise Conflict(f"{dataset} is a sealed split: add items to the dataset it came from.")
    return _bring_in(request, dataset)


@team_page(Role.EDITOR)
@require_POST
def sample(request: TeamRequest) -> HttpResponse:
    """A small dataset to begin with; the dashboard says what comes next."""
    dataset = demo.load_sample(request.team, by=request.user)
    items = counted(dataset.items.count(), "item")
    messages.success(request, f"{dataset.name} is a dataset of this team: {items}.")
    return redirect("dashboard", request.team.slug)


def _bring_in(request: TeamRequest, dataset: Dataset | None) -> HttpResponse:
    if "upload" in request.GET:
        return _map_columns(request, request.GET["upload"], dataset)
    form = UploadForm(request.POST if request.method == "POST" else None, is_new=dataset is None)
    refusal: Invalid | TooLarge | None = None
    if request.method == "POST" and form.is_valid():
        try:
            file = uploaded_file(request, max_bytes=settings.IMPORT_MAX_BYTES)
            filename = file.name or "upload"
            assert isinstance(file, TemporaryUploadedFile), "as the settings have it"
            seen = _previewed(Path(file.temporary_file_path()), filename)
        except (Invalid, TooLarge) as error:
            refusal = error
        else:
            name = form.cleaned_data.get("name", "")
            about = kept_preview(seen)
            upload_id = kept_uploads.keep(
                request, file.chunks(), filename, name, dataset, holds="items", about=about
            )
            return redirect(f"{request.path}?upload={upload_id}")
    context = {"form": form, "refusal": refusal, "dataset": dataset}
    return render(
        request, "datasets/imports/import.html", context, status=422 if refusal or form.errors else 200
    )


def _map_columns(request: TeamRequest, upload_id: str, dataset: Dataset | None) -> HttpResponse:
    known = kept_uploads.kept(request, upload_id, dataset, holds="items")
    filename, kept = known["filename"], uploads.kept_file(upload_id)
    beginning = preview_of(kept.about)
    form = MappingForm(
        request.POST if request.method == "POST" else None,
        preview=beginning,
        name=known["name"],
        is_new=dataset is None,
    )
    faults: tuple[Fault, ...] = ()
    refused: DatasetImport | None = None
    if request.method == "POST" and form.is_valid():
        asked = imports.ImportRequest(
            filename=filename,
            dataset=dataset,
            name=form.cleaned_data.get("name", ""),
            system=form.cleaned_data["system"],
            columns=form.columns(),
            strict=dataset is not None and bool(form.cleaned_data["system"]),
            duplicates=Duplicates.KEEP if form.cleaned_data.get("keep_all") else Duplicates.ASK,
            preview=request.POST.get("action") == "preview",
        )
        try:
            job = _begun(request, asked, upload_id, small=kept.size <= imports.AT_ONCE_BYTES)
        except Invalid as error:
            faults = form.show(error.faults)
            if faults:
                form.add_error(None, str(error))
        except Conflict as error:
            form.add_error("name" if dataset is None else None, str(error))
        except Withheld as error:
            form.add_error("keep_all", str(error))
        else:
            if job.state != ImportState.REFUSED:
                return _go_on(request, job, upload_id)
            refused, faults = job, form.show(tuple(Fault(*one) for one in job.faults[:SHOWN_FAULTS]))
            # Without faults it is the name that was taken meanwhile, or the system that is archived.
            place = "name" if dataset is None and not job.faults and not job.system else None
            form.add_error(place, job.message)
    context = {
        "form": form,
        "faults": faults,
        "refused": refused,
        "preview": beginning,
        "rows": cells(beginning),
        "filename": filename,
        "dataset": dataset,
    }
    if beginning.recognised and not faults and kept.size <= READ_HERE_BYTES:
        context |= _left_out(dataset, uploads.kept(upload_id), filename)
    return render(
        request, "datasets/imports/import_columns.html", context, status=422 if form.errors else 200
    )


def _begun(
    request: TeamRequest, asked: imports.ImportRequest, upload_id: str, *, small: bool
) -> DatasetImport:
    """The import, done with where it is small: nobody has to wait for a worker then."""
    enqueue = None if small else tasks.notify_import
    job = imports.start(request.team, asked, by=request.user, upload_id=upload_id, enqueue=enqueue)
    return imports.work(job.pk, worker=worker_name(), now=now) if small else job


def _go_on(request: TeamRequest, job: DatasetImport, upload_id: str) -> HttpResponse:
    if job.state != ImportState.DONE:
        return redirect("dataset_import_progress", request.team.slug, job.pk)
    kept_uploads.forget(request, upload_id)
    _tell(request, job)
    assert job.dataset is not None, "a constraint of the table"
    return redirect("dataset", request.team.slug, job.dataset.pk)


def _left_out(dataset: Dataset | None, data: bytes, filename: str) -> dict[str, Any]:
    """What of another program's file would be left out, or what keeps it from being imported."""
    own = dataset.rubric_version.to_engine() if dataset and dataset.rubric_version else None
    try:
        file = services.read_file(data, filename, rubric=own, strict=False)
    except Invalid as error:
        return {"faults": error.faults}
    return {"left_out": file.left_out, "left_out_count": len(file.left_out) + file.more_left_out}


def _tell(request: TeamRequest, job: DatasetImport) -> None:
    """What was stored, and what was not."""
    file = job.filename or "the file"
    sentence = f"Imported {file}."
    if job.kind != ImportKind.DATASET:
        items = counted(job.rows_stored, "item")
        sentence = f"Added {items} from {file}. A run takes them in when you extend it."
    messages.success(request, sentence)
    if new := [str(one) for one in preview_from(job.found.get("preview")).new_names if one.what != "case"]:
        messages.info(request, f"With it came: {', '.join(new[:5])}{', …' if new[5:] else ''}.")
    if job.dataset is not None and (unseen := unseen_in_dataset(job.dataset)):
        messages.warning(request, unseen)
    missing = (job.found.get("plan") or {}).get("missing") or []
    if missing:
        named = case_names(job.dataset, missing[:5]) if job.dataset is not None else []
        few = ", ".join(named) + (", …" if len(missing) > 5 else "")
        cases = counted(len(missing), "case")
        messages.info(request, f"{cases} of {job.dataset} without an answer of {job.system}: {few}.")
    if job.found.get("left_out_count"):
        places = counted(job.found["left_out_count"], "place")
        first = "; ".join(str(Fault(*one)) for one in job.found["left_out"][:3])
        messages.warning(request, f"Left out what has no counterpart here, at {places}: {first}.")


def _previewed(path: Path, filename: str) -> Preview:
    try:
        return read_limited(preview, path, filename=filename, max_bytes=settings.IMPORT_MAX_BYTES)
    except InvalidFile as error:
        found = counted(len(error.faults) + error.more, "fault")
        raise Invalid(f"{named_as(filename, error.read_as)}: {found}.", error.faults) from error


# ── An import under way ──────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
@require_safe
def progress(request: TeamRequest, import_id: int) -> HttpResponse:
    """How far an import is, asked for again until it has ended; then what came of it."""
    job = access.access_import(request.team, import_id)
    is_storing = "header" in job.found
    [shown] = without_hidden_names([job], viewer=request.user, team=request.team)
    is_moving = job.state in (ImportState.WAITING, ImportState.RUNNING)
    context = {
        "found": shown,
        "is_moving": is_moving,
        "is_storing": is_moving and is_storing,
        "may_map_again": job.state in (ImportState.REFUSED, ImportState.ASKS) and _is_kept_here(request, job),
        "faults": [Fault(*one) for one in shown.faults[:SHOWN_FAULTS]],
        "duplicates": [DuplicateItem(*one) for one in shown.found.get("duplicates", [])],
        "new": preview_from(shown.found.get("preview")),
        "left_out": [Fault(*one) for one in shown.found.get("left_out", [])],
        "left_out_count": shown.found.get("left_out_count", 0),
        "missing": (shown.found.get("plan") or {}).get("missing") or [],
    }
    if request.htmx:
        status = 200 if is_moving else STOP_POLLING
        return render(request, "datasets/imports/_progress.html", context, status=status)
    return render(request, "datasets/imports/progress.html", context)


def _is_kept_here(request: TeamRequest, job: DatasetImport) -> bool:
    """Whether this browser session sent the file, and may say again what its columns are."""
    return job.file is not None and job.file.token in request.session.get("uploads", {})


@team_page(Role.EDITOR)
@require_POST
def cancel(request: TeamRequest, import_id: int) -> HttpResponse:
    job = access.access_import(request.team, import_id)
    try:
        imports.cancel(job, now=now())
    except Conflict as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The import is cancelled; nothing of it was stored.")
    return redirect("dataset_import_progress", request.team.slug, job.pk)


@team_page(Role.EDITOR)
@require_POST
def duplicates(request: TeamRequest, import_id: int) -> HttpResponse:
    """Keeps or skips the items whose words came before."""
    job = access.access_import(request.team, import_id)
    small = job.rows_read <= imports.AT_ONCE_ROWS
    try:
        chosen = request.POST.get("duplicates", "")
        imports.decide(job, chosen, by=request.user, enqueue=None if small else tasks.notify_import)
    except (Invalid, Conflict, Withheld) as error:
        messages.error(request, str(error))
    else:
        if small:
            job = imports.work(job.pk, worker=worker_name(), now=now)
        if job.state == ImportState.DONE:
            [job] = without_hidden_names([job], viewer=request.user, team=request.team)
            _tell(request, job)
            assert job.dataset is not None, "a constraint of the table"
            return redirect("dataset", request.team.slug, job.dataset.pk)
    return redirect("dataset_import_progress", request.team.slug, job.pk)


@team_page(Role.EDITOR)
@require_safe
def faults(request: TeamRequest, import_id: int) -> HttpResponse:
    """Every fault of a refused file, as CSV."""
    job = access.access_import(request.team, import_id)
    [job] = without_hidden_names([job], viewer=request.user, team=request.team)
    response = HttpResponse(faults_csv(job), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="import-{job.pk}-faults.csv"'
    return response
