"""Comments on an item: a page of their own, and what the forms under every item send."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.models import Comment, Criterion, Item, Judgement, Role
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.reviews import comments as selectors
from rubricweb.services import comments as services
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.shared.titles import titles


@dataclass(frozen=True)
class Unsent:
    """A comment that was refused, to be shown as it was sent; `editing` is the one it was to replace."""

    problem: str
    text: str
    about: str
    editing: int | None
    return_to: str


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def comments(request: TeamRequest, item_id: int) -> HttpResponse:
    """The thread alone, page by page; a POST adds to it and goes back to where it was written."""
    item = access.access_item(request.team, item_id)
    if request.method != "POST":
        return _thread_page(request, item)
    criterion, judgement = _about(request, item)
    try:
        comment = services.write(
            item,
            by=request.user,
            text=request.POST.get("text", ""),
            criterion=criterion,
            judgement=judgement,
        )
    except Invalid as error:
        return _thread_page(request, item, problem=str(error))
    return redirect(_back(request, comment))


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def comment(request: TeamRequest, comment_id: int) -> HttpResponse:
    """What is done to one comment: edit, remove, resolve, reopen. Opened, it leads to its place."""
    comment = selectors.comment_for(request.team, comment_id, request.user)
    if request.method != "POST":
        return redirect(place_of(comment))
    action = request.POST.get("action")
    if action == "edit":
        try:
            services.edit(comment, by=request.user, text=request.POST.get("text", ""), now=now())
        except Invalid as error:
            return _thread_page(request, comment.item, problem=str(error), editing=comment)
    elif action == "remove":
        services.remove(comment, by=request.user, now=now())
    elif action in ("resolve", "reopen"):
        services.resolve(comment, by=request.user, resolved=action == "resolve")
    else:
        raise Invalid.at("action", str(action)[:40], "edit, remove, resolve or reopen")
    return redirect(_back(request, comment))


def place_of(comment: Comment) -> str:
    """Where a comment is read: the page of its thread that ends with it."""
    slug = comment.item.dataset.team.slug
    url = reverse("comments", args=[slug, comment.item_id])
    return f"{url}?before={comment.pk + 1}#comment-{comment.pk}"


def _thread_page(
    request: TeamRequest, item: Item, *, problem: str = "", editing: Comment | None = None
) -> HttpResponse:
    """The page; after a refusal with what was typed still in its form."""
    before = None if problem else whole_number(request.GET.get("before"), "The comment")
    if editing is not None:
        before = editing.pk + 1
    context: dict[str, Any] = {
        "item": item,
        **titles(request, [item.pk]),
        "before": before,
        "thread": selectors.thread(item, viewer=request.user, before=before),
    }
    if problem:
        context["unsent"] = Unsent(
            problem=problem,
            text=request.POST.get("text", ""),
            about=request.POST.get("about", ""),
            editing=editing.pk if editing else None,
            return_to=_asked_return(request),
        )
    return render(request, "reviews/comments/comments.html", context, status=422 if problem else 200)


def _about(request: TeamRequest, item: Item) -> tuple[Criterion | None, Judgement | None]:
    """What the form says the comment is about: "", "criterion-3" or "verdict-8"."""
    kind, _, number = request.POST.get("about", "").partition("-")
    pk = whole_number(number, "What the comment is about") if kind else None
    if pk is None:
        return None, None
    if kind == "criterion":
        return criterion_for(item, pk), None
    if kind == "verdict":
        return None, selectors.judgement_for(item, pk, request.user)
    raise Invalid.at("about", kind[:40], "criterion-… or verdict-…")


def _back(request: TeamRequest, comment: Comment) -> str:
    """The page the form was on, at the comment."""
    there = _asked_return(request) or reverse("comments", args=[request.team.slug, comment.item_id])
    return f"{there.partition('#')[0]}#comment-{comment.pk}"


def _asked_return(request: TeamRequest) -> str:
    """A page of this team that a form says it was on, "" for none or for another address."""
    there = request.POST.get("next", "")
    ours = there.startswith(f"/t/{request.team.slug}/")
    return there if ours and url_has_allowed_host_and_scheme(there, allowed_hosts=None) else ""
