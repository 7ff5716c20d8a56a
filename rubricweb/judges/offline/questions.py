"""What a chat request asks: our prompt's tags and the reply form read back out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Form = Literal["criterion", "one_shot", "holistic", "prose"]


@dataclass(frozen=True, slots=True)
class AskedOption:
    """One option as the prompt shows it; only a holistic prompt says what it is worth."""

    label: str
    na: bool = False
    value: float | None = None


@dataclass(frozen=True, slots=True)
class AskedCriterion:
    """One criterion as the prompt shows it; `number` counts from 1 in the prompt's own order."""

    number: int
    requirement: str
    negative: bool
    weight: float = 1.0
    options: tuple[AskedOption, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """Everything a judge's prompt holds. Absent blocks are empty texts; `response` is the part to judge."""

    form: Form
    criteria: tuple[AskedCriterion, ...]
    query: str
    reference: str
    response: str


_LISTED = re.compile(
    r'<criterion number="(?P<number>\d{1,6})" type="(?P<type>\w+)"(?: weight="(?P<weight>[^"]*)")?>'
    r"(?P<text>.*?)</criterion>",
    re.DOTALL,
)

_OPTIONS = re.compile(
    r'<options(?: criterion_number="(?P<number>\d{1,6})")?(?: scale="\w*")?>(?P<text>.*?)</options>',
    re.DOTALL,
)
_OPTION = re.compile(
    r'<option number="\d{1,6}"(?: value="(?P<value>[^"]*)")?(?P<na> not_applicable="true")?>'
    r"(?P<label>.*?)</option>",
    re.DOTALL,
)
_EXAMPLES = re.compile(r"<examples>.*?</examples>", re.DOTALL)


class NotAQuestion(ValueError):
    """A chat request that holds no criteria in our tags."""


def read_request(body: Mapping[str, Any]) -> ParsedPrompt:
    """Read a chat completions request body. Raises NotAQuestion when no criterion is tagged in it."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise NotAQuestion("messages is not a list")
    system = "\n".join(_texts(messages, "system"))
    # What is said of other responses is no help to a judge that knows words only.
    user = _EXAMPLES.sub("", "\n".join(_texts(messages, "user")))
    criteria = _criteria(user)
    if not criteria:
        raise NotAQuestion("no <criterion> in the user message; this judge answers rubric prompts only")
    response = _block(user, "response")
    return ParsedPrompt(
        form=_form(body, system, user),
        criteria=criteria,
        query=_block(user, "query"),
        reference=_block(user, "reference"),
        response=_block(response, "output") if "<output>" in response else response,
    )


def _form(body: Mapping[str, Any], system: str, user: str) -> Form:
    """By the schema when one is sent along, otherwise by what the prompt says about the reply."""
    wanted = body.get("response_format")
    said = f"{wanted}" if isinstance(wanted, Mapping) else ""
    for text in (said, system):
        if "overall_score" in text:
            return "holistic"
        if "criteria_evaluations" in text:
            return "one_shot"
        if "criterion_status" in text:
            return "criterion"
    if re.search(r"\byes\b.{0,20}\bno\b", system, re.IGNORECASE | re.DOTALL):
        return "prose"
    return "one_shot" if "<criteria>" in user else "criterion"


def _criteria(user: str) -> tuple[AskedCriterion, ...]:
    listed = _block(user, "criteria")
    options = _options(user)
    if listed:
        return tuple(
            AskedCriterion(
                number=int(found["number"]),
                requirement=found["text"].strip(),
                negative=found["type"] == "negative",
                weight=_weight(found["weight"]),
                options=options.get(int(found["number"]), ()),
            )
            for found in _LISTED.finditer(listed)
        )
    requirement = _block(user, "criterion")
    negative = _block(user, "criterion_type") == "negative"
    if not requirement:
        return ()
    return (AskedCriterion(1, requirement, negative, -1.0 if negative else 1.0, options.get(1, ())),)


def _options(user: str) -> dict[int, tuple[AskedOption, ...]]:
    """The options by the number of their criterion; 1 for the only one of a prompt without a list."""
    return {
        int(block["number"] or 1): tuple(
            AskedOption(found["label"].strip(), bool(found["na"]), _value(found["value"]))
            for found in _OPTION.finditer(block["text"])
        )
        for block in _OPTIONS.finditer(user)
    }


def _value(text: str | None) -> float | None:
    return None if text is None else _weight(text)


def _block(text: str, tag: str) -> str:
    """The content of the first block of this tag, stripped; "" when there is none."""
    match = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return match[1].strip() if match else ""


def _weight(text: str | None) -> float:
    try:
        return float(text or "1")
    except ValueError:
        return 1.0


def _texts(messages: list[Any], role: str) -> list[str]:
    found: list[str] = []
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") != role:
            continue
        content = message.get("content")
        if isinstance(content, str):
            found.append(content)
        elif isinstance(content, list):
            found.extend(
                str(part["text"]) for part in content if isinstance(part, Mapping) and "text" in part
            )
    return found
