"""The check of a JSON text against a JSON schema."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from pydantic import Field, field_validator

from rubricweb.engine.checks.base import CannotCheck, Check, CheckParams, CheckResult, quoted
from rubricweb.engine.checks.processes.helper_process import schema_faults, validator_of
from rubricweb.engine.checks.processes.limited import LimitedProcess
from rubricweb.engine.errors import Fault, InvalidText
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.submission import Submission

MAX_SCHEMA_CHARACTERS = 50_000
MAX_TEXT_CHARACTERS = 1_000_000
TIMEOUT_SECONDS = 2.0

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_MAX_FENCES = 100

# What can make a schema visit one value again and again, a number of times exponential in its length.
_REPEATING = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"unevaluated')
_PATTERNS = ('"pattern', '"format"')
_QUICK_PATTERN_TEXT = 20_000
_QUICK_PRODUCT = 100_000_000

_helper = LimitedProcess("json_schema", timeout_seconds=TIMEOUT_SECONDS)


class JsonSchemaParams(CheckParams):
    """The schema, and where in the text the JSON stands."""

    # The published name of the parameter is also that of a method pydantic has retired.
    json_schema: dict[str, Any] = Field(
        alias="schema",
        description="A JSON schema, draft 2020-12 unless its $schema says otherwise; no outside references",
    )
    source: Literal["whole", "fenced"] = Field(
        "whole", description="whole: the whole text is JSON; fenced: the first fenced block that is JSON"
    )

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            text = json.dumps(schema, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("a JSON schema of plain JSON values") from None
        if len(text) > MAX_SCHEMA_CHARACTERS:
            raise ValueError(f"a JSON schema of at most {MAX_SCHEMA_CHARACTERS:,} characters")
        try:
            validator_of(text)
        except ValueError as error:
            message = " ".join(getattr(error, "message", str(error)).split("\n\n")[0].split())
            raise ValueError(
                f"a valid JSON schema without outside references; here: {message[:300]}"
            ) from None
        return schema


def run_json_schema(submission: Submission, params: JsonSchemaParams) -> CheckResult:
    """1 when the JSON fits the schema; 0 when it does not, or when there is no JSON.

    Raises CannotCheck for a text above the limit (``too_large``), and when a schema that refers to itself
    takes longer than two seconds (``timed_out``).
    """
    if len(submission.output) > MAX_TEXT_CHARACTERS:
        found = f"{len(submission.output):,} characters"
        raise CannotCheck("too_large", f"{found} are too many; allowed: {MAX_TEXT_CHARACTERS:,}")
    text = submission.output if params.source == "whole" else _first_fenced(submission.output)
    if text is None:
        return CheckResult(0.0, "no fenced block holds JSON")
    try:
        instance = _parsed(text)
    except InvalidText as error:
        return CheckResult(0.0, f"not JSON: {error.faults[0]}")
    schema = json.dumps(params.json_schema)
    try:
        if _is_quick(schema, text):
            faults = schema_faults(schema, instance)
        else:
            faults = _helper.ask({"schema": schema, "text": json.dumps(instance)})
    except (RecursionError, ValueError) as error:
        return CheckResult(0.0, f"JSON that cannot be compared: {error}")
    if faults:
        return CheckResult(0.0, "; ".join(faults))
    return CheckResult(1.0, f"fits the schema: {quoted(text)}")


def describe_json_schema(params: JsonSchemaParams) -> str:
    """Is JSON that fits the schema “order”."""
    title = params.json_schema.get("title")
    named = f" {quoted(title)}" if isinstance(title, str) and title.strip() else ""
    required = params.json_schema.get("required")
    keys = f" with {', '.join(map(str, required))}" if isinstance(required, list) and required else ""
    where = "Is JSON" if params.source == "whole" else "Holds fenced JSON"
    return f"{where}{keys} that fits the schema{named}"


def _first_fenced(text: str) -> str | None:
    """The content of the first fenced block that is JSON, None without one."""
    for count, match in enumerate(_FENCE.finditer(text)):
        if count == _MAX_FENCES:
            return None
        try:
            _parsed(match.group(2))
        except InvalidText:
            continue
        return match.group(2)
    return None


def _parsed(text: str) -> Any:
    value = parse_json(text)
    try:
        json.dumps(value, allow_nan=False)  # parse_json lets NaN, Infinity and 1e999 pass
    except ValueError:
        raise InvalidText([Fault("", "NaN or Infinity", "JSON numbers")]) from None
    except RecursionError:
        raise InvalidText([Fault("", "JSON nested too deeply", "fewer levels of nesting")]) from None
    return value


def _is_quick(schema: str, text: str) -> bool:
    """Whether the work is surely proportional to the schema times the text, and that product small."""
    if any(word in schema for word in _REPEATING):
        return False
    if any(word in schema for word in _PATTERNS) and len(text) > _QUICK_PATTERN_TEXT:
        return False
    return len(schema) * len(text) <= _QUICK_PRODUCT


JSON_SCHEMA = Check(
    name="json_schema",
    title="Fits a JSON schema",
    description="The text, or its first fenced block, is JSON that fits a JSON schema.",
    params=JsonSchemaParams,
    run=run_json_schema,
    describe=describe_json_schema,
)
