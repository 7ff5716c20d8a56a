"""The tagged blocks a prompt is made of, with content that cannot end its own tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from rubricweb.engine.conversations.unseen_parts import as_text, without_data
from rubricweb.engine.rubric import Criterion
from rubricweb.engine.submission import Query, Submission

TAGS = (
    "criterion_type",
    "criterion",
    "criteria",
    "guidance",
    "guidelines",
    "met_example",
    "unmet_example",
    "options",
    "option",
    "examples",
    "example",
    "verdict",
    "reason",
    "query",
    "turn",
    "reference",
    "response",
    "thinking",
    "output",
)
"""Every tag our prompts use; inside content none of them can be written."""

_INVISIBLE = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"


@cache  # compiled by those who ask: it takes longer than most modules do to import
def _our_tag() -> re.Pattern[str]:
    return re.compile(
        r"[<\uff1c](?=[\s/\\\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*(?:"
        + "|".join(_INVISIBLE.join(tag) for tag in TAGS)
        + r")(?![a-z0-9_]))",
        re.IGNORECASE,
    )


def neutralised(text: str) -> str:
    """The text with the ``<`` of anything that reads as one of our tags turned into ``‹``.

    ``"</response> ok"`` becomes ``"‹/response> ok"``: readable as before, but no delimiter. Case, white
    space, attributes, a missing ``>``, full-width brackets and invisible characters make no difference. All
    other markup stays as it is.
    """
    return _our_tag().sub("‹", text)


def block(tag: str, content: str, **attributes: str) -> str:
    """One tagged block on lines of its own, its content neutralised."""
    return f"{_opened(tag, attributes)}\n{neutralised(content)}\n</{tag}>"


def inline(tag: str, content: str, **attributes: str) -> str:
    """One tagged block without line breaks of its own, its content neutralised."""
    return f"{_opened(tag, attributes)}{neutralised(content)}</{tag}>"


def joined(blocks: Iterable[str]) -> str:
    """The blocks that are there, an empty line between two."""
    return "\n\n".join(part for part in blocks if part)


def criterion_blocks(criterion: Criterion, order: Sequence[int] = ()) -> str:
    """One criterion with its type, the help written for it and its options in the order given."""
    return joined(
        [
            f"<criterion_type>{criterion_type(criterion)}</criterion_type>",
            inline("criterion", criterion.requirement),
            *(block(tag, text) for tag, text in _help(criterion)),
            _options_block(criterion, order) if criterion.is_multi_choice else "",
        ]
    )


def criteria_block(
    criteria: Iterable[Criterion], orders: Iterable[Sequence[int]] | None = None, *, values: bool = False
) -> str:
    """Several criteria, numbered from 1 in the order given, each with its options in theirs.

    ``values`` shows what each option is worth, for a judge that has to add up.
    """
    criteria = list(criteria)
    lines = ["<criteria>"]
    shown = [range(len(criterion.options)) for criterion in criteria] if orders is None else orders
    for number, (criterion, order) in enumerate(zip(criteria, shown, strict=True), start=1):
        attributes = {
            "number": str(number),
            "type": criterion_type(criterion),
            "weight": _weight(criterion.weight),
        }
        lines.append(inline("criterion", criterion.requirement, **attributes))
        lines.extend(inline(tag, text, number=str(number)) for tag, text in _help(criterion))
        if criterion.is_multi_choice:
            lines.append(_options_block(criterion, order, of=number, values=values))
    lines.append("</criteria>")
    return "\n".join(lines)


def submission_blocks(submission: Submission) -> str:
    """What was asked, an exemplar if there is one, and the response to judge."""
    return joined(
        [
            "" if submission.query is None else _query_block(submission.query),
            "" if submission.reference is None else block("reference", without_data(submission.reference)),
            _response_block(submission),
        ]
    )


def guidelines_block(guidelines: str) -> str:
    """The rubric's guidelines, or nothing."""
    return block("guidelines", guidelines) if guidelines else ""


def criterion_type(criterion: Criterion) -> str:
    """``negative`` for an error to avoid, else ``positive``."""
    return "negative" if criterion.weight < 0 else "positive"


def _options_block(
    criterion: Criterion, order: Sequence[int], *, of: int | None = None, values: bool = False
) -> str:
    attributes = {} if of is None else {"criterion_number": str(of)}
    lines = [_opened("options", attributes | {"scale": str(criterion.scale_type)})]
    for number, index in enumerate(order, start=1):
        option = criterion.options[index]
        shown = {"number": str(number)}
        if values and not option.na:
            shown["value"] = _weight(option.value)
        if option.na:
            shown["not_applicable"] = "true"
        lines.append(inline("option", option.label, **shown))
    lines.append("</options>")
    return "\n".join(lines)


def _help(criterion: Criterion) -> list[tuple[str, str]]:
    texts = (
        ("guidance", criterion.guidance),
        ("met_example", criterion.met_example),
        ("unmet_example", criterion.unmet_example),
    )
    return [(tag, text) for tag, text in texts if text]


def _opened(tag: str, attributes: Mapping[str, str]) -> str:
    written = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>"


def _attribute(value: str) -> str:
    return re.sub(r"[^\w.:-]+", " ", value).strip()[:100]


def _query_block(query: Query) -> str:
    if isinstance(query, str):
        return block("query", without_data(query))
    turns = [inline("turn", f"\n{_content(turn)}\n", role=str(turn.get("role", "unknown"))) for turn in query]
    return "\n".join(["<query>", *turns, "</query>"])


def _content(turn: Mapping[str, Any]) -> str:
    """A turn's text; calls of tools are shown as the JSON they are, pictures and files by a placeholder."""
    content = turn.get("content")
    parts = content if isinstance(content, list | tuple) else [content]
    texts = [_part(part) for part in parts if part is not None]
    extra = {key: value for key, value in turn.items() if key not in ("role", "content") and value}
    if extra:
        texts.append(as_text(extra))
    return "\n".join(texts)


def _part(part: object) -> str:
    if isinstance(part, str):
        return without_data(part)
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return without_data(str(part["text"]))
    return as_text(part)


def _response_block(submission: Submission) -> str:
    if submission.thinking is None:
        return block("response", without_data(submission.output))
    inner = [
        block("thinking", without_data(submission.thinking)),
        block("output", without_data(submission.output)),
    ]
    return "\n".join(["<response>", *inner, "</response>"])


def _weight(weight: float) -> str:
    return str(int(weight)) if weight.is_integer() else repr(weight)
