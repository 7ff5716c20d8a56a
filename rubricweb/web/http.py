"""What every page shares: sign-in by default, the team of the address, and the frame around the content."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django_htmx.middleware import HtmxDetails

from rubricweb import access
from rubricweb.errors import Invalid, TooLarge
from rubricweb.models import Membership, Role, Team, User
from rubricweb.selectors import notices, queues
from rubricweb.services import endpoints

P = ParamSpec("P")

WAITING_SHOWN = 99
"""Of more reviews that wait for a person the navigation says only that they are more."""


class TeamRequest(HttpRequest):
    """A request that came through `team_page`: the person is a member of `team`."""

    user: User
    team: Team
    membership: Membership
    htmx: HtmxDetails


class SignedInByDefault(LoginRequiredMiddleware):
    """Every page needs a sign-in unless it says otherwise; the API answers for itself with tokens."""

    def process_view(self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any) -> Any:
        if request.path.startswith("/api/"):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


def team_page(
    role: Role, post: Role | None = None
) -> Callable[[Callable[Concatenate[TeamRequest, P], HttpResponse]], Callable[..., HttpResponse]]:
    """Opens a view at `/t/<slug>/…` to members with at least `role` (`post` for changes, when that is more).

    The roles stay readable on the view, so that a test can walk every route with every role.
    """

    def decorate(view: Callable[Concatenate[TeamRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def opened(request: TeamRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            needed = post if post is not None and request.method not in ("GET", "HEAD") else role
            request.membership = access.membership_for(request.user, slug, needed)
            request.team = request.membership.team
            if request.user.last_team_id != request.team.pk:
                User.objects.filter(pk=request.user.pk).update(last_team=request.team)
            return view(request, *args, **kwargs)

        opened.role = role  # type: ignore[attr-defined]  # read by the access test
        opened.post_role = post or role  # type: ignore[attr-defined]  # read by the access test
        return opened

    return decorate


def now() -> datetime:
    return timezone.now()


def uploaded(request: HttpRequest, name: str = "file") -> tuple[bytes, str]:
    """The bytes and the name of an uploaded file. Raises Invalid without one, TooLarge above the limit."""
    file = request.FILES.get(name)
    if file is None:
        raise Invalid("Choose a file first.")
    if file.size > settings.UPLOAD_MAX_BYTES:
        limit = settings.UPLOAD_MAX_BYTES // (1024 * 1024)
        raise TooLarge(f"{file.name} is larger than {limit} MB, the most this server takes.")
    return file.read(), file.name or "upload"


def whole_number(text: str | None, what: str) -> int | None:
    """A number from the query string, None when absent. Raises Invalid for anything else."""
    if text is None or text == "":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Invalid(f"{what} must be a whole number, not {text[:40]!r}.")
    return int(text)


def frame(request: HttpRequest) -> dict[str, Any]:
    """Navigation, teams and the judge banner for base.html; nothing for people who are not signed in."""
    team: Team | None = getattr(request, "team", None)
    if not isinstance(getattr(request, "user", None), User):
        return {}
    if getattr(request, "htmx", None) and not request.htmx.boosted:  # type: ignore[attr-defined]  # set by django_htmx
        return {"team": team, "membership": getattr(request, "membership", None), "Role": Role}
    teams = [
        {"name": one.name, "url": reverse("dashboard", args=[one.slug]), "active": one == team}
        for one in access.teams_for(request.user)
    ]
    if team is None:
        return {"teams": teams}
    membership: Membership = request.membership  # type: ignore[attr-defined]  # set beside team
    return {
        "team": team,
        "membership": membership,
        "Role": Role,
        "may_edit": membership.role >= Role.EDITOR,
        "may_own": membership.role >= Role.OWNER,
        "may_adjudicate": membership.role >= Role.REVIEWER,
        "teams": teams,
        "settings_url": reverse("settings", args=[team.slug]),
        "nav": _navigation(request, team),
        "unread": notices.unread_count(team, request.user),
        "banner": _banner(team),
    }


def _navigation(request: HttpRequest, team: Team) -> list[dict[str, Any]]:
    waiting = queues.open_reviews_count(team, request.user, at_most=WAITING_SHOWN + 1)
    rooms = [
        ("Dashboard", "dashboard", 0),
        ("Rubrics", "rubrics", 0),
        ("Datasets", "datasets", 0),
        ("Runs", "runs", 0),
        ("Review", "queues", waiting),
        ("Compare", "compare", 0),
        ("Export", "exports", 0),
    ]
    links = []
    for label, name, count in rooms:
        url = reverse(name, args=[team.slug])
        here = request.path == url if name == "dashboard" else request.path.startswith(url.rstrip("/"))
        links.append({"label": label, "url": url, "active": here, "count": _capped(count)})
    return links


def _capped(count: int) -> str:
    """A number of waiting things as it is shown: "" for none, 99+ for more than 99."""
    if count > WAITING_SHOWN:
        return f"{WAITING_SHOWN}+"
    return str(count) if count else ""


def _banner(team: Team) -> dict[str, str] | None:
    """Says which judge answers when no real one is set up."""
    judges = endpoints.judges_of(team)
    if set(judges) - {endpoints.OFFLINE}:
        return None
    url = reverse("settings_judges", args=[team.slug])
    if judges:
        text = "Grading by the offline judge (not an LLM): good for trying things out, not for deciding."
    else:
        text = "No judge is set up yet: people can review, but nothing can be graded."
    return {"level": "info", "text": text, "url": url, "link": "Add a real judge"}
