"""Line charts in SVG: x in per cent and y in pixels, so that they fit any width without a script."""

import itertools
from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rubricweb.templatetags.plots import coordinate, mark_shape
from rubricweb.web.shared.plots.line_chart import (
    ROOM_NARROW,
    ROOM_WIDE,
    ChartLine,
    ChartPoint,
    LineChart,
)

register = template.Library()

TOP, BOTTOM, HEIGHT = 14, 214, 256
"""Pixels: where the highest and the lowest value stand, and the whole chart."""

LEFT, RIGHT = 5.0, 99.0
"""Per cent of the width between which the columns stand; left of them are the numbers of the y axis."""

BESIDE, REACH = 9, 12
"""Pixels from a judge's mark to that of people, and around a mark within which the pointer is on it."""


@register.simple_tag
def line_chart(chart: LineChart, label: str) -> SafeString:
    """The chart with its marks as links; `label` is what a screen reader calls it."""
    return format_html(
        '<svg class="plot plot--lines" height="{}" role="group" aria-label="{}" data-chart="">{}{}{}{}</svg>',
        HEIGHT,
        label,
        _band(chart) + _grid(chart),
        _names(chart),
        format_html_join("", "{}", ((_path(chart, line),) for line in chart.lines)),
        format_html_join("", "{}", ((_point(chart, line, point),) for line, point in chart.marks)),
    )


@register.simple_tag
def trend_svg(values: Sequence[float | None], at: int, people: float | None = None) -> SafeString:
    """A line through shares from 0 to 1 and a judge's mark on the one at that index, whose number stands
    beside it, with people's where known."""
    known = {
        index: (_small_x(index, len(values)), _small_y(value))
        for index, value in enumerate(values)
        if value is not None
    }
    lines = format_html_join(
        "",
        '<line class="plot__line plot__line--judge" x1="{}%" y1="{}" x2="{}%" y2="{}"></line>',
        (tuple(map(coordinate, (*one, *other))) for one, other in itertools.pairwise(known.values())),
    )
    marks = [("people", _small_x(at, len(values)), _small_y(people))] if people is not None else []
    marks += [("judge", *known[at])] if at in known else []
    return format_html(
        '<svg class="plot" height="44" aria-hidden="true">'
        '<line class="plot__grid" x1="0" x2="100%" y1="4" y2="4"></line>'
        '<line class="plot__grid" x1="0" x2="100%" y1="40" y2="40"></line>{}{}</svg>',
        lines,
        format_html_join(
            "",
            '<svg x="{}%" y="{}" overflow="visible"><g transform="translate({} 0)">{}</g></svg>',
            (
                (coordinate(x), coordinate(y), BESIDE if kind == "people" else 0, mark_shape(kind, False))
                for kind, x, y in marks
            ),
        ),
    )


def _small_x(index: int, of: int) -> float:
    return 100 * (index + 0.5) / of


def _small_y(value: float) -> float:
    return 40 - 36 * min(1.0, max(0.0, value))


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
    return format_html_join(
        "",
        '<line class="plot__grid" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>'
        '<text x="0" y="{}" dominant-baseline="middle" aria-hidden="true">{}</text>',
        (
            (LEFT, RIGHT, _y(chart, value), _y(chart, value), _y(chart, value), coordinate(value))
            for value in chart.ticks
        ),
    )


def _band(chart: LineChart) -> SafeString:
    """The interval of what the points are held against, and a line at its value."""
    band = chart.band
    if band is None or band.value is None:
        return SafeString("")
    low, high = chart.ends
    bottom = max(low, band.value if band.low is None else band.low)
    top = min(high, band.value if band.high is None else band.high)
    return format_html(
        '<rect class="plot__band" x="{}%" width="{}%" y="{}" height="{}"></rect>'
        '<line class="plot__line plot__line--people" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>',
        LEFT,
        RIGHT - LEFT,
        _y(chart, top),
        coordinate(float(_y(chart, bottom)) - float(_y(chart, top))),
        LEFT,
        RIGHT,
        _y(chart, band.value),
        _y(chart, band.value),
    )


def _names(chart: LineChart) -> SafeString:
    """Those that have room, once for wide screens and once for phones where these are not the same."""
    wide, narrow = chart.shown_names(ROOM_WIDE), chart.shown_names(ROOM_NARROW)
    sets = [("plot__name", wide)]
    if wide != narrow:
        sets = [("plot__name plot__name--wide", wide), ("plot__name plot__name--narrow", narrow)]
    return format_html_join(
        "",
        '<g class="{0}" aria-hidden="true"><text x="{1}%" y="232" text-anchor="{2}">{3}</text>'
        '<text x="{1}%" y="247" text-anchor="{2}">{4}</text></g>',
        (
            (look, _x(chart, at), anchor, chart.columns[at].short, chart.columns[at].below)
            for look, shown in sets
            for at, anchor in shown
        ),
    )


def _path(chart: LineChart, line: ChartLine) -> SafeString:
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
            for one, other in itertools.pairwise(line.path)
        ),
    )


def _point(chart: LineChart, line: ChartLine, point: ChartPoint) -> SafeString:
    figure, x = point.figure, _x(chart, point.column)
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
    # People stand a little to the right: of the same run the judge's mark is at the same place.
    moved = SafeString(f' transform="translate({BESIDE} 0)"') if line.kind == "people" else ""
    return format_html(
        '<a href="{}" aria-label="{}"{}><title>{}</title>{}<svg x="{}%" y="{}" overflow="visible">'
        '<circle r="{}" fill="transparent"></circle>{}</svg></a>',
        point.url,
        point.words,
        moved,
        point.words,
        interval,
        x,
        _y(chart, figure.value or 0.0),
        REACH,
        mark_shape(line.kind, point.hollow),
    )
