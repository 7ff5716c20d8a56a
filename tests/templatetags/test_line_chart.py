"""Charts that the server draws: which names stand below, which numbers beside, what is joined and reached."""

import re

import pytest

from rubricweb.engine.agreement import Figure
from rubricweb.templatetags.charts import line_chart, trend_svg
from rubricweb.templatetags.plots import scatter_svg
from rubricweb.web.shared.plots import Dot
from rubricweb.web.shared.plots.line_chart import ChartColumn, ChartLine, ChartPoint, LineChart


def chart(count: int, name: str = "v{}", *, values: list[float | None] | None = None) -> LineChart:
    """One line of the judge through so many versions, or through these values."""
    shown = values if values is not None else [0.5] * count
    points = [
        ChartPoint(at, Figure(value, None, None, 40), f"v{at}", f"/{at}") for at, value in enumerate(shown)
    ]
    columns = tuple(ChartColumn(name.format(at), "3 May") for at in range(len(points)))
    return LineChart(columns, (ChartLine("Judge", "judge", tuple(points)),))


@pytest.mark.parametrize(
    ("count", "room", "shown"),
    [
        # "3 May" is 4 · 6.6 and a capital of 11, with a gap of 8: 45.4 pixels for each name.
        (3, 250, [2, 1, 0]),
        (5, 250, [4, 3, 2, 1, 0]),  # 227 of 250
        # 12 take 544.8: of 250 pixels 2.18 times as many, and 1.5 times that since the last ends at its mark.
        (12, 250, [11, 7, 3]),
        (12, 450, [11, 9, 7, 5, 3, 1]),
        # 60 take 2,724: every seventeenth of 250, every tenth of 450.
        (60, 250, [59, 42, 25, 8]),
        (60, 450, [59, 49, 39, 29, 19, 9]),
    ],
)
def test_as_many_names_are_shown_as_have_room_and_the_newest_always(
    count: int, room: int, shown: list[int]
) -> None:
    found = chart(count).shown_names(room)
    assert [at for at, _ in found] == shown
    assert found[0][1] == ("middle" if len(shown) == count else "end")


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    assert ChartColumn("Nightly of 12 May").short == "Nightl…2 May"
    assert ChartColumn("twelve chars").short == "twelve chars"


def test_no_line_goes_through_what_is_hidden_or_was_not_scored() -> None:
    drawn = line_chart(chart(3, values=[0.5, None, 1.0]), "Scores")
    # Columns of 94 % are 31.33 % wide from 5 %; 1 stands at 14 pixels and 0 at 214.
    assert re.findall(r'plot__line--judge" x1="(.*?)%" y1="(.*?)" x2="(.*?)%" y2="(.*?)"', drawn) == [
        ("20.67", "114", "83.33", "14")
    ]
    assert re.findall(r'<a href="(.*?)"', drawn) == ["/0", "/2"]


def test_marks_are_reached_from_left_to_right_whatever_line_they_are_of() -> None:
    old = ChartLine("Old", "old", tuple(chart(3).lines[0].points))
    both = LineChart(chart(3).columns, (old, *chart(3).lines))
    assert re.findall(r'<a href="(.*?)"', line_chart(both, "Scores")) == ["/0", "/0", "/1", "/1", "/2", "/2"]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.5], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        # A fifth of 3.24 is 0.648: the next round step is 1.
        ([3.24], (0.0, 1.0, 2.0, 3.0, 4.0)),
        # From −3 to 1: a fifth is 0.8.
        ([-3.0], (-3.0, -2.0, -1.0, 0.0, 1.0)),
        # 12 / 5 = 2.4.
        ([12.0], (0.0, 2.5, 5.0, 7.5, 10.0, 12.5)),
    ],
)
def test_the_axis_has_round_numbers_and_room_for_every_value(
    values: list[float | None], ticks: tuple[float, ...]
) -> None:
    assert chart(0, values=values).ticks == pytest.approx(ticks)


def test_a_small_drawing_marks_the_value_that_stands_beside_it() -> None:
    drawn = trend_svg([0.5, None, 0.25, 1.0], 2, people=0.75)
    # Four columns of 25 %; 40 − 36 · share. The line goes from the first past the second.
    assert re.findall(r'judge" x1="(.*?)%" y1="(.*?)" x2="(.*?)%" y2="(.*?)"', drawn) == [
        ("12.5", "22", "62.5", "31"),
        ("62.5", "31", "87.5", "4"),
    ]
    assert re.findall(r'<svg x="(.*?)%" y="(.*?)".*?plot__mark--(\w+)', drawn) == [
        ("62.5", "13", "people"),
        ("62.5", "31", "judge"),
    ]


def test_dots_are_named_links_that_are_reached_from_left_to_right() -> None:
    dots = [Dot(1.0, 0.5, "c2: people 1.00, judge 0.50", "/c2"), Dot(0.25, 1.0, "c1 <b>", "/c1")]
    drawn = scatter_svg(dots, "Scores")
    # From 4 to 96 %: 4 + 92 · 0.25 across, 96 − 92 · 1 down.
    assert re.findall(
        r'<a href="(.*?)" aria-label="(.*?)"><circle class="plot__dot" cx="(.*?)%" cy="(.*?)%"', drawn
    ) == [
        ("/c1", "c1 &lt;b&gt;", "27", "4"),
        ("/c2", "c2: people 1.00, judge 0.50", "96", "50"),
    ]
