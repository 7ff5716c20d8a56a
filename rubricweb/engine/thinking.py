"""Texts that hold thinking and output side by side: taken apart, and counted in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypedDict

from rubricweb.engine.submission import Submission, ToGrade


class ThinkingOutputDict(TypedDict):
    """A submission in two parts; an empty text where there is none."""

    thinking: str
    output: str


def word_count(text: str) -> int:
    """How many words a text has: what white space separates. ``"It is  so."`` has 3."""
    return len(text.split())


def parse_thinking_output(text: str) -> ThinkingOutputDict:
    """Take ``<thinking>…</thinking>`` and ``<output>…</output>`` out of a text, the first of each.

    Tags count in either case, white space at the ends does not. Without output tags everything outside
    thinking is the output; a text without tags is output as it stands.

    >>> parse_thinking_output("<thinking>ABC</thinking>DEF")
    {'thinking': 'ABC', 'output': 'DEF'}
    """
    thinking, output = _blocks(text, "thinking"), _blocks(text, "output")
    if output:
        start, end = output[0]
        said = _inside(text, start, end)
    elif thinking:
        said = _outside(text, thinking).strip()
    else:
        said = text
    return {"thinking": _inside(text, *thinking[0]) if thinking else "", "output": said}


def normalize_to_grade_input(to_grade: ToGrade) -> ThinkingOutputDict:
    """Whatever ``grade()`` accepts as its two parts, a text by ``parse_thinking_output``.

    Raises ValueError as ``Submission.of`` does; a mapping may leave ``output`` out.
    """
    if isinstance(to_grade, str):
        return parse_thinking_output(to_grade)
    given = {"output": "", **to_grade} if isinstance(to_grade, Mapping) else to_grade
    submission = Submission.of(given)
    return {"thinking": submission.thinking or "", "output": submission.output}


def _blocks(text: str, tag: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """The opening and closing tag of every block, in order; each tag is looked for once."""
    opening, closing = re.compile(f"<{tag}>", re.IGNORECASE), re.compile(f"</{tag}>", re.IGNORECASE)
    blocks = []
    start = opening.search(text)
    while start is not None and (end := closing.search(text, start.end())) is not None:
        blocks.append((start, end))
        start = opening.search(text, end.end())
    return blocks


def _inside(text: str, start: re.Match[str], end: re.Match[str]) -> str:
    return text[start.end() : end.start()].strip()


def _outside(text: str, blocks: list[tuple[re.Match[str], re.Match[str]]]) -> str:
    ends = [0, *(end.end() for _, end in blocks)]
    starts = [*(start.start() for start, _ in blocks), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
