"""Pages on which a judge is made, and its next version is worded."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from rubricweb import access
from rubricweb.engine.autograders.instructions import frame_text, reply_form
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.rubric.words import word_diff
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Judge, JudgeSnapshot, JudgeVersion, Role
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.definitions import definition_of
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.judges import words
from rubricweb.web.judges.definition_form import (
    DefinitionForm,
    MemberForm,
    WordingFields,
    restored,
    texts_typed,
    turned,
    typed,
)
from rubricweb.web.judges.forms import NewJudge
from rubricweb.web.judges.tries import try_form, try_typed
from rubricweb.web.shared.tries.answers import reads_lines

TURNED = (
    "The way of asking is another one: our instructions for it stand in the fields now. "
    "Your own texts stand below them. Look at both, then keep."
)


@team_page(Role.EDITOR)
def new(request: TeamRequest) -> HttpResponseBase:
    """A name, a model and a way of asking first; then what it is told, as of any version."""
    judges = endpoints.judges_of(request.team)
    begun = NewJudge(request.GET if "model" in request.GET else None, judges=judges)
    if not begun.is_valid():
        status = 422 if begun.is_bound else 200
        return render(request, "judges/new.html", {"form": begun, "models": judges}, status=status)
    chosen = begun.cleaned_data
    autograder, _, reply_format = chosen["way"].partition(" ")
    snapshot = JudgeSnapshot.of(chosen["model"], judges[chosen["model"]])
    base = definition_of(snapshot, None, autograder=autograder, reply_format=reply_format)
    assert base is not None, "somebody is asked"
    if request.method != "POST":
        form = DefinitionForm(base=base, judges=judges, initial={"name": chosen["name"]}, is_new=True)
        return _page(request, form, None)

    def keep(form: DefinitionForm) -> JudgeVersion:
        name, note = form.cleaned_data["name"], form.cleaned_data["note"]
        return versions.create_judge(request.team, form.definition(), by=request.user, name=name, note=note)

    return _sent(request, base, judges, keep, None)


@team_page(Role.EDITOR)
def edit(request: TeamRequest, judge_id: int) -> HttpResponseBase:
    """The next version, from the current one or from `version`."""
    judge = access.access_judge(request.team, judge_id)
    require_judge_visible(judge, request.user)
    judges = endpoints.judges_of(request.team)
    parent = _parent(request, judge)
    if request.method != "POST":
        initial = {"parent": parent.number}
        form = DefinitionForm(base=parent.definition, judges=judges, initial=initial, is_new=False)
        return _page(request, form, judge)

    def keep(form: DefinitionForm) -> JudgeVersion:
        definition, note = form.definition(), form.cleaned_data["note"]
        if definition.digest == parent.digest:
            raise Invalid(f"Nothing is changed: {parent} asks just so.")
        return versions.keep_version(judge, definition, by=request.user, parent=parent, note=note)

    return _sent(request, parent.definition, judges, keep, judge, parent)


def _parent(request: TeamRequest, judge: Judge) -> JudgeVersion:
    """What the person began with."""
    asked = request.POST.get("parent") if request.method == "POST" else request.GET.get("version")
    number = whole_number(asked, "The version")
    if number is None:
        newest = judge.current or judge.versions.order_by("-number").first()
        number = newest.number if newest else 0
    return access.access_numbered_version(judge, number)


def _sent(
    request: TeamRequest,
    base: JudgeDefinition,
    judges: Mapping[str, JudgeConfig],
    keep: Callable[[DefinitionForm], JudgeVersion],
    judge: Judge | None,
    parent: JudgeVersion | None = None,
) -> HttpResponseBase:
    """Keeps what was sent; or the page again, with another way of asking, with ours put back, or refused."""
    is_new, data = judge is None, request.POST
    if data.get("action") == "try" and (reads_lines(request) or not _is_turned(data)):
        form = DefinitionForm(data, base=base, judges=judges, initial={}, is_new=is_new)
        page = partial(_page, request, form, judge)
        return try_typed(request, form, judge, parent, page, turned=_is_turned(data))
    if (laid_out := _laid_out(data, base)) is not None:
        form = DefinitionForm(base=base, judges=judges, initial=laid_out, is_new=is_new)
        return _page(request, form, judge, turned=_is_turned(data))
    form = DefinitionForm(data, base=base, judges=judges, initial={}, is_new=is_new)
    if not form.is_whole():
        return _page(request, form, judge, status=422)
    try:
        version = keep(form)
    except (Invalid, Conflict) as error:
        newest = None if judge is None else judge.versions.order_by("-number").first()
        if newest is not None and _was_kept_meanwhile(judge, newest, form):
            return _meanwhile(request, form, judges, judge, newest)
        form.refuse(error)
        return _page(request, form, judge, status=422)
    messages.success(request, f"{version} is kept, and is the current version.")
    return redirect("judge", request.team.slug, version.judge_id)


def _is_turned(data: QueryDict) -> bool:
    known = dict(words.ways())
    before, after = data.get("texts_for", ""), data.get("way", "")
    return before != after and before in known and after in known


def _laid_out(data: QueryDict, base: JudgeDefinition) -> dict[str, Any] | None:
    """What the fields are to hold when a button asked for it, or the way of asking changed; else None."""
    edition = base.wording.edition
    if _is_turned(data):
        return turned(data, data.get("way", ""), edition)
    action, _, place = data.get("action", "").partition(" ")
    if action in ("ours", "back") and data.get("texts_for") in dict(words.ways()):
        return restored(data, place, edition, back=action == "back")
    return typed(data) if action == "way" else None


def _was_kept_meanwhile(judge: Judge | None, newest: JudgeVersion, form: DefinitionForm) -> bool:
    """Whether the newest version is another one than the person began with, and is what is meant now."""
    assert judge is not None
    judge = access.access_judge(judge.team, judge.pk)  # as it is by now
    current = judge.current.number if judge.current else None
    return form.cleaned_data["parent"] not in (newest.number, current)


def _meanwhile(
    request: TeamRequest,
    form: DefinitionForm,
    judges: Mapping[str, JudgeConfig],
    judge: Judge | None,
    newest: JudgeVersion,
) -> HttpResponse:
    """Both texts, and everything typed: kept now, it comes after what somebody else has kept."""
    initial = typed(request.POST) | {"parent": newest.number}
    again = DefinitionForm(base=form.base, judges=judges, initial=initial, is_new=False)
    return _page(request, again, judge, status=409, meanwhile=newest)


# ── What the page shows ──────────────────────────────────────────────────────────────────────────


def _page(
    request: TeamRequest,
    form: DefinitionForm,
    judge: Judge | None,
    *,
    status: int = 200,
    turned: bool = False,
    meanwhile: JudgeVersion | None = None,
    **more: Any,
) -> HttpResponse:
    last = 0 if judge is None else judge.versions.order_by("-number").values_list("number", flat=True)[0]
    theirs = meanwhile.definition if meanwhile else None
    alone = len(form.members) == 1
    context = {
        "judge": judge,
        "form": form,
        "number": last + 1,
        "texts": list(_texts(form, form, theirs)),
        "members": [
            {"form": member, "alone": alone, "texts": [] if alone else list(_texts(form, member, None))}
            for member in form.members
        ],
        "deaf": words.DEAF if words.is_deaf(form.base) else "",
        "examples": len(form.base.examples),
        "votes": [one for one in words.settings_of(form.base) if not alone or form.base.voting],
        "turned": TURNED if turned else "",
        "meanwhile": meanwhile,
        "their_settings": words.changed_settings(form.base, theirs) if theirs else [],
        "try_form": try_form(request, judge),
        "try_url": request.get_full_path(),
        "try_before": form["parent"].value() and f"{judge.slug}@v{form['parent'].value()}" if judge else "",
        **more,
    }
    return render(request, "judges/edit.html", context, status=status)


def _texts(
    form: DefinitionForm, told: WordingFields, theirs: JudgeDefinition | None
) -> Iterator[dict[str, Any]]:
    """A block for each form of a question: its fields, and what is sent around its text."""
    way, edition = form.worded_for, form.base.wording.edition
    prefix, whose = (f"{told.prefix}-", f"{told.member.name}: ") if isinstance(told, MemberForm) else ("", "")
    for one in words.FORMS:
        text, whole = told[f"text_{one}"], told[f"whole_{one}"]
        block = {
            "title": f"{whose}{words.form_title(way, one)}",
            "place": f"{prefix}{one}",
            "text": text,
            "whole": whole,
            "beside": told[f"beside_{one}"],
            "frame": frame_text(edition=edition),
            "reply": reply_form(words.prompt_of(way, one), edition=edition),
        }
        if theirs is not None:
            typed_there = texts_typed(theirs.wording, words.way_of(theirs))
            kept = typed_there[f"whole_{one}"] or typed_there[f"text_{one}"]
            mine = str(whole.value() or text.value() or "").replace("\r\n", "\n").strip()
            block |= {"theirs": kept, "words": word_diff(kept, mine) if kept.strip() != mine else ()}
        yield block
