"""Examples as a judge sees them: verdicts on other responses, in tagged blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rubricweb.engine.autograders.examples.few_shot import Example, content_digest, query_text
from rubricweb.engine.autograders.material import block, inline, joined, submission_blocks
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission

MAX_CHARACTERS: Final = 2_000
"""Characters of one example's texts; what is longer loses its middle, visibly."""

MAX_TOTAL_CHARACTERS: Final = 12_000
"""Characters of all examples of one prompt; they share it evenly."""

_PREFACE = (
    "Verdicts given to other responses. They show how a criterion is read; the response to judge follows."
)


def example_blocks(
    criterion: Criterion,
    examples: Sequence[Example],
    *,
    submission: Submission | None = None,
    max_characters: int = MAX_CHARACTERS,
    max_total_characters: int = MAX_TOTAL_CHARACTERS,
) -> str:
    """The examples of one criterion as tagged text with neutralised content; "" when there are none.

    An example of the very ``submission`` that is being judged is left out. The texts of one example keep
    ``max_characters``, or their even part of the total; what is longer loses its middle and says how much.
    """
    shown = [_Shown(example, [(None, criterion, example)]) for example in examples]
    return _examples_block(shown, submission, max_characters, max_total_characters)


def list_example_blocks(
    rubric: Rubric,
    indexes: Sequence[int],
    examples: Mapping[int, Sequence[Example]],
    *,
    submission: Submission | None = None,
    max_characters: int = MAX_CHARACTERS,
    max_total_characters: int = MAX_TOTAL_CHARACTERS,
) -> str:
    """The examples of a list of criteria, numbered from 1 as they are asked about, each text shown once.

    ``examples`` by 0-based criterion index of the rubric. Otherwise as ``example_blocks``.
    """
    shown: dict[str, _Shown] = {}
    for number, index in enumerate(indexes, start=1):
        for example in examples.get(index, ()):
            entry = shown.setdefault(content_digest(example.submission), _Shown(example, []))
            entry.judged.append((number, rubric.criteria[index], example))
    return _examples_block(list(shown.values()), submission, max_characters, max_total_characters)


def cut_middle(text: str, limit: int) -> str:
    """The text, or its beginning and end around a mark that says how many characters are missing.

    The result keeps ``limit`` characters of the text; the mark comes on top. ``cut_middle("abcdefgh", 4)``
    is ``"ab […4 characters left out…] gh"``.
    """
    if len(text) <= limit:
        return text
    limit = max(0, limit)
    head, tail = limit - limit // 2, limit // 2
    mark = f"[…{len(text) - limit:,} characters left out…]"
    return f"{text[:head]} {mark} {text[len(text) - tail :]}".strip()


@dataclass(frozen=True, slots=True)
class _Shown:
    """One text with what was said about it: the criterion's number in the list, if there is a list."""

    example: Example
    judged: list[tuple[int | None, Criterion, Example]]


def _examples_block(
    shown: Sequence[_Shown], submission: Submission | None, max_characters: int, max_total_characters: int
) -> str:
    if not shown:
        return ""
    judging = None if submission is None else content_digest(submission)
    others = [one for one in shown if content_digest(one.example.submission) != judging]
    if not others:
        return ""
    budget = min(max_characters, max_total_characters // len(others))
    body = joined(_example_block(one, budget) for one in others)
    return f"<examples>\n{_PREFACE}\n\n{body}\n</examples>"


def _example_block(shown: _Shown, budget: int) -> str:
    """Reasons, query and thinking within a quarter of the budget each, the output within what is left."""
    given = shown.example.submission
    quarter = budget // 4
    reasons = [cut_middle(example.reason, quarter // len(shown.judged)) for _, _, example in shown.judged]
    query = None if given.query is None else cut_middle(query_text(given.query), quarter)
    thinking = None if not given.thinking else cut_middle(given.thinking, quarter)
    spent = sum(min(len(text), quarter) for text in (query, thinking) if text)
    spent += sum(min(len(text), quarter // len(shown.judged)) for text in reasons)
    output = cut_middle(given.output, budget - spent)
    said = [
        part
        for (number, criterion, example), reason in zip(shown.judged, reasons, strict=True)
        for part in _said(number, criterion, example.label, reason)
    ]
    content = joined([submission_blocks(Submission(output, thinking, query)), *said])
    return f"<example>\n{content}\n</example>"


def _said(number: int | None, criterion: Criterion, label: str, reason: str) -> list[str]:
    """The reason before the verdict, as in a reply."""
    of = {} if number is None else {"criterion_number": str(number)}
    tag = "verdict" if criterion.kind == "binary" else "option"
    return [block("reason", reason, **of) if reason else "", inline(tag, label, **of)]
