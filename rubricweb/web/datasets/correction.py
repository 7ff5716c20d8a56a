"""Pages on which an answer, or the words of a case, are corrected."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import NOT_RETIRED, Case, Item, Role
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.items import is_sole_answer
from rubricweb.services.datasets.changes import corrections as services
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.datasets.changes.retirement import ChangePlan
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.datasets.forms import CorrectionForm
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.titles import titles


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
def item(request: TeamRequest, item_id: int) -> HttpResponse:
    """The right words of an answer, and what stands behind the wrong ones."""
    item = access.access_item(request.team, item_id)
    is_sent = request.method == "POST"
    # What was typed while somebody else corrected the item is shown again, with why it is refused.
    if (item.retired_in != NOT_RETIRED and not is_sent) or item.dataset.sealed_as:
        messages.info(request, "Only current items outside of sealed splits can be corrected.")
        return redirect("item", request.team.slug, item.pk)
    words = {"submission": item.submission}
    if item.thinking is not None:
        words["thinking"] = item.thinking
    opened = _wording(request, item.case)
    of_case = _case_words(item if item.wording == opened else words_of(Case(pk=item.case_id, wording=opened)))
    if not is_sole_answer(item):
        # Another answer may have come since the form was opened.
        of_case = {name: text for name, text in of_case.items() if name in request.POST}
    form = CorrectionForm(request.POST or None, words | of_case, wording=item.case.wording)
    made = _made(request, form, partial(services.correct_item, item))
    if isinstance(made, ChangePlan):
        messages.success(request, f"Corrected: version {made.version} of {item.dataset}.")
        return redirect("item", request.team.slug, made.replacement)
    back = reverse("item", args=[request.team.slug, item.pk])
    context = {
        "dataset": item.dataset,
        "item": item,
        "plan": services.behind_item(item, request.user),
        "back": back,
    }
    is_retired = item.retired_in != NOT_RETIRED
    if isinstance(made, Conflict) and not is_retired and is_sole_answer(item):
        context["words_now"] = _words_now(form, item.case, of_case)
    context["is_retired"] = is_retired
    context["has_earlier_words"] = bool(of_case) and item.wording != item.case.wording
    return _page(request, form, context | titles(request, [item.pk]))


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
def case(request: TeamRequest, case_id: int) -> HttpResponse:
    """The right words of a case, and what stands behind the wrong ones."""
    case = access.access_case(request.team, case_id)
    back = reverse("dataset", args=[request.team.slug, case.dataset_id])
    if case.dataset.sealed_as:
        messages.info(request, "Cases of sealed splits stay as they are.")
        return redirect(back)
    words = _case_words(words_of(Case(pk=case.pk, wording=_wording(request, case))))
    form = CorrectionForm(request.POST or None, words, wording=case.wording)
    made = _made(request, form, partial(services.correct_case, case))
    if isinstance(made, ChangePlan):
        messages.success(request, f"Corrected: version {made.version} of {case.dataset}.")
        return redirect(back)
    context = {"dataset": case.dataset, "plan": services.behind_case(case, request.user), "back": back}
    if isinstance(made, Conflict):
        context["words_now"] = _words_now(form, case, words)
    return _page(request, form, context)


def _wording(request: TeamRequest, case: Case) -> int:
    """The number of the words a form was opened with, which it is compared with; else of the present ones."""
    sent = request.POST.get("wording", "")
    number = int(sent) if sent.isdecimal() and len(sent) < 10 else case.wording
    return number if 1 <= number <= case.wording else case.wording


def _case_words(asked: Item) -> dict[str, str]:
    """The words of the case that are texts: a conversation is corrected by API or command line."""
    shown = asked.to_engine()
    words = {"reference": shown.reference or ""}
    if shown.query is None or isinstance(shown.query, str):
        words = {"prompt": shown.query or "", **words}
    return words


def _made(
    request: TeamRequest, form: CorrectionForm, correct: Callable[..., ChangePlan]
) -> ChangePlan | Conflict | None:
    """What was done; the Conflict that is in the way of it; None for a form to be filled in."""
    if request.method != "POST" or not form.is_valid():
        return None
    try:
        words: dict[str, Any] = dict(form.changed_words())
        return correct(
            Correction(**words),
            by=request.user,
            note=form.cleaned_data["note"],
            expected_wording=form.cleaned_data["wording"],
        )
    except (Invalid, Conflict) as error:
        form.refuse(error)
        return error if isinstance(error, Conflict) else None


def _words_now(form: CorrectionForm, case: Case, opened: dict[str, str]) -> list[tuple[str, str]] | None:
    """(label, text) of the present words that the form would replace; None where they are those `opened`.

    The form goes on from the present words, else it would be refused for good: whoever sends it again has
    seen them. What was typed stays in it, and fields nobody changed take the present words.
    """
    if form.cleaned_data["wording"] in (None, case.wording):
        return None
    sent = {name: form.data.get(name, "") for name in form.fields} | {"wording": str(case.wording)}
    replaced = []
    for name, text in _case_words(words_of(case)).items():
        if name not in form.fields:
            continue
        if _same(sent[name], opened.get(name)):
            sent[name] = text
        elif not _same(sent[name], text):
            replaced.append((str(form.fields[name].label), text))
    form.data = sent
    return replaced


def _same(one: str, other: str | None) -> bool:
    """Line ends aside."""
    return other is not None and one.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _page(request: TeamRequest, form: CorrectionForm, context: dict[str, Any]) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(request, "datasets/versions/correct.html", context | {"form": form}, status=status)
