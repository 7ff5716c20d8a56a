"""A rubric's draft: in the editor, as source, and what the editor asks while somebody types."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from rubricweb import access, engine
from rubricweb.errors import Conflict, Invalid, NotFound, Refusal
from rubricweb.models import Item, Role, Rubric
from rubricweb.selectors.rubrics import trials
from rubricweb.selectors.rubrics import versions as selectors
from rubricweb.services.endpoints import endpoints
from rubricweb.services.rubrics import rubrics as services
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.rubrics import conflicts, tries
from rubricweb.web.rubrics.criterion_rows import typed
from rubricweb.web.rubrics.forms import RubricForm
from rubricweb.web.rubrics.lint_notes import SourceMark, source_marks
from rubricweb.web.rubrics.views import FORMATS
from rubricweb.web.shared.titles import titles
from rubricweb.web.shared.tries.answers import one_line, reads_lines, refused

RESHAPING = (
    "add",
    "remove",
    "duplicate",
    "open",
    "add_option",
    "add_na",
    "remove_option",
    "begin_with",
    "show_check",
)
"""Buttons that change the form alone; the browser does the same by itself where scripts run."""


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@vary_on_headers("HX-Request")
def edit(request: TeamRequest, rubric_id: int) -> HttpResponseBase:
    """The draft as a form. Buttons: save, publish, yaml, json, overwrite=<revision>, try, and RESHAPING.

    The page's script saves while somebody types, and asks for JSON; what it sends presses no button.
    """
    rubric = access.access_rubric(request.team, rubric_id)
    if request.method != "POST":
        return _editor(request, rubric, RubricForm.from_draft(rubric.draft, rubric.draft_revision))
    form = RubricForm.from_post(request.POST)
    pressed = next((button for button in RESHAPING if button in request.POST), None)
    if pressed is not None:
        _reshape(form, pressed, request.POST[pressed])
        return _editor(request, rubric, form, saved=False)
    if _is_autosave(request):
        return _autosaved(request, rubric, form.draft(), form.revision)
    saved, draft = False, form.draft()
    try:
        saved_with = conflicts.save(request, rubric, draft, form.revision)
        if saved_with is not None:
            form = RubricForm.from_draft(rubric.draft, rubric.draft_revision)
        saved, form.revision = True, rubric.draft_revision
        if "publish" in request.POST:
            services.checked(rubric.draft)
            return _go(request, reverse("rubric_publish", args=[request.team.slug, rubric.pk]))
        if saved_with is not None and request.htmx:
            return _editor(request, rubric, form, said=conflicts.kept_both(saved_with))
    except Invalid as error:
        form.show(error.faults)
        return _editor(request, rubric, form, refusal=error, saved=saved)
    except Conflict as error:
        return _editor(request, rubric, form, refusal=error, saved=False)
    if saved_with is not None:
        messages.success(request, conflicts.kept_both(saved_with))
    return _saved(request, rubric)


def _reshape(form: RubricForm, pressed: str, value: str) -> None:
    """What a button without JavaScript does; its value names the row, and after a dash what in it."""
    if pressed == "add":
        form.add_row()
    if pressed == "remove":
        form.remove_row(value)
    if pressed == "duplicate":
        form.duplicate_row(value)
    index, _, inside = value.partition("-")
    row = form.row(index)
    if row is None:
        return
    row.in_use = True
    if pressed == "add_option":
        row.add_option().focused = True
    if pressed == "add_na":
        row.add_option("not applicable", na=True)
    if pressed == "remove_option":
        row.remove_option(inside)
    if pressed == "begin_with":
        row.begin_with(inside)


def _editor(
    request: TeamRequest,
    rubric: Rubric,
    form: RubricForm,
    *,
    refusal: Invalid | Conflict | None = None,
    saved: bool = True,
    trial: dict[str, Any] | None = None,
    said: str = "",
) -> HttpResponse:
    """The editor with what was typed; `saved` is whether it is also what is stored."""
    context = {
        "rubric": rubric,
        "form": form,
        "refusal": refusal,
        "conflict": isinstance(refusal, Conflict),
        "merge": conflicts.merge_of(rubric, form.draft(), form.revision, refusal),
        "saved": saved,
        "revision": form.revision,
        **_preview(request, rubric, form, 0),
        **tries.choices(request),
        **(trial or {}),
    }
    template = "rubrics/editor/_editor.html" if request.htmx else "rubrics/editor.html"
    response = render(request, template, context, status=422 if refusal else 200)
    if request.htmx:
        response["HX-Retarget"], response["HX-Reswap"] = "#editor", "outerHTML show:#editor:top"
        if said:
            response["HX-Trigger"] = json.dumps({"toast": {"text": said, "level": "success"}})
    return response


def _saved(request: TeamRequest, rubric: Rubric) -> HttpResponseBase:
    """After a save: on to the source when its tab was pressed, else back to the editor."""
    for format in FORMATS:
        if format in request.POST:
            url = reverse("rubric_source", args=[request.team.slug, rubric.pk])
            return _go(request, f"{url}?format={format}")
    if request.htmx:
        context = {"rubric": rubric, "revision": rubric.draft_revision, "saved": True, "out_of_band": True}
        response = render(request, "rubrics/preview/_saved.html", context)
        response["HX-Trigger-After-Settle"] = json.dumps({"rubric:saved": {}})
        return response
    if "merge" not in request.POST:
        messages.success(request, "Draft saved.")
    return redirect("rubric_edit", request.team.slug, rubric.pk)


def _go(request: TeamRequest, url: str) -> HttpResponseBase:
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


# ── While typing ─────────────────────────────────────────────────────────────────────────────────


def _is_autosave(request: TeamRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def _autosaved(
    request: TeamRequest, rubric: Rubric, draft: Mapping[str, Any], revision: int, text: str | None = None
) -> HttpResponse:
    """Stores what is typed and says at which revision; where somebody else saved, what to choose from.

    Raises Invalid for what no draft can be.
    """
    try:
        services.save_draft(rubric, by=request.user, draft=draft, revision=revision, may_repeat=True)
    except Conflict as error:
        return conflicts.told(request, rubric, draft, revision, error)
    answer = {"revision": rubric.draft_revision, "title": rubric.title}
    marks = {} if text is None else {"marks": [vars(mark) for mark in _marks(rubric, text, None)]}
    return JsonResponse(answer | marks)


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@require_POST
def preview(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """What is typed, as a reviewer sees it and as a judge is asked, and what lint says; nothing is saved."""
    rubric = access.access_rubric(request.team, rubric_id)
    row = whole_number(request.POST.get("preview_row"), "The row") or 0
    form = RubricForm.from_post(request.POST)
    context = {"rubric": rubric, "form": form, "out_of_band": True, **_preview(request, rubric, form, row)}
    return render(request, "rubrics/preview/_while_typing.html", context)


def _preview(request: TeamRequest, rubric: Rubric, form: RubricForm, index: int) -> dict[str, Any]:
    """The preview's context; `index` is that of the row whose question is shown."""
    content, faults = selectors.checked_draft(form.draft())
    position = next((i for i, each in enumerate(form.rows) if each.index == index), 0)
    row = form.rows[position] if form.rows else None
    item = selectors.sample_item(rubric)
    criterion = content.criteria[position] if content else None
    asked = content is not None and criterion is not None and not criterion.is_check
    return {
        "preview": form,
        "content": content,
        "problems": form.describe(faults),
        "row": row,
        "criterion": criterion,
        "item": item,
        **titles(request, [item.pk] if item else []),
        "prompt": selectors.judge_prompt(content, position, item) if content and asked else None,
        "answered": _answered(form, position, item) if row and row.kind_chosen == "check" else None,
    }


def _answered(form: RubricForm, position: int, item: Item | None) -> Any:
    """What the check of one row says about the sample item, None without one."""
    if item is None:
        return None
    entries = form.draft()["criteria"][position : position + 1]
    trial = trials.try_rubric({"criteria": entries}, item.to_engine())
    return trial.answers[0] if trial.answers else None


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@require_POST
def rows(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """The fields of folded rows that are opened in a long rubric; those are all that is sent."""
    context = {
        "rubric": access.access_rubric(request.team, rubric_id),
        "form": RubricForm.from_post(request.POST),
    }
    return render(request, "rubrics/editor/row/_opened.html", context)


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@require_POST
def check_fields(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """The parameters of the check that was just chosen in one row."""
    rubric = access.access_rubric(request.team, rubric_id)
    row = RubricForm.from_post(request.POST).row(request.POST.get("row", ""))
    if row is None:
        raise NotFound("criterion")
    return render(request, "rubrics/editor/_check_fields.html", {"rubric": rubric, "row": row})


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@require_POST
@vary_on_headers("HX-Request")
def try_out(request: TeamRequest, rubric_id: int) -> HttpResponseBase:
    """The draft as typed on a submission: that of the item that was chosen, pasted, or the sample item's when
    nothing was. The offline judge answers within the page, another one is asked; the page's script reads
    answers as they come.
    """
    rubric = access.access_rubric(request.team, rubric_id)
    form = RubricForm.from_post(request.POST)
    pasted, reference = typed(request.POST, "try_submission"), typed(request.POST, "try_reference")
    typed_in = {"try_submission": pasted, "try_reference": reference, "side": "try"}

    def page(*, status: int = 200, **more: Any) -> HttpResponse:
        response = _editor(request, rubric, form, saved=False, trial={**typed_in, "real": True, **more})
        response.status_code = status
        return response

    try:
        chosen = tries.item_chosen(request)
    except Refusal as error:
        return refused(request, error, page)
    item = chosen or (None if pasted.strip() else selectors.sample_item(rubric))
    if item is not None:
        submission = item.to_engine()
    else:
        submission = engine.Submission(output=pasted, reference=reference if reference.strip() else None)
    nothing = item is None and not pasted.strip()
    if (words := tries.judge_asked(request)) and not nothing:
        on = (item, None if item else submission)
        return tries.try_draft(request, rubric, form, words, on, page)
    context = {
        "form": form,
        "tried": None if nothing else _tried(request, form, submission),
        "tried_nothing": nothing,
        "tried_item": item,
        **titles(request, [item.pk] if item else []),
    }
    if request.htmx or reads_lines(request):
        page_part = {"rubric": rubric, **context, **typed_in}
        if request.htmx:
            return render(request, "rubrics/preview/_trial.html", page_part)
        html = render_to_string("rubrics/preview/_trial.html", page_part, request)
        return one_line("try-result", html, after=item.pk if item else None)
    return _editor(request, rubric, form, saved=False, trial={**context, **typed_in})


def _tried(request: TeamRequest, form: RubricForm, submission: engine.Submission) -> dict[str, Any]:
    offline = endpoints.OFFLINE in endpoints.judges_of(request.team)
    judge = trials.offline_judge if offline else None
    trial = trials.try_rubric(form.draft(), submission, judge=judge)
    rows = [(form.rows[each.position], each) for each in trial.answers]
    return {
        "trial": trial,
        "rows": rows,
        "judge": endpoints.OFFLINE_NAME if offline else "",
        "about": endpoints.OFFLINE_ABOUT,
    }


# ── As source ────────────────────────────────────────────────────────────────────────────────────


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
def source(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """The draft as YAML or JSON, to be changed as text."""
    rubric = access.access_rubric(request.team, rubric_id)
    format = request.GET.get("format", "yaml")
    if format not in FORMATS:
        raise Invalid(f"A rubric's source is one of {', '.join(FORMATS)}, not {format[:40]!r}.")
    text, revision = selectors.draft_source(rubric, format), rubric.draft_revision
    refusal: Invalid | Conflict | None = None
    typed_draft: dict[str, Any] = {}
    if request.method == "POST":
        text = request.POST.get("source", "").replace("\r\n", "\n")
        revision = whole_number(request.POST.get("revision"), "The revision") or 0
        if _is_autosave(request):
            return _autosaved_source(request, rubric, text, revision)
        try:
            typed_draft = _typed_source(rubric, text)
            saved_with = conflicts.save(request, rubric, typed_draft, revision)
        except (Invalid, Conflict) as error:
            refusal = error
        else:
            if saved_with is not None:
                messages.success(request, conflicts.kept_both(saved_with))
            return _source_saved(request, rubric, format)
    context = {
        "rubric": rubric,
        "format": format,
        "source": text,
        "revision": revision,
        "refusal": refusal,
        "conflict": isinstance(refusal, Conflict),
        "merge": conflicts.merge_of(rubric, typed_draft, revision, refusal),
        "marks": _marks(rubric, text, refusal),
    }
    return render(request, "rubrics/source.html", context, status=422 if refusal else 200)


def _autosaved_source(request: TeamRequest, rubric: Rubric, text: str, revision: int) -> HttpResponse:
    """The answer to a source that is stored while it is typed, with what is said of its lines."""
    try:
        return _autosaved(request, rubric, _typed_source(rubric, text), revision, text)
    except Invalid as error:
        marks = [vars(mark) for mark in source_marks(text, {}, error.faults)]
        return JsonResponse({"message": str(error), "marks": marks}, status=400)


def _marks(rubric: Rubric, text: str, refusal: Invalid | Conflict | None) -> list[SourceMark]:
    """What is said of the lines of the source that is shown; of one that is not stored why it is not."""
    if refusal is not None:
        return source_marks(text, {}, refusal.faults if isinstance(refusal, Invalid) else ())
    shown = selectors.draft_as_file(rubric)
    return source_marks(text, shown, selectors.checked_draft(shown)[1])


def _typed_source(rubric: Rubric, text: str) -> dict[str, Any]:
    """The draft that was typed; without a title it keeps the one the rubric has. Raises Invalid."""
    given = {key: value for key, value in services.read_draft(text).items() if key != "title" or value}
    return {"title": rubric.title, **given}


def _source_saved(request: TeamRequest, rubric: Rubric, format: str) -> HttpResponse:
    if "form" in request.POST:
        return redirect("rubric_edit", request.team.slug, rubric.pk)
    wanted = next((other for other in FORMATS if other in request.POST), None)
    if wanted is None:
        messages.success(request, "Draft saved.")
    url = reverse("rubric_source", args=[request.team.slug, rubric.pk])
    return redirect(f"{url}?format={wanted or format}")
