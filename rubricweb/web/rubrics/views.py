"""Pages of the rubrics room: lists, imports, published versions. Drafts are in `web/rubrics/editor.py`."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.engine.formats.rubric_files import RubricFormat, write_rubric
from rubricweb.engine.formats.tables.rubric_table_writer import write_rubric_table
from rubricweb.errors import Conflict, Invalid, NotFound, TooLarge
from rubricweb.models import Role, Rubric
from rubricweb.selectors.labels.label_evidence import label_evidence
from rubricweb.selectors.probes import changes_with_probes, label_decisions
from rubricweb.selectors.reviews.queues import reviewers
from rubricweb.selectors.rubrics import versions as selectors
from rubricweb.selectors.rubrics.label_changes import changes_in_version
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.services import label_queues
from rubricweb.services.rubrics import rubrics as services
from rubricweb.services.rubrics.starters import start_from, starters
from rubricweb.services.shared import uploads
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.http import TeamRequest, searched, team_page, uploaded, whole_number
from rubricweb.web.rubrics.forms import ImportForm, PublishForm, RubricForm, TitleForm
from rubricweb.web.rubrics.label_choices import chosen, label_choices, openings
from rubricweb.web.rubrics.lint_notes import version_notes
from rubricweb.web.shared import kept_uploads
from rubricweb.web.shared.archived import archive_link

FORMATS: dict[str, str] = {"yaml": "application/yaml; charset=utf-8", "json": "application/json"}
DOWNLOADS: dict[RubricFormat, str] = {
    "yaml": FORMATS["yaml"],
    "json": FORMATS["json"],
    "csv": "text/csv; charset=utf-8",
}


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def rubrics(request: TeamRequest) -> HttpResponse:
    search, archived = searched(request.GET), request.GET.get("archived") == "1"
    page = selectors.rubrics(request.team, search=search, archived=archived, cursor=request.GET.get("cursor"))
    template = "rubrics/_rubrics.html" if request.htmx else "rubrics/rubrics.html"
    return render(request, template, {"page": page, "search": search, **archive_link(request, Rubric)})


@team_page(Role.EDITOR)
def new(request: TeamRequest) -> HttpResponse:
    """A rubric by its title, empty; or with `starter` a draft of one of those to begin with."""
    if "starter" in request.POST:
        rubric = start_from(request.POST["starter"], request.team, by=request.user)
        return redirect("rubric_edit", request.team.slug, rubric.pk)
    form = TitleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        rubric = services.create_rubric(request.team, by=request.user, title=form.cleaned_data["title"])
        return redirect("rubric_edit", request.team.slug, rubric.pk)
    context = {"form": form, "starters": starters()}
    return render(request, "rubrics/new.html", context, status=422 if form.errors else 200)


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
def import_file(request: TeamRequest) -> HttpResponse:
    """The file; of a table then (?upload=<id>) what its columns were read as, before anything is made."""
    if "upload" in request.GET:
        return _check_columns(request, request.GET["upload"])
    form = ImportForm(request.POST if request.method == "POST" else None)
    refusal: Invalid | TooLarge | None = None
    if request.method == "POST" and form.is_valid():
        try:
            data, filename = uploaded(request)
            title = form.cleaned_data["title"]
            if services.columns_read(data, filename) is None:
                return _import(request, data, filename, title)
        except (Invalid, TooLarge) as error:
            refusal = error
        else:
            upload_id = kept_uploads.keep(request, data, filename, title, None, holds="rubric")
            return redirect(f"{request.path}?upload={upload_id}")
    status = 422 if refusal or form.errors else 200
    return render(request, "rubrics/import.html", {"form": form, "refusal": refusal}, status=status)


def _check_columns(request: TeamRequest, upload_id: str) -> HttpResponse:
    """What the columns of the kept table were read as, and the button that imports it."""
    known = kept_uploads.kept(request, upload_id, None, holds="rubric")
    data, filename = uploads.kept(upload_id), known["filename"]
    form = ImportForm(request.POST if request.method == "POST" else None, initial={"title": known["name"]})
    if request.method == "POST" and form.is_valid():
        answer = _import(request, data, filename, form.cleaned_data["title"])
        kept_uploads.forget(request, upload_id)
        return answer
    context = {"form": form, "filename": filename, "table": services.columns_read(data, filename)}
    return render(request, "rubrics/import.html", context, status=422 if form.errors else 200)


def _import(request: TeamRequest, data: bytes, filename: str, title: str) -> HttpResponse:
    version = services.import_rubric(request.team, by=request.user, data=data, filename=filename, title=title)
    messages.success(request, f"Imported as version 1 of {version.title}.")
    return redirect("rubric", request.team.slug, version.rubric_id)


@team_page(Role.VIEWER)
@require_safe
def rubric(request: TeamRequest, rubric_id: int) -> HttpResponse:
    rubric = access.access_rubric(request.team, rubric_id)
    state = selectors.draft_state(rubric, viewer=request.user)
    newest = state.newest.to_engine() if state.newest else None
    shown = newest or state.content
    context = {
        "rubric": rubric,
        "state": state,
        "newest": newest,
        "criteria": selectors.weighted_criteria(shown) if shown else None,
        "problems": RubricForm.from_draft(rubric.draft, 0).describe(state.faults),
        "versions": selectors.versions(rubric),
        "runs": selectors.runs_with(rubric),
        "queues": selectors.queues_with(rubric),
        "todo": rubric_todo(rubric, viewer=request.user),
        "decisions": label_decisions(rubric, viewer=request.user),
        "waiting": changes_in_version(state.newest, viewer=request.user).waiting if state.newest else 0,
    }
    return render(request, "rubrics/rubric.html", context)


# ── Versions ─────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
def publish(request: TeamRequest, rubric_id: int) -> HttpResponse:
    """A last look at what changes, then the next version."""
    rubric = access.access_rubric(request.team, rubric_id)
    posted = request.POST if request.method == "POST" else None
    form = PublishForm(posted)
    refusal: Invalid | Conflict | None = None
    if request.method == "POST" and form.is_valid():
        seen = whole_number(request.POST.get("revision"), "The revision")
        changes = selectors.draft_state(rubric, viewer=request.user).labels
        try:
            if "labels-0-kind" in request.POST and (changes is None or not changes.changes):
                raise Conflict(
                    "Somebody published this draft meanwhile. Decide about labels on the version's page."
                )
            rows = label_choices(changes, posted) if changes is not None else None
            version = label_queues.publish(
                rubric,
                by=request.user,
                note=form.cleaned_data["note"],
                revision=seen,
                decisions=None if rows is None else chosen(rows),
                opening=None if rows is None else openings(rows),
            )
        except (Invalid, Conflict) as error:
            refusal = error
        else:
            messages.success(request, f"Published as version {version.number}. It can no longer change.")
            return redirect("rubric", request.team.slug, rubric.pk)
    state = selectors.draft_state(rubric, viewer=request.user)
    context = {
        "rubric": rubric,
        "form": form,
        "refusal": refusal,
        "state": state,
        "newest": state.newest.to_engine() if state.newest else None,
        "rows": label_choices(state.labels, posted, _about_labels(refusal)) if state.labels else [],
        "label_changes": state.labels,
    }
    return render(request, "rubrics/publish.html", context, status=422 if refusal or form.errors else 200)


def _about_labels(refusal: Invalid | Conflict | None) -> Invalid | None:
    return refusal if isinstance(refusal, Invalid) else None


@team_page(Role.EDITOR)
@require_POST
def labels(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    """Decides what becomes of the labels of one criterion that a version asks in other words."""
    rubric = access.access_rubric(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    uid = request.POST.get("about", "")
    seen = whole_number(request.POST["seen"], "The decision") if request.POST.get("seen") else None
    rows = label_choices(changes_with_probes(version, viewer=request.user), request.POST)
    wanted = chosen(rows, all_of_them=True).get(uid)
    try:
        if wanted is None:
            raise NotFound("criterion that this version asks in other words")
        opening = openings(rows).get(uid)
        done = label_queues.decide(version, uid, wanted, by=request.user, seen=seen, opening=opening)
    except (Invalid, Conflict) as error:
        return _version_page(request, rubric, number, refusal=error)
    messages.success(request, "The decision is saved. Pages follow it at once.")
    for one in done.closed:
        reviews = f"{one.submitted:,} of {one.wanted:,} reviews were submitted"
        messages.info(request, f"The queue “{one.queue}” of the decision before is closed: {reviews}.")
    return _to_labels(request, rubric, number)


@team_page(Role.EDITOR)
@require_POST
def label_queue(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    """Opens the review queue of a decision to label again or to probe, unless it is open."""
    rubric = access.access_rubric(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    named = [whole_number(one, "A rater") for one in request.POST.getlist("raters")]
    raters = reviewers(request.team).filter(pk__in=[one for one in named if one is not None])
    wish = label_queues.QueueWish(
        list(raters),
        whole_number(request.POST.get("size"), "The size of a probe"),
        raters_per_item=whole_number(request.POST.get("people") or None, "The number of people"),
    )
    seen = whole_number(request.POST.get("seen"), "The decision")
    try:
        done = label_queues.open_queues(
            version, request.POST.get("about", ""), wish, by=request.user, seen=seen
        )
    except (Invalid, Conflict) as error:
        return _version_page(request, rubric, number, refusal=error)
    names = ", ".join(f"“{one.queue}”" for one in done.queues)
    messages.success(request, f"{names} is open." if len(done.queues) == 1 else f"{names} are open.")
    return _to_labels(request, rubric, number)


def _to_labels(request: TeamRequest, rubric: Rubric, number: int) -> HttpResponse:
    address = reverse("rubric_version", args=[request.team.slug, rubric.pk, number])
    return redirect(f"{address}#labels")


@team_page(Role.EDITOR)
@require_POST
def restore(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    """Puts a version into the draft, in place of what is there."""
    rubric = access.access_rubric(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    # Without one, whatever the draft holds was not looked at: it is a conflict.
    seen = whole_number(request.POST.get("revision"), "The revision")
    try:
        services.restore(version, by=request.user, revision=-1 if seen is None else seen)
    except Conflict as error:
        return _version_page(request, rubric, number, refusal=error)
    messages.success(request, f"The draft is version {number} again. Publish it to use it.")
    return redirect("rubric_edit", request.team.slug, rubric.pk)


@team_page(Role.EDITOR)
@require_POST
def copy(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    """Starts a rubric of its own from a version."""
    rubric = access.access_rubric(request.team, rubric_id)
    made = services.copy(selectors.numbered_version(rubric, number), by=request.user)
    messages.success(
        request, f"{made.title} is a rubric of its own: labels and runs stay with {rubric.title}."
    )
    return redirect("rubric_edit", request.team.slug, made.pk)


@team_page(Role.VIEWER)
@require_safe
def version(request: TeamRequest, rubric_id: int, number: int) -> HttpResponse:
    return _version_page(request, access.access_rubric(request.team, rubric_id), number)


def _version_page(
    request: TeamRequest, rubric: Rubric, number: int, refusal: Invalid | Conflict | None = None
) -> HttpResponse:
    version = selectors.numbered_version(rubric, number)
    changes = changes_with_probes(version, viewer=request.user)
    diff = selectors.changes_before(version)
    rules_changed = diff is not None and (diff.pass_rule_changed or diff.length_penalty_changed)
    previous = selectors.numbered_version(rubric, number - 1).to_engine() if rules_changed else None
    content = version.to_engine()
    notes = version_notes(content, label_evidence(version, request.team, viewer=request.user))
    context = {
        "rubric": rubric,
        "version": version,
        "previous": previous,
        "content": content,
        "warnings": [note for note in notes if note.severity == "warning"],
        "hints": [note for note in notes if note.severity == "hint"],
        "groups": selectors.grouped(version),
        "numbers": selectors.version_numbers(rubric),
        "diff": diff,
        "table_leaves_out": write_rubric_table(content)[1],
        "runs": selectors.runs_with(rubric, version=version),
        "queues": selectors.queues_with(rubric, version=version),
        "rows": label_choices(changes, request.POST if refusal else None, _about_labels(refusal)),
        "label_changes": changes,
        "people": reviewers(request.team),
        "refusal": refusal,
    }
    return render(request, "rubrics/version.html", context, status=422 if refusal else 200)


@team_page(Role.VIEWER)
@require_safe
def download(request: TeamRequest, rubric_id: int, number: int, format: str) -> HttpResponse:
    rubric = access.access_rubric(request.team, rubric_id)
    version = selectors.numbered_version(rubric, number)
    wanted = next((each for each in DOWNLOADS if each == format), None)
    if wanted is None:
        raise NotFound("rubric format")
    response = HttpResponse(write_rubric(version.to_engine(), wanted), content_type=DOWNLOADS[wanted])
    name = f"{slugify(version.title) or 'rubric'}-v{number}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
