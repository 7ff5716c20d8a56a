"""Checks of how a text is laid out: tags in their order, thinking before the answer."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rubricweb.engine.checks.base import Check, CheckParams, CheckResult, NoParams, listed
from rubricweb.engine.submission import Submission

_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_THINK = re.compile(r"</?think>")


def _tag_name(name: str) -> str:
    if not _TAG.fullmatch(name):
        raise ValueError("a tag's name: a letter or _, then letters, digits, _ . -")
    return name


TagName = Annotated[str, Field(max_length=100), AfterValidator(_tag_name)]


class XmlFormatParams(CheckParams):
    """Which tags, in which order."""

    tags: Annotated[tuple[TagName, ...], Field(min_length=1, max_length=50, strict=False)] = Field(
        description="The tags' names in the order they must appear, without angle brackets"
    )
    mode: Literal["all", "fraction"] = Field(
        "all", description="all: every tag in order; fraction: the share of tags that are in order"
    )


def run_xml_format(submission: Submission, params: XmlFormatParams) -> CheckResult:
    """Whether every tag is opened and closed once, holds text, and follows the end of the one before it.

    ``fraction`` gives the share of tags for which that is true: with reasoning and answer asked for,
    ``<answer>4</answer>`` alone is 0.5.
    """
    text = submission.output
    after = 0
    missing: list[str] = []
    for tag in params.tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        start, end = text.find(opening), text.find(closing)
        once = text.count(opening) == 1 and text.count(closing) == 1
        filled = once and bool(text[start + len(opening) : end].strip())
        if filled and start >= after:
            after = end + len(closing)
        else:
            missing.append(tag)
    value = 1.0 - len(missing) / len(params.tags)
    if not missing:
        return CheckResult(1.0, f"in order: {listed(params.tags)}")
    reason = f"not once, filled and in order: {listed(tuple(missing))}"
    return CheckResult(value if params.mode == "fraction" else 0.0, reason)


def describe_xml_format(params: XmlFormatParams) -> str:
    """Has the tags reasoning, answer in this order."""
    return f"Has the tags {listed(params.tags)} in this order"


def run_think_format(submission: Submission, params: NoParams) -> CheckResult:
    """1 when the text is one ``<think>…</think>`` block and then an answer, else 0.

    Thinking that came separately counts as the block: the text itself must then hold no such tag.
    """
    text = submission.output
    tags = _THINK.findall(text)
    if submission.thinking is not None:
        if tags:
            return CheckResult(0.0, "think tags in the answer although the thinking came separately")
        rest, thought = text, submission.thinking
    else:
        if tags != ["<think>", "</think>"] or not text.lstrip().startswith("<think>"):
            shown = " ".join(tags[:6]) or "no think tags"
            return CheckResult(0.0, f"found {shown}; asked for one <think>…</think> block at the beginning")
        thought, rest = text.lstrip().removeprefix("<think>").split("</think>")
    if not thought.strip():
        return CheckResult(0.0, "the thinking is empty")
    if not rest.strip():
        return CheckResult(0.0, "no answer after the thinking")
    return CheckResult(1.0, "thinking, then an answer")


XML_FORMAT = Check(
    name="xml_format",
    title="Tags in order",
    description="The text has the required tags, each once, filled and in order.",
    params=XmlFormatParams,
    run=run_xml_format,
    describe=describe_xml_format,
)
THINK_FORMAT = Check(
    name="think_format",
    title="Thinks, then answers",
    description="The text begins with one <think>…</think> block and an answer follows it.",
    params=NoParams,
    run=run_think_format,
)
