"""Pages of the reviews room: queues, the review of one item, what is revealed after it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden, Invalid, Withheld
from rubricweb.models import QueueState, Review, ReviewQueue, ReviewState, Role
from rubricweb.selectors import reviews as selectors
from rubricweb.services import reviews as services
from rubricweb.web.forms_reviews import NewQueue, read_answers, read_label, same_as_stored, typed_answers
from rubricweb.web.http import TeamRequest, now, team_page

# ── Queues ───────────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_GET
def queues(request: TeamRequest) -> HttpResponse:
    rows = selectors.queues(request.team, request.user)
    return render(
        request,
        "reviews/queues.html",
        {
            "open_rows": [row for row in rows if row.queue.state == QueueState.OPEN],
            "closed_rows": [row for row in rows if row.queue.state == QueueState.CLOSED],
        },
    )


@team_page(Role.EDITOR)
def new_queue(request: TeamRequest) -> HttpResponse:
    if request.method != "POST":
        chosen = {
            name: request.GET[name] for name in ("dataset", "rubric_version", "run") if name in request.GET
        }
        return render(
            request, "reviews/new_queue.html", {"form": NewQueue(team=request.team, initial=chosen)}
        )
    form = NewQueue(request.POST, team=request.team)
    if form.is_valid():
        try:
            queue = services.create_queue(request.team, by=request.user, **form.cleaned_data)
        except (Invalid, Conflict) as error:
            form.refuse(error)
        else:
            messages.success(request, f"{queue} is open.")
            return redirect("queue", request.team.slug, queue.pk)
    return render(request, "reviews/new_queue.html", {"form": form}, status=422)


@team_page(Role.VIEWER)
@require_GET
def queue(request: TeamRequest, queue_id: int) -> HttpResponse:
    found = access.queue_for(request.team, queue_id)
    return render(
        request,
        "reviews/queue.html",
        {
            "queue": found,
            "progress": selectors.queue_progress(found, request.user),
            "raters": selectors.rater_progress(found),
            "remarks": selectors.remarks(found, request.user),
            "i_rate": selectors.rates(found, request.user),
        },
    )


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def close(request: TeamRequest, queue_id: int) -> HttpResponse:
    found = access.queue_for(request.team, queue_id)
    services.close_queue(found, by=request.user)
    messages.success(request, f"{found} is closed.")
    return redirect("queue", request.team.slug, found.pk)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def next_item(request: TeamRequest, queue_id: int) -> HttpResponse:
    """POST goes to the next review; opened, or with nothing left, it says what else there is to do."""
    found = access.queue_for(request.team, queue_id)
    if request.method == "POST":
        try:
            return redirect(_next_url(request, found))
        except (Conflict, Forbidden) as error:
            messages.error(request, str(error))
            return redirect("queue", request.team.slug, found.pk)
    rows = selectors.queues(request.team, request.user)
    context = {
        "queue": found,
        "progress": selectors.queue_progress(found, request.user),
        "others": [row for row in rows if row.progress.mine_left and row.queue != found],
    }
    return render(request, "reviews/done.html", context)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def start(request: TeamRequest, queue_id: int, item_id: int) -> HttpResponse:
    found, item = access.queue_for(request.team, queue_id), access.item_for(request.team, item_id)
    try:
        review = services.start_review(found, item, request.user)
    except (Conflict, Forbidden) as error:
        messages.error(request, str(error))
        return redirect("queue", request.team.slug, found.pk)
    return redirect("review", request.team.slug, review.pk)


# ── One review ───────────────────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER)
@require_GET
def review(request: TeamRequest, review_id: int) -> HttpResponse:
    found = selectors.review_for(request.team, review_id, request.user)
    if found.state == ReviewState.SUBMITTED:
        return redirect("review_reveal", request.team.slug, found.pk)
    return _review_page(request, found, selectors.sheet(found))


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def save_verdict(request: TeamRequest, review_id: int, criterion_id: int) -> HttpResponse:
    """One label of the open review; an empty one takes it back."""
    found = selectors.review_for(request.team, review_id, request.user)
    try:
        services.save_verdict(
            found,
            criterion_id,
            verdict=read_label(request.POST.get("verdict", "")),
            reason=request.POST.get("reason"),
        )
    except (Conflict, Invalid) as error:
        return _refused(request, error)
    return _saved(request, found, f"#criterion-{criterion_id}")


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def save_note(request: TeamRequest, review_id: int) -> HttpResponse:
    """The note, the flag, or both."""
    found = selectors.review_for(request.team, review_id, request.user)
    flagged = request.POST.get("flagged")
    try:
        services.save_note(
            found, note=request.POST.get("note"), flagged=None if flagged is None else flagged == "1"
        )
    except Conflict as error:
        return _refused(request, error)
    return _saved(request, found)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def submit(request: TeamRequest, review_id: int) -> HttpResponse:
    """The whole form: saves every answer in it and, unless the button said only save, submits."""
    found = selectors.review_for(request.team, review_id, request.user)
    asked = _asked(found)
    only_save = request.POST.get("action") == "save"
    try:
        answers = read_answers(request.POST, asked)
        if found.state == ReviewState.SUBMITTED and same_as_stored(answers, asked):
            return _go(request, _after(request, found))  # sent twice: the first answer got lost
        services.save_answers(found, answers, note=request.POST.get("note"))
        if not only_save:
            services.submit(found, now=now())
    except Conflict as error:
        return _still_open(request, found, str(error), status=409)
    except Invalid as error:
        return _still_open(request, found, str(error))
    if not only_save:
        return _go(request, _after(request, found))
    if any(answer.verdict is None and answer.reason.strip() for answer in answers):
        return _still_open(request, found, "A reason is kept together with a verdict: choose one for it.")
    return _saved(request, found)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def skip(request: TeamRequest, review_id: int) -> HttpResponse:
    """Asks for the reason on a page of its own where there is no dialog; then goes to the next item."""
    found = selectors.review_for(request.team, review_id, request.user)
    if request.method != "POST":
        return render(request, "reviews/skip.html", {"review": found})
    reason = request.POST.get("reason", "")
    try:
        services.skip(found, reason=reason)
    except Invalid as error:
        context = {"review": found, "reason": reason, "error": str(error)}
        return render(request, "reviews/skip.html", context, status=422)
    messages.success(request, f"{found.item} is skipped.")
    return redirect(_next_url(request, found.queue))


@team_page(Role.VIEWER)
@require_GET
def reveal(request: TeamRequest, review_id: int) -> HttpResponse:
    """Everybody's verdicts beside one's own; a draft goes back to its sheet."""
    found = selectors.review_for(request.team, review_id, request.user)
    if found.state != ReviewState.SUBMITTED:
        return redirect("review", request.team.slug, found.pk)
    context = _panes(request, found)
    try:
        rows = selectors.reveal(found)
    except Withheld as error:
        context["withheld"] = str(error)
        context["sheet"] = selectors.sheet(found)
    else:
        context["rows"] = rows
        context["agreement"] = selectors.agreement_with_others(rows)
    return render(request, "reviews/reveal.html", context)


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _review_page(
    request: TeamRequest, review: Review, sheet: selectors.Sheet, *, problem: str = "", status: int = 200
) -> HttpResponse:
    context = _panes(request, review) | {
        "sheet": sheet,
        "problem": problem,
        "readonly": review.state != ReviewState.DRAFT or review.queue.state != QueueState.OPEN,
    }
    return render(request, "reviews/review.html", context, status=status)


def _panes(request: TeamRequest, review: Review) -> dict[str, Any]:
    """What the rail and the submission need, before and after submitting."""
    return {
        "review": review,
        "queue": review.queue,
        "item": review.item,
        "submission": review.item.to_engine(),
        "progress": selectors.queue_progress(review.queue, request.user),
        "rail": selectors.rail(review.queue, request.user, around=review.item),
    }


def _asked(review: Review) -> list[selectors.Question]:
    """What people answer: every criterion but the checks."""
    return [question for question in selectors.questions(review) if question.is_asked]


def _still_open(request: TeamRequest, review: Review, problem: str, *, status: int = 422) -> HttpResponse:
    """The sheet again with everything typed on it, and what is missing named."""
    sheet = selectors.sheet(review, typed_answers(request.POST, _asked(review)))
    if _wants_json(request):
        missing = [criterion.pk for criterion in sheet.missing]
        return JsonResponse({"message": problem, "missing": missing}, status=status)
    return _review_page(request, review, sheet, problem=problem, status=status)


def _after(request: TeamRequest, review: Review) -> str:
    """Where to go from a submitted review: to what it reveals, or straight on."""
    if selectors.has_reveal(review):
        return reverse("review_reveal", args=[request.team.slug, review.pk])
    return _next_url(request, review.queue)


def _next_url(request: TeamRequest, queue: ReviewQueue) -> str:
    review = services.next_review(queue, request.user, now=now())
    if review is None:
        return reverse("review_next", args=[request.team.slug, queue.pk])
    return reverse("review", args=[request.team.slug, review.pk])


def _saved(request: TeamRequest, review: Review, anchor: str = "") -> HttpResponse:
    if _wants_json(request):
        return JsonResponse({"saved": True})
    return redirect(reverse("review", args=[request.team.slug, review.pk]) + anchor)


def _go(request: TeamRequest, url: str) -> HttpResponse:
    return JsonResponse({"location": url}) if _wants_json(request) else redirect(url)


def _refused(request: TeamRequest, error: Conflict | Invalid) -> HttpResponse:
    """A refusal for the script of the page, which keeps the draft; without it, the usual error page."""
    if not _wants_json(request):
        raise error
    return JsonResponse({"message": str(error)}, status=409 if isinstance(error, Conflict) else 422)


def _wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")
