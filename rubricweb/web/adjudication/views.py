"""The inbox of adjudication: what people and judges differ on, decided one by one or accepted at once."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Criterion, Item, ReviewQueue, Role
from rubricweb.selectors.adjudication import inbox as selected
from rubricweb.selectors.adjudication.units import aliases, own_decision, unit_to_decide
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.comparison.comparison import cell_units
from rubricweb.selectors.labels.adjudications import criterion_for, labelling_queues
from rubricweb.selectors.labels.comparable import criteria_of, labelled_queues
from rubricweb.selectors.labels.ground_truth import Unit
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.reviews.leads.returns import returnable
from rubricweb.services import adjudications as services
from rubricweb.web.adjudication.forms import (
    DecisionForm,
    InboxQuery,
    decision_for,
    read_asked,
    read_seen,
    require_known_cell,
)
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.saved_views.of_list import views_of_list
from rubricweb.web.shared.names import are_names_shown
from rubricweb.web.shared.selections import selected_units, use
from rubricweb.web.shared.titles import item_name, titles


@team_page(Role.VIEWER)
@require_GET
def inbox(request: TeamRequest) -> HttpResponse:
    """The list: kind and criteria narrow it after it was counted, so that every count is shown."""
    asked, where = _asked(request)
    rows = selected.inbox(where, decided=asked.decided, cause=asked.cause, only=_cell(where, asked))
    page = selected.inbox_page(
        where, rows, kind=asked.kind, criterion_ids=asked.criterion_ids, cursor=asked.cursor
    )
    kinds = [("", "All", page.everything), *((kind, kind.capitalize(), count) for kind, count in page.kinds)]
    context: dict[str, Any] = {
        **views_of_list(request, "inbox"),
        "asked": asked,
        "page": page,
        "kinds": [(kind, label, count, asked.query(kind=kind)) for kind, label, count in kinds],
        "queues": labelled_queues(team=request.team),
        "chosen_queues": where.queues if asked.queue_ids else (),
        "queue": _one_queue(asked, where),
        "run": next((run for run in where.runs if run.pk == asked.run_id), None),
        "launched_with": asked.run_id is not None and len(where.runs) > 1,
        "cell_criterion": _cell_criterion(where, asked),
        "undo": _undo(request, asked),
        "may_adjudicate": request.membership.may(Role.REVIEWER),
        "may_edit": request.membership.may(Role.EDITOR),
    }
    undone = [context["undo"]["item"].pk] if context["undo"] else []
    context |= titles(request, [*(row.item_id for row in page.rows), *undone])
    part = request.htmx and not request.htmx.boosted
    return render(request, f"adjudication/{'_' if part else ''}inbox.html", context)


@team_page(Role.VIEWER)
@require_POST
def select(request: TeamRequest) -> HttpResponse:
    """Goes on with the ticked units, or with the whole list, to what is to be done with their items."""
    asked, where = _asked(request)
    units = selected_units(request.POST)
    if request.POST.get("all") == "1":
        units = [(row.item_id, row.criterion.pk) for row in _rows(where, asked)]
    return use(
        request,
        [item_id for item_id, _ in units],
        criterion_ids=[criterion_id for _, criterion_id in units],
        back=f"{reverse('adjudication', args=[request.team.slug])}?{asked.here}",
        run_id=asked.run_id,
    )


@team_page(Role.VIEWER, post=Role.REVIEWER)
def unit(request: TeamRequest, item_id: int, criterion_id: int) -> HttpResponseBase:
    """One unit with everybody's word; deciding it goes on to the next of the list one came from."""
    item = access.access_item(request.team, item_id)
    criterion = criterion_for(item, criterion_id)
    asked, where = _asked(request)
    if request.method != "POST":
        return _unit_page(request, item, criterion, asked, where)
    require_visible(request.user, item)
    form = DecisionForm(request.POST, criterion=criterion)
    if not form.is_valid():
        return _unit_page(request, item, criterion, asked, where, form=form, status=422)
    following = selected.after_deciding(_rows(where, asked), item.pk, criterion)
    try:
        services.adjudicate(
            item,
            criterion,
            by=request.user,
            verdict=form.decided,
            cause=form.cleaned_data["cause"],
            reason=form.cleaned_data["reason"].replace("\r\n", "\n"),
            seen=read_seen(request.POST.get("seen")),
            queue=_one_queue(asked, where),
        )
    except Invalid as error:
        form.refuse(error)
        return _unit_page(request, item, criterion, asked, where, form=form, status=422)
    except Conflict as error:
        return _unit_page(request, item, criterion, asked, where, form=form, problem=str(error), status=409)
    last = f"{item.pk}-{criterion.pk}"
    if following is None or (following.item_id, following.criterion.pk) == (item.pk, criterion.pk):
        url = f"{reverse('adjudication', args=[request.team.slug])}?{asked.query(last=last)}"
    else:
        url = _unit_url(request, following, asked, last=last)
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


@team_page(Role.VIEWER, post=Role.REVIEWER)
@require_POST
def undo(request: TeamRequest, item_id: int, criterion_id: int) -> HttpResponse:
    """Takes one's decision back, so that the one before stands, and opens the unit again."""
    item = access.access_item(request.team, item_id)
    criterion = criterion_for(item, criterion_id)
    asked, _ = _asked(request)
    stands = services.withdraw(item, criterion, by=request.user, seen=read_seen(request.POST.get("seen")))
    again = f" {stands.verdict}, decided before, stands again." if stands else ""
    undone = f"The decision on {criterion.title} of {item_name(request, item)} is undone."
    messages.success(request, undone + again)
    url = reverse("adjudication_unit", args=[request.team.slug, item.pk, criterion.pk])
    return redirect(f"{url}?{asked.here}")


@team_page(Role.REVIEWER)
def accept(request: TeamRequest, queue_id: int) -> HttpResponse:
    """Says how many units of a queue everybody agrees on; sent, these are decided as they say."""
    queue = access.access_queue(request.team, queue_id)
    if request.method == "POST":
        accepted = services.accept_agreed(queue, by=request.user)
        messages.success(request, f"{counted(accepted, 'unit')} of {queue} accepted.")
        return redirect(f"{reverse('adjudication', args=[request.team.slug])}?queue={queue.pk}")
    where = selected.scope(request.team, request.user, [queue])
    context = {
        "queue": queue,
        "agreed": selected.agreed(queue, request.user),
        "runs": where.runs,
        "waiting": len(selected.inbox(where)),
        "hidden_items": selected.items_left_out(where),
    }
    return render(request, "adjudication/accept.html", context)


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _asked(request: TeamRequest) -> tuple[InboxQuery, selected.Scope]:
    asked = read_asked(request.GET)
    queues = access.access_queues(request.team, asked.queue_ids)
    run = access.access_run(request.team, asked.run_id) if asked.run_id is not None else None
    where = selected.scope(request.team, request.user, queues, run)
    require_known_cell(asked, _cell_criterion(where, asked))
    return asked, where


def _one_queue(asked: InboxQuery, where: selected.Scope) -> ReviewQueue | None:
    """The queue whose list this is, None for that of several."""
    return where.queues[0] if len(asked.queue_ids) == 1 and where.queues else None


def _cell_criterion(where: selected.Scope, asked: InboxQuery) -> Criterion | None:
    """The criterion whose matrix is asked about; None for the matrix of all binary criteria."""
    if not asked.is_cell or len(asked.criterion_ids) != 1:
        return None
    return criteria_of(where.runs[0], where.queues).filter(pk=asked.criterion_ids[0]).first()


def _cell(where: selected.Scope, asked: InboxQuery) -> list[Unit] | None:
    if not asked.is_cell:
        return None
    criterion = _cell_criterion(where, asked)
    return cell_units(
        where.runs[0], where.queues, judged=asked.judged, truth=asked.truth, criterion=criterion
    )


def _rows(where: selected.Scope, asked: InboxQuery) -> list[selected.InboxUnit]:
    return selected.inbox(
        where,
        criterion_ids=asked.criterion_ids,
        kind=asked.kind,
        decided=asked.decided,
        cause=asked.cause,
        only=_cell(where, asked),
    )


def _unit_page(
    request: TeamRequest,
    item: Item,
    criterion: Criterion,
    asked: InboxQuery,
    where: selected.Scope,
    *,
    form: DecisionForm | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """The unit's page; `form` is one that was sent and could not be taken, shown as it was typed."""
    names = are_names_shown(request, item)
    context: dict[str, Any] = {
        "asked": asked,
        "item": item,
        **titles(request, [item.pk, *([asked.last[0]] if asked.last else [])]),
        "criterion": criterion,
        "queue": _one_queue(asked, where),
        "submission": item.to_engine(),
        "thread": comments.thread(
            item,
            viewer=request.user,
            queues=labelling_queues([item])[item.pk],
            letters=None if names else aliases(item),
        ),
    }
    try:
        seen = unit_to_decide(item, criterion, viewer=request.user, names=names)
    except Withheld as error:
        return render(request, "adjudication/unit.html", context | {"withheld": str(error)})
    rows = _rows(where, asked)
    around = selected.around(rows, item.pk, criterion)
    of_item = selected.of_item(rows, item.pk, criterion)
    context |= {
        "units": [(row, _unit_url(request, row, asked)) for row in selected.shown(where, of_item)],
        "unit": seen,
        "form": form or decision_for(seen),
        "problem": problem,
        "around": around,
        "before_url": _unit_url(request, around.before, asked),
        "after_url": _unit_url(request, around.after, asked),
        "names": names,
        "returnable": returnable(item, request.user, letters=None if names else aliases(item)),
        "undo": _undo(request, asked),
        "may_adjudicate": request.membership.may(Role.REVIEWER),
    }
    return render(request, "adjudication/unit.html", context, status=status)


def _undo(request: TeamRequest, asked: InboxQuery) -> dict[str, Any] | None:
    """The decision made just before, as its form names it; None when there is none to take back."""
    if asked.last is None:
        return None
    item = access.access_item(request.team, asked.last[0])
    criterion = criterion_for(item, asked.last[1])
    decision = own_decision(item, criterion, by=request.user)
    if decision is None:
        return None
    url = reverse("adjudication_undo", args=[request.team.slug, item.pk, criterion.pk])
    return {"decision": decision, "item": item, "criterion": criterion, "url": f"{url}?{asked.here}"}


def _unit_url(request: TeamRequest, row: selected.InboxUnit | None, asked: InboxQuery, **more: str) -> str:
    """Where a row of the list opens, with the filters it was found by; "" for no row."""
    if row is None:
        return ""
    url = reverse("adjudication_unit", args=[request.team.slug, row.item_id, row.criterion.pk])
    return f"{url}?{asked.query(**more)}"
