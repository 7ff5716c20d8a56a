"""How values look in templates: numbers, chips, times, Markdown, and small drawings in SVG."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

import nh3
from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from rubricweb.engine import number_format
from rubricweb.engine.agreement.intervals import NOTHING_MEASURED
from rubricweb.engine.number_format import MISSING, is_number
from rubricweb.engine.parsers.markdown import MARKDOWN
from rubricweb.engine.scoring.effect import verdict_effect, verdict_words
from rubricweb.engine.verdict import Verdict
from rubricweb.models.teams import Role

register = template.Library()

MARKDOWN_BUDGET = 200_000
"""What the texts of one request may cost to lay out as Markdown, all together, in plain characters."""
MARK_COST, LINE_COST = 8, 30
"""What a character that may be Markdown costs, and a line or a cell of a table, beside a plain character."""

_MARKS = "*_`[]<&~!|\\"
_left: ContextVar[int | None] = ContextVar("markdown_left", default=None)


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────
# How each is written stands in one place for pages, commands and mails: engine.number_format.
score = register.filter("score", number_format.number)
difference = register.filter("difference", number_format.difference)
percent = register.filter("percent", number_format.share)
signed = register.filter("signed", number_format.weight)
count = register.filter("count", number_format.whole)
usd = register.filter("usd", number_format.money)


@register.filter
def duration(seconds: float | timedelta | None) -> str:
    """A length of time in its two largest units: "840 ms", "12.3 s", "1 min 30 s", "2 h 5 min", "3 d 4 h"."""
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    if not is_number(seconds):
        return MISSING
    if seconds < 0.9995:
        return f"{max(seconds, 0) * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    for size, name, smaller, smaller_name in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {name}" + (f" {rest} {smaller_name}" if rest else "")
    return f"{whole} s"


@register.simple_tag
def figure(
    value: Any,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    *,
    signed: bool = False,
    percent: bool = False,
    digits: int | None = None,
    look: str = "line",
) -> SafeString:
    """A value with its interval, "0.68 [0.61, 0.74]"; takes an engine Figure or the numbers.

    `look`: "line"; "stacked" puts the interval below, as in tables; "value" and "interval" are one of the
    two, with the digits of both, for tiles. Of a figure that is `small` (it rests on fewer units than tell
    anything) or has no value the `reason` is told, on hover and to those who listen; see `figure_reason`.
    """
    small, reason = bool(getattr(value, "small", False)), figure_reason(value)
    if hasattr(value, "value"):
        value, low, high, n = value.value, value.low, value.high, value.n
    missing = not is_number(value)
    places = number_format.figure_digits(low, high, n) if digits is None else digits
    said = number_format.value_text(value, places, signed=signed, percent=percent)
    between = "" if missing else number_format.interval_text(low, high, places, percent=percent)
    if look == "stacked" and missing:
        said = "undefined"
    parts = [SafeString("") if look == "interval" else format_html("{}", said)]
    if between and look != "value":
        sub = " table__sub" if look == "stacked" else ""
        parts.append(
            format_html('<span class="figure__interval{}" title="95 % interval">{}</span>', sub, between)
        )
    if reason and look in ("line", "stacked"):  # a tile has a line of its own for it
        parts.append(format_html('<span class="visually-hidden">({})</span>', reason))
    return format_html(
        '<span class="figure{}{}"{}>{}</span>',
        " figure--small" if small else "",
        " text-muted" if missing else "",
        format_html(' title="{}"', reason) if reason else "",
        format_html_join(" ", "{}", ((part,) for part in parts if part)),
    )


@register.filter
def figure_reason(value: Any) -> str:
    """Why a figure has no value, or should not be leant on; "" for one that may be."""
    if getattr(value, "value", value) is not None and not getattr(value, "small", False):
        return ""
    return str(getattr(value, "reason", NOTHING_MEASURED))


@register.simple_tag
def weight(value: float | None) -> SafeString:
    """A criterion's weight with its sign; what counts against is red as well as negative."""
    negative = is_number(value) and value < 0
    return format_html(
        '<span class="weight{}">{}</span>', " weight--negative" if negative else "", signed(value)
    )


@register.filter
def heat(value: float | None, low: float = 0) -> str:
    """The class of a heat cell: `low` is heat-0, 1 is heat-9, missing is heat-none. 0.5 of 0–1 is heat-4."""
    if not is_number(value):
        return "heat-none"
    share = (value - low) / (1 - low)
    return f"heat-{min(9, max(0, math.floor(share * 9)))}"


# ── Chips, icons, times, links ───────────────────────────────────────────────────────────────────
# Green and a check helped the score, red and a cross hurt it, whichever word stands for it.
_EFFECTS = {
    "helped": ("helped", "check"),
    "hurt": ("hurt", "x"),
    "neither": ("cannot", "circle-dot"),
    None: ("cannot", "minus"),
}
_STATES = {
    "running": "info",
    "importing": "info",
    "open": "info",
    "ready": "success",
    "finished": "success",
    "published": "success",
    "submitted": "success",
    "active": "success",
    "paused": "warning",
    "draft": "warning",
    "skipped": "warning",
    "expired": "warning",
    "failed": "danger",
    "revoked": "danger",
}


@register.simple_tag
def icon(name: str, label: str = "", extra: str = "") -> SafeString:
    """One symbol of the sprite; silent to screen readers unless it has a `label`."""
    href = f"{static('vendor/lucide/sprite.svg')}#{name}"
    classes = f"icon {extra}".strip()
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="{}"></use></svg>', classes, label, href
        )
    return format_html(
        '<svg class="{}" aria-hidden="true" focusable="false"><use href="{}"></use></svg>', classes, href
    )


@register.simple_tag
def verdict_chip(
    verdict: str | None, label: str | None = None, title: str = "", small: bool = False, weight: float = 1
) -> SafeString:
    """A verdict as glyph and word; None is "Pending", and a failed call is the verdict "ERROR".

    Colour and glyph go by what it does to a score with this `weight`: "Error present" of a penalty is red.
    """
    kind, glyph, words = "pending", "clock", "Pending"
    if verdict == "ERROR":
        kind, glyph, words = "error", "triangle-alert", "Error"
    elif verdict in set(Verdict):
        kind, glyph = _EFFECTS[verdict_effect(str(verdict), weight)]
        words = verdict_words(str(verdict), weight)
    return format_html(
        '<span class="chip chip--{}{}"{}>{}{}</span>',
        kind,
        " chip--small" if small else "",
        format_html(' title="{}"', title) if title else "",
        icon(glyph),
        words if label is None else label,
    )


@register.simple_tag
def role_chip(role: int | str | None) -> SafeString:
    """A member's role, from its number or its name."""
    name = Role(role).label if isinstance(role, int) else str(role or MISSING)
    look = {"owner": " badge--accent", "editor": " badge--info"}.get(name, "")
    return format_html('<span class="badge{}">{}</span>', look, name)


@register.simple_tag
def state_chip(state: str | None) -> SafeString:
    """The state of a run, queue, review, version or import: a dot and the word."""
    name = str(state or "")
    look = _STATES.get(name, "")
    return format_html(
        '<span class="badge{}"><span class="dot{}"></span>{}</span>',
        f" badge--{look}" if look else "",
        f" dot--{look}" if look else "",
        name.replace("_", " ") or MISSING,
    )


@register.filter(name="relative_time")
@register.simple_tag(name="relative_time")
def relative_time(moment: datetime | None, now: datetime | None = None) -> SafeString:
    """A `<time>` that says "3 min ago", with the absolute on hover; the browser keeps it fresh."""
    if moment is None:
        return format_html("{}", MISSING)
    moment = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{}" data-relative-time>{}</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment:%-d %b %Y, %H:%M} UTC",
        _ago(moment, now or timezone.now()),
    )


@register.simple_tag(takes_context=True)
def query_replace(context: Context, **changes: Any) -> str:
    """This page's query string with some keys set, or removed by None: `?state=open&sort=-score`."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}"


# ── Texts that people and models wrote ───────────────────────────────────────────────────────────
_TAGS = {
    *("h3", "h4", "h5", "h6", "p", "hr", "blockquote", "pre", "ul", "ol", "li"),
    *("a", "br", "code", "del", "em", "s", "strong"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


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
        parsed = _json_container(value)
        if parsed is None:
            note, html = _noted_markdown(value)
            return format_html('{}<div class="prose"{}>{}</div>', note, _place(field), html)
        value = parsed
    if _is_chat(value):
        turns = ((_turn(turn, f"{field}[{at}]" if field else ""),) for at, turn in enumerate(value))
        return format_html('<div class="chat">{}</div>', format_html_join("", "{}", turns))
    return format_html("<div{}>{}</div>", _place(field), _code(value)) if field else _code(value)


# ── Drawings ─────────────────────────────────────────────────────────────────────────────────────
@register.simple_tag
def interval_svg(
    low: float | None,
    point: float | None,
    high: float | None,
    label: str = "",
    minimum: float = 0,
    maximum: float = 1,
    mark: float | None = None,
) -> SafeString:
    """A point with its interval on a line from `minimum` to `maximum`; `mark` is a dashed rule beside it."""
    if not is_number(point):
        return format_html('<span class="text-muted">{}</span>', MISSING)
    words = f"{label} {score(point, 2)}".strip()
    span = rule = SafeString("")
    if is_number(low) and is_number(high):
        left, right = _share(low, minimum, maximum), _share(high, minimum, maximum)
        words += f" {number_format.interval_text(low, high)}"
        span = format_html(
            '<rect class="interval__span" x="{}%" y="6" width="{}%" height="6" rx="3"></rect>',
            _number(left),
            _number(right - left),
        )
    if is_number(mark):
        words += f", mark at {score(mark, 2)}"
        at = _number(_share(mark, minimum, maximum))
        rule = format_html('<line class="interval__mark" x1="{}%" x2="{}%" y1="0" y2="18"></line>', at, at)
    return format_html(
        '<svg class="interval" role="img" aria-label="{}"><title>{}</title>'
        '<rect class="interval__track" x="0" y="8" width="100%" height="2"></rect>{}{}'
        '<circle class="interval__point" cx="{}%" cy="9" r="4.5"></circle></svg>',
        words,
        words,
        span,
        rule,
        _number(_share(point, minimum, maximum)),
    )


@register.simple_tag
def bar_svg(
    value: float | None, maximum: float = 1, second: float | None = None, label: str = ""
) -> SafeString:
    """A bar from 0 to `maximum`; with `second`, two bars: people above, the judge below."""
    rows = [("bars__bar", value)] if second is None else [("bars__bar", value), ("bars__bar--second", second)]
    words = f"{label} {' / '.join(score(number, 2) for _, number in rows)}".strip()
    bars = format_html_join(
        "",
        '<rect class="bars__track" x="0" y="{}" width="100%" height="8" rx="2"></rect>'
        '<rect class="{}" x="0" y="{}" width="{}%" height="8" rx="2"></rect>',
        (
            (10 * row, look, 10 * row, _number(_share(number, 0, maximum) if is_number(number) else 0))
            for row, (look, number) in enumerate(rows)
        ),
    )
    return format_html(
        '<svg class="bars{}" role="img" aria-label="{}"><title>{}</title>{}</svg>',
        "" if second is None else " bars--two",
        words,
        words,
        bars,
    )


@register.simple_tag
def segments_svg(parts: Iterable[tuple[str, int, str]]) -> SafeString:
    """One bar of several parts, each (label, count, kind); kinds are those of the legend's swatches."""
    parts = [(label, number, kind) for label, number, kind in parts if number > 0]
    total = sum(number for _, number, _ in parts)
    words = ", ".join(f"{label} {number}" for label, number, _ in parts) or "Nothing yet"
    pieces = []
    left = 0.0
    for label, number, kind in parts:
        width = 100 * number / total
        pieces.append((kind, _number(left), _number(width), label, number))
        left += width
    return format_html(
        '<svg class="segments" role="img" aria-label="{}">{}</svg>',
        words,
        format_html_join(
            "",
            '<rect class="fill--{}" x="{}%" y="0" width="{}%" height="100%"><title>{} {}</title></rect>',
            pieces,
        ),
    )


@register.simple_tag
def histogram_svg(bins: Iterable[tuple[float, float, int]], label: str = "Distribution") -> SafeString:
    """Counts per bin as columns, the bins being (low, high, count) side by side."""
    columns = list(bins)
    most = max((number for _, _, number in columns), default=0)
    if most == 0:
        return format_html('<p class="text-muted">{}</p>', "No scores yet.")
    step = 100 / len(columns)
    drawn = format_html_join(
        "",
        '<rect class="histogram__bar" x="{}%" y="{}" width="{}%" height="{}" rx="2"><title>{}</title></rect>',
        (
            (
                _number(index * step + step * 0.06),
                _number(140 - 120 * number / most),
                _number(step * 0.88),
                _number(120 * number / most),
                f"{score(low, 2)} to {score(high, 2)}: {number}",
            )
            for index, (low, high, number) in enumerate(columns)
        ),
    )
    counts = format_html_join(
        "",
        '<text class="histogram__text" x="{}%" y="{}" text-anchor="middle">{}</text>',
        (
            (_number((index + 0.5) * step), _number(135 - 120 * number / most), number)
            for index, (_, _, number) in enumerate(columns)
            if number
        ),
    )
    edges = format_html(
        '<text class="histogram__text" x="0" y="157">{}</text>'
        '<text class="histogram__text" x="100%" y="157" text-anchor="end">{}</text>',
        score(columns[0][0], 2),
        score(columns[-1][1], 2),
    )
    return format_html(
        '<svg class="histogram" height="164" role="img" aria-label="{}">{}{}'
        '<line class="histogram__axis" x1="0" x2="100%" y1="140.5" y2="140.5"></line>{}</svg>',
        label,
        drawn,
        counts,
        edges,
    )


@register.simple_tag
def spark_svg(
    values: Sequence[float | None], label: str = "Trend", minimum: float = 0, maximum: float = 1
) -> SafeString:
    """A line the size of a word through `values`, oldest first; missing ones are left out."""
    last = max(len(values) - 1, 1)
    points = [
        (_number(3 + 90 * index / last), _number(21 - 0.18 * _share(value, minimum, maximum)))
        for index, value in enumerate(values)
        if is_number(value)
    ]
    if not points:
        return format_html('<span class="text-muted">{}</span>', MISSING)
    return format_html(
        '<svg class="spark" viewBox="0 0 96 24" role="img" aria-label="{}">'
        '<polyline class="spark__line" points="{}"></polyline>'
        '<circle class="spark__end" cx="{}" cy="{}" r="2.5"></circle></svg>',
        label,
        " ".join(f"{x},{y}" for x, y in points),
        *points[-1],
    )


# ── What the above is made of ────────────────────────────────────────────────────────────────────
def _share(value: float, minimum: float, maximum: float) -> float:
    """Where `value` stands between the ends, in per cent, kept inside them."""
    return 100 * min(1.0, max(0.0, (float(value) - minimum) / (maximum - minimum)))


def _number(value: float) -> str:
    """A coordinate: two decimals, no exponent, whatever the locale."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _ago(moment: datetime, now: datetime) -> str:
    seconds = round((now - moment).total_seconds())
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if abs(seconds) >= size:
            if size == 86_400 and abs(seconds) >= 30 * size:
                return f"{moment:%-d %b %Y}"
            amount = f"{abs(seconds) // size} {name}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now" if seconds >= 0 else "in a moment"


def _json_container(text: str) -> Any:
    """The array or object that `text` is, or None when it is anything else."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, (dict, list)) else None


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, Mapping) and isinstance(turn.get("role"), str) for turn in value)
    )


def _place(field: str) -> SafeString:
    """The attribute by which the review page knows which text of the item an element shows."""
    return format_html(' data-field="{}"', field) if field else SafeString("")


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
        tags=_TAGS,
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
