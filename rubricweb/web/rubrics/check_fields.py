"""A check's parameters as fields of a form, built from the JSON schema of what it is called with."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.http import QueryDict

from rubricweb.engine.checks import CHECKS
from rubricweb.engine.errors import Fault, InvalidText
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.web.shared.numbers import number_shown, number_typed

Control = Literal["line", "text", "lines", "number", "flag", "choice", "json"]
UNREADABLE = "unreadable"
"""The parameter under which further parameters are kept when they are no JSON object."""
_LONG = 1_000
_NOTHING = object()


@dataclass
class ParamField:
    """One parameter: what its control shows, and what was said against it."""

    name: str
    label: str
    help: str
    control: Control
    html_name: str
    value: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    errors: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"id_{self.html_name}"

    @property
    def is_on(self) -> bool:
        """Whether a flag is set."""
        return self.value == "true"

    def read(self) -> Any:
        """The value as a rubric stores it; text where it cannot be read, `_NOTHING` where there is none."""
        if self.control == "flag":
            return self.is_on
        if self.control == "lines":
            return [line for line in self.value.split("\n") if line.strip()] or _NOTHING
        if not self.value.strip():
            return _NOTHING
        if self.control == "number":
            return number_typed(self.value)
        return _json_or_text(self.value) if self.control == "json" else self.value


class CheckFields:
    """The parameters of one criterion's check, whatever was typed.

    `rest` holds what no field can show (parameters the check does not know, values of another type, all of
    them when the check is unknown) as JSON; what it names comes before the fields.
    """

    def __init__(self, check: str, prefix: str) -> None:
        found = CHECKS.get(check.strip())
        self.check = check
        self.title = found.title if found else ""
        self.description = found.description if found else ""
        schema = found.params.model_json_schema() if found else {}
        required = schema.get("required", [])
        self.fields = [
            _field(name, part, prefix, name in required)
            for name, part in schema.get("properties", {}).items()
        ]
        self.rest = ParamField(
            "", "Further parameters", "JSON. It comes before the fields above.", "json", f"{prefix}_rest"
        )

    @classmethod
    def from_params(cls, check: str, params: Any, prefix: str) -> "CheckFields":
        """The fields of stored parameters; they read back to exactly these."""
        made = cls(check, prefix)
        rest = dict(params) if isinstance(params, Mapping) else {UNREADABLE: params} if params else {}
        for each in made.fields:
            if rest.get(each.name) is not None and _show(each, rest[each.name]):
                del rest[each.name]
        rest = {name: value for name, value in rest.items() if value is not None}
        made.rest.value = json.dumps(rest, ensure_ascii=False, indent=2) if rest else ""
        return made

    @classmethod
    def from_post(cls, check: str, posted: QueryDict, prefix: str) -> "CheckFields":
        """The fields as typed; those the browser did not show yet keep their defaults."""
        made = cls(check, prefix)
        for each in [*made.fields, made.rest]:
            if each.html_name in posted:
                each.value = posted.get(each.html_name, "").replace("\r\n", "\n").replace("\0", "")
                if each.control == "choice" and each.value not in each.choices:
                    each.choices += (each.value,)
        return made

    def params(self) -> dict[str, Any]:
        """What to store: every field that says something, and the rest."""
        rest = self.rest.read()
        further = {} if rest is _NOTHING else rest if isinstance(rest, dict) else {UNREADABLE: rest}
        shown = {each.name: each.read() for each in self.fields}
        return {name: value for name, value in shown.items() if value is not _NOTHING} | further

    def control_of(self, place: str) -> ParamField:
        """The control a fault below `params` is about: `params.keywords[0]` is the field of keywords."""
        name = place.removeprefix("params").removeprefix(".").split(".")[0].split("[")[0]
        return next((each for each in self.fields if each.name == name), self.rest)

    def name_of(self, place: str) -> str:
        """What a fault below `params` is about, for people: one of the fields, or how they go together."""
        control = self.control_of(place)
        return control.label.lower() if self._is_shown(control) else "parameters"

    def sentence(self, fault: Fault) -> str:
        """What a fault says; a text that should have been JSON says where it stops being so."""
        control = self.control_of(fault.place)
        if not self._is_shown(control):
            return f"Give {fault.allowed}."
        if control.control == "json" and control.value.strip():
            try:
                parse_json(control.value)
            except InvalidText as error:
                return f"Not JSON. {error}"
        return f"Found {fault.found}. Allowed: {fault.allowed}."

    def _is_shown(self, control: ParamField) -> bool:
        """Whether there is something to fill in: of the rest only while it holds anything."""
        return control is not self.rest or bool(control.value)


def _field(name: str, schema: Mapping[str, Any], prefix: str, required: bool) -> ParamField:
    inner = next((one for one in schema.get("anyOf", []) if one.get("type") != "null"), schema)
    made = ParamField(
        name=name,
        label=str(schema.get("title") or name).capitalize(),
        help=str(schema.get("description") or ""),
        control=_control(inner),
        html_name=f"{prefix}-{name}",
        required=required,
        choices=tuple(map(str, inner.get("enum", ()))),
    )
    if schema.get("default") is not None:
        _show(made, schema["default"])
    return made


def _control(schema: Mapping[str, Any]) -> Control:
    kind = schema.get("type")
    if kind == "string" and "enum" in schema:
        return "choice"
    if kind == "boolean":
        return "flag"
    if kind in ("integer", "number"):
        return "number"
    if kind == "string":
        return "text" if schema.get("maxLength", 0) > _LONG else "line"
    if kind == "array" and schema.get("items", {}).get("type") == "string":
        return "lines"
    return "json"


def _show(made: ParamField, value: Any) -> bool:
    """Puts a value into its control; False, and nothing done, when it would not read back the same."""
    before, choices = made.value, made.choices
    if isinstance(value, bool):
        made.value = str(value).lower()
    elif isinstance(value, list | tuple) and made.control == "lines":
        made.value = "\n".join(map(str, value))
    elif made.control == "json" and not isinstance(value, str):
        made.value = json.dumps(value, ensure_ascii=False, indent=2)
    else:
        made.value = number_shown(value)
    if made.control == "choice" and isinstance(value, str) and value not in choices:
        made.choices += (value,)
    broken = "\r" in made.value or (made.control == "line" and "\n" in made.value)
    if broken or not _equals(made.read(), value):
        made.value, made.choices = before, choices
        return False
    return True


def _equals(one: Any, other: Any) -> bool:
    if isinstance(other, list | tuple):
        return isinstance(one, list) and len(one) == len(other) and all(map(_equals, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _json_or_text(text: str) -> Any:
    """The JSON value, or the text when it is none that a JSON column holds."""
    try:
        value = parse_json(text)
        plain = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (InvalidText, ValueError):
        return text
    return text if "\\u0000" in plain or unstorable(plain) else value
