"""Pages on which a judge is made, and its next version is worded."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from rubricweb import access
from rubricweb.engine.autograders.instructions import JudgeWording, frame_text, reply_form
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.rubric.words import word_diff
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Judge, JudgeSnapshot, JudgeVersion, Role
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.selectors.rubrics.example_criteria import ExampleCriteria
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.prices import model_names
from rubricweb.services.judges import versions
from rubricweb.services.judges.definitions import definition_of
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.judges import words
from rubricweb.web.judges.definition_form import DefinitionForm
from rubricweb.web.judges.forms import NewJudge
from rubricweb.web.judges.parts.example_form import JudgeExampleForm
from rubricweb.web.judges.parts.member_form import MemberForm
from rubricweb.web.judges.parts.typed import LaidOut, rearranged, restored, turned, typed
from rubricweb.web.judges.parts.wording_fields import WordingFields, texts_typed
from rubricweb.web.judges.tries import try_form, try_typed
from rubricweb.web.shared.tries.answers import reads_lines

TURNED = (
    "The way of asking is another one: our instructions for it stand in the fields now. "
    "Your own texts stand below them. Look at both, then keep."
)

ROW_VERBS = ("add", "remove", "up", "down", "change")


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
        return _page(request, _form(request, base, judges, {"name": chosen["name"]}, None), None)

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
    begun, parent = _begun(request, judge)
    if request.method != "POST":
        form = _form(request, begun.definition, judges, {"parent": parent.number}, judge)
        form.initial["begun"] = begun.number
        return _page(request, form, judge)

    def keep(form: DefinitionForm) -> JudgeVersion:
        definition, note = form.definition(), form.cleaned_data["note"]
        if definition.digest == parent.digest:
            raise Invalid(f"Nothing is changed: {parent} asks just so.")
        return versions.keep_version(judge, definition, by=request.user, parent=parent, note=note)

    return _sent(request, begun.definition, judges, keep, judge, parent)


def _begun(request: TeamRequest, judge: Judge) -> tuple[JudgeVersion, JudgeVersion]:
    """The version that the page was opened with, which its rows are of; and the one that was seen last."""
    asked = request.POST.get("parent") if request.method == "POST" else request.GET.get("version")
    number = whole_number(asked, "The version")
    if number is None:
        newest = judge.current or judge.versions.order_by("-number").first()
        number = newest.number if newest else 0
    parent = access.access_numbered_version(judge, number)
    begun = whole_number(request.POST.get("begun"), "The version")
    return access.access_numbered_version(judge, begun) if begun else parent, parent


def _sent(
    request: TeamRequest,
    base: JudgeDefinition,
    judges: Mapping[str, JudgeConfig],
    keep: Callable[[DefinitionForm], JudgeVersion],
    judge: Judge | None,
    parent: JudgeVersion | None = None,
) -> HttpResponseBase:
    """Keeps what was sent; or the page again, with another way of asking, with ours put back, or refused."""
    data = request.POST
    if data.get("action") == "try" and (reads_lines(request) or not _is_turned(data)):
        form = _form(request, base, judges, {}, judge, data)
        page = partial(_page, request, form, judge)
        return try_typed(request, form, judge, parent, page, turned=_is_turned(data))
    if (laid_out := _laid_out(data, base, judges)) is not None:
        form = _form(request, base, judges, laid_out.values, judge)
        turned_now = form.initial["texts_for"] != data.get("texts_for")
        return _page(request, form, judge, turned=turned_now, laid_out=laid_out)
    form = _form(request, base, judges, {}, judge, data)
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


def _laid_out(data: QueryDict, base: JudgeDefinition, judges: Mapping[str, JudgeConfig]) -> LaidOut | None:
    """What the fields are to hold when a button asked for it, or the way of asking changed; else None."""
    edition = base.wording.edition
    action, _, place = data.get("action", "").partition(" ")
    verb, _, kind = action.partition("-")
    if verb in ROW_VERBS and kind in ("member", "example"):
        return rearranged(data, verb, kind, place, tuple(judges))
    if _is_turned(data):
        return LaidOut(turned(data, data.get("way", ""), edition))
    if action in ("ours", "back") and data.get("texts_for") in dict(words.ways()):
        return LaidOut(restored(data, place, edition, back=action == "back"))
    return LaidOut(typed(data)) if action == "way" else None


def _form(
    request: TeamRequest,
    base: JudgeDefinition,
    judges: Mapping[str, JudgeConfig],
    initial: Mapping[str, Any],
    judge: Judge | None,
    data: QueryDict | None = None,
) -> DefinitionForm:
    criteria = ExampleCriteria(request.team)
    return DefinitionForm(
        data, base=base, judges=judges, criteria=criteria, initial=initial, is_new=judge is None
    )


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
    again = _form(request, form.base, judges, initial, judge)
    return _page(request, again, judge, status=409, meanwhile=newest)


# ── What the page shows ──────────────────────────────────────────────────────────────────────────


def _page(
    request: TeamRequest,
    form: DefinitionForm,
    judge: Judge | None,
    *,
    status: int = 200,
    turned: bool = False,
    laid_out: LaidOut | None = None,
    meanwhile: JudgeVersion | None = None,
    **more: Any,
) -> HttpResponse:
    last = 0 if judge is None else judge.versions.order_by("-number").values_list("number", flat=True)[0]
    theirs = meanwhile.definition if meanwhile else None
    focused, pressed = (laid_out.focused, laid_out.button) if laid_out else ("", "")
    rows: tuple[MemberForm | JudgeExampleForm, ...] = (*form.members, *form.examples)
    for row in rows:
        if row.prefix == focused and not pressed:
            row.fields[row.first].widget.attrs["autofocus"] = True
    context = {
        "judge": judge,
        "form": form,
        "number": last + 1,
        "texts": list(_texts(form, form, theirs)),
        "members": [
            {
                "form": member,
                "texts": list(_texts(form, member, theirs)) if member.shows_own else [],
                "up": member.prefix == focused and pressed == "up",
                "down": member.prefix == focused and pressed == "down",
            }
            for member in form.members
        ],
        "model_names": model_names(form.judges),
        "member_gone": focused == "member",
        "example_gone": focused == "example",
        "deaf": words.deaf_words(form.base),
        "turned": TURNED if turned else "",
        "meanwhile": meanwhile,
        "their_settings": words.changed_settings(form.base, theirs) if theirs else [],
        "their_examples": theirs.examples if theirs and theirs.examples != form.base.examples else (),
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
    prefix, whose = (f"{told.prefix}-", f"{told.title}: ") if isinstance(told, MemberForm) else ("", "")
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
        wording = _theirs(told, theirs) if theirs else None
        if wording is not None and theirs is not None:
            typed_there = texts_typed(wording, words.way_of(theirs))
            kept = typed_there[f"whole_{one}"] or typed_there[f"text_{one}"]
            mine = str(whole.value() or text.value() or "").replace("\r\n", "\n").strip()
            block |= {"theirs": kept, "words": word_diff(kept, mine) if kept.strip() != mine else ()}
        yield block


def _theirs(told: WordingFields, theirs: JudgeDefinition) -> JudgeWording | None:
    """What another version tells in the place of these texts; None where it has no such member."""
    if not isinstance(told, MemberForm):
        return theirs.wording
    same = [one.wording or theirs.wording for one in theirs.members if one.name == told.title]
    return next(iter(same), None)
