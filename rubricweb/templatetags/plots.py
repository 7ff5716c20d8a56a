"""Drawings of figures on an axis, in SVG of per cent by pixels: no script, no style, any width."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rubricweb.web.shared.plots import Axis, Dot, Mark

register = template.Library()

_BETWEEN_MARKS = 8
"""Pixels from one mark of a row to the next one below it."""


@register.simple_tag
def plot_row(axis: Axis, marks: Sequence[Mark], height: int = 40) -> SafeString:
    """The grid of an axis with marks and their intervals, one below the other; hidden from screen readers,
    since the numbers stand beside it. Marks without a value are left out, a dotted line joins the others."""
    shown = [mark for mark in marks if mark.figure.value is not None]
    first = height / 2 - _BETWEEN_MARKS * (len(shown) - 1) / 2
    drawn = [_mark(axis, mark, first + _BETWEEN_MARKS * place) for place, mark in enumerate(shown)]
    band = SafeString("")
    if axis.good is not None:
        left, right = axis.place(axis.good), axis.place(axis.high)
        band = format_html(
            '<rect class="plot__good" x="{}%" width="{}%" y="0" height="100%"></rect>',
            coordinate(left),
            coordinate(right - left),
        )
    lines = format_html_join(
        "",
        '<line class="{1}" x1="{0}%" x2="{0}%" y1="0" y2="100%"></line>',
        (
            (coordinate(axis.place(tick.at)), "plot__zero" if axis.zero and not tick.at else "plot__grid")
            for tick in axis.ticks
        ),
    )
    gap = SafeString("")
    if len(shown) == 2:
        ends = [coordinate(axis.place(float(mark.figure.value or 0))) for mark in shown]
        gap = format_html(
            '<line class="plot__gap" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>',
            *ends,
            height // 2,
            height // 2,
        )
    return format_html(
        '<svg class="plot" height="{}" aria-hidden="true">{}{}{}{}</svg>',
        height,
        band,
        lines,
        gap,
        format_html_join("", "{}", ((mark,) for mark in drawn)),
    )


@register.simple_tag
def plot_ticks(axis: Axis) -> SafeString:
    """The numbers below or above the drawings of one axis, with the words that go with them."""
    numbers = format_html_join(
        "",
        '<text x="{}%" y="12" text-anchor="middle">{}</text>',
        ((coordinate(axis.place(tick.at)), tick.label) for tick in axis.ticks),
    )
    words = format_html_join(
        "",
        '<text x="{}%" y="26" text-anchor="{}">{}</text>',
        (
            (
                coordinate(axis.place(tick.at)) if tick.at < axis.high else 100,
                "middle" if tick.at < axis.high else "end",
                tick.words,
            )
            for tick in axis.ticks
            if tick.words
        ),
    )
    height = 30 if any(tick.words for tick in axis.ticks) else 16
    return format_html('<svg class="plot" height="{}" aria-hidden="true">{}{}</svg>', height, numbers, words)


@register.simple_tag
def side_svg(axis: Axis, value: float | None) -> SafeString:
    """A bar from 0 to `value`, to its side: the words and the number stand beside it."""
    if value is None:
        return SafeString("")
    zero, end = axis.place(0.0), axis.place(value)
    return format_html(
        '<svg class="plot plot--side" height="18" aria-hidden="true">'
        '<rect class="plot__bar" x="{}%" width="{}%" y="5" height="8" rx="1"></rect>'
        '<line class="plot__zero" x1="{}%" x2="{}%" y1="0" y2="18"></line></svg>',
        coordinate(min(zero, end)),
        coordinate(abs(end - zero)),
        coordinate(zero),
        coordinate(zero),
    )


@register.simple_tag
def scatter_svg(dots: Sequence[Dot], label: str) -> SafeString:
    """Dots of two shares, 0 to 1 each: across and up, every one a link, from left to right. The dashed line
    is where both are the same."""
    grid = format_html_join(
        "",
        '<line class="plot__grid" x1="{0}%" x2="{0}%" y1="4%" y2="96%"></line>'
        '<line class="plot__grid" y1="{0}%" y2="{0}%" x1="4%" x2="96%"></line>',
        ((at,) for at in (4, 50, 96)),
    )
    drawn = format_html_join(
        "",
        '<a href="{}" aria-label="{}"><circle class="plot__dot" cx="{}%" cy="{}%" r="4.5"><title>{}</title>'
        "</circle></a>",
        (
            (dot.url, dot.words, coordinate(4 + 92 * dot.across), coordinate(96 - 92 * dot.up), dot.words)
            for dot in sorted(dots, key=lambda dot: (dot.across, dot.up))
        ),
    )
    return format_html(
        '<svg class="plot plot--scatter" role="group" aria-label="{}" data-chart="">{}'
        '<line class="plot__gap" x1="4%" y1="96%" x2="96%" y2="4%"></line>{}</svg>',
        label,
        grid,
        drawn,
    )


@register.simple_tag
def plot_bar(count: float, most: float, kind: str) -> SafeString:
    """A bar as long as `count` is of `most`; the number stands beside it."""
    return format_html(
        '<svg class="plot" height="8" aria-hidden="true">'
        '<rect class="plot__bar plot__bar--{}" width="{}%" height="8" rx="2"></rect></svg>',
        kind,
        coordinate(100 * count / most if most else 0),
    )


@register.simple_tag
def plot_key(kind: str, hollow: bool = False) -> SafeString:
    """The mark of a side, for a legend."""
    return format_html(
        '<svg class="plot__key" viewBox="-7 -7 14 14" aria-hidden="true">{}</svg>', mark_shape(kind, hollow)
    )


def _mark(axis: Axis, mark: Mark, y: float) -> SafeString:
    figure, x = mark.figure, axis.place(float(mark.figure.value or 0))
    line = SafeString("")
    if figure.low is not None and figure.high is not None:
        line = format_html(
            '<line class="plot__interval plot__interval--{}{}" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>',
            mark.kind,
            " plot__interval--thin" if mark.hollow else "",
            coordinate(axis.place(figure.low)),
            coordinate(axis.place(figure.high)),
            coordinate(y),
            coordinate(y),
        )
    # A mark at a place in per cent: a drawing inside the drawing, whose origin is there.
    return format_html(
        '{}<svg x="{}%" y="{}" overflow="visible">{}</svg>',
        line,
        coordinate(x),
        coordinate(y),
        mark_shape(mark.kind, mark.hollow),
    )


def mark_shape(kind: str, hollow: bool) -> SafeString:
    look = f"plot__mark plot__mark--{kind}{' plot__mark--hollow' if hollow else ''}"
    if kind in ("judge", "old"):
        return format_html(
            '<rect class="{}" x="-4" y="-4" width="8" height="8" transform="rotate(45)"></rect>', look
        )
    return format_html('<circle class="{}" r="5"></circle>', look)


def coordinate(value: float) -> str:
    """A coordinate: two decimals at most, no exponent, whatever the locale."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
