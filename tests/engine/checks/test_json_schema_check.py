"""The check of JSON: what is JSON, what fits, and what a hostile schema cannot do."""

import json

import pytest

from rubricweb.engine.checks import CHECKS, CannotCheck, check_params
from rubricweb.engine.errors import FaultList
from rubricweb.engine.submission import Submission

CHECK = CHECKS["json_schema"]


def measured(text: str, schema, **params):
    return CHECK.run(Submission(text), CHECK.params.model_validate({"schema": schema} | params))


def test_a_fault_is_named_with_its_place():
    schema = {"properties": {"items": {"items": {"type": "integer"}}}, "required": ["status"]}
    assert measured('{"status": 1, "items": [1, 2]}', schema).value == 1.0
    result = measured('{"status": 1, "items": [1, "x"]}', schema)
    assert (result.value, result.reason) == (0.0, 'items[1]: "x" is not of type "integer"')


@pytest.mark.parametrize(
    "text", ["", "no", "{", '{"a": NaN}', "1e999", '{"a": 1, "a": 2}', "[" * 100_000, "9" * 10_000]
)
def test_what_is_no_json_is_a_zero_with_a_reason(text):
    result = measured(text, {})
    assert result.value == 0.0
    assert result.reason.startswith("not JSON: ")


def test_the_first_fenced_block_that_is_json():
    text = 'First:\n```python\nx = {\n```\nthen:\n```json\n{"a": 1}\n```\nand\n~~~\n2\n~~~\n'
    schema = {"required": ["a"]}
    assert measured(text, schema).value == 0.0
    assert measured(text, schema, source="fenced").value == 1.0
    assert measured('{"a": 1}', schema, source="fenced").reason == "no fenced block holds JSON"
    assert measured("```\n{}\n", schema, source="fenced").reason == "no fenced block holds JSON"


def test_fences_are_seen_in_a_text_with_line_ends_of_windows():
    text = 'Here:\r\n```json\r\n{"a": 1}\r\n```\r\nThat is all.\r\n'
    assert measured(text, {"required": ["a"]}, source="fenced").value == 1.0


def test_the_schema_chooses_its_draft():
    # Draft 4 has exclusiveMinimum as a flag; from draft 6 on it is a number and the flag is refused.
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert measured("3", draft4).value == 0.0
    assert measured("4", draft4).value == 1.0
    assert refused({"minimum": 3, "exclusiveMinimum": True})


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x.json", "https://example.org/s", "file:///etc/hostname"]
)
def test_nothing_outside_is_fetched(reference):
    assert "Retrieval is disabled" in refused({"$ref": reference})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"required": "a"},
        {"pattern": "("},
        {"pattern": "(?=a)"},
        {"pattern": "((x{1,100}){1,100}){1,100}"},
        {"$ref": "#/$defs/missing"},
        {"$schema": "http://example.org/other"},
        {"description": "x" * 60_000},
    ],
)
def test_what_is_no_usable_schema_is_refused(schema):
    assert refused(schema)


def refused(schema) -> str:
    faults = FaultList()
    assert check_params("json_schema", {"schema": schema}, faults, "criteria[1]") is None
    assert [fault.place for fault in faults] == ["criteria[1].params.schema"]
    return next(iter(faults)).allowed


def test_a_schema_deeper_than_can_be_read_is_refused():
    schema: dict = {}
    for _ in range(2_000):
        schema = {"not": schema}
    faults = FaultList()
    assert check_params("json_schema", {"schema": schema}, faults) is None
    assert [str(fault) for fault in faults] == [
        "params: found values nested too deeply; allowed: at most 100 levels"
    ]


def test_a_catastrophic_pattern_in_a_schema_is_answered_at_once():
    assert measured(json.dumps("x" * 15_000), {"pattern": "^(x+x+)+y$"}).value == 0.0
    assert measured(json.dumps("x" * 500_000), {"pattern": "^(x+x+)+y$"}).value == 0.0


def doubling(levels: int) -> dict:
    """A schema of linear size that looks at one value 2 ** levels times."""
    definitions: dict = {"a0": {"type": "integer"}}
    for level in range(1, levels + 1):
        again = {"$ref": f"#/$defs/a{level - 1}"}
        definitions[f"a{level}"] = {"allOf": [again, again]}
    return {"$ref": f"#/$defs/a{levels}", "$defs": definitions}


def test_a_schema_that_never_ends_is_stopped_and_the_next_one_answered():
    assert measured("1", doubling(3)).value == 1.0
    with pytest.raises(CannotCheck, match="timed_out: no answer within 2 seconds"):
        measured("1", doubling(60))
    assert measured('"x"', doubling(3)).reason == '"x" is not of type "integer"'


def test_a_schema_that_refers_to_itself_works():
    tree = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    }
    assert measured('{"name": "a", "children": [{"name": "b"}]}', tree).value == 1.0
    result = measured('{"name": "a", "children": [{"name": 1}]}', tree)
    assert result.reason == 'children[0].name: 1 is not of type "string"'


def test_half_of_a_surrogate_pair_is_no_crash():
    assert measured('"\\ud800"', {"type": "string"}).value == 0.0


def test_a_text_above_the_limit_is_an_error_and_not_a_zero():
    with pytest.raises(CannotCheck, match="too_large"):
        measured(" " * 1_000_001, {})
