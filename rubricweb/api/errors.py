"""Everything the API refuses, as RFC 9457 problem details: the one place of this floor that translates."""

import json
import logging
from collections.abc import Iterable
from dataclasses import replace
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.params.models import ParamModel
from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as PydanticError

from rubricweb.api.auth import TooManyRequests, Unauthorized
from rubricweb.api.parser import UnreadableBody
from rubricweb.engine.errors import Fault, join_place, nearest, shown
from rubricweb.errors import Busy, Conflict, Forbidden, Invalid, NotFound, Refusal, TooLarge, Withheld

log = logging.getLogger(__name__)

ValuePath = tuple[str | int, ...]
"""The keys and positions that lead to a value in a request."""

KINDS: dict[type[Refusal], tuple[int, str]] = {
    NotFound: (404, "not-found"),
    Forbidden: (403, "forbidden"),
    Withheld: (403, "withheld"),
    Invalid: (422, "invalid"),
    Conflict: (409, "conflict"),
    TooLarge: (413, "too-large"),
    Busy: (429, "busy"),
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
    api.add_exception_handler(Refusal, refused)
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


def wrong_method(request: HttpRequest, answer: HttpResponseBase) -> HttpResponse:
    """A 405 in our own form; `answer` is the framework's, with its Allow header."""
    allowed = answer["Allow"]
    detail = f"{request.method} is not possible here. Allowed: {allowed}."
    response = problem(405, "method-not-allowed", "Method not allowed", detail)
    response["Allow"] = allowed
    return response


def refused(request: HttpRequest, error: Any) -> HttpResponse:
    status, kind = KINDS[type(error)]
    faults = error.faults if isinstance(error, Invalid) else None
    if isinstance(error, Conflict) and error.faults:
        faults = error.faults
    if faults == ():
        # Who reads the faults alone still learns why.
        faults = (Fault("", "this request", str(error)),)
    response = problem(status, kind, error.title, str(error), faults=faults)
    if isinstance(error, Busy):
        response["Retry-After"] = str(error.retry_after_seconds)
    return response


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
    """What pydantic found wrong with one part of a request, as our faults.

    Where a value may be of several types, pydantic tells of each why it is not that. Here this is one fault,
    and none where something inside the value is wrong: then it is of one of the types but for that.
    """
    faults: dict[ValuePath, Fault] = {}
    for one in error.errors(include_url=False):
        path, innermost = _followed(model, one["loc"])
        fault = _fault(model, path, one, keys=innermost.model_fields)
        if path in faults:
            fault = replace(fault, allowed=f"{faults[path].allowed}, or {fault.allowed}")
        faults[path] = fault
    around = {path[:length] for path in faults for length in range(len(path))}
    return [fault for path, fault in faults.items() if path not in around]


def _fault(model: type[ParamModel], path: ValuePath, error: Any, *, keys: Iterable[str]) -> Fault:
    path = _as_sent(model, path)
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
        return Fault(place, "an unknown key", nearest(str(path[-1]), keys))
    allowed = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return Fault(place, shown(error.get("input")), allowed)


def _as_sent(model: type[ParamModel], path: ValuePath) -> ValuePath:
    """A place without the name of the view's parameter that gathers the query string or the form."""
    sent_as = getattr(model, "__ninja_flatten_map_reverse__", {})
    for length in range(len(path), 0, -1):
        if path[:length] in sent_as:
            return (*sent_as[path[:length]], *path[length:])
    return path


def _followed(model: type[BaseModel], place: ValuePath) -> tuple[ValuePath, type[BaseModel]]:
    """A place of pydantic's without what pydantic puts into it, and the innermost model on the way there.

    It puts in which of several types a value was read as, and that a key is meant rather than its value.
    """
    path: list[str | int] = []
    here: Any = model
    for part in place:
        types = _types(here)
        if len(types) > 1:
            here = next((one for one in types if part in _names(one)), None)
        elif _is_model(types[0]) or part != "[key]":
            path.append(part)
            here = _inside(types[0], part)
        if len(types := _types(here)) == 1 and _is_model(types[0]):
            model = types[0]
    return tuple(path), model


def _types(annotation: Any) -> list[Any]:
    """The types a value may have, None aside."""
    bare = _bare(annotation)
    if get_origin(bare) not in (Union, UnionType):
        return [annotation]
    return [one for part in get_args(bare) if part is not type(None) for one in _types(part)]


def _names(annotation: Any) -> set[Any]:
    """What pydantic calls one of several types in a place: what tells it apart, else its name."""
    fields = annotation.model_fields.values() if _is_model(annotation) else ()
    tags = [get_args(one.annotation) for one in fields if get_origin(one.annotation) is Literal]
    return {TypeAdapter(annotation).validator.title}.union(*tags)


def _inside(annotation: Any, part: str | int) -> Any:
    """The type of what stands at `part` of a model, a list or an object; None where anything may."""
    if _is_model(annotation):
        field = annotation.model_fields.get(part)
        return field.annotation if field else None
    parts = get_args(_bare(annotation))
    return parts[-1] if parts else None


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
