"""The prompt texts in ``prompts/``, with ``{{name}}`` as their only syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


@cache
def system_prompt(name: str) -> str:
    """The default system prompt ``prompts/<name>.txt``, the paragraphs shared between prompts filled in."""
    shared = {part: _text(part) for part in ("frame", "options", "verdicts")}
    return fill(_text(name), shared)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace every ``{{name}}`` by its value, in one pass: braces inside a value stay text.

    Nothing else is syntax: ``{0.__class__}`` comes out as it went in. Raises KeyError for a name without a
    value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], template)


def _text(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
