"""YAML restricted to plain data: the core schema, few aliases, no tags, no bombs."""

from __future__ import annotations

import re
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML built without libyaml: same result, slower
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]  # both are SafeConstructor + Resolver

from rubricweb.engine.errors import Fault, InvalidText, shortened

MAX_ALIASES = 100
MAX_DEPTH = 50
MAX_DIGITS = 1_000
"""Characters of a whole number: in hexadecimal, thousands can be read and then not be written."""
MAX_VALUES = 200_000
"""Values of one document, keys among them: about a second of reading. JSON and JSONL take more."""
MAX_ALIASED_NODES = 100_000
"""Values all aliases together may stand for: ten lines of nested aliases can mean a billion."""


def parse_yaml(text: str) -> Any:
    """Parse one YAML document into dicts, lists, texts, numbers, booleans and None.

    Scalars follow the YAML 1.2 core schema: ``yes``, ``2024-01-01`` and ``1:30`` are texts, ``1e3`` is a
    number. Raises InvalidText with line and column for syntax errors, repeated keys, tags such as
    ``!!python/…``, whole numbers of more than MAX_DIGITS characters, more than MAX_VALUES values or
    MAX_ALIASES aliases, nesting beyond MAX_DEPTH, and aliases that would expand to more than
    MAX_ALIASED_NODES.
    """
    try:
        _refuse_bombs(text)
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader with fewer constructors
    except yaml.MarkedYAMLError as error:
        raise InvalidText([Fault(_place(error.problem_mark), _problem(error), "valid YAML")]) from None
    except yaml.reader.ReaderError as error:
        raise InvalidText(
            [Fault(f"character {error.position}", "an unprintable character", "text")]
        ) from None
    except ValueError as error:
        if isinstance(error, InvalidText):
            raise
        raise InvalidText([Fault("", f"a value YAML cannot read ({error})", "valid YAML")]) from None


def dump_yaml(value: Any) -> str:
    """Write plain data as YAML that this reader and YAML 1.1 readers read back to the same values."""
    return yaml.dump(
        value, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
    )


def _refuse_bombs(text: str) -> None:
    """Walk the event stream, where nothing is expanded yet, adding up what the aliases stand for."""
    aliases = aliased_nodes = values = 0
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = []
    for event in yaml.parse(text, Loader=_BaseLoader):
        size = 0
        values += isinstance(event, yaml.NodeEvent)
        if values > MAX_VALUES:
            allowed = f"at most {MAX_VALUES:,} values; JSON, JSONL, CSV and Parquet take more"
            _refuse(event, f"more than {MAX_VALUES:,} values", allowed)
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, 1))
            if len(open_nodes) > MAX_DEPTH:
                _refuse(event, f"more than {MAX_DEPTH} levels of nesting", f"at most {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
            if anchor is not None:
                sizes[anchor] = size
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if any(anchor == event.anchor for anchor, _ in open_nodes):
                _refuse(
                    event, f"the alias *{event.anchor} inside its own anchor", "aliases of finished values"
                )
            size = sizes.get(event.anchor or "", 1)
            aliased_nodes += size
            if aliases > MAX_ALIASES:
                _refuse(event, f"more than {MAX_ALIASES} aliases", f"at most {MAX_ALIASES} aliases")
            if aliased_nodes > MAX_ALIASED_NODES:
                _refuse(
                    event, "aliases that expand without end", f"at most {MAX_ALIASED_NODES:,} aliased values"
                )
        if size and open_nodes:
            anchor, total = open_nodes[-1]
            open_nodes[-1] = (anchor, total + size)


def _refuse(event: yaml.Event, found: str, allowed: str) -> None:
    raise InvalidText([Fault(_place(event.start_mark), found, allowed)])


def _place(mark: Any) -> str:
    return "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"


def _problem(error: yaml.MarkedYAMLError) -> str:
    return shortened(str(error.problem or error.context or "a syntax error"), 200).removeprefix("found ")


class _PlainLoader(_BaseLoader):
    """A safe loader that knows the core schema's types and nothing else."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    yaml_constructors = {}

    def construct_once(self, node: yaml.MappingNode) -> dict[Any, Any]:
        self.flatten_mapping(node)
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str | int | float | bool | None):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key that is not a simple value", key_node.start_mark
                )
            if key in found and not getattr(node, "merged", False):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {shortened(str(key))!r} twice", key_node.start_mark
                )
            found[key] = self.construct_object(value_node, deep=True)
        return found

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        # Merge keys (<<) put defaults before the mapping's own keys, which then rightly repeat them.
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            node.merged = True  # type: ignore[attr-defined]  # a mark on our own copy of the node
        super().flatten_mapping(node)


class _PlainDumper(yaml.SafeDumper):
    """A dumper that quotes what either YAML version would take for something other than text."""


def _represent_text(dumper: _PlainDumper, text: str) -> yaml.ScalarNode:
    """Paragraphs as readable blocks; line separators that YAML would fold away as escapes."""
    style = "|" if "\n" in text else None
    if any(character in text for character in "\r\x85\u2028\u2029\ufeff"):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_PlainDumper.add_representer(str, _represent_text)

_CORE_SCHEMA = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("merge", r"<<", "<"),
)


def _null(loader: _PlainLoader, node: yaml.ScalarNode) -> None:
    loader.construct_scalar(node)


def _bool(loader: _PlainLoader, node: yaml.ScalarNode) -> bool:
    return str(loader.construct_scalar(node)).casefold() == "true"


def _int(loader: _PlainLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    if len(text) > MAX_DIGITS:
        found = f"a number of {len(text):,} characters"
        raise InvalidText([Fault(_place(node.start_mark), found, f"at most {MAX_DIGITS:,}")])
    return int(text, 0) if text.startswith(("0o", "0x")) else int(text)


def _float(loader: _PlainLoader, node: yaml.ScalarNode) -> float:
    text = str(loader.construct_scalar(node)).casefold()
    return float(text.replace(".inf", "inf").replace(".nan", "nan"))


def _str(loader: _PlainLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


def _seq(loader: _PlainLoader, node: yaml.SequenceNode) -> list[Any]:
    return loader.construct_sequence(node, deep=True)


def _unknown(loader: _PlainLoader, node: yaml.Node) -> None:
    raise yaml.constructor.ConstructorError(None, None, f"the tag {node.tag!r}", node.start_mark)


for _name, _pattern, _first in _CORE_SCHEMA:
    _tag, _compiled = f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_pattern})$")
    for _class in (_PlainLoader, _PlainDumper):
        _class.add_implicit_resolver(
            _tag, _compiled, [*_first.replace("\0", ""), *([""] if "\0" in _first else [])]
        )

for _name, _construct in (
    ("null", _null),
    ("bool", _bool),
    ("int", _int),
    ("float", _float),
    ("str", _str),
    ("seq", _seq),
    ("map", _PlainLoader.construct_once),
):
    _PlainLoader.add_constructor(f"tag:yaml.org,2002:{_name}", _construct)
_PlainLoader.add_constructor(None, _unknown)
