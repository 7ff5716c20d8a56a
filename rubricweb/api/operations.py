"""How an operation is declared: its role, whether it writes, what it answers and how it may refuse."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja import Router
from ninja.errors import HttpError
from ninja.operation import Operation

from rubricweb.api.auth import BearerToken, Caller
from rubricweb.api.parser import StrictParser, UnreadableBody
from rubricweb.engine.errors import Fault, nearest, shortened, shown
from rubricweb.errors import Invalid
from rubricweb.models import Role

View = TypeVar("View", bound=Callable[..., Any])

BODY_SETTINGS: dict[str, dict[str, str]] = {}
"""For paths and methods whose bodies may be larger than REQUEST_MAX_BYTES: the setting that says how large.
"""


LINES = "application/x-ndjson"
"""The media type of JSON objects, one a line."""


class TokenRequest(HttpRequest):
    """A request that came with a live token: `auth` says whose."""

    auth: Caller


class Room(Router):
    """The operations about one noun. Each declares the least role it needs where it is written.

    The name of a view is its operation id, the first line of its docstring its summary.
    """

    def __init__(self, name: str) -> None:
        super().__init__(tags=[name])

    def read(
        self,
        path: str,
        role: Role,
        answer: Any,
        *,
        names_rows: bool = False,
        files: Mapping[str, str] | None = None,
    ) -> Callable[[View], View]:
        """A GET operation for members with at least `role`; a token that may only read is enough.

        `answer` is the schema of the 200. `names_rows` says that the query string holds ids, which may not
        exist. Where a file is streamed, `files` says which media types it may have and what each is.
        """
        extra = _extra(path, role, writes=False, names_rows=names_rows, files=files or {})
        opens = BearerToken(role, writes=False)
        return self._operation("GET", path, role, {200: answer}, opens, extra=extra)

    def write(
        self,
        method: str,
        path: str,
        role: Role,
        answer: Any,
        *,
        status: int = 200,
        or_nothing: bool = False,
        archived_too: bool = False,
        body_setting: str = "",
    ) -> Callable[[View], View]:
        """An operation that changes rows: the token must be one that may write.

        `answer` None is a body-less answer; `or_nothing` declares a 204 beside the answer. In an archived
        team it is refused, unless it is `archived_too` or a viewer may do it. Its body may have
        REQUEST_MAX_BYTES, or UPLOAD_MAX_BYTES where it takes a file, unless `body_setting` names another one.
        """
        if body_setting:
            BODY_SETTINGS.setdefault(path, {})[method] = body_setting
        answers = {status: answer} | ({204: None} if or_nothing else {})
        extra = _extra(path, role, writes=True, names_rows=True, files={})
        opens = BearerToken(role, writes=True, archived_too=archived_too)
        return self._operation(method, path, role, answers, opens, extra=extra)

    def stream(
        self, path: str, role: Role, answer: Any, *, lines: str, body_setting: str
    ) -> Callable[[View], View]:
        """A POST operation that changes rows, whose answer may also be streamed: `lines` says what each line
        of JSON is then. The rest is as in `write`.
        """
        BODY_SETTINGS.setdefault(path, {})["POST"] = body_setting
        extra = _extra(path, role, writes=True, names_rows=True, files={})
        extra["responses"][200] = {"content": {LINES: {"schema": {"type": "string", "description": lines}}}}
        opens = BearerToken(role, writes=True)
        return self._operation("POST", path, role, {200: answer}, opens, extra=extra)

    def _operation(
        self,
        method: str,
        path: str,
        role: Role,
        answers: dict[int, Any],
        opens: BearerToken,
        *,
        extra: dict[str, Any],
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            summary, _, more = (view.__doc__ or "").strip().partition("\n")
            needs = f"Needs the role *{role.label}*" + (
                " and a token that may write." if opens.writes else "."
            )
            self.add_api_operation(
                path,
                [method],
                view,
                auth=opens,
                response=answers,
                operation_id=view.__name__,
                summary=summary.rstrip("."),
                description=f"{_paragraphs(more)}\n\n{needs}".strip(),
                openapi_extra=extra,
            )
            operation: Operation = getattr(view, "_ninja_operation")  # noqa: B009 ninja leaves it there
            if any(model.__ninja_param_source__ == "file" for model in operation.models):
                BODY_SETTINGS.setdefault(path, {}).setdefault(method, "UPLOAD_MAX_BYTES")
            operation.view_func = _refusing_what_is_not_asked_for(operation, view, writes=opens.writes)
            return view

        return declare


def _paragraphs(text: str) -> str:
    """A docstring's paragraphs as Markdown: one line each."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _extra(
    path: str, role: Role, *, writes: bool, names_rows: bool, files: Mapping[str, str]
) -> dict[str, Any]:
    """The part of the OpenAPI description that follows from the declaration."""
    refusals = ["Unauthorized", "Forbidden", "Invalid", "TooManyRequests", "Broken"]
    if "{" in path or names_rows:
        refusals.append("NotFound")
    if writes:
        refusals += ["BadRequest", "Conflict", "TooLarge"]
    responses: dict[Any, Any] = {
        REFUSALS[name]: {"$ref": f"#/components/responses/{name}"}
        for name in sorted(refusals, key=lambda name: REFUSALS[name])
    }
    if files:
        content = {kind: {"schema": _file_type(kind) | {"description": text}} for kind, text in files.items()}
        responses[200] = {"description": "A file, streamed", "content": content}
    return {"x-role": role.label, "x-writes": writes, "responses": responses}


BINARY = ("application/vnd.apache.parquet", "application/zip")
"""The media types of files that are bytes, not text."""


def _file_type(media_type: str) -> dict[str, str]:
    """What a file is to JSON Schema: an object where it is JSON as a whole, else text or bytes."""
    if media_type in BINARY:
        return {"type": "string", "format": "binary"}
    return {"type": "object" if media_type == "application/json" else "string"}


REFUSALS = {
    "BadRequest": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "Conflict": 409,
    "TooLarge": 413,
    "Invalid": 422,
    "TooManyRequests": 429,
    "Broken": 500,
}
"""The reusable error responses of the OpenAPI description, with their status."""


def _refusing_what_is_not_asked_for(operation: Operation, view: View, *, writes: bool) -> View:
    """Names come from a closed list: another one in the query string, a form or a body is refused, and so is
    a second value where there can be one. Ignored, they would seem to have been heeded.
    """
    in_query, in_form, of_files = (_names(operation, source) for source in ("query", "form", "file"))
    sources = {model.__ninja_param_source__ for model in operation.models}
    takes_form, takes_body = not sources.isdisjoint({"form", "file"}), "body" in sources

    @wraps(view)
    def checked(request: TokenRequest, **values: Any) -> Any:
        _require_asked_for(request.GET, in_query, "parameter", "query.")
        if takes_form:
            _require_asked_for(request.POST, in_form, "form field")
            _require_asked_for(request.FILES, of_files, "file")
        elif writes and not takes_body:
            _require_no_body(request)
        return view(request, **values)

    return checked  # type: ignore[return-value]  # wraps keeps the signature


def _names(operation: Operation, source: str) -> dict[str, bool]:
    """Each name that may be sent in this part of a request → whether with several values."""
    return {
        name: name in model.__ninja_collection_fields__
        for model in operation.models
        if model.__ninja_param_source__ == source
        # A model of files alone has no map of names.
        for name in getattr(model, "__ninja_flatten_map__", model.model_fields)
    }


def _require_asked_for(
    sent: MultiValueDict[str, Any], known: Mapping[str, bool], what: str, place: str = ""
) -> None:
    unknown = [name for name in sent if name not in known]
    if unknown:
        allowed = nearest(unknown[0], list(known)) if known else f"no {what}s here"
        kind = "query parameter" if place else what
        raise Invalid(
            f"Unknown {kind}: {', '.join(map(shortened, unknown[:5]))}.",
            [Fault(f"{place}{shortened(name)}", f"an unknown {what}", allowed) for name in unknown[:20]],
        )
    repeated = {name: len(values) for name, values in sent.lists() if len(values) > 1 and not known[name]}
    if repeated:
        raise Invalid(
            f"Sent more than once: {', '.join(repeated)}.",
            [Fault(f"{place}{name}", f"{n} values", "one") for name, n in repeated.items()],
        )


def _require_no_body(request: TokenRequest) -> None:
    """Nothing, or an empty object, as many clients send."""
    if not request.body:
        return
    try:
        body = StrictParser().parse_body(request)
    except UnreadableBody as error:
        raise HttpError(400, "Cannot parse request body") from error
    if body == {}:
        return
    allowed = "no body here"
    if not isinstance(body, dict):
        raise Invalid.at("body", shown(body), allowed)
    raise Invalid(
        f"Unknown key: {', '.join(map(shortened, list(body)[:5]))}.",
        [Fault(shortened(name), "an unknown key", allowed) for name in list(body)[:20]],
    )
