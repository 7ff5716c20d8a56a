"""Pages of one review: its sheet, and what is saved of it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_GET, require_POST

from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import QueueState, Review, ReviewState, Role
from rubricweb.selectors.reviews import queues, reveals
from rubricweb.selectors.reviews import reviews as selectors
from rubricweb.selectors.reviews.evidence import quotable_texts
from rubricweb.services.reviews import assignments, prefetch
from rubricweb.services.reviews import reviews as services
from rubricweb.web.http import TeamRequest, now, team_page, text_of
from rubricweb.web.reviews.forms import (
    known_answer,
    read_answers,
    read_evidence,
    read_known,
    read_label,
    read_note,
    read_seconds,
    read_words,
    same_as_stored,
    typed_answers,
)
from rubricweb.web.reviews.queues import next_url
from rubricweb.web.reviews.words import SKIP_REASONS, differs_note
from rubricweb.web.shared.titles import item_name, titles

# ── One review ───────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_GET
def review(request: TeamRequest, review_id: int) -> HttpResponse:
    """The sheet. A page that only prefetches it, so that it is there at once, says `X-Prefetch`."""
    review = selectors.review_for(request.team, review_id, request.user)
    if review.state == ReviewState.SUBMITTED:
        return redirect("review_reveal", request.team.slug, review.pk)
    if "X-Prefetch" not in request.headers:
        prefetch.mark_opened(review)
    return _review_page(request, review, selectors.sheet(review, advice=reveals.advice(review)))


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def save_verdict(request: TeamRequest, review_id: int, criterion_id: int) -> HttpResponse:
    """One label of the open review; an empty one takes it back, and a reason alone leaves it as it is."""
    review = selectors.review_for(request.team, review_id, request.user)
    sent = request.POST
    label, reason = sent.get("verdict"), sent.get("reason")
    try:
        if label is None and reason is not None:
            services.save_reason(review, criterion_id, reason=read_words(reason))
        else:
            services.save_verdict(
                review,
                criterion_id,
                verdict=read_label(label or ""),
                reason=None if reason is None else read_words(reason),
                evidence=read_evidence(sent.get("evidence")),
                seconds=read_seconds(sent.get("seconds")),
                known=read_known(sent.getlist("known")),
            )
    except (Conflict, Invalid) as error:
        return _refused(request, error, stored=_stored(review, criterion_id))
    return _saved(request, review, f"#criterion-{criterion_id}")


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def save_note(request: TeamRequest, review_id: int) -> HttpResponse:
    """The note, the flag, or both."""
    review = selectors.review_for(request.team, review_id, request.user)
    flagged = request.POST.get("flagged")
    try:
        services.save_note(
            review, note=request.POST.get("note"), flagged=None if flagged is None else flagged == "1"
        )
    except Conflict as error:
        return _refused(request, error)
    return _saved(request, review)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def heartbeat(request: TeamRequest, review_id: int) -> HttpResponse:
    """The page says now and then that its reader is there; the answer says whether their place is kept."""
    review = selectors.review_for(request.team, review_id, request.user)
    prefetch.mark_opened(review)
    assignments.hear_from(review, now=now())
    return JsonResponse({"holds_place": review.holds_place, "held_until": review.held_until})


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def prefetch_next(request: TeamRequest, review_id: int) -> HttpResponse:
    """Takes what comes after this review, for a page that fetches it before its reader wants it.

    `back` is where to give it back: nowhere when it is a draft that was open before.
    """
    review = selectors.review_for(request.team, review_id, request.user)
    asked_at = now()
    try:
        following = prefetch.prefetch_next(review, now=asked_at)
    except (Conflict, Forbidden) as error:
        return JsonResponse({"message": str(error)}, status=409)
    if following is None:
        return JsonResponse({})
    args = [request.team.slug, following.pk]
    back = reverse("review_give_back", args=args) if following.started_at >= asked_at else None
    return JsonResponse({"url": reverse("review", args=args), "back": back})


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def give_back(request: TeamRequest, review_id: int) -> HttpResponse:
    """Gives a prefetched item back when its reader leaves; a draft that was opened, or in which something was
    said, stays.
    """
    review = selectors.review_for(request.team, review_id, request.user)
    return JsonResponse({"given_back": prefetch.give_back_untouched(review)})


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def submit(request: TeamRequest, review_id: int) -> HttpResponse:
    """The whole form: saves every answer in it and, unless the button said only save, submits.

    What others said is shown next where the button said compare; else it is on the page of the review later.
    """
    review = selectors.review_for(request.team, review_id, request.user)
    asked = _asked(review)
    action = request.POST.get("action")
    only_save, compares = action == "save", action == "compare"
    try:
        answers = read_answers(request.POST, asked)
        if review.state == ReviewState.SUBMITTED and same_as_stored(answers, asked):
            # Sent twice: the first answer got lost.
            return _go_on(request, review, compares=compares)
        services.save_answers(
            review,
            answers,
            note=read_note(request.POST),
            seconds=read_seconds(request.POST.get("seconds")),
        )
        if not only_save:
            services.submit(review, now=now())
    except services.AnsweredElsewhere as error:
        return _still_open(request, review, str(error), status=409, elsewhere=error.criterion_ids)
    except Conflict as error:
        return _still_open(request, review, str(error), status=409)
    except Invalid as error:
        return _still_open(request, review, str(error))
    if not only_save:
        return _go_on(request, review, compares=compares)
    if any(answer.verdict is None and answer.reason.strip() for answer in answers):
        return _still_open(request, review, "A reason is kept together with a verdict: choose one for it.")
    return _saved(request, review)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def skip(request: TeamRequest, review_id: int) -> HttpResponse:
    """Asks for the reason on a page of its own where there is no dialog; then goes to the next item."""
    review = selectors.review_for(request.team, review_id, request.user)
    context: dict[str, Any] = {
        "review": review,
        "skip_reasons": SKIP_REASONS,
        **titles(request, [review.item_id]),
    }
    if request.method != "POST":
        return render(request, "reviews/skip.html", context)
    reason = text_of(request.POST, "usual") or text_of(request.POST, "reason")
    try:
        services.skip(review, reason=reason)
    except Invalid as error:
        context |= {"reason": reason, "error": str(error)}
        return render(request, "reviews/skip.html", context, status=422)
    messages.success(request, f"{context['titles'][review.item_id]} is skipped.")
    return redirect(next_url(request, review.queue))


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _review_page(
    request: TeamRequest,
    review: Review,
    sheet: selectors.Sheet,
    *,
    stored: Sequence[selectors.ReviewQuestion] | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """`stored` are the questions with what is stored, where the sheet shows what was typed."""
    why_not = locked(request, review)
    context = panes(request, review) | {
        "sheet": sheet,
        "known": {one.criterion.pk: known_answer(one) for one in stored or sheet.questions if one.is_asked},
        "problem": problem,
        "locked": why_not,
        "readonly": bool(why_not) or review.state != ReviewState.DRAFT,
        "reveals": reveals.will_reveal(review),
    }
    return render(request, "reviews/review.html", context, status=status)


def locked(request: TeamRequest, review: Review) -> str:
    """Why nothing can be answered in this queue now; "" where it can."""
    if review.queue.state == QueueState.CLOSED:
        return "The queue is closed; your draft is kept but can no longer change."
    if review.queue.state == QueueState.PAUSED:
        return "The queue is paused; your draft is kept and can go on when the queue does."
    if not request.membership.may(Role.ANNOTATOR):
        return "You may only read in this team now; your draft is kept but can no longer change."
    if not queues.rates(review.queue, request.user):
        return "You are no longer a rater of this queue; your draft is kept but can no longer change."
    return ""


def panes(request: TeamRequest, review: Review) -> dict[str, Any]:
    """What the rail and the submission need, before and after submitting."""
    request.is_quiet = True
    rail = queues.rail(review.queue, request.user, around=review.item)
    return {
        "skip_reasons": SKIP_REASONS,
        "review": review,
        **titles(request, [review.item_id, *(line.item_id for line in rail)]),
        "queue": review.queue,
        "item": review.item,
        "submission": review.item.to_engine(),
        "quotable": quotable_texts(review.item),
        "progress": queues.own_progress(review.queue, request.user),
        "rail": rail,
    }


def _asked(review: Review) -> list[selectors.ReviewQuestion]:
    """What people answer: every criterion but the checks."""
    return [question for question in selectors.questions(review) if question.is_asked]


def _still_open(
    request: TeamRequest, review: Review, problem: str, *, status: int = 422, elsewhere: Sequence[int] = ()
) -> HttpResponse:
    """The sheet again with everything typed on it, and what is missing named.

    `elsewhere` are the criteria answered in another tab: the script of the page saves each of its own answers
    to them alone, which asks its reader for a choice; without it, sending the form again keeps what is on it.
    """
    stored = _asked(review)
    sheet = selectors.sheet(review, typed_answers(request.POST, stored), reveals.advice(review))
    if _wants_json(request):
        missing = [criterion.pk for criterion in [*sheet.missing, *sheet.unreasoned]]
        args = [request.team.slug, review.pk]
        alone = {pk: reverse("review_verdict", args=[*args, pk]) for pk in elsewhere}
        said = {"message": problem, "missing": missing} | ({"elsewhere": alone} if alone else {})
        return JsonResponse(said, status=status)
    if elsewhere:
        problem += " Send the form again to keep what is on it, or open the page anew for what is stored."
    return _review_page(request, review, sheet, stored=stored, problem=problem, status=status)


def _go_on(request: TeamRequest, review: Review, *, compares: bool) -> HttpResponse:
    """On from a submitted review, with a note of what differed; or first to what others said, where asked."""
    differences = reveals.differences(review)
    revealed = reverse("review_reveal", args=[request.team.slug, review.pk])
    if compares and differences is not None:
        return _go(request, revealed)
    note = differs_note(differences) if differences is not None else ""
    in_grid = request.POST.get("next") == "grid"
    args = [request.team.slug, review.queue_id]
    url = reverse("queue_grid", args=args) if in_grid else next_url(request, review.queue)
    if _wants_json(request):
        item = str(item_name(request, review.item))
        return JsonResponse({"location": url} | ({"differs": [f"{item}: {note}", revealed]} if note else {}))
    if note:
        messages.info(request, format_html('{}. <a href="{}">See and answer</a>', note, revealed))
    return redirect(url)


def _saved(request: TeamRequest, review: Review, anchor: str = "") -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"saved": True})
    return redirect(reverse("review", args=[request.team.slug, review.pk]) + anchor)


def _go(request: TeamRequest, url: str) -> HttpResponse:
    return JsonResponse({"location": url}) if _wants_json(request) else redirect(url)


def _refused(
    request: TeamRequest, error: Conflict | Invalid, *, stored: dict[str, Any] | None = None
) -> HttpResponse:
    """A refusal for the script of the page, which keeps the draft and shows it beside what is `stored`;
    without the script, the usual error page.
    """
    if not _wants_json(request):
        raise error
    status = 409 if isinstance(error, Conflict) else 422
    return JsonResponse({"message": str(error)} | ({"stored": stored} if stored else {}), status=status)


def _stored(review: Review, criterion_id: int) -> dict[str, Any] | None:
    """What is stored of the rater's own answer to one criterion."""
    for question in _asked(review):
        if question.criterion.pk == criterion_id:
            evidence = [asdict(quote) for quote in question.evidence]
            return {"verdict": question.verdict or "", "reason": question.reason, "evidence": evidence}
    return None


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")
