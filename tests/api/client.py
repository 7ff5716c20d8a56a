"""A client that speaks the API as a program does, and holds every answer against its description."""

import io
import json
import re
import zipfile
from functools import cache
from typing import Any

import jsonschema_rs
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from rubricweb.api.root import api

ROOT = "/api/v1"


def operations() -> list[Any]:
    """Every operation of the API with its full path, as (method, path, operation)."""
    reverse("api:api-root")  # the routes are bound when the URL conf is loaded
    return [
        (operation.methods[0], path, operation)
        for room in api._get_bound_routers()
        for path, view in room.path_operations.items()
        for operation in view.operations
    ]


@cache
def _description() -> Any:
    return api.get_openapi_schema()


def declared(method: str, path: str) -> dict[int, Any] | None:
    """The responses the OpenAPI description has for an address, by status; None when no operation has it."""
    for template, methods in _description()["paths"].items():
        if re.fullmatch(re.sub(r"{\w+}", r"\\d+", template), path) and method.lower() in methods:
            responses = methods[method.lower()]["responses"]
            return {int(status): _resolved(response) for status, response in responses.items()}
    return None


def _resolved(response: Any) -> Any:
    _, is_shared, name = response.get("$ref", "").partition("#/components/responses/")
    return _description()["components"]["responses"][name] if is_shared else response


@cache
def _validator(schema: str) -> jsonschema_rs.Validator:
    """What tells whether a JSON is as a schema of the description, given as JSON, says."""
    everything = {**json.loads(schema), "components": {"schemas": _description()["components"]["schemas"]}}
    return jsonschema_rs.Draft202012Validator(everything, validate_formats=True)


def faults_of(kind: str, body: Any, described: Any) -> list[str]:
    """Where an answer is not as described: its media type ("" for no body), and the body if that is JSON."""
    content = described.get("content", {})
    if kind not in (content or [""]):
        return [f"{kind or 'no body'}, described are {', '.join(content) or 'no body'}"]
    if not is_json(kind):
        return []
    validator = _validator(json.dumps(content[kind].get("schema", {})))
    return [
        f"{'.'.join(map(str, error.instance_path)) or 'the body'}: {error.message[:300]}"
        for error in validator.iter_errors(body)
    ]


def answered(response: Any) -> tuple[str, Any]:
    """The media type of an answer, "" for one without a body, and the body if that is JSON."""
    if not response.streaming and not response.content:
        return "", None
    kind = response.get("Content-Type", "").partition(";")[0]
    if not is_json(kind):
        return kind, None
    if not response.streaming:
        return kind, response.json()
    body = b"".join(response.streaming_content)
    response.streaming_content = [body]  # for the test to read
    return kind, json.loads(body)


def is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")


class ApiClient:
    """Sends requests with a token. Every answer must be as described, every refusal a problem."""

    def __init__(self, secret: str | None) -> None:
        self.secret = secret
        self.client = Client(raise_request_exception=False)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Any = None,
        files: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """The response; `path` begins after /api/v1. A dict body is sent as JSON, `files` as a form."""
        token = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        options: dict[str, Any] = {"headers": token | (headers or {}), "query_params": query or {}}
        if files is not None:
            options["data"] = files
        elif method != "GET":
            text = body if isinstance(body, str | bytes) else json.dumps(body) if body is not None else ""
            options |= {"data": text, "content_type": "application/json"}
        response = getattr(self.client, method.lower())(ROOT + path, **options)
        # Every operation declares it, for bugs of ours: no test may meet one.
        assert response.status_code != 500, f"{method} {path} is broken"
        answers = declared(method, ROOT + path)
        if answers is not None:
            assert response.status_code in answers, (
                f"{method} {path} answered {response.status_code}, declared are {sorted(answers)}: "
                f"{text_of(response)[:500]}"
            )
            kind, said = answered(response)
            assert faults_of(kind, said, answers[response.status_code]) == [], f"{method} {path}"
        if response.status_code >= 400:
            assert response["Content-Type"] == "application/problem+json"
            assert response.json()["status"] == response.status_code
        return response

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a 200."""
        response = self.call("GET", path, query=query)
        assert response.status_code == 200, response.content
        return response.json()

    def send(self, method: str, path: str, body: Any = None, *, files: Any = None) -> Any:
        """The JSON of a success."""
        response = self.call(method, path, body, files=files)
        assert response.status_code in (200, 201), response.content
        return response.json()

    def refused(self, status: int, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The problem of a refusal with this status."""
        response = self.call(method, path, body, **options)
        assert response.status_code == status, f"{response.status_code}: {text_of(response)}"
        return response.json()


def text_of(response: Any) -> str:
    """Everything an answer says, streamed or not, packed or not."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            body = b"\n".join(archive.read(name) for name in archive.namelist())
    return body.decode(errors="replace") + str(dict(response.items()))


def upload(text: str, name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())
