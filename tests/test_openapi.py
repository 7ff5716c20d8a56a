"""The API other programs rely on: what it was, it stays, unless somebody means it."""

import json
import re
from typing import Any

import pytest

from tests.renew_openapi import DOCS, SNAPSHOT, description, renewed, snapshot

RENEW = "If the change is meant: python -m tests.renew_openapi, and read the difference before committing."


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_description_is_the_one_written_down() -> None:
    assert json.loads(snapshot()) == json.loads(SNAPSHOT.read_text()), RENEW


def test_the_table_of_operations_in_the_docs_is_complete() -> None:
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
        assert {"401", "403", "422"} <= statuses, path
        assert ("404" in statuses) or "{" not in path, path
        assert ({"400", "409"} <= statuses) or method == "get", path


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


def test_refusals_are_described_as_problems() -> None:
    for response in description()["components"]["responses"].values():
        assert list(response["content"]) == ["application/problem+json"]
        assert response["content"]["application/problem+json"]["example"]["type"].startswith("urn:rubricweb:")


@pytest.mark.parametrize("name", ["Figure", "RunItem", "Report", "QueueProgress", "Problem"])
def test_what_programs_build_on_has_a_schema_of_its_own(name: str) -> None:
    assert name in description()["components"]["schemas"]
