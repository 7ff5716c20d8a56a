"""Pages of the datasets room: lists, bringing files in, items one by one."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.datasets.files import Preview, preview
from rubricweb.engine.formats.limited_reading import read_limited
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, TooLarge, Withheld
from rubricweb.models import Dataset, Item, Role
from rubricweb.selectors.datasets import items as selectors
from rubricweb.selectors.exports import exports
from rubricweb.selectors.labels.provenance import item_provenance
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.rubrics import versions as rubric_selectors
from rubricweb.services.datasets import answers, raters, splits
from rubricweb.services.datasets import datasets as services
from rubricweb.services.shared import uploads
from rubricweb.web.datasets import kept_uploads
from rubricweb.web.datasets.forms import MappingForm, SplitForm, UploadForm, cells
from rubricweb.web.http import TeamRequest, searched, team_page, uploaded
from rubricweb.web.shared.names import note_names
from rubricweb.web.shared.selections import SELECTED_MAX, selected_items, use


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def datasets(request: TeamRequest) -> HttpResponse:
    search = searched(request.GET)
    page = selectors.datasets(request.team, search=search, cursor=request.GET.get("cursor"))
    template = "datasets/_datasets.html" if request.htmx else "datasets/datasets.html"
    return render(request, template, {"page": page, "search": search})


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def dataset(request: TeamRequest, dataset_id: int) -> HttpResponse:
    dataset = access.access_dataset(request.team, dataset_id)
    search, order = searched(request.GET), request.GET.get("order", "position")
    context = {
        "dataset": dataset,
        "page": selectors.items(
            dataset, viewer=request.user, search=search, order=order, cursor=request.GET.get("cursor")
        ),
        "search": search,
        "order": order,
        "may_edit": request.membership.role >= Role.EDITOR,
    }
    if request.htmx:
        return render(request, "datasets/_items.html", context)
    context["item_count"], context["own_rubrics"] = selectors.own_rubric_counts(dataset)
    context |= {"runs": selectors.runs_over(dataset), "queues": selectors.queues_over(dataset)}
    context["systems"] = selectors.system_counts(dataset)
    context["imported_raters"] = selectors.imported_raters(dataset)
    if dataset.split_report:
        context["may_see_labels"] = not exports.withheld_from(request.user, dataset)
    return render(request, "datasets/dataset.html", context)


@team_page(Role.VIEWER)
@require_POST
def select(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Goes on with the ticked items, or with all that match the search, to what is to be done with them."""
    dataset = access.access_dataset(request.team, dataset_id)
    search = searched(request.POST)
    chosen = selected_items(request.POST)
    if request.POST.get("all") == "1":
        chosen = selectors.matching_ids(dataset, search=search, most=SELECTED_MAX + 1)
    back = reverse("dataset", args=[request.team.slug, dataset.pk])
    return use(request, chosen, back=f"{back}?{urlencode({'q': search})}" if search else back)


@team_page(Role.VIEWER)
@require_safe
def item(request: TeamRequest, item_id: int) -> HttpResponse:
    item = access.access_item(request.team, item_id)
    previous, following = selectors.neighbours(item)
    own = item.rubric_version_id
    selectors.name_systems([item], viewer=request.user, team=request.team)
    context = {
        "item": item,
        "other_answers": selectors.other_answers(item, viewer=request.user),
        "submission": item.to_engine(),
        "metadata": list(item.metadata.items()),
        "previous": previous,
        "following": following,
        "groups": rubric_selectors.grouped(rubric_selectors.version_with_criteria(own)) if own else [],
        "runs": selectors.runs_containing(item),
        "thread": comments.thread(item, viewer=request.user),
    }
    return render(request, "datasets/item.html", context | _ground_truth(request, item))


def _ground_truth(request: TeamRequest, item: Item) -> dict[str, Any]:
    """What stands for the item and why, with the names of who said so where these were asked for."""
    try:
        truths = item_provenance(item, viewer=request.user)
    except Withheld as error:
        return {"withheld": str(error)}
    names = bool(truths) and request.GET.get("names") == "1"
    if names:
        note_names(request, item)
    return {"truths": truths, "names": names}


@team_page(Role.EDITOR)
def split(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Asks how many items examples are drawn from; the answer opens the half they are in."""
    dataset = access.access_dataset(request.team, dataset_id)
    form = SplitForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = splits.split_dataset(dataset, by=request.user, **form.cleaned_data)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            report = made.report
            words = f"{report.n_train:,} items for examples, {report.n_test:,} to test on."
            messages.success(request, f"{dataset} is split: {words}")
            return redirect("dataset", request.team.slug, made.dev.pk)
    context = {"dataset": dataset, "form": form}
    return render(request, "datasets/split.html", context, status=422 if form.errors else 200)


# ── Importing items ──────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
def import_file(request: TeamRequest) -> HttpResponse:
    """First the file, then (?upload=<id>) what its columns mean; the file is kept between the two."""
    return _bring_in(request, None)


@team_page(Role.EDITOR)
def add_items(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """The same two steps for more items of a dataset there is."""
    dataset = access.access_dataset(request.team, dataset_id)
    if dataset.sealed_as:
        raise Conflict(f"{dataset} is sealed as a half of a split: add items to the dataset it came from.")
    return _bring_in(request, dataset)


def _bring_in(request: TeamRequest, dataset: Dataset | None) -> HttpResponse:
    if "upload" in request.GET:
        return _map_columns(request, request.GET["upload"], dataset)
    form = UploadForm(request.POST if request.method == "POST" else None, is_new=dataset is None)
    refusal: Invalid | TooLarge | None = None
    if request.method == "POST" and form.is_valid():
        try:
            data, filename = uploaded(request)
            _previewed(data, filename)
        except (Invalid, TooLarge) as error:
            refusal = error
        else:
            upload_id = kept_uploads.keep(request, data, filename, form.cleaned_data.get("name", ""), dataset)
            return redirect(f"{request.path}?upload={upload_id}")
    context = {"form": form, "refusal": refusal, "dataset": dataset}
    return render(
        request, "datasets/imports/import.html", context, status=422 if refusal or form.errors else 200
    )


def _map_columns(request: TeamRequest, upload_id: str, dataset: Dataset | None) -> HttpResponse:
    known = kept_uploads.kept(request, upload_id, dataset, labels=False)
    data, filename = uploads.kept(upload_id), known["filename"]
    beginning = _previewed(data, filename)
    form = MappingForm(
        request.POST if request.method == "POST" else None,
        preview=beginning,
        name=known["name"],
        is_new=dataset is None,
    )
    faults: tuple[Fault, ...] = ()
    if request.method == "POST" and form.is_valid():
        try:
            stored = _stored(request, dataset, data, filename, form)
        except Invalid as error:
            faults = form.show(error.faults)
            form.add_error(None, str(error))
        except Conflict as error:
            form.add_error("name" if dataset is None else None, str(error))
        else:
            kept_uploads.forget(request, upload_id)
            _tell(request, stored, filename, is_new=dataset is None)
            return redirect("dataset", request.team.slug, stored.dataset.pk)
    context = {
        "form": form,
        "faults": faults,
        "preview": beginning,
        "rows": cells(beginning),
        "filename": filename,
        "dataset": dataset,
    }
    if beginning.recognised and not faults:
        context |= _left_out(dataset, data, filename)
    return render(
        request, "datasets/imports/import_columns.html", context, status=422 if form.errors else 200
    )


def _left_out(dataset: Dataset | None, data: bytes, filename: str) -> dict[str, Any]:
    """What of another program's file would be left out, or what keeps it from being imported."""
    own = dataset.rubric_version.to_engine() if dataset and dataset.rubric_version else None
    try:
        file = services.read_file(data, filename, rubric=own, strict=False)
    except Invalid as error:
        return {"faults": error.faults}
    return {"left_out": file.left_out, "left_out_count": len(file.left_out) + file.more_left_out}


def _stored(
    request: TeamRequest, dataset: Dataset | None, data: bytes, filename: str, form: MappingForm
) -> services.StoredItems:
    given: dict[str, Any] = {
        "data": data,
        "filename": filename,
        "columns": form.columns(),
        "by": request.user,
    }
    if dataset is None:
        name = form.cleaned_data["name"]
        return services.import_dataset_file(request.team, name=name, strict=False, **given)
    if system := form.cleaned_data["system"]:
        added = answers.add_answers(dataset, system=system, **given)
        if added.missing:
            few = ", ".join(added.missing[:5]) + (", …" if len(added.missing) > 5 else "")
            cases = counted(len(added.missing), "case")
            messages.info(request, f"{cases} of {dataset} without an answer of {added.system}: {few}.")
        return services.StoredItems(dataset, added.answers)
    return services.add_items_of_file(dataset, strict=False, **given)


def _tell(request: TeamRequest, stored: services.StoredItems, filename: str, *, is_new: bool) -> None:
    """What was stored, and what was not."""
    items = counted(stored.items, "item")
    said = f"Imported {filename}."
    if not is_new:
        said = f"Added {items} from {filename}. A run takes them in when you extend it."
    messages.success(request, said)
    if stored.left_out:
        places = counted(len(stored.left_out) + stored.more_left_out, "place")
        first = "; ".join(map(str, stored.left_out[:3]))
        messages.warning(request, f"Left out what has no counterpart here, at {places}: {first}.")


def _previewed(data: bytes, filename: str) -> Preview:
    try:
        return read_limited(preview, data, filename=filename)
    except InvalidFile as error:
        raise Invalid(f"{filename} cannot be read.", error.faults) from error


@team_page(Role.EDITOR)
@require_POST
def rater_kind(request: TeamRequest, dataset_id: int, rater_id: int) -> HttpResponse:
    """What a rater that came with a file is."""
    dataset = access.access_dataset(request.team, dataset_id)
    rater = access.access_imported_rater(dataset, rater_id)
    try:
        raters.change_kind(rater, request.POST.get("rater_kind", ""), by=request.user)
    except Conflict as error:
        messages.error(request, str(error))
    return redirect("dataset", request.team.slug, dataset.pk)
