"""The API other programs rely on: what it was, it stays, unless somebody means it."""

import json
import re
from collections import defaultdict
from typing import Any, get_args

import pytest
from django.test import Client
from openapi_spec_validator import validate
from pydantic import BaseModel

from tests.api.client import declared, faults_of
from tests.api.client import operations as declared_operations
from tests.tools.renew_openapi import DOCS, SNAPSHOT, description, renewed, snapshot

RENEW = (
    "If the change is meant: python -m tests.tools.renew_openapi, and read the difference before committing."
)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_description_is_the_one_written_down() -> None:
    assert json.loads(snapshot()) == json.loads(SNAPSHOT.read_text()), RENEW


def test_what_is_served_is_valid_openapi() -> None:
    validate(Client().get("/api/v1/openapi.json").json())


def test_the_list_of_operations_in_the_docs_is_complete() -> None:
    assert renewed(DOCS.read_text()) == DOCS.read_text(), RENEW


def test_operation_ids_are_readable_and_used_once() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in ids)


def test_every_operation_says_what_it_does_and_how_it_may_refuse() -> None:
    for method, path, operation in operations():
        assert operation["summary"], path
        assert operation["tags"], path
        assert operation["security"] == [{"BearerToken": []}], path
        statuses = set(operation["responses"])
        assert {"401", "403", "422", "500"} <= statuses, path
        assert ("404" in statuses) or "{" not in path, path
        assert ({"400", "409"} <= statuses) or method == "get", path


def test_every_success_has_a_schema() -> None:
    """A program knows beforehand what it gets: 204 has no body, every other answer says its shape."""
    shown = description()
    for path, methods in shown["paths"].items():
        for method, operation in methods.items():
            name = f"{method} {path}"
            statuses = {status for status in operation["responses"] if status.startswith("2")}
            assert statuses, name
            # Nothing answers a removal, and a question for what there may be none of.
            assert method == "delete" or statuses != {"204"}, name
            for status in statuses:
                content = operation["responses"][status].get("content", {})
                assert bool(content) == (status != "204"), f"{name} {status}"
                for kind, body in content.items():
                    # What is in an exported file stands in docs/formats.md: here it has a name.
                    named = path == "/api/v1/exports" and body["schema"]["description"]
                    assert named or says_its_shape(body["schema"], shown), f"{name} {status} {kind}"


def test_a_body_that_may_be_left_out_is_a_schema_without_a_default() -> None:
    """Generators of clients make no code for an operation or a schema with an object as a default."""
    bodies = {operation["operationId"]: operation.get("requestBody") for _, _, operation in operations()}
    left_out = {name: body["content"] for name, body in bodies.items() if body and not body["required"]}
    assert left_out == {
        name: {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
        for name, schema in (
            ("publish_rubric", "Publication"),
            ("pause_run", "Stop"),
            ("cancel_run", "Stop"),
            ("resume_run", "Resumption"),
        )
    }
    assert [one for one in defaults(description()) if isinstance(one, dict) and one] == []


def defaults(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [found for one in value for found in defaults(one)]
    if isinstance(value, dict):
        own = [value["default"]] if "default" in value else []
        return own + [found for one in value.values() for found in defaults(one)]
    return []


def test_files_are_described_by_their_media_types_as_text_or_bytes() -> None:
    content = description()["paths"]["/api/v1/exports"]["get"]["responses"]["200"]["content"]
    kinds = {kind: (one["schema"]["type"], one["schema"].get("format")) for kind, one in content.items()}
    assert kinds == {
        "text/csv": ("string", None),
        "application/x-ndjson": ("string", None),
        "application/json": ("object", None),
        "application/yaml": ("string", None),
        "application/vnd.apache.parquet": ("string", "binary"),
        "application/zip": ("string", "binary"),
    }


def test_the_docs_name_the_lists_that_are_no_pages() -> None:
    pages = re.search(r"^## Pages\n(.*?)^## ", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert pages is not None
    arrays = {
        path.removeprefix("/api/v1")
        for method, path, operation in operations()
        for content in operation["responses"].get("200", {}).get("content", {}).values()
        if method == "get" and content["schema"].get("type") == "array"
    }
    assert set(re.findall(r"`(/[^`]*)`", pages[1])) == arrays


def says_its_shape(schema: dict[str, Any], shown: dict[str, Any]) -> bool:
    """A component, a value of some type, or one of several such; `{}` would allow anything."""
    if "$ref" in schema:
        *_, name = schema["$ref"].split("/")
        return says_its_shape(shown["components"]["schemas"][name], shown)
    if alternatives := schema.get("anyOf", schema.get("oneOf", schema.get("allOf"))):
        return all(says_its_shape(one, shown) for one in alternatives)
    if schema.get("type") == "array":
        return says_its_shape(schema.get("items", {}), shown)
    if schema.get("type") == "object":
        return "properties" in schema or "additionalProperties" in schema
    return "type" in schema or "const" in schema or "enum" in schema


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value))
    if isinstance(value, dict):
        own = {value["$ref"]} if "$ref" in value else set()
        return own.union(*map(references, value.values()))
    return set()


def test_every_reference_leads_to_a_component_and_every_component_is_used() -> None:
    shown = description()
    named = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses")
        for name in shown["components"][kind]
    }
    assert references(shown) == named


def schema_classes() -> dict[str, set[type[BaseModel]]]:
    """Every class the operations take or answer, and those of their fields, by name."""
    found: dict[str, set[type[BaseModel]]] = defaultdict(set)
    waiting: list[Any] = []
    for _, _, operation in declared_operations():
        for model in (*operation.models, *filter(None, operation.response_models.values())):
            # ninja makes these two for each operation, and describes what is in them, not themselves.
            waiting += [field.annotation for field in model.model_fields.values()]
    while waiting:
        one = waiting.pop()
        waiting += get_args(one)
        if isinstance(one, type) and issubclass(one, BaseModel) and one not in found[one.__name__]:
            found[one.__name__].add(one)
            waiting += [field.annotation for field in one.model_fields.values()]
    return found


def test_no_two_schema_classes_share_a_name() -> None:
    """The description knows them by name alone: the second would stand in the place of the first."""
    found = schema_classes()
    assert {"Member", "PanelMember", "ComparedMember", "RunList", "NewPanel"} <= set(found)
    shared = {name: classes for name, classes in found.items() if len(classes) > 1}
    assert shared == {}


def test_a_team_is_described_with_its_people() -> None:
    shown = description()["components"]["schemas"]
    people = shown["TeamWithMembers"]["properties"]["members"]["items"]
    assert people == {"$ref": "#/components/schemas/Member"}
    assert {"username", "role"} <= set(shown["Member"]["properties"])


def test_an_answer_that_is_not_as_described_is_noticed_by_every_api_test() -> None:
    described = declared("GET", "/api/v1/team")
    assert described is not None
    of_a_panel = {"name": "strict", "weight": 1.0, "stage": 1, "judge": {}}
    team = {"id": 1, "name": "Capitals", "slug": "capitals", "members": [of_a_panel]}
    faults = faults_of("application/json", team, described[200])
    assert [fault for fault in faults if fault.startswith("members.0") and "username" in fault], faults
    assert faults_of("text/html", None, described[200]) == ["text/html, described are application/json"]


def test_refusals_are_described_as_problems() -> None:
    for response in description()["components"]["responses"].values():
        assert list(response["content"]) == ["application/problem+json"]
        assert response["content"]["application/problem+json"]["example"]["type"].startswith("urn:rubricweb:")


@pytest.mark.parametrize("name", ["Figure", "RunItem", "Report", "QueueProgress", "Problem"])
def test_what_programs_build_on_has_a_schema_of_its_own(name: str) -> None:
    assert name in description()["components"]["schemas"]
