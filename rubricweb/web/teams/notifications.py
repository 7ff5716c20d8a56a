"""Pages of notifications: what waits for the person who is signed in."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from rubricweb.errors import Invalid
from rubricweb.models import Role
from rubricweb.selectors.teams import notices as selectors
from rubricweb.services import notices as services
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.reviews.comments import place_of
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@never_cache
def notifications(request: TeamRequest) -> HttpResponse:
    """The list; a POST marks one or all as read, or says whether mails are wanted."""
    if request.method == "POST":
        return _changed(request)
    page = selectors.notices(request.team, request.user, cursor=request.GET.get("cursor"))
    context = {
        "page": page,
        **titles(request, [row.comment.item_id for row in page.rows if row.comment]),
        "unread": selectors.unread_count(request.team, request.user),
        "mail": selectors.mail_settings(request.user, configured=settings.SENDS_MAIL),
    }
    return render(request, "teams/notifications.html", context)


@team_page(Role.VIEWER)
@never_cache
@require_safe
def notification(request: TeamRequest, notice_id: int) -> HttpResponse:
    """Goes to what the notification is about, which is then read."""
    notice = selectors.notice_for(request.team, notice_id, request.user)
    if request.method == "GET":
        services.mark_read(request.team, request.user, ids=[notice.pk], now=now())
    if notice.comment is not None:
        return redirect(place_of(notice.comment))
    return redirect("queue", request.team.slug, notice.queue_id)


def _changed(request: TeamRequest) -> HttpResponse:
    action = request.POST.get("action")
    if action == "read":
        notice_id = whole_number(request.POST.get("notification"), "The notification")
        ids = None if notice_id is None else [notice_id]
        services.mark_read(request.team, request.user, ids=ids, now=now())
    elif action == "mail":
        wanted = request.POST.get("wanted") == "1"
        services.want_mail(request.user, wanted, now=now())
        said = (
            "You get unread notifications by e-mail."
            if wanted
            else "You get no notifications by e-mail any more."
        )
        messages.success(request, said)
    else:
        raise Invalid.at("action", str(action)[:40], "read or mail")
    return redirect("notifications", request.team.slug)
