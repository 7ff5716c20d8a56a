"""The API: every room under /api/v1, its description, and one form for everything that is refused."""

from codecs import lookup
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver, re_path
from ninja import NinjaAPI
from ninja.errors import ValidationErrorContext
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema

from rubricweb.api import errors
from rubricweb.api.adjudication.routes import adjudication
from rubricweb.api.cases.routes import cases
from rubricweb.api.cases.tags import tags
from rubricweb.api.comparison.agreement_board import agreement
from rubricweb.api.comparison.routes import comparison
from rubricweb.api.datasets.combinations import combinations
from rubricweb.api.datasets.imports import imports
from rubricweb.api.datasets.routes import datasets
from rubricweb.api.datasets.splits import splits
from rubricweb.api.datasets.systems import systems
from rubricweb.api.datasets.versions import versions
from rubricweb.api.deletions.routes import deletions
from rubricweb.api.endpoints.routes import endpoints
from rubricweb.api.exports.routes import exports
from rubricweb.api.judges.routes import judges
from rubricweb.api.judges.tries import judge_tries
from rubricweb.api.operations import BODY_SETTINGS, REFUSALS
from rubricweb.api.parser import StrictParser
from rubricweb.api.reviews.calibration import calibration
from rubricweb.api.reviews.comments import comments
from rubricweb.api.reviews.label_files import label_files
from rubricweb.api.reviews.queues import queues
from rubricweb.api.reviews.reveals import reveals
from rubricweb.api.reviews.routes import reviews
from rubricweb.api.rubrics.routes import rubrics
from rubricweb.api.runs.calls import run_calls
from rubricweb.api.runs.control import run_control
from rubricweb.api.runs.diff.routes import run_diff
from rubricweb.api.runs.planning import run_planning
from rubricweb.api.runs.routes import runs
from rubricweb.api.runs.watching import run_watching
from rubricweb.api.saved_views.routes import saved_views
from rubricweb.api.schemas import Problem
from rubricweb.api.search.routes import search
from rubricweb.api.spending.routes import spending
from rubricweb.api.teams.notifications import notifications
from rubricweb.api.teams.routes import teams
from rubricweb.api.teams.shared_links import shared_links
from rubricweb.errors import Invalid

DESCRIPTION = """\
Everything the pages of rubricweb do, for programs.

A token stands for one member in one team: it sees what that member sees and may do what their role allows.
Make one under Settings → API tokens and send it as `Authorization: Bearer rw_…`.

Lists are pages of `limit` items (1 to 200); `next_cursor` opens the following page. A few short lists about
one dataset are arrays. Whatever is refused is answered as `application/problem+json` (RFC 9457). Verdicts of
judges and other people on an item you are still to review blind are in no answer until you have submitted
yours.
"""

FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


class Api(NinjaAPI):
    """Ninja with our problem details in the places it answers by itself."""

    def validation_error_from_error_contexts(self, error_contexts: list[ValidationErrorContext[Any]]) -> Any:
        """What does not fit an operation's schema, as the refusal services raise for the same thing."""
        faults = [
            fault
            for context in error_contexts
            for fault in errors.invalid(context.model, context.pydantic_validation_error)
        ]
        many = "one fault" if len(faults) == 1 else f"{len(faults)} faults"
        return Invalid(f"The request has {many}.", faults)

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Ninja's description with the error responses all operations share."""
        description = super().get_openapi_schema(**options)
        for operation in _operations(description):
            _as_openapi_has_it(operation)
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        components = description["components"]
        components["schemas"] |= problem.pop("$defs") | {"Problem": problem}
        for schema in components["schemas"].values():
            _without_object_defaults(schema)
        components["schemas"] = _in_use(components["schemas"], description["paths"], problem)
        components["responses"] = {
            name: {
                "description": when,
                "content": {
                    "application/problem+json": {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "example": errors.body_of(REFUSALS[name], kind, title, detail),
                    }
                },
            }
            for name, (when, kind, title, detail) in REFUSED.items()
        }
        components["responses"]["TooManyRequests"]["headers"] = {
            "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
        }
        return description

    def _get_urls(self) -> list[URLResolver | URLPattern]:
        urls = super()._get_urls()
        for url in urls:
            if isinstance(url, URLPattern):
                url.callback = _finished(url.callback)
                # How large a body may be, and what is answered to a larger one, before any of it is read.
                of_methods = BODY_SETTINGS.get(_path_of(url), {})
                url.callback.body_settings = of_methods  # type: ignore[attr-defined]  # for `largest_body`
        return [*urls, re_path(r"", unknown_route)]


def _path_of(url: URLPattern) -> str:
    """The path as its operation was declared with: /items/{int:item_id}."""
    return "/" + str(url.pattern).replace("<", "{").replace(">", "}")


def _operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in description["paths"].values() for operation in methods.values()]


def _as_openapi_has_it(operation: dict[str, Any]) -> None:
    """Takes out what ninja writes otherwise than OpenAPI 3.1 does."""
    for parameter in operation["parameters"]:
        # A list, which belongs into the schema alone, and stands there too.
        parameter.pop("examples", None)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        # The default of a body that may be left out: generators of clients take no objects as defaults, and
        # the fields of the body say theirs.
        if content["schema"].pop("default", None) is not None:
            [content["schema"]] = content["schema"]["allOf"]


def _without_object_defaults(schema: dict[str, Any]) -> None:
    """Takes the defaults of fields that are objects out, for the same reason."""
    for field in schema.get("properties", {}).values():
        if isinstance(field.get("default"), dict) and field["default"]:
            del field["default"]


def _in_use(schemas: dict[str, Any], *roots: Any) -> dict[str, Any]:
    """The schemas something refers to: ninja also lists those it took apart into query parameters."""
    found: set[str] = {"Problem"}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
            _, is_schema, name = str(one.get("$ref", "")).partition("#/components/schemas/")
            if is_schema and name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return {name: schema for name, schema in sorted(schemas.items()) if name in found}


REFUSED = {
    "BadRequest": (
        "The body cannot be read.",
        "bad-request",
        "Not understood",
        "The body of the request could not be read.",
    ),
    "Unauthorized": (
        "No token, or one that is unknown, expired or revoked.",
        "unauthorized",
        "No live token",
        "The token is unknown, expired or revoked.",
    ),
    "Forbidden": (
        "The role is too low, the token may only read, or verdicts are withheld (blind review).",
        "withheld",
        "Hidden until you finish your reviews",
        "Verdicts of judges and other people appear once you have submitted yours.",
    ),
    "NotFound": (
        "It does not exist, or it is another team's.",
        "not-found",
        "Not found",
        "There is no such run, or it is not yours to see.",
    ),
    "Conflict": (
        "It was right once, but the row has moved on.",
        "conflict",
        "Out of date",
        "This review is already submitted; it can no longer change.",
    ),
    "TooLarge": (
        "More bytes than this server takes.",
        "too-large",
        "Too large",
        "answers.jsonl is larger than 50 MB, the most this server takes.",
    ),
    "Invalid": (
        "Understood, but wrong; `faults` says where.",
        "invalid",
        "Not valid",
        "The rubric has one fault.",
    ),
    "TooManyRequests": (
        "The token was used too often; `Retry-After` says after how many seconds it may be again.",
        "too-many-requests",
        "Too many requests",
        "This token may be used 1200 times a minute. Try again in 10 seconds.",
    ),
    "Broken": (
        "Our fault; it was logged.",
        "broken",
        "Something broke",
        "It is our fault, and it was logged. Try again in a moment.",
    ),
}
"""The reusable error responses: when each is given, and an example's kind, title and detail."""


def _finished(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The view with 405 in our form, and forms in UTF-8 only; and nothing of a team stays in a cache."""

    @wraps(view)
    def finished(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = _in_another_charset(request) or view(request, *args, **kwargs)
        if response.status_code == 405:
            response = errors.wrong_method(request, response)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    finished.refuse = errors.refused  # type: ignore[attr-defined]  # for what is refused before it comes here
    finished.csrf_exempt = True  # type: ignore[attr-defined]  # tokens are no cookies: nothing to forge
    return finished


def _in_another_charset(request: HttpRequest) -> HttpResponse | None:
    """A 400 for a form that is not in UTF-8. JSON and query strings are, whatever a header says of them."""
    if request.encoding is None:
        return None
    charset = lookup(request.encoding).name
    request.encoding = "utf-8"
    if request.content_type not in FORM_TYPES or charset in ("utf-8", "ascii"):
        return None
    detail = f"The form is said to be in {charset}; send it in UTF-8."
    return errors.problem(400, "bad-request", "Not understood", detail)


unknown_route = _finished(errors.unknown_route)
"""For what begins like an address of the API and is none."""

api = Api(
    title="rubricweb",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    parser=StrictParser(),
    docs=Swagger({"docExpansion": "list", "tryItOutEnabled": True}),
)
errors.answer_refusals(api)
for room in (
    teams,
    endpoints,
    judges,
    judge_tries,
    search,
    saved_views,
    spending,
    rubrics,
    imports,
    combinations,
    datasets,
    versions,
    cases,
    tags,
    splits,
    label_files,
    runs,
    run_planning,
    run_calls,
    run_control,
    run_watching,
    queues,
    calibration,
    reviews,
    reveals,
    comments,
    notifications,
    shared_links,
    deletions,
    systems,
    agreement,
    adjudication,
    comparison,
    run_diff,
    exports,
):
    api.add_router("", room)
