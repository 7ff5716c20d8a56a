"""Pages of the rubrics room: lists, drafts in the editor and as source, published versions."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from rubricweb import access
from rubricweb.engine.formats.rubric_files import write_rubric
from rubricweb.errors import Conflict, Invalid, NotFound, TooLarge
from rubricweb.models import Role, Rubric
from rubricweb.selectors import rubrics as selectors
from rubricweb.services import rubrics as services
from rubricweb.web.forms_rubrics import ImportForm, PublishForm, RubricForm, TitleForm
from rubricweb.web.http import TeamRequest, team_page, uploaded, whole_number

FORMATS = {"yaml": "application/yaml; charset=utf-8", "json": "application/json"}


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def rubrics(request: TeamRequest) -> HttpResponse:
    search = request.GET.get("q", "").strip()
    page = selectors.rubrics(request.team, search=search, cursor=request.GET.get("cursor"))
    template = "rubrics/_rubrics.html" if request.htmx else "rubrics/rubrics.html"
    return render(request, template, {"page": page, "search": search})


@team_page(Role.EDITOR)
def new(request: TeamRequest) -> HttpResponse:
    form = TitleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        rubric = services.create_rubric(request.team, by=request.user, title=form.cleaned_data["title"])
        return redirect("rubric_edit", request.team.slug, rubric.pk)
    return render(request, "rubrics/new.html", {"form": form}, status=422 if form.errors else 200)


@team_page(Role.EDITOR)
def import_file(request: TeamRequest) -> HttpResponse:
    form = ImportForm(request.POST if request.method == "POST" else None)
    refusal: Invalid | TooLarge | None = None
    if request.method == "POST" and form.is_valid():
        try:
            data, filename = uploaded(request)
            version = services.import_rubric(
                request.team, by=request.user, data=data, filename=filename, title=form.cleaned_data["title"]
            )
        except (Invalid, TooLarge) as error:
            refusal = error
        else:
            messages.success(request, f"Imported as version 1 of {version.title}.")
            return redirect("rubric", request.team.slug, version.rubric_id)
    status = 422 if refusal or form.errors else 200
    return render(request, "rubrics/import.html", {"form": form, "refusal": refusal}, status=status)


@team_page(Role.VIEWER)
@require_safe
def rubric(request: TeamRequest, rubric_id: int) -> HttpResponse:
    rubric = access.rubric_for(request.team, rubric_id)
    state = selectors.draft_state(rubric)
    context = {
        "rubric": rubric,
        "state": state,
        "problems": RubricForm.from_draft(rubric.draft, 0).describe(state.faults),
        "versions": selectors.versions(rubric),
        "runs": selectors.runs_with(rubric),
        "queues": selectors.queues_with(rubric),
    }
    return render(request, "rubrics/rubric.html", context)


# ── The editor ───────────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
@vary_on_headers("HX-Request")
def edit(request: TeamRequest, rubric_id: int) -> HttpResponseBase:
    """The draft as a form. Buttons: save, add, remove=<row>, publish, yaml, json, overwrite=<revision>."""
    rubric = access.rubric_for(request.team, rubric_id)
    if request.method != "POST":
        return _editor(request, rubric, RubricForm.from_draft(rubric.draft, rubric.draft_revision))
    form = RubricForm.from_post(request.POST)
    if "add" in request.POST:
        form.add_row()
        return _editor(request, rubric, form, saved=False)
    if "remove" in request.POST:
        form.remove_row(request.POST["remove"])
        return _editor(request, rubric, form, saved=False)
    if "overwrite" in request.POST:
        form.revision = whole_number(request.POST["overwrite"], "The revision") or 0
    saved = False
    try:
        services.save_draft(rubric, draft=form.draft(), revision=form.revision)
        saved, form.revision = True, rubric.draft_revision
        if "publish" in request.POST:
            services.checked(rubric.draft)
            return _go(request, reverse("rubric_publish", args=[request.team.slug, rubric.pk]))
    except Invalid as error:
        form.show(error.faults)
        return _editor(request, rubric, form, refusal=error, saved=saved)
    except Conflict as error:
        return _editor(request, rubric, form, refusal=error, saved=False)
    return _saved(request, rubric)


def _editor(
    request: TeamRequest,
    rubric: Rubric,
    form: RubricForm,
    *,
    refusal: Invalid | Conflict | None = None,
    saved: bool = True,
) -> HttpResponse:
    """The editor with what was typed; `saved` is whether it is also what is stored."""
    context = {
        "rubric": rubric,
        "form": form,
        "refusal": refusal,
        "conflict": isinstance(refusal, Conflict),
        "saved": saved,
        "revision": form.revision,
        **_preview(rubric, form, 0),
    }
    template = "rubrics/_editor.html" if request.htmx else "rubrics/editor.html"
    response = render(request, template, context, status=422 if refusal else 200)
    if request.htmx:
        response["HX-Retarget"], response["HX-Reswap"] = "#editor", "outerHTML show:#editor:top"
    return response


def _saved(request: TeamRequest, rubric: Rubric) -> HttpResponseBase:
    """After a save: on to the source when its tab was pressed, else back to the editor."""
    for format in FORMATS:
        if format in request.POST:
            url = reverse("rubric_source", args=[request.team.slug, rubric.pk])
            return _go(request, f"{url}?format={format}")
    if request.htmx:
        context = {"rubric": rubric, "revision": rubric.draft_revision, "saved": True, "out_of_band": True}
        response = render(request, "rubrics/_saved.html", context)
        response["HX-Trigger-After-Settle"] = json.dumps({"rubric:saved": {}})
        return response
    messages.success(request, "Draft saved.")
    return redirect("rubric_edit", request.team.slug, rubric.pk)


def _go(request: TeamRequest, url: str) -> HttpResponseBase:
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


@team_page(Role.EDITOR)
@require_POST
def preview(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """What is typed, as a reviewer sees it and as a judge is asked; nothing is saved."""
    rubric = access.rubric_for(request.team, rubric_id)
    row = whole_number(request.POST.get("preview_row"), "The row") or 0
    form = RubricForm.from_post(request.POST)
    return render(request, "rubrics/_preview.html", {"rubric": rubric, **_preview(rubric, form, row)})


def _preview(rubric: Rubric, form: RubricForm, row: int) -> dict[str, Any]:
    """The preview's context; `row` is the index of the row whose question is shown."""
    content, faults = selectors.checked_draft(form.draft())
    position = next((i for i, each in enumerate(form.rows) if each.index == row), 0)
    item = selectors.sample_item(rubric)
    return {
        "preview": form,
        "content": content,
        "problems": form.describe(faults),
        "row": form.rows[position] if form.rows else None,
        "item": item,
        "prompt": selectors.judge_prompt(content, position, item) if content else None,
    }


@team_page(Role.EDITOR)
def source(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """The draft as YAML or JSON, to be changed as text."""
    rubric = access.rubric_for(request.team, rubric_id)
    format = request.GET.get("format", "yaml")
    if format not in FORMATS:
        raise Invalid(f"A rubric's source is one of {', '.join(FORMATS)}, not {format[:40]!r}.")
    text, revision = selectors.draft_source(rubric, format), rubric.draft_revision
    refusal: Invalid | Conflict | None = None
    if request.method == "POST":
        text = request.POST.get("source", "").replace("\r\n", "\n")
        revision = whole_number(request.POST.get("revision"), "The revision") or 0
        if "overwrite" in request.POST:
            revision = whole_number(request.POST["overwrite"], "The revision") or 0
        try:
            draft = services.read_draft(text)
            services.save_draft(rubric, draft={"title": rubric.title, **_given(draft)}, revision=revision)
        except (Invalid, Conflict) as error:
            refusal = error
        else:
            return _source_saved(request, rubric, format)
    context = {
        "rubric": rubric,
        "format": format,
        "source": text,
        "revision": revision,
        "refusal": refusal,
        "conflict": isinstance(refusal, Conflict),
        "faults": selectors.checked_draft(rubric.draft)[1] if refusal is None else (),
    }
    return render(request, "rubrics/source.html", context, status=422 if refusal else 200)


def _given(draft: dict[str, Any]) -> dict[str, Any]:
    """A source without a title keeps the one the rubric has."""
    return {key: value for key, value in draft.items() if key != "title" or value}


def _source_saved(request: TeamRequest, rubric: Rubric, format: str) -> HttpResponse:
    if "form" in request.POST:
        return redirect("rubric_edit", request.team.slug, rubric.pk)
    wanted = next((other for other in FORMATS if other in request.POST), None)
    if wanted is None:
        messages.success(request, "Draft saved.")
    url = reverse("rubric_source", args=[request.team.slug, rubric.pk])
    return redirect(f"{url}?format={wanted or format}")


# ── Versions ─────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
def publish(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """A last look at what changes, then the next version."""
    rubric = access.rubric_for(request.team, rubric_id)
    form = PublishForm(request.POST if request.method == "POST" else None)
    refusal: Invalid | Conflict | None = None
    if request.method == "POST" and form.is_valid():
        seen = whole_number(request.POST.get("revision"), "The revision")
        try:
            version = services.publish(rubric, by=request.user, note=form.cleaned_data["note"], revision=seen)
        except (Invalid, Conflict) as error:
            refusal = error
        else:
            messages.success(request, f"Published as version {version.number}. It can no longer change.")
            return redirect("rubric", request.team.slug, rubric.pk)
    context = {"rubric": rubric, "form": form, "refusal": refusal, "state": selectors.draft_state(rubric)}
    return render(request, "rubrics/publish.html", context, status=422 if refusal or form.errors else 200)


@team_page(Role.VIEWER)
@require_safe
def version(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    rubric = access.rubric_for(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    context = {
        "rubric": rubric,
        "version": version,
        "groups": selectors.grouped(version),
        "numbers": selectors.versions(rubric),
        "diff": selectors.changes_before(version),
        "runs": selectors.runs_with(rubric, version=version),
        "queues": selectors.queues_with(rubric, version=version),
    }
    return render(request, "rubrics/version.html", context)


@team_page(Role.VIEWER)
@require_safe
def download(request: TeamRequest, rubric_id: int, number: int, format: str) -> HttpResponse:
    rubric = access.rubric_for(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    if format not in FORMATS:
        raise NotFound("rubric format")
    response = HttpResponse(write_rubric(version.to_engine(), format), content_type=FORMATS[format])
    name = f"{slugify(version.title) or 'rubric'}-v{number}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
