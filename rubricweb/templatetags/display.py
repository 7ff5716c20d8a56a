"""How values look in templates: numbers, chips, times and links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rubricweb.engine import number_format, origin
from rubricweb.engine.agreement.intervals import NOTHING_MEASURED
from rubricweb.engine.formats.content_ids import given_key
from rubricweb.engine.number_format import MISSING, is_number, low_end_parts
from rubricweb.engine.scoring.effect import verdict_effect, verdict_words
from rubricweb.engine.verdict import Verdict
from rubricweb.models.teams import Role
from rubricweb.selectors.datasets.titles import ItemTitle

register = template.Library()


register.filter("given_key", given_key)


@register.filter
def truth_rule(rule: str) -> str:
    """By which rule a label stands, as pages say it."""
    return "settled by a file" if rule == "settled" else rule


@register.filter
def tells_system(name: str) -> str:
    """What is said before a queue over one version of several is opened: see `QueuePlan.one_system`."""
    return (
        f"All of these are answers of {name}. Reviewers can find that out, blind or not: its figures alone "
        "are withheld from them. To hide who answered, ask about two versions or more."
    )


@register.filter
def systems_words(systems: list[str] | None) -> str:
    """Whose answers a queue is about, as `queue_systems` names them."""
    if systems is None:
        return "not told while you review blind"
    return ", ".join(name or "no named system" for name in systems) or "every version"


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────
# How each is written stands in one place for pages, commands and mails: engine.number_format.
score = register.filter("score", number_format.number)
difference = register.filter("difference", number_format.difference)
percent = register.filter("percent", number_format.share)
signed = register.filter("signed", number_format.weight)
points = register.filter("points", number_format.points)
count = register.filter("count", number_format.whole)
usd = register.filter("usd", number_format.money)
origin_words = register.filter("origin_words", origin.origin_words)


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


@register.simple_tag
def low_end(lowest: Any, below_bar: float | None = None) -> SafeString:
    """What stands beside a mean: "lowest 0.12, 8% do not pass"; nothing where no lowest score is known. Takes
    an engine LowEnd or the numbers.
    """
    if hasattr(lowest, "lowest"):
        lowest, below_bar = lowest.lowest, lowest.below_bar
    *first, last = low_end_parts(lowest, below_bar) or [""]
    parts = [*(f"{part}," for part in first), last]
    return format_html_join(" ", '<span class="nowrap">{}</span>', ((part,) for part in parts if part))


@register.simple_tag
def unseen(scores: Any, noun: str) -> str:
    """What so many units could not have shown, for a `RunComparison`."""
    return number_format.unseen_words(scores.n, noun, scores.unseen_failures)


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
    "done": "success",
    "imported": "success",
    "published": "success",
    "submitted": "success",
    "active": "success",
    "paused": "warning",
    "draft": "warning",
    "skipped": "warning",
    "expired": "warning",
    "failed": "danger",
    "refused": "danger",
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


def finished_words(state: str, errored: int | None) -> str:
    """The state of a run: "finished, 3 with errors" where so many of its items are not fully judged."""
    return f"{state}, {errored:,} with errors" if state == "finished" and errored else state


@register.simple_tag
def state_chip(state: str | None, errored: int | None = None) -> SafeString:
    """The state of a run, queue, review, version or import: a dot and the word; see `finished_words`."""
    name = str(state or "")
    words = finished_words(name, errored)
    look = _STATES.get(name, "") if words == name else "warning"
    return format_html(
        '<span class="badge{}"><span class="dot{}"></span>{}</span>',
        f" badge--{look}" if look else "",
        f" dot--{look}" if look else "",
        words.replace("_", " ") or MISSING,
    )


@register.simple_tag
def item_title(titles: Mapping[int, ItemTitle], item_id: int) -> SafeString:
    """An item's name where one is shown: number and first words.

    On hover its key, for people who may see it, where somebody gave it one.
    """
    title = titles.get(item_id)
    if title is None:  # deleted meanwhile
        return format_html("{}", MISSING)
    return format_html(
        '<span class="item-title"{}><span class="item-title__number num">{}</span> <bdi>{}</bdi></span>',
        format_html(' title="{}"', title.key) if title.key else "",
        title.number,
        title.words,
    )


@register.filter
def item_words(titles: Mapping[int, ItemTitle], item_id: int) -> str:
    """The same in running text, labels and window titles."""
    return str(titles.get(item_id, MISSING))


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


def _ago(moment: datetime, now: datetime) -> str:
    seconds = round((now - moment).total_seconds())
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if abs(seconds) >= size:
            if size == 86_400 and abs(seconds) >= 30 * size:
                return f"{moment:%-d %b %Y}"
            amount = f"{abs(seconds) // size} {name}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now" if seconds >= 0 else "in a moment"
