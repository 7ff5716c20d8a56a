"""Pages about judges: which there are, one of them with its versions, and what two versions differ in."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Judge, JudgeVersion, Role
from rubricweb.selectors import judges as selectors
from rubricweb.selectors.comparison.judge_versions import judge_agreement
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.selectors.shared.judge_use import last_used
from rubricweb.services.datasets.halves.looks import count_look
from rubricweb.services.judges import versions
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.judges import words
from rubricweb.web.judges.answer import shown_answer
from rubricweb.web.judges.forms import JudgeWordsForm
from rubricweb.web.shared.archived import archive_link, archive_words, done_by
from rubricweb.web.shared.tries.form import TryForm


@team_page(Role.VIEWER)
@require_safe
def judges(request: TeamRequest) -> HttpResponse:
    """The team's judges, or those archived."""
    archived = request.GET.get("archived") == "1"
    page = selectors.judges(request.team, archived=archived, cursor=request.GET.get("cursor"))
    used = last_used(page.rows)
    listed = [
        {
            "judge": judge,
            "last_used": used.get(judge.pk),
            "way": words.way_name(definition.autograder, definition.reply_format) if definition else "",
            "models": words.models_of(definition) if definition else "",
        }
        for judge in page.rows
        for definition in [judge.current.definition if judge.current else None]
    ]
    context = {"judges": listed, "page": page, **archive_link(request, Judge)}
    return render(request, "judges/judges.html", context)


@team_page(Role.VIEWER)
@require_safe
def judge(request: TeamRequest, judge_id: int) -> HttpResponse:
    """What its current version is, and every version; `version` shows an earlier one in its place."""
    found = access.access_judge(request.team, judge_id)
    return _page(request, found, JudgeWordsForm(initial=_words_of(found)))


@team_page(Role.EDITOR)
@require_POST
def change(request: TeamRequest, judge_id: int) -> HttpResponse:
    """Another name, slug or note."""
    found = access.access_judge(request.team, judge_id)
    form = JudgeWordsForm(request.POST)
    if form.is_valid():
        try:
            versions.change_judge(found, by=request.user, **form.cleaned_data)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, "Changed.")
            return _to(request, found)
    return _page(request, access.access_judge(request.team, judge_id), form, status=422)


@team_page(Role.EDITOR)
@require_POST
def make_current(request: TeamRequest, judge_id: int, number: int) -> HttpResponse:
    """What is meant from now on where no version is named."""
    version = access.access_numbered_version(access.access_judge(request.team, judge_id), number)
    require_judge_visible(version.judge, request.user)
    versions.make_current(version, by=request.user)
    messages.success(request, f"{version} is the current version now.")
    return _to(request, version.judge)


@team_page(Role.EDITOR)
@require_POST
def archive(request: TeamRequest, judge_id: int) -> HttpResponse:
    """Archives or restores it, as `action` says."""
    found = access.access_judge(request.team, judge_id)
    messages.success(request, done_by(request.POST.get("action", ""), found, by=request.user))
    return _to(request, found)


@team_page(Role.VIEWER)
@require_safe
def diff(request: TeamRequest, judge_id: int) -> HttpResponse:
    """What changed from one version to another: usually to the newest, from the one it was made from."""
    found = access.access_judge(request.team, judge_id)
    require_judge_visible(found, request.user)
    numbers = list(found.versions.order_by("-number").values_list("number", flat=True))
    after = _numbered(request, found, "to", numbers[0] if numbers else 0)
    parent = after.parent
    near = parent.number if parent and parent.judge_id == found.pk else max(after.number - 1, 1)
    before = _numbered(request, found, "from", near)
    changes = selectors.changes_between(before, after, viewer=request.user)
    context = {
        "judge": found,
        "numbers": numbers,
        "before": before,
        "after": after,
        "settings": words.setting_changes(changes),
        "texts": words.text_changes(changes, words.way_of(after.definition)),
    }
    return render(request, "judges/diff.html", context)


def _may_try(request: TeamRequest, judge: Judge, context: dict[str, Any]) -> bool:
    """Whether the page offers to try the version: to editors, from whom nothing of the judge is withheld."""
    there = context["shown"] is not None and judge.archived_at is None and request.team.archived_at is None
    return there and request.membership.may(Role.EDITOR) and not context["withheld"]


def _numbered(request: TeamRequest, judge: Judge, name: str, usual: int) -> JudgeVersion:
    number = whole_number(request.GET.get(name, "").removeprefix("v"), "The version")
    return access.access_numbered_version(judge, usual if number is None else number)


def _to(request: TeamRequest, judge: Judge) -> HttpResponse:
    return redirect("judge", request.team.slug, judge.pk)


def _words_of(judge: Judge) -> dict[str, str]:
    return {"name": judge.name, "slug": judge.slug, "note": judge.note}


def version_page(
    request: TeamRequest, judge: Judge, *, shown: JudgeVersion, status: int = 200, **more: Any
) -> HttpResponse:
    """The page of a judge with one of its versions, as after a try."""
    return _page(request, judge, JudgeWordsForm(initial=_words_of(judge)), shown=shown, status=status, **more)


def _page(
    request: TeamRequest,
    judge: Judge,
    form: JudgeWordsForm,
    *,
    status: int = 200,
    shown: JudgeVersion | None = None,
    **more: Any,
) -> HttpResponse:
    number = whole_number(request.GET.get("version"), "The version")
    if shown is None:
        shown = judge.current if number is None else access.access_numbered_version(judge, number)
    context: dict[str, Any] = {"judge": judge, "form": form, "shown": shown, **archive_words(judge)}
    if shown is not None:
        shown.judge = judge
        seen = selectors.visible_version(shown, request.user)
        definition = seen.definition
        context |= {
            "withheld": seen.withheld,
            "settings": words.settings_of(definition, withheld=seen.withheld),
            "texts": words.texts_of(definition),
            "deaf": words.deaf_words(definition),
            "grade_url": f"{reverse('run_new', args=[request.team.slug])}?judge={shown}",
        }
        if not seen.withheld:
            dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
            agreement = judge_agreement(judge, shown, viewer=request.user, dataset_id=dataset_id)
            if agreement.comparison is not None:
                agreement = replace(agreement, comparison=count_look(agreement.comparison, by=request.user))
            context |= shown_answer(agreement, shown, request.team)
    context["versions"] = selectors.visible_versions(judge, request.user)
    if _may_try(request, judge, context):
        context["try_form"] = TryForm(team=request.team, viewer=request.user, judge=judge)
        context["try_url"] = reverse("judge_try", args=[request.team.slug, judge.pk])
    context |= more
    return render(request, "judges/judge.html", context, status=status)
