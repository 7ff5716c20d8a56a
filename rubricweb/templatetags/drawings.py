"""Small drawings in SVG: intervals, bars, histograms, sparklines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rubricweb.engine import number_format
from rubricweb.engine.number_format import MISSING, is_number
from rubricweb.templatetags.display import score

register = template.Library()


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
def histogram_svg(
    bins: Iterable[tuple[float, float, int]], label: str = "Distribution", bar: float | None = None
) -> SafeString:
    """Counts per bin as columns, the bins being (low, high, count) side by side.

    `bar` is the least score that passes: a dashed line, and columns that end at it or below it are red.
    """
    columns = list(bins)
    most = max((number for _, _, number in columns), default=0)
    if most == 0:
        return format_html('<p class="text-muted">{}</p>', "No scores yet.")
    step = 100 / len(columns)
    drawn = format_html_join(
        "",
        '<rect class="histogram__bar{}" x="{}%" y="{}" width="{}%" height="{}" rx="2"><title>{}</title>'
        "</rect>",
        (
            (
                " histogram__bar--low" if bar is not None and high <= bar + 1e-9 else "",
                _number(index * step + step * 0.06),
                _number(140 - 112 * number / most),
                _number(step * 0.88),
                _number(112 * number / most),
                f"{score(low, 2)} to {score(high, 2)}: {number}",
            )
            for index, (low, high, number) in enumerate(columns)
        ),
    )
    counts = format_html_join(
        "",
        '<text class="histogram__text" x="{}%" y="{}" text-anchor="middle">{}</text>',
        (
            (_number((index + 0.5) * step), _number(135 - 112 * number / most), number)
            for index, (_, _, number) in enumerate(columns)
            if number
        ),
    )
    return format_html(
        '<svg class="histogram" height="164" role="img" aria-label="{}">{}{}{}'
        '<line class="histogram__axis" x1="0" x2="100%" y1="140.5" y2="140.5"></line>{}</svg>',
        label,
        drawn,
        counts,
        _pass_line(columns[0][0], columns[-1][1], bar),
        _edges(columns[0][0], columns[-1][1]),
    )


@register.simple_tag
def dots_svg(scores: Iterable[float], label: str = "Scores", bar: float | None = None) -> SafeString:
    """Each score as a dot at its place from 0 to 1, equal ones above each other: for few items."""
    stacked: dict[float, int] = {}
    rows = []
    for value in sorted(scores):
        above = stacked[value] = stacked.get(value, 0) + 1
        low = " histogram__bar--low" if bar is not None and value < bar else ""
        place = _number(2 + 96 * _share(value, 0, 1) / 100)
        rows.append((low, place, _number(148 - 13 * above), score(value, 2)))
    dots = format_html_join(
        "", '<circle class="histogram__bar{}" cx="{}%" cy="{}" r="5"><title>{}</title></circle>', rows
    )
    return format_html(
        '<svg class="histogram" height="164" role="img" aria-label="{}">{}{}'
        '<line class="histogram__axis" x1="0" x2="100%" y1="142.5" y2="142.5"></line>{}</svg>',
        label,
        dots,
        _pass_line(0, 1, bar),
        _edges(0, 1),
    )


def _pass_line(low: float, high: float, bar: float | None) -> SafeString:
    if bar is None:
        return SafeString("")
    at = _number(_share(bar, low, high))
    return format_html(
        '<line class="histogram__pass" x1="{}%" x2="{}%" y1="12" y2="140"></line>'
        '<text class="histogram__text" x="{}%" y="9" text-anchor="{}">pass {}</text>',
        at,
        at,
        at,
        "end" if bar > (low + high) / 2 else "start",
        score(bar, 2),
    )


def _edges(low: float, high: float) -> SafeString:
    return format_html(
        '<text class="histogram__text" x="0" y="157">{}</text>'
        '<text class="histogram__text" x="100%" y="157" text-anchor="end">{}</text>',
        score(low, 2),
        score(high, 2),
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


def _share(value: float, minimum: float, maximum: float) -> float:
    """Where `value` stands between the ends, in per cent, kept inside them."""
    return 100 * min(1.0, max(0.0, (float(value) - minimum) / (maximum - minimum)))


def _number(value: float) -> str:
    """A coordinate: two decimals, no exponent, whatever the locale."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
