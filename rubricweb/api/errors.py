"""Everything the API refuses, as RFC 9457 problem details: the one place of this floor that translates."""

import json
import logging
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.params.models import ParamModel
from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from rubricweb.api.auth import TooManyRequests, Unauthorized
from rubricweb.api.parser import UnreadableBody
from rubricweb.engine.errors import Fault, join_place, nearest, shown
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound, Refusal, TooLarge, Withheld

log = logging.getLogger(__name__)

KINDS: dict[type[Refusal], tuple[int, str]] = {
    NotFound: (404, "not-found"),
    Forbidden: (403, "forbidden"),
    Withheld: (403, "withheld"),
    Invalid: (422, "invalid"),
    Conflict: (409, "conflict"),
    TooLarge: (413, "too-large"),
}


def problem(
    status: int, kind: str, title: str, detail: str, *, faults: Iterable[Fault] | None = None
) -> HttpResponse:
    """A problem+json answer; `kind` is the stable word programs may compare, inside `type`."""
    body = body_of(status, kind, title, detail)
    if faults is not None:
        body["faults"] = [
            {"place": fault.place, "found": fault.found, "allowed": fault.allowed} for fault in faults
        ]
    return HttpResponse(json.dumps(body), status=status, content_type="application/problem+json")


def body_of(status: int, kind: str, title: str, detail: str) -> dict[str, Any]:
    """The members every problem has."""
    return {"type": f"urn:rubricweb:problem:{kind}", "title": title, "status": status, "detail": detail}


def answer_refusals(api: NinjaAPI) -> None:
    """Registers what each exception becomes."""
    api.add_exception_handler(Refusal, _refused)
    api.add_exception_handler(Unauthorized, _unauthorized)
    api.add_exception_handler(TooManyRequests, _too_many)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(RequestDataTooBig, _too_big)
    api.add_exception_handler(SuspiciousOperation, _unreadable)
    api.add_exception_handler(MultiPartParserError, _unreadable)
    api.add_exception_handler(Http404, _not_found)
    api.add_exception_handler(Exception, _broken)


def unknown_route(request: HttpRequest, **ignored: Any) -> HttpResponse:
    """For every address under the API that no operation has."""
    return problem(404, "not-found", "Not found", "There is no such operation; /api/v1/docs lists them all.")


def wrong_method(request: HttpRequest, refused: HttpResponseBase) -> HttpResponse:
    """A 405 in our own form; `refused` is the framework's answer with its Allow header."""
    allowed = refused["Allow"]
    detail = f"{request.method} is not possible here. Allowed: {allowed}."
    response = problem(405, "method-not-allowed", "Method not allowed", detail)
    response["Allow"] = allowed
    return response


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    status, kind = KINDS[type(error)]
    faults = error.faults if isinstance(error, Invalid) else None
    return problem(status, kind, error.title, str(error), faults=faults)


def _too_many(request: HttpRequest, error: Any) -> HttpResponse:
    response = problem(429, "too-many-requests", "Too many requests", str(error))
    response["Retry-After"] = str(error.retry_after_seconds)
    return response


def _unauthorized(request: HttpRequest, error: Any) -> HttpResponse:
    response = problem(401, "unauthorized", "No live token", str(error))
    wrong = ', error="invalid_token"' if "Authorization" in request.headers else ""
    response["WWW-Authenticate"] = f'Bearer realm="rubricweb"{wrong}'
    return response


def _http_error(request: HttpRequest, error: Any) -> HttpResponse:
    """Ninja raises these for bodies that cannot be parsed; the parser's own words are the cause."""
    cause = error.__cause__
    detail = str(cause) if isinstance(cause, UnreadableBody) else "The body of the request could not be read."
    return problem(error.status_code, "bad-request", "Not understood", detail)


def _too_big(request: HttpRequest, error: Any) -> HttpResponse:
    return problem(413, "too-large", TooLarge.title, "The body is larger than this server takes.")


def _unreadable(request: HttpRequest, error: Any) -> HttpResponse:
    return problem(400, "bad-request", "Not understood", "The body of the request could not be read.")


def _not_found(request: HttpRequest, error: Any) -> HttpResponse:
    return problem(404, "not-found", NotFound.title, str(NotFound("thing")))


def _broken(request: HttpRequest, error: Any) -> HttpResponse:
    """A bug of ours: logged in full here, told to nobody."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    detail = "It is our fault, and it was logged. Try again in a moment."
    return problem(500, "broken", "Something broke", detail)


def invalid(model: type[ParamModel], error: PydanticError) -> list[Fault]:
    """What pydantic found wrong with one part of a request, as our faults."""
    return [_fault(model, one) for one in error.errors(include_url=False)]


def _fault(model: type[ParamModel], error: Any) -> Fault:
    path = _as_sent(model, tuple(error["loc"]))
    source = str(model.__ninja_param_source__)
    # A body arrives under the name of the view's parameter, which is not part of what was sent.
    sent = path[1:] if source == "body" else path
    place = source if source in ("query", "path", "header") else ""
    for part in sent:
        place = join_place(place, f"[{part}]" if isinstance(part, int) else str(part))
    place = place or source
    if error["type"] == "missing":
        return Fault(place, "nothing", "a value; it is required")
    if error["type"] == "extra_forbidden":
        return Fault(place, "an unknown key", nearest(str(path[-1]), _keys(model, error["loc"])))
    allowed = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return Fault(place, shown(error.get("input")), allowed)


def _as_sent(model: type[ParamModel], path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """A place without the name of the view's parameter that gathers the query string or the form."""
    sent_as = getattr(model, "__ninja_flatten_map_reverse__", {})
    for length in range(len(path), 0, -1):
        if path[:length] in sent_as:
            return (*sent_as[path[:length]], *path[length:])
    return path


def _keys(model: type[BaseModel], path: Iterable[str | int]) -> list[str]:
    """The keys allowed at the end of `path`: the fields of the innermost model on the way there."""
    for part in path:
        field = model.model_fields.get(str(part))
        inner = _model_in(field.annotation) if field else None
        if inner is not None:
            model = inner
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `list[Criterion] | None`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found is not None:
            return found
    return None
