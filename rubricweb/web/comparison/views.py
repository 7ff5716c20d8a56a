"""Comparison: judge against people in figures, where they differ, and the verdict that stands."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from rubricweb import access
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Criterion, Item, ReviewQueue, Role, Run, RunState
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.comparison import comparison as selected
from rubricweb.selectors.comparison.findings import findings
from rubricweb.selectors.comparison.item import CriterionVoices, item_comparison
from rubricweb.selectors.labels import comparable
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.reviews.reviews import Measured, measured
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.services import adjudications as services
from rubricweb.web.comparison.forms import (
    Asked,
    Decision,
    decision_for,
    read_asked,
    read_seen,
    require_known_cell,
)
from rubricweb.web.http import TeamRequest, team_page


@team_page(Role.VIEWER)
@require_GET
def compare(request: TeamRequest) -> HttpResponse:
    asked, choice = _asked(request)
    context: dict[str, Any] = {"asked": asked, "choice": choice}
    if choice.run is None or not choice.queues:
        context["lacking"] = comparable.lacking(request.team, choice)
        answer = render(request, "comparison/nothing.html", context)
        if request.htmx:
            answer["HX-Redirect"] = request.get_full_path()
        return answer
    run = choice.run
    found = selected.compare(run, choice.queues, viewer=request.user)
    rows = selected.disagreements(run, choice.queues, team=request.team, viewer=request.user)
    context |= {
        "found": found,
        "binary": [row for row in found.criteria if row.criterion.kind == "binary"],
        "choices": [row for row in found.criteria if row.options is not None],
        "checks": [row for row in found.criteria if row.mean_value is not None],
        "findings": findings(found),
        "holistic": comparable.is_holistic(run),
        "running": run.state == RunState.RUNNING,
        "open_disagreements": len(rows),
        "revisions": revision_rates(run, choice.queues, viewer=request.user),
    }
    if run.rubric_version is not None:
        context["work"] = selected.rubric_work(request.team, run.rubric_version.pk, viewer=request.user)
    return _whole_or_part(request, "compare", context)


@team_page(Role.VIEWER)
@require_GET
def disagreements(request: TeamRequest) -> HttpResponse:
    """The inbox: kinds and criteria narrow the list after it was counted, so that every count is shown."""
    asked, choice = _asked(request)
    rows = _rows(request, choice.run, choice.queues, asked, narrowed=False)
    page = selected.disagreement_page(
        rows, kind=asked.kind, criterion_id=asked.criterion_id, cursor=asked.cursor or None
    )
    kinds = [("", "All", page.everything), *((kind, kind.capitalize(), count) for kind, count in page.kinds)]
    context = {
        "asked": asked,
        "choice": choice,
        "page": page,
        "open_disagreements": _open_count(request, choice, asked, rows),
        "cell_criterion": next((one for one, _ in page.criteria if one.pk == asked.criterion_id), None),
        "kinds": [(kind, label, count, asked.query(kind=kind)) for kind, label, count in kinds],
        "without_cell": asked.query(judged="", truth=""),
        "hidden_items": selected.items_left_out(request.team, choice.queues, viewer=request.user),
        "kept": asked.fields(without=("criterion", "decided")),
        "may_adjudicate": request.membership.role >= Role.REVIEWER,
    }
    return _whole_or_part(request, "disagreements", context)


@team_page(Role.VIEWER)
@require_GET
def item(request: TeamRequest, item_id: int) -> HttpResponse:
    """One item with everybody's verdicts; for a rater who is still to review it blind, only the item."""
    found = access.item_for(request.team, item_id)
    asked, run, queues = _asked_for_item(request, found)
    return _item_page(request, found, asked, run, queues)


@team_page(Role.VIEWER, post=Role.REVIEWER)
def adjudicate(request: TeamRequest, item_id: int, criterion_id: int) -> HttpResponse:
    """Decides one criterion and goes on to the next disagreement of the list the person came from.

    Opened, as after reloading a refused form, it leads back to the item.
    """
    found = access.item_for(request.team, item_id)
    criterion = criterion_for(found, criterion_id)
    asked, run, queues = _asked_for_item(request, found)
    if request.method != "POST":
        url = reverse("compare_item", args=[request.team.slug, found.pk])
        return redirect(f"{url}?{asked.query(at=criterion.pk)}")
    require_visible(request.user, found)
    form = Decision(request.POST, criterion=criterion)
    if not form.is_valid():
        return _item_page(request, found, asked, run, queues, refused=(criterion, form))
    around = selected.around(_rows(request, run, queues, asked), found.pk, criterion.pk)
    try:
        services.adjudicate(
            found,
            criterion,
            by=request.user,
            verdict=form.decided,
            cause=form.cleaned_data["cause"],
            reason=form.cleaned_data["reason"].replace("\r\n", "\n"),
            seen=read_seen(request.POST.get("seen")),
        )
    except Invalid as error:
        form.refuse(error)
        return _item_page(request, found, asked, run, queues, refused=(criterion, form))
    except Conflict as error:
        messages.warning(request, str(error))
        return _item_page(request, found, asked, run, queues, refused=(criterion, form), status=409)
    messages.success(request, f"{criterion.name} of {found} is decided: {form.decided}.")
    following = around.after or around.before
    if following is None:
        return redirect(f"{reverse('disagreements', args=[request.team.slug])}?{asked.here}")
    return redirect(_item_url(request, following, asked))


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _whole_or_part(request: TeamRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """The page, or for htmx the part of it that the choices at its top change."""
    part = request.htmx and not request.htmx.boosted
    return render(request, f"comparison/{'_' if part else ''}{name}.html", context)


def _asked(request: TeamRequest) -> tuple[Asked, comparable.Choice]:
    asked = read_asked(request.GET)
    run = access.run_for(request.team, asked.run_id) if asked.run_id is not None else None
    queues = access.queues_for(request.team, asked.queue_ids)
    choice = comparable.choice(request.team, run=run, asked=queues)
    _require_known_cell(asked, choice.run, choice.queues)
    return asked.of(choice.run, choice.queues), choice


def _asked_for_item(request: TeamRequest, item: Item) -> tuple[Asked, Run | None, tuple[ReviewQueue, ...]]:
    """As asked, or the run and queues of the item's own dataset."""
    asked = read_asked(request.GET)
    run = access.run_for(request.team, asked.run_id) if asked.run_id is not None else None
    queues = access.queues_for(request.team, asked.queue_ids)
    if not queues:
        queues = people_first(list(comparable.labelled_queues(item.dataset_id, team=request.team)))
    if run is None and not asked.queue_ids:
        run = comparable.run_to_compare(request.team, queues) if queues else comparable.run_with(item)
    _require_known_cell(asked, run, tuple(queues))
    return asked.of(run, queues), run, tuple(queues)


def _require_known_cell(asked: Asked, run: Run | None, queues: tuple[ReviewQueue, ...]) -> None:
    if asked.judged or asked.truth:
        criteria = comparable.criteria_of(run, queues)
        require_known_cell(asked, criteria.filter(pk=asked.criterion_id or 0).first())


def _rows(
    request: TeamRequest,
    run: Run | None,
    queues: tuple[ReviewQueue, ...],
    asked: Asked,
    *,
    narrowed: bool = True,
) -> list[selected.Disagreement]:
    return selected.disagreements(
        run,
        queues,
        team=request.team,
        viewer=request.user,
        criterion_id=asked.criterion_id if narrowed else None,
        kind=asked.kind if narrowed else "",
        judged=asked.judged,
        truth=asked.truth,
        include_decided=asked.decided,
    )


def _open_count(
    request: TeamRequest, choice: comparable.Choice, asked: Asked, rows: list[selected.Disagreement]
) -> int:
    """How many disagreements wait, whatever the list is narrowed to."""
    if asked.judged or asked.truth or asked.decided:
        rows = selected.disagreements(choice.run, choice.queues, team=request.team, viewer=request.user)
    return len(rows)


def _item_page(
    request: TeamRequest,
    item: Item,
    asked: Asked,
    run: Run | None,
    queues: tuple[ReviewQueue, ...],
    *,
    refused: tuple[Criterion, Decision] | None = None,
    status: int = 422,
) -> HttpResponse:
    """The item's page; `refused` is the form that was sent and could not be taken, shown as it was typed."""
    context: dict[str, Any] = {"asked": asked, "item": item, "submission": item.to_engine(), "run": run}
    context["thread"] = comments.thread(item, viewer=request.user, run=run, queues=queues)
    try:
        seen = item_comparison(item, run, queues, viewer=request.user, names=asked.names)
        if asked.names:
            note_names(request, item)
    except Withheld as error:
        return render(request, "comparison/item.html", context | {"withheld": str(error)})
    at = refused[0].pk if refused else asked.at
    around = selected.around(_rows(request, run, queues, asked), item.pk, at)
    forms = {row.criterion.pk: decision_for(row) for row in seen.criteria}
    if refused:
        forms[refused[0].pk] = refused[1]
    context |= {
        "seen": seen,
        "rows": [(row, forms[row.criterion.pk], _measured(row, item)) for row in seen.criteria],
        "around": around,
        "at": at or seen.first_open_id,
        "names_query": asked.query(at=at, names="" if asked.names else "1"),
        "before_url": _item_url(request, around.before, asked),
        "after_url": _item_url(request, around.after, asked),
        "may_adjudicate": request.membership.role >= Role.REVIEWER,
    }
    return render(request, "comparison/item.html", context, status=status if refused else 200)


def note_names(request: TeamRequest, item: Item) -> None:
    """Who looks behind the letters is written down, once per item and sign-in."""
    noted = request.session.get("names_shown", [])
    if item.pk not in noted:
        services.note_names_shown(item, by=request.user)
        request.session["names_shown"] = [*noted, item.pk][-1000:]


def _measured(row: CriterionVoices, item: Item) -> Measured | None:
    """What a check finds in the item; nobody has to decide that."""
    return measured(row.criterion, item.to_engine()) if row.criterion.kind == "check" else None


def _item_url(request: TeamRequest, row: selected.Disagreement | None, asked: Asked) -> str:
    """Where a row of the list opens, with the filters it was found by; "" for no row."""
    if row is None:
        return ""
    url = reverse("compare_item", args=[request.team.slug, row.item_id])
    return f"{url}?{asked.query(at=row.criterion.pk)}#criterion-{row.criterion.pk}"
