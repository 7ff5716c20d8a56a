"""Pages of a queue's gold items: for editors, and for a rater after the calibration round."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden
from rubricweb.models import Rater, ReviewQueue, Role, User
from rubricweb.selectors.reviews import calibration as selectors
from rubricweb.selectors.reviews.leads import gold_pauses
from rubricweb.services.reviews import calibration as services
from rubricweb.services.reviews.leads import gold_pauses as pauses
from rubricweb.web.http import TeamRequest, now, team_page
from rubricweb.web.reviews.calibration_forms import CalibrationRulesForm, MarkGoldForm
from rubricweb.web.shared.titles import item_name, titles


@team_page(Role.EDITOR)
@require_GET
def gold(request: TeamRequest, queue_id: int) -> HttpResponse:
    return _page(request, access.access_queue(request.team, queue_id))


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def mark(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    form = MarkGoldForm(request.POST, queue=queue, viewer=request.user)

    def change() -> str:
        chosen = form.cleaned_data
        new = services.mark_gold(
            queue, by=request.user, item_ids=chosen["keys"], at_random=chosen["at_random"]
        )
        return f"{new} more {'item is' if new == 1 else 'items are'} gold."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _page(request, queue, marking=form)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def rules(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    form = CalibrationRulesForm(request.POST)

    def change() -> str:
        services.set_rules(queue, by=request.user, **_stored(queue) | form.changes)
        return f"The calibration of {queue} is changed."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _page(request, queue, rules=form)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def unmark(request: TeamRequest, queue_id: int, item_id: int) -> HttpResponse:
    queue, item = access.access_queue(request.team, queue_id), access.access_item(request.team, item_id)
    services.unmark_gold(queue, item.pk, by=request.user)
    return _changed(request, queue, f"{item_name(request, item)} is not gold any more.")


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def let_on(request: TeamRequest, queue_id: int, rater_id: int) -> HttpResponse:
    return _decide(request, queue_id, rater_id, services.let_on, "{} may go on.")


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def try_again(request: TeamRequest, queue_id: int, rater_id: int) -> HttpResponse:
    return _decide(request, queue_id, rater_id, services.try_again, "{} may try again, on other gold items.")


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def end_pause(request: TeamRequest, queue_id: int, rater_id: int) -> HttpResponse:
    def end(queue: ReviewQueue, rater: Rater, *, by: User) -> None:
        pauses.end(queue, rater, by=by, now=now())

    return _decide(request, queue_id, rater_id, end, "{} is not paused any more.")


@team_page(Role.ANNOTATOR)
@require_GET
def mine(request: TeamRequest, queue_id: int) -> HttpResponse:
    """How one's own round went; before it is over, only how far one is."""
    queue = access.access_queue(request.team, queue_id)
    calibration = selectors.my_calibration(queue, request.user)
    context = {
        "queue": queue,
        "mine": calibration,
        "whom": selectors.whom_to_ask(queue),
        "pause": gold_pauses.own_pause(queue, request.user.pk),
    }
    context |= titles(request, [one.item.pk for one in calibration.answers])
    return render(request, "reviews/calibration/calibration_mine.html", context)


def _decide(
    request: TeamRequest, queue_id: int, rater_id: int, decide: Callable[..., None], words: str
) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    rater: Rater = access.access_rater(queue, rater_id)
    try:
        decide(queue, rater, by=request.user)
    except (Conflict, Forbidden) as error:
        messages.error(request, str(error))
        return redirect("queue_gold", request.team.slug, queue.pk)
    return _changed(request, queue, words.format(rater))


def _changed(request: TeamRequest, queue: ReviewQueue, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("queue_gold", request.team.slug, queue.pk)


def _stored(queue: ReviewQueue) -> dict[str, Any]:
    """The rules as they are now."""
    return {name: getattr(queue, name) for name in CalibrationRulesForm.base_fields}


def _page(request: TeamRequest, queue: ReviewQueue, **refused: Any) -> HttpResponse:
    overview = selectors.gold_overview(queue, request.user)
    context = {
        "queue": queue,
        "overview": overview,
        **titles(request, [item.pk for item in overview.items]),
        "marking": MarkGoldForm(queue=queue, viewer=request.user),
        "rules": CalibrationRulesForm(initial=_stored(queue)),
    }
    return render(
        request, "reviews/calibration/calibration.html", context | refused, status=422 if refused else 200
    )
