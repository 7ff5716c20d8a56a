"""What every page shares: sign-in by default, the team of the address, and the frame around the content."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils import timezone
from django_htmx.middleware import HtmxDetails

from rubricweb import access
from rubricweb.errors import Invalid, TooLarge
from rubricweb.models import Membership, Role, Team, User
from rubricweb.selectors.adjudication.waiting import waiting_units
from rubricweb.selectors.reviews import queues
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS
from rubricweb.selectors.teams import notices
from rubricweb.services.endpoints import endpoints
from rubricweb.templatetags.texts import one_markdown_budget
from rubricweb.web.way_back import page_before, team_page_of

P = ParamSpec("P")

WAITING_SHOWN = 99
"""Of more reviews that wait for a person the navigation says only that they are more."""


class TeamRequest(HttpRequest):
    """A request that came through `team_page`: the person is a member of `team`."""

    user: User
    team: Team
    membership: Membership
    htmx: HtmxDetails
    # The page counts nothing around its content: somebody reads and judges there.
    is_quiet: bool


class SignedInByDefault(LoginRequiredMiddleware):
    """Every page needs a sign-in unless it says otherwise; the API answers for itself with tokens."""

    def process_view(self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any) -> Any:
        if request.path.startswith("/api/"):
            return None
        to_sign_in = super().process_view(request, view_func, view_args, view_kwargs)
        if to_sign_in is not None and getattr(request, "htmx", False):
            return HttpResponse(status=401)  # the page would take the place of what somebody has typed
        return to_sign_in

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        """To the sign-in, and from there back: not to where a form was sent, for that is no page to open."""
        if request.method in ("GET", "HEAD"):
            return super().handle_no_permission(request, view_func)
        there = page_before(request) or team_page_of(request)
        return redirect_to_login(
            there, resolve_url(self.get_login_url(view_func)), self.get_redirect_field_name(view_func)
        )


class NothingStaysInCaches:
    """Answers say that no cache may keep them: they show a team's data, also after a sign-out or a removal.

    A view that says something itself is left alone. Static files are answered before this.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class MarkdownIsBudgeted:
    """The texts of one page share one budget for being laid out, so that no request takes long over them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with one_markdown_budget():
            return self.get_response(request)


def team_page(
    role: Role, post: Role | None = None, *, archived_too: bool = False
) -> Callable[[Callable[Concatenate[TeamRequest, P], HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Opens a view at `/t/<slug>/…` to members with at least `role` (`post` for changes, when that is more).

    In an archived team it only reads, and does what any viewer may do for themselves, unless it is
    `archived_too`. The roles stay readable on the view, so that a test can walk every route with every role.
    """

    def decorate(
        view: Callable[Concatenate[TeamRequest, P], HttpResponseBase],
    ) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def opened(request: TeamRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            changes = request.method not in ("GET", "HEAD")
            needed = post if post is not None and changes else role
            request.membership = access.access_membership(request.user, slug, needed)
            request.team = request.membership.team
            if changes and needed > Role.VIEWER and not archived_too:
                access.require_changeable(request.team)
            if request.user.last_team_id != request.team.pk and request.team.archived_at is None:
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
    file = uploaded_file(request, name, max_bytes=settings.UPLOAD_MAX_BYTES)
    return file.read(), file.name or "upload"


def uploaded_file(request: HttpRequest, name: str = "file", *, max_bytes: int) -> "UploadedFile[Any]":
    """An uploaded file, which is on disk. Raises Invalid without one, TooLarge above the limit."""
    file = request.FILES.get(name)
    if file is None:
        raise Invalid("Choose a file first.")
    if file.size is None or file.size > max_bytes:
        limit = max_bytes // (1024 * 1024)
        raise TooLarge(f"{file.name} is larger than {limit} MB, the most this server takes.")
    return file


def text_of(given: QueryDict, name: str) -> str:
    """A text of the query string or a form, "" when absent; without NUL, which PostgreSQL neither stores nor
    compares.
    """
    return given.get(name, "").replace("\0", "")


def whole_number(text: str | None, what: str) -> int | None:
    """A number from the query string, None when absent. Raises Invalid for anything else."""
    if text is None or text == "":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Invalid(f"{what} must be a whole number, not {text[:40]!r}.")
    return int(text)


def searched(query: QueryDict) -> str:
    """The text a list is searched for, "" for none. Raises Invalid for more than SEARCH_CHARACTERS."""
    text = text_of(query, "q").strip()
    if len(text) > SEARCH_CHARACTERS:
        raise Invalid(f"Search for at most {SEARCH_CHARACTERS} characters, not {len(text)}.")
    return text


def frame(request: HttpRequest) -> dict[str, Any]:
    """Navigation, teams and the judge banner for base.html; nothing for people who are not signed in."""
    team: Team | None = getattr(request, "team", None)
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        return {}
    membership: Membership | None = getattr(request, "membership", None)
    rights = _rights(membership) if membership is not None else {}
    if getattr(request, "htmx", None) and not request.htmx.boosted:  # type: ignore[attr-defined]  # set by django_htmx
        return {"team": team, "membership": membership, "Role": Role, **rights}
    is_quiet = getattr(request, "is_quiet", False)
    mine = list(access.access_teams(user))
    teams = {
        "teams": [
            {"name": one.name, "url": reverse("dashboard", args=[one.slug]), "active": one == team}
            for one in mine
            if one.archived_at is None
        ],
        "archived_teams": sum(one.archived_at is not None for one in mine),
    }
    if team is None or membership is None:
        return teams
    return {
        "team": team,
        "membership": membership,
        "Role": Role,
        **rights,
        **teams,
        "settings_url": reverse("settings", args=[team.slug]),
        "is_quiet": is_quiet,
        "nav": _navigation(request, user, membership, counts=not is_quiet),
        "unread": 0 if is_quiet else notices.unread_count(team, user),
        "banner": _archived_banner(membership) if team.archived_at else _banner(membership),
    }


def mail(request: HttpRequest) -> dict[str, bool]:
    """Whether this server sends mail: pages promise none where none goes out."""
    return {"sends_mail": settings.SENDS_MAIL}


def _rights(membership: Membership) -> dict[str, bool]:
    """What the person may change here, which in an archived team is nothing; an owner stays its owner."""
    return {
        "may_edit": membership.may(Role.EDITOR),
        "may_own": membership.may(Role.OWNER),
        "may_adjudicate": membership.may(Role.REVIEWER),
        "is_owner": membership.role >= Role.OWNER,
    }


def _navigation(
    request: HttpRequest, user: User, membership: Membership, *, counts: bool
) -> list[dict[str, Any]]:
    team = membership.team
    to_review = queues.open_reviews_count(team, user, at_most=WAITING_SHOWN + 1) if counts else 0
    to_decide = waiting_units(team, user) if counts and membership.may(Role.REVIEWER) else 0
    rooms = [
        ("Dashboard", "dashboard", 0),
        ("Rubrics", "rubrics", 0),
        ("Datasets", "datasets", 0),
        ("Judges", "judges", 0),
        ("Runs", "runs", 0),
        ("Review", "queues", to_review),
        ("Adjudicate", "adjudication", to_decide),
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


def _archived_banner(membership: Membership) -> dict[str, str]:
    """Says on every page of an archived team why nothing can be changed, and to its owners what helps."""
    banner = {"level": "info", "text": "This team is archived: read and export everything, change nothing."}
    if membership.role >= Role.OWNER:
        url = reverse("settings_archive", args=[membership.team.slug])
        banner |= {"url": url, "link": "Restore it"}
    return banner


def _banner(membership: Membership) -> dict[str, str] | None:
    """Says which judge answers when no model is set up, and to owners where to add one."""
    judges = endpoints.judges_of(membership.team)
    if set(judges) - {endpoints.OFFLINE}:
        return None
    if judges:
        text = "The offline judge grades, no LLM."
    else:
        text = "No model is set up yet: people can review, but nothing can be graded."
    if not membership.may(Role.OWNER):
        return {"level": "info", "text": f"{text} An owner can add a model."}
    url = reverse("settings_judges", args=[membership.team.slug])
    return {"level": "info", "text": text, "url": url, "link": "Add a model"}
