"""Whether a command prints what the API would answer: every key of the schema, of its type, and no other."""

import json
from typing import Any

import jsonschema_rs
from pydantic import BaseModel


def misfits(shape: type[BaseModel], printed: str, *, many: bool = False) -> list[str]:
    """What in the printed JSON is not as the schema has it; with `many` it is an object a line."""
    described = shape.model_json_schema(mode="serialization")
    for part in (described, *described.get("$defs", {}).values()):
        if "properties" in part:
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])
    validator = jsonschema_rs.validator_for(described)
    rows: list[Any] = [json.loads(line) for line in printed.splitlines()] if many else [json.loads(printed)]
    return [f"{error.instance_path}: {error.message}" for row in rows for error in validator.iter_errors(row)]
