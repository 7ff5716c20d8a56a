"""Judges as files: YAML to read, to change and to keep beside code; no key and no header is ever in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.errors import Fault, InvalidFile, InvalidText, shown
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.judging.shipped import written_out
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.parsers.yaml_text import dump_yaml, parse_yaml

MAX_FILE_BYTES = 5_000_000


@dataclass(frozen=True)
class JudgeFile:
    """What a file says: what the judge is called, of which version it was written, and what it asks.

    "" and None stand for what the file does not say; `definition` is not looked at yet.
    """

    slug: str
    name: str
    note: str | None
    version: int | None
    definition: Mapping[str, Any]


def write_judge(
    definition: JudgeDefinition, *, slug: str, name: str, version: int, note: str = "", shipped: bool = False
) -> str:
    """A file that `read_judge` reads back, without what is at its default.

    With `shipped` the shipped instructions stand in it where the judge has none of its own, to be edited;
    unchanged they mean the same.
    """
    written = written_out(definition) if shipped else definition
    content = written.model_dump(mode="json", exclude_defaults=True)
    content = {field: content[field] for field in JudgeDefinition.model_fields if field in content}
    head = {"judge": slug, "version": version, "name": name} | ({"note": note} if note else {})
    return dump_yaml(head | content)


def read_judge(data: bytes | str) -> JudgeFile:
    """What a file says, YAML or JSON. Raises InvalidFile with the place of each fault."""
    try:
        told = parse_yaml(decode(data, max_bytes=MAX_FILE_BYTES))
    except InvalidText as error:
        raise InvalidFile(error.faults) from None
    if not isinstance(told, dict):
        raise InvalidFile([Fault("", shown(told), "a judge: judge, name, members and what else differs")])
    faults = []
    for key in ("judge", "name", "note"):
        if not isinstance(told.get(key, ""), str):
            faults.append(Fault(key, shown(told[key]), "a text"))
    version = told.get("version")
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version < 1):
        faults.append(Fault("version", shown(version), "a whole number from 1, or no such key"))
    if not told.get("judge") and not told.get("name"):
        faults.append(
            Fault("judge", "nothing", "what the judge is called in commands, such as support-judge")
        )
    if faults:
        raise InvalidFile(faults)
    rest = {key: value for key, value in told.items() if key not in ("judge", "version", "name", "note")}
    return JudgeFile(told.get("judge", ""), told.get("name", ""), told.get("note"), version, rest)
