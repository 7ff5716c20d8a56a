"""Line charts in SVG: x in per cent and y in pixels, so that they fit any width without a script."""

import itertools
from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rubricweb.templatetags.plots import coordinate, mark_shape
from rubricweb.web.shared.line_chart import (
    NAMES_NARROW,
    NAMES_WIDE,
    ChartLine,
    ChartPoint,
    LineChart,
)

register = template.Library()

TOP, BOTTOM, HEIGHT = 14, 214, 256
"""Pixels: where the highest and the lowest value stand, and the whole chart."""

LEFT, RIGHT = 5.0, 99.0
"""Per cent of the width between which the columns stand; left of them are the numbers of the y axis."""

STEPS = 5


@register.simple_tag
def line_chart(chart: LineChart, label: str) -> SafeString:
    """The chart with its marks as links; `label` is what a screen reader calls it."""
    return format_html(
        '<svg class="plot plot--lines" height="{}" role="group" aria-label="{}" data-chart>{}{}{}{}</svg>',
        HEIGHT,
        label,
        _grid(chart),
        _names(chart),
        format_html_join("", "{}", ((_path(chart, line),) for line in chart.lines)),
        format_html_join(
            "", "{}", ((_point(chart, line, point),) for line in chart.lines for point in line.points)
        ),
    )


@register.simple_tag
def trend_svg(values: Sequence[float | None], people: float | None = None) -> SafeString:
    """A line through shares from 0 to 1, the newest a judge's mark, with people's beside it where known; the
    newest number stands beside it."""
    places = [
        (100 * (at + 0.5) / len(values), 40 - 36 * min(1.0, max(0.0, value)))
        for at, value in enumerate(values)
        if value is not None
    ]
    lines = format_html_join(
        "",
        '<line class="plot__line plot__line--judge" x1="{}%" y1="{}" x2="{}%" y2="{}"></line>',
        (tuple(map(coordinate, (*one, *other))) for one, other in itertools.pairwise(places)),
    )
    marks = [("judge", *places[-1])] if places else []
    if people is not None and places:
        marks.insert(0, ("people", places[-1][0], 40 - 36 * min(1.0, max(0.0, people))))
    return format_html(
        '<svg class="plot" height="44" aria-hidden="true">'
        '<line class="plot__grid" x1="0" x2="100%" y1="4" y2="4"></line>'
        '<line class="plot__grid" x1="0" x2="100%" y1="40" y2="40"></line>{}{}</svg>',
        lines,
        format_html_join(
            "",
            '<svg x="{}%" y="{}" overflow="visible">{}</svg>',
            ((coordinate(x), coordinate(y), mark_shape(kind, False)) for kind, x, y in marks),
        ),
    )


def standalone(drawing: SafeString, style: str) -> str:
    """A chart as a file of its own: 960 pixels wide, light, with the rules of `style` in it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="960" height="{HEIGHT}">'
    paper = '<rect width="100%" height="100%" fill="#fff"></rect>'
    return f"{head}<style>{style}</style>{paper}{drawing}</svg>"


def _x(chart: LineChart, column: int) -> str:
    return coordinate(LEFT + (RIGHT - LEFT) * (column + 0.5) / len(chart.columns))


def _y(chart: LineChart, value: float) -> str:
    low, high = chart.ends
    return coordinate(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low))


def _grid(chart: LineChart) -> SafeString:
    low, high = chart.ends
    values = [low + (high - low) * step / STEPS for step in range(STEPS + 1)]
    return format_html_join(
        "",
        '<line class="plot__grid" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>'
        '<text x="0" y="{}" dominant-baseline="middle" aria-hidden="true">{}</text>',
        (
            (LEFT, RIGHT, _y(chart, value), _y(chart, value), _y(chart, value), f"{value:.3g}")
            for value in values
        ),
    )


def _names(chart: LineChart) -> SafeString:
    wide, narrow = chart.shown_names(NAMES_WIDE), chart.shown_names(NAMES_NARROW)
    rows = []
    for index, column in enumerate(chart.columns):
        if index not in wide and index not in narrow:
            continue
        look = "" if index in wide and index in narrow else "wide" if index in wide else "narrow"
        look = f' class="plot__name--{look}"' if look else ""
        rows.append(
            format_html(
                '<g aria-hidden="true"{}><text x="{}%" y="232" text-anchor="middle">{}</text>'
                '<text x="{}%" y="247" text-anchor="middle">{}</text></g>',
                SafeString(look),
                _x(chart, index),
                column.short,
                _x(chart, index),
                column.below,
            )
        )
    return format_html_join("", "{}", ((row,) for row in rows))


def _path(chart: LineChart, line: ChartLine) -> SafeString:
    path = line.path
    return format_html_join(
        "",
        '<line class="plot__line plot__line--{}" x1="{}%" y1="{}" x2="{}%" y2="{}"></line>',
        (
            (
                line.kind,
                _x(chart, one.column),
                _y(chart, one.figure.value or 0.0),
                _x(chart, other.column),
                _y(chart, other.figure.value or 0.0),
            )
            for one, other in itertools.pairwise(path)
        ),
    )


def _point(chart: LineChart, line: ChartLine, point: ChartPoint) -> SafeString:
    figure, x = point.figure, _x(chart, point.column)
    if figure.value is None:
        return SafeString("")
    interval = SafeString("")
    if figure.low is not None and figure.high is not None:
        interval = format_html(
            '<line class="plot__interval plot__interval--thin plot__interval--{}" '
            'x1="{}%" x2="{}%" y1="{}" y2="{}"></line>',
            line.kind,
            x,
            x,
            _y(chart, figure.low),
            _y(chart, figure.high),
        )
    return format_html(
        '<a href="{}" aria-label="{}"><title>{}</title>{}<svg x="{}%" y="{}" overflow="visible">{}</svg></a>',
        point.url,
        point.words,
        point.words,
        interval,
        x,
        _y(chart, figure.value),
        mark_shape(line.kind, point.hollow),
    )
