"""YAML: plain data in, no surprises, no bombs."""

import pytest

from rubricweb.engine.errors import InvalidText
from rubricweb.engine.parsers.yaml_text import MAX_ALIASES, MAX_DEPTH, dump_yaml, parse_yaml


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("yes", "yes"),
        ("No", "No"),
        ("2024-01-31", "2024-01-31"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("-0x1F", "-0x1F"),
        ("0x1F", 31),
        ("0o17", 15),
        ("007", 7),
        ("true", True),
        ("~", None),
        ("", None),
        ("[1, 2.5, a]", [1, 2.5, "a"]),
    ],
)
def test_scalars_follow_the_core_schema(source, value):
    assert parse_yaml(source) == value
    assert type(parse_yaml(source)) is type(value)


@pytest.mark.parametrize(
    "text", ["1e3", "yes", "0o17", "1:30", "=", "<<", "~", "null", "2024-01-01", "- a", ""]
)
def test_texts_that_look_like_something_else_are_quoted(text):
    assert parse_yaml(dump_yaml({"a": text})) == {"a": text}


def test_merge_keys_give_defaults():
    assert parse_yaml("- &a {x: 1, y: 2}\n- {<<: *a, x: 3}") == [{"x": 1, "y": 2}, {"x": 3, "y": 2}]


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (bomb(), "aliases that expand without end"),
        ("a: &a x\nb: [" + "*a, " * (MAX_ALIASES + 1) + "]", f"more than {MAX_ALIASES} aliases"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} levels"),
        ("[" * 100_000, "levels of nesting"),
        ("a: &a [*a]", "inside its own anchor"),
        ("a: *nowhere", "undefined alias"),
        ("a: 1\nb: 2\na: 3", "the key 'a' twice"),
        ("? [1, 2]\n: x", "a key that is not a simple value"),
        ("!!python/object/apply:os.system [id]", "the tag"),
        ("!!binary aGk=", "the tag"),
        ("!!set {a, b}", "the tag"),
        ("!!timestamp 2024-01-01", "the tag"),
        ("!!int x", "a value YAML cannot read"),
        ("0x" + "f" * 4_000, "a number of 4,002 characters"),
        ("{" + "9" * 1_001 + ": x}", "a number of 1,001 characters"),
        ("a: [", "node content"),
        ("a: b: c", "mapping values are not allowed"),
        ("a: \x01", "an unprintable character"),
        ("a: 1\n---\nb: 2", "another document"),
    ],
)
def test_what_is_not_plain_data_is_refused(source, found):
    with pytest.raises(InvalidText) as refused:
        parse_yaml(source)
    assert found in refused.value.faults[0].found


def test_syntax_errors_name_line_and_column():
    with pytest.raises(InvalidText) as refused:
        parse_yaml("a: 1\nb: 2\na: 3")
    assert refused.value.faults[0].place == "line 3, column 1"
