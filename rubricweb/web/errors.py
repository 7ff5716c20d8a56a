"""Refusals become pages, or toasts for htmx: the one place of the web floor that translates them."""

import json
from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render

from rubricweb.errors import Busy, Conflict, Forbidden, Invalid, NotFound, Refusal, TooLarge, Withheld
from rubricweb.web.way_back import page_before

STATUS: dict[type[Refusal], int] = {
    NotFound: 404,
    Forbidden: 403,
    Withheld: 403,
    Invalid: 400,
    Conflict: 409,
    TooLarge: 413,
    Busy: 429,
}


class RefusalsBecomePages:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # Django answers with nothing at all, which a browser shows as a white page.
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            return _not_allowed(request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, Refusal) and not request.path.startswith("/api/"):
            return refused(request, exception)
        return None


def _not_allowed(request: HttpRequest, empty: HttpResponse) -> HttpResponse:
    """The error page in the place of an empty 405, with a way back; programs and scripts get none."""
    is_script = getattr(request, "htmx", False) or "application/json" in request.headers.get("Accept", "")
    if is_script or request.path.startswith("/api/"):
        return empty
    before = page_before(request)
    # A form may be shown at its own address; the sign-in leads here, and would lead here again.
    is_way_back = before.startswith("/t/") and urlsplit(before).path != request.path
    context = {
        "status": 405,
        "title": "Nothing to open here",
        "message": "A button leads to this address, and it is no page to open. Nothing was changed. If you "
        "had to sign in after you pressed the button, press it again.",
        "back_url": before if is_way_back else "",
    }
    page = render(request, "shared/error.html", context, status=405)
    page["Allow"] = empty["Allow"]
    return page


def refused(request: HttpRequest, error: Refusal) -> HttpResponse:
    """The error page; for htmx an empty answer with a toast, for a script that asks for JSON the sentence:
    nothing on the page is lost.
    """
    status = STATUS[type(error)]
    if getattr(request, "htmx", False):
        response = HttpResponse(status=status)
        response["HX-Reswap"] = "none"
        response["HX-Trigger"] = json.dumps({"toast": {"level": "error", "text": str(error)}})
        return response
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"message": str(error)}, status=status)
    faults = error.faults if isinstance(error, Invalid) else ()
    context = {"status": status, "title": error.title, "message": str(error), "faults": faults}
    return render(request, "shared/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, TooManyFieldsSent):
        most = f"{settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,}"
        text = f"This form has more than {most} fields. A rubric this large can be saved as YAML or JSON."
        return refused(request, TooLarge(text))
    if isinstance(exception, RequestDataTooBig):
        megabytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024**2
        text = f"This form holds more than {megabytes} MB of text, the most it takes."
        return refused(request, TooLarge(text))
    return _page(request, 400, "Not understood", "The request could not be read. Go back and try again.")


def forbidden(request: HttpRequest, exception: PermissionDenied) -> HttpResponse:
    return _page(request, 403, "Not allowed", "You may not do this. Ask an owner of the team.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if not request.is_secure() and request.headers.get("Origin") == f"https://{request.get_host()}":
        text = (
            "The browser sent this form over https, and it came in here as http: the proxy in between is not "
            "believed. Whoever runs this site must set TRUST_X_FORWARDED_PROTO=1, and have the proxy set "
            "X-Forwarded-Proto. Nothing was changed."
        )
        return _page(request, 403, "Not set up for https", text)
    text = (
        "This form was open too long or came from another site. Go back, reload the page and send it again."
    )
    return _page(request, 403, "Form expired", text)


def not_found(request: HttpRequest, exception: Http404) -> HttpResponse:
    return _page(request, 404, "Not found", str(NotFound()))


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, 500, "Something broke", "It is our fault and was logged. Try again in a moment.")


def _page(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    return render(
        request, "shared/error.html", {"status": status, "title": title, "message": message}, status=status
    )
