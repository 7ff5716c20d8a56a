"""Pages after submitting: everybody's verdicts beside one's own, and what one makes of them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden, Invalid, Withheld
from rubricweb.models import QueueState, Review, ReviewState, RevisionChoice, Role
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.reviews import reveals as selected
from rubricweb.selectors.reviews.leads.returns import open_return
from rubricweb.selectors.reviews.reviews import review_for, sheet
from rubricweb.services.reviews import revisions as services
from rubricweb.services.reviews.leads import returns as leads
from rubricweb.web.http import TeamRequest, now, team_page, text_of
from rubricweb.web.reviews.forms import read_label
from rubricweb.web.reviews.views import locked, panes
from rubricweb.web.shared.titles import item_name
from rubricweb.web.way_back import page_before


@dataclass(frozen=True)
class RefusedRevision:
    """A form that was refused, to be shown as it was sent."""

    criterion_id: int
    verdict: str | None
    reason: str
    problem: str


@team_page(Role.VIEWER)
@require_GET
def reveal(request: TeamRequest, review_id: int) -> HttpResponse:
    """Everybody's verdicts beside one's own; a draft goes back to its sheet."""
    review = review_for(request.team, review_id, request.user)
    if review.state != ReviewState.SUBMITTED:
        return redirect("review", request.team.slug, review.pk)
    return _page(request, review)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def revise(request: TeamRequest, review_id: int, criterion_id: int) -> HttpResponse:
    """Keep, change or unclear on one criterion; then the next one somebody differs on is open."""
    review = review_for(request.team, review_id, request.user)
    label, reason = read_label(request.POST.get("verdict", "")), request.POST.get("reason", "")
    choice = request.POST.get("choice", "")
    try:
        services.revise(
            review,
            criterion_id,
            choice=choice,
            verdict=label if choice == RevisionChoice.CHANGE else None,
            reason=reason.replace("\r\n", "\n"),
        )
    except Invalid as error:
        typed = RefusedRevision(criterion_id, label, reason, _problem(error))
        return _page(request, review, typed=typed, status=422)
    except Conflict as error:
        return _page(request, review, problem=str(error), status=409)
    return _again(request, review)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def keep_all(request: TeamRequest, review_id: int) -> HttpResponse:
    """Keeps every label somebody differs from."""
    review = review_for(request.team, review_id, request.user)
    try:
        services.keep_all(review)
    except Conflict as error:
        return _page(request, review, problem=str(error), status=409)
    return _again(request, review)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def send_again(request: TeamRequest, review_id: int) -> HttpResponse:
    """The rater has looked at a review again that was sent back."""
    review = review_for(request.team, review_id, request.user)
    try:
        leads.send_again(review, now=now())
    except Conflict as error:
        return _page(request, review, problem=str(error), status=409)
    messages.success(request, f"{item_name(request, review.item)} is submitted again.")
    return redirect("queue", request.team.slug, review.queue_id)


@team_page(Role.VIEWER, post=Role.REVIEWER)
@require_POST
def send_back(request: TeamRequest, review_id: int) -> HttpResponse:
    """A lead sends somebody's review back with a note, and stays where they were."""
    review = access.access_review(request.team, review_id)
    try:
        leads.send_back(review, by=request.user, note=text_of(request.POST, "note"), now=now())
        messages.success(request, f"The review of {item_name(request, review.item)} is sent back.")
    except (Conflict, Forbidden, Invalid) as error:
        messages.error(request, str(error))
    back = page_before(request)
    return redirect(back or reverse("queue", args=[request.team.slug, review.queue_id]))


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _again(request: TeamRequest, review: Review) -> HttpResponse:
    """The page after a change: its part for htmx, else by a redirect, so that reloading sends nothing."""
    if request.htmx and not request.htmx.boosted:
        return _page(request, review)
    return redirect(reverse("review_reveal", args=[request.team.slug, review.pk]) + "#open")


def _page(
    request: TeamRequest,
    review: Review,
    *,
    typed: RefusedRevision | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = panes(request, review) | {
        "problem": problem,
        "goes_on": not locked(request, review),
        "sent_back": open_return(review),
    }
    context["thread"] = comments.thread(
        review.item, viewer=request.user, run=review.queue.run, queues=[review.queue]
    )
    try:
        rows = selected.reveal(review)
    except Withheld as error:
        if request.method != "GET":
            raise
        return render(
            request,
            "reviews/reveal/reveal.html",
            context | {"withheld": str(error), "sheet": sheet(review), "may_revise": False},
        )
    context["thread"] = _about(context["thread"], {row.criterion.pk for row in rows})
    first_open = next((row.criterion.pk for row in rows if row.is_open), None)
    context |= {
        "rows": [(row, _typed_on(row, typed)) for row in rows],
        "agreement": selected.agreement_with_others(rows),
        "open_id": typed.criterion_id if typed else first_open,
        "waiting": sum(row.is_open for row in rows),
        "may_revise": review.queue.state != QueueState.CLOSED and request.membership.may(Role.ANNOTATOR),
    }
    part = request.htmx and not request.htmx.boosted
    template = "reviews/reveal/_revealed_criteria.html" if part else "reviews/reveal/reveal.html"
    return render(request, template, context, status=status)


def _about(thread: comments.Thread, criteria: Collection[int]) -> comments.Thread:
    """Comments here can be about what is revealed here: a queue may ask about some criteria alone."""
    return replace(
        thread,
        criteria=tuple(one for one in thread.criteria if one.pk in criteria),
        verdicts=tuple(one for one in thread.verdicts if one.judgement.criterion_id in criteria),
    )


def _typed_on(row: selected.Revealed, typed: RefusedRevision | None) -> RefusedRevision | None:
    """What the form of this criterion holds: what was refused, else what was changed to before."""
    if typed is not None and typed.criterion_id == row.criterion.pk:
        return typed
    if row.revision is None or row.revision.choice == RevisionChoice.KEEP:
        return None
    changed = row.revision.verdict if row.revision.choice == RevisionChoice.CHANGE else None
    return RefusedRevision(row.criterion.pk, changed, row.revision.reason, "")


def _problem(error: Invalid) -> str:
    faults = {fault.place: fault for fault in error.faults}
    if "reason" in faults:
        return "Say why you change your verdict."
    if "verdict" in faults and faults["verdict"].found == "nothing":
        return "Choose the verdict you change to."
    return str(error)
