"""Pages that bring labels in: a file, what it would become, and what of it is left out."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from rubricweb import access
from rubricweb.engine.formats.label_files import RATER_KINDS
from rubricweb.engine.formats.result_files import csv_line
from rubricweb.errors import Conflict, Invalid, NotFound, TooLarge
from rubricweb.models import Dataset, RaterKind, Role, RubricVersion, User
from rubricweb.selectors.datasets import items as selectors
from rubricweb.selectors.datasets.titles import item_names
from rubricweb.selectors.rubrics import versions
from rubricweb.services import label_files as services
from rubricweb.services.label_files import LabelsPlan
from rubricweb.services.labels import free_queue_name
from rubricweb.services.read_labels.new_labels import taken
from rubricweb.services.shared import uploads
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.datasets.label_forms import LabelColumnsForm, LabelFileChoices, LabelsForm
from rubricweb.web.http import TeamRequest, team_page, uploaded
from rubricweb.web.shared import kept_uploads


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
def import_labels(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """First the file, then (?upload=<id>) what it would become: labels as a closed review queue."""
    dataset = access.access_dataset(request.team, dataset_id)
    if "upload" in request.GET:
        return _check_labels(request, request.GET["upload"], dataset)
    items, own = selectors.own_rubric_counts(dataset)
    form = LabelsForm(
        request.POST if request.method == "POST" else None,
        team=request.team,
        dataset=dataset,
        items=items,
        own=own,
    )
    refusal: Invalid | TooLarge | None = None
    if request.method == "POST" and form.is_valid():
        version = form.cleaned_data.get("rubric_version")
        choices = LabelFileChoices(
            version.pk if version else None,
            form.cleaned_data["queue_name"],
            RATER_KINDS.get(form.cleaned_data["rater_kind"]),
            history=form.cleaned_data["history"],
        )
        try:
            data, filename = uploaded(request)
            _looked_at(request.user, dataset, version, data, filename, choices)
        except (Invalid, TooLarge) as error:
            refusal = error
        except Conflict as error:
            form.add_error("queue_name", str(error))
        else:
            upload_id = kept_uploads.keep(
                request, data, filename, "", dataset, holds="labels", labels=asdict(choices)
            )
            return redirect(f"{request.path}?upload={upload_id}")
    context = {"dataset": dataset, "form": form, "refusal": refusal}
    return render(
        request, "datasets/imports/labels.html", context, status=422 if refusal or form.errors else 200
    )


def _check_labels(request: TeamRequest, upload_id: str, dataset: Dataset) -> HttpResponse:
    """What the kept file would become, ways to change that, and the button that stores it."""
    known = kept_uploads.kept(request, upload_id, dataset, holds="labels")
    choices, filename = LabelFileChoices(**known["labels"]), known["filename"]
    data = uploads.kept(upload_id)
    refusal: Invalid | Conflict | None
    try:
        version = access.access_version(request.team, choices.version) if choices.version else None
        plan, refusal = _looked_at_again(request.user, dataset, version, data, filename, choices)
    except (Invalid, Conflict, NotFound) as error:  # something else changed since the file was sent
        context = {"dataset": dataset, "filename": filename, "refusal": error}
        return render(request, "datasets/imports/labels_gone.html", context, status=422)
    if "left_out" in request.GET:
        return _left_out(plan, filename)
    sent = request.POST if request.method == "POST" else None
    form = LabelColumnsForm(sent, plan=plan, choices=choices, kinds=_kinds(version))
    # Under a name that nobody has seen nothing is stored.
    is_named = refusal is None or "queue_name" in request.POST
    if request.method == "POST" and form.is_valid() and is_named:
        chosen = form.chosen()
        try:
            if chosen != choices or request.POST.get("action") == "preview":
                # What is refused is not kept: there would be nothing to choose from on the page.
                _looked_at(request.user, dataset, version, data, filename, chosen)
                return _previewed_again(request, upload_id, chosen, changed=chosen != choices)
            stored = services.import_sent_labels(
                dataset,
                version,
                by=request.user,
                data=data,
                filename=filename,
                queue_name=choices.queue_name,
                choices=choices.choices(),
                strict=False,
            )
        except (Invalid, Conflict) as error:
            refusal = error
        else:
            kept_uploads.forget(request, upload_id)
            names = [str(one) for one in (stored.queue, *stored.runs) if one is not None]
            messages.success(request, f"Imported the labels as {' and '.join(names)}.")
            for group in stored.left_out:
                messages.warning(request, f"Left out: {group}.")
            if stored.queue is None:
                return redirect("run", request.team.slug, stored.runs[0].pk)
            return redirect("queue", request.team.slug, stored.queue.pk)
    context = {
        "dataset": dataset,
        "filename": filename,
        "upload": upload_id,
        "plan": plan,
        "names": item_names(dataset, (one.item_id for one in plan.first), viewer=request.user),
        "becomes": plan.becomes,
        "form": form,
        "machines": any(rater.rater_kind == RaterKind.MACHINE for rater in plan.raters),
        "refusal": refusal,
    }
    status = 422 if refusal or form.errors else 200
    return render(request, "datasets/imports/labels_check.html", context, status=status)


def _looked_at(
    viewer: User,
    dataset: Dataset,
    version: RubricVersion | None,
    data: bytes,
    filename: str,
    choices: LabelFileChoices,
) -> LabelsPlan:
    return services.look_at_labels(
        dataset,
        version,
        data=data,
        filename=filename,
        queue_name=choices.queue_name,
        choices=choices.choices(),
        viewer=viewer,
    )


def _looked_at_again(
    viewer: User,
    dataset: Dataset,
    version: RubricVersion | None,
    data: bytes,
    filename: str,
    choices: LabelFileChoices,
) -> tuple[LabelsPlan, Conflict | None]:
    """The plan; where somebody has taken the name since, with another name and why: all else stays as it was
    said.
    """
    try:
        return _looked_at(viewer, dataset, version, data, filename, choices), None
    except Conflict as error:
        wanted = services.queue_name_of(choices.queue_name, filename)
        if str(error) != taken(wanted):
            raise  # all of it was imported before: no other name helps
        choices.queue_name = free_queue_name(dataset, wanted)
        return _looked_at(viewer, dataset, version, data, filename, choices), error


def _previewed_again(
    request: TeamRequest, upload_id: str, chosen: LabelFileChoices, *, changed: bool
) -> HttpResponse:
    """What was chosen is kept; nothing is stored that nobody has seen."""
    held = request.session["uploads"]
    held[upload_id]["labels"] = asdict(chosen)
    request.session["uploads"] = held
    if changed:
        messages.info(request, "The preview is new. Look at it, then import.")
    return redirect(f"{request.path}?upload={upload_id}")


def _left_out(plan: LabelsPlan, filename: str) -> HttpResponse:
    """What is left out, row by row, as a file."""
    rows: list[Any] = [("where", "found", "allowed")]
    rows += [(fault.place, fault.found, fault.allowed) for fault in plan.reading.left_out_rows]
    response = HttpResponse("".join(map(csv_line, rows)), content_type="text/csv; charset=utf-8")
    stem = "".join(mark for mark in filename.rsplit(".", 1)[0] if mark.isalnum() or mark in "-_ ")[:100]
    response["Content-Disposition"] = (
        f'attachment; filename="{stem.encode("ascii", "ignore").decode()} left out.csv"'
    )
    return response


def _kinds(version: RubricVersion | None) -> dict[str, str]:
    """The kinds of criteria by name; own rubrics of items are known by their names alone."""
    if version is None:
        return {}
    criteria = versions.version_with_criteria(version.pk).criteria.all()
    return {criterion.name: criterion.kind for criterion in criteria}
