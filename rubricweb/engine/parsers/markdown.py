"""Markdown as people write it here, and what of it is words."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

# "image" is off: a picture would be fetched from wherever a submission says, so it stays a link.
MARKDOWN = (
    MarkdownIt("commonmark", {"html": False, "breaks": True})
    .enable(["table", "strikethrough"])
    .disable("image")
)
"""CommonMark with tables and strikethrough, without raw HTML and pictures."""

CODE = "\ufffc"
"""What stands for code among words."""


def outside_code(text: str) -> Iterator[str]:
    """Every paragraph, heading and cell as it reads, code left out; once more with underscores that mark
    emphasis, where there are any: a name may begin and end with its own.
    """
    for block in MARKDOWN.parse(text):
        if block.type == "inline":
            inside = block.children or ()
            reads = "".join(_said(token, marks=False) for token in inside)
            written = "".join(_said(token, marks=True) for token in inside)
            yield reads
            if written != reads:
                yield written


def _said(token: Token, *, marks: bool) -> str:
    if token.type == "code_inline":
        return CODE
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type in ("em_open", "em_close", "strong_open", "strong_close"):
        return token.markup if marks and "_" in token.markup else ""
    return token.content
