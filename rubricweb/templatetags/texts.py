"""How texts that people and models wrote look in templates: Markdown, chats, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import nh3
from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from rubricweb.engine.parsers.json_text import json_container
from rubricweb.engine.parsers.markdown import MARKDOWN
from rubricweb.templatetags.display import icon

register = template.Library()

MARKDOWN_BUDGET = 200_000
"""What the texts of one request may cost to lay out as Markdown, all together, in plain characters."""
MARK_COST, LINE_COST = 8, 30
"""What a character that may be Markdown costs, and a line or a cell of a table, beside a plain character."""

_MARKS = "*_`[]<&~!|\\"
_left: ContextVar[int | None] = ContextVar("markdown_left", default=None)

TAGS = {
    *("h3", "h4", "h5", "h6", "p", "hr", "blockquote", "pre", "ul", "ol", "li"),
    *("a", "br", "code", "del", "em", "s", "strong"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
"""Elements that Markdown may become."""


@contextmanager
def one_markdown_budget() -> Iterator[None]:
    """All texts within share `MARKDOWN_BUDGET`, as those of one request do; without, each has its own."""
    token = _left.set(MARKDOWN_BUDGET)
    try:
        yield
    finally:
        _left.reset(token)


@register.filter
def markdown(text: str | None) -> SafeString:
    """Markdown as safe HTML: no raw HTML, no pictures, an allow-list of tags, links without referrer or rank.

    Headings start at h3, below the page's own. A text that costs more than is left of `MARKDOWN_BUDGET` is
    shown whole as plain text after a sentence that says so, because laying it out would hold up the page.
    """
    note, html = _noted_markdown(text)
    return format_html("{}{}", note, html)


@register.simple_tag
def body(value: Any, field: str = "") -> SafeString:
    """A submission or prompt as it is meant: a chat array as turns, JSON as code, anything else as Markdown.

    Strings that hold a JSON array or object are read first, so both stored forms look the same. `field` marks
    every text as a place that can be quoted, by the names of `selectors.reviews.evidence`.
    """
    if value is None or value == "":
        return format_html('<p class="text-muted">{}</p>', "Empty.")
    if isinstance(value, str):
        parsed = json_container(value)
        if parsed is None:
            note, html = _noted_markdown(value)
            return format_html('{}<div class="prose"{}>{}</div>', note, _place(field), html)
        value = parsed
    if _is_chat(value):
        turns = ((_turn(turn, f"{field}[{at}]" if field else ""),) for at, turn in enumerate(value))
        return format_html('<div class="chat">{}</div>', format_html_join("", "{}", turns))
    return format_html("<div{}>{}</div>", _place(field), _code(value)) if field else _code(value)


@register.simple_tag
def help_mark(page: str, about: str, anchor: str = "") -> SafeString:
    """ⓘ: a link to a page of the help, "agreement", and its heading, that opens beside this one."""
    url = reverse("help_page", args=[page]) + (f"#{anchor}" if anchor else "")
    words = f"Help, in a new tab: {about}"
    return format_html(
        '<a class="help-mark" href="{}" target="_blank" rel="noopener" aria-label="{}" title="{}">{}</a>',
        url,
        words,
        about,
        icon("info"),
    )


# ── What the above is made of ────────────────────────────────────────────────────────────────────
def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, Mapping) and isinstance(turn.get("role"), str) for turn in value)
    )


def _place(field: str) -> SafeString:
    """The attribute by which the review page knows which text of the item an element shows."""
    return format_html(' data-field="{}" dir="auto"', field) if field else SafeString("")


def _turn(turn: Mapping[str, Any], field: str = "") -> SafeString:
    role = turn["role"]
    look = role if role in ("user", "assistant", "system", "tool") else "other"
    rest = {key: value for key, value in turn.items() if key not in ("role", "content", "name") and value}
    return format_html(
        '<div class="chat__turn chat__turn--{}"><p class="chat__role">{}</p>'
        '<div class="chat__body prose">{}{}</div></div>',
        look,
        f"{role} · {turn['name']}" if turn.get("name") else role,
        _content(turn.get("content"), field),
        format_html('<pre class="code">{}</pre>', json.dumps(rest, ensure_ascii=False, indent=2))
        if rest
        else "",
    )


def _content(content: Any, field: str = "") -> SafeString:
    """The content of a turn: a string, or parts of which the text is shown and the rest named."""
    if content is None:
        return SafeString("")
    if isinstance(content, str):
        return _quotable(*_noted_markdown(content), field)
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return format_html_join(
            "",
            "{}",
            (
                (
                    _quotable(*_noted_markdown(part["text"]), f"{field}[{at}]" if field else "")
                    if isinstance(part.get("text"), str)
                    else format_html(
                        '<p class="text-muted">[{}: not shown]</p>', part.get("type", "attachment")
                    ),
                )
                for at, part in enumerate(content)
            ),
        )
    return _code(content)


def _quotable(note: SafeString, html: SafeString, field: str) -> SafeString:
    """The note stands outside the place: only the text itself can be quoted."""
    quoted = format_html("<div{}>{}</div>", _place(field), html) if field else html
    return format_html("{}{}", note, quoted)


def _noted_markdown(text: str | None) -> tuple[SafeString, SafeString]:
    """What is to be said about a text, if anything, and its HTML: laid out while the budget lasts."""
    if not text:
        return SafeString(""), SafeString("")
    left = _left.get()
    budget = MARKDOWN_BUDGET if left is None else left
    cost = markdown_cost(text, budget)
    if cost > budget:
        note = format_html(
            '<p class="text-muted text-small">{}</p>',
            "Shown as plain text: there is too much of it to be laid out as Markdown.",
        )
        return note, format_html('<pre class="code">{}</pre>', text)
    if left is not None:
        _left.set(left - cost)
    return SafeString(""), _laid_out(text)


def markdown_cost(text: str, most: int = MARKDOWN_BUDGET) -> int:
    """What laying out `text` costs at most, in plain characters; once it is over `most`, only that it is.

    A line of a table has as many cells as its widest row, written or not, and a table ends at an empty line.
    So every line between two empty ones counts once more for each "|" of the line with most: "|a|b|", "|-|-|"
    and "x" are 13 characters, 6 marks and 3 · 4 lines and cells, 13 + 8 · 6 + 30 · 12 = 421.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    cost = len(text) + LINE_COST * (lines.count("\n") + 1)
    if cost > most:
        return cost
    cost += MARK_COST * sum(text.count(mark) for mark in _MARKS)
    for block in lines.split("\n\n"):
        if "|" in block:
            rows = block.split("\n")
            cost += LINE_COST * len(rows) * max(row.count("|") for row in rows)
    return cost


def _laid_out(text: str) -> SafeString:
    tokens = MARKDOWN.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    clean = nh3.clean(
        MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(clean)  # noqa: S308 nh3 has just cleaned it


def _code(value: Any) -> SafeString:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:  # the indenting encoder gives up before the decoder does
        text = json.dumps(value, ensure_ascii=False)
    return format_html('<pre class="code">{}</pre>', text)
