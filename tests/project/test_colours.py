"""Colours of charts told apart by people who see no red, no green or no blue, in both themes.

Dichromats' colours are those of Brettel, Viénot & Mollon 1997 (J. Opt. Soc. Am. A 14: 2647), as matrices on
linear sRGB from libDaltonLens by Nicolas Burrus (public domain): one for each side of a plane through the
grey axis. Distances are CIE 1976 ΔE in L*a*b* under D65: 2.3 is just noticeable.
"""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rubricweb.web.dashboard.views import CHART_STYLE

TOKENS = (Path(__file__).resolve().parents[2] / "static/css/tokens.css").read_text()

Colour = NDArray[np.float64]

# Matrix on the side the plane's normal points to, on the other, and the normal.
DICHROMATS = {
    "protan": (
        ((0.14510, 1.20165, -0.34675), (0.10447, 0.85316, 0.04237), (0.00429, -0.00603, 1.00174)),
        ((0.14115, 1.16782, -0.30897), (0.10495, 0.85730, 0.03776), (0.00431, -0.00586, 1.00155)),
        (0.00048, 0.00416, -0.00464),
    ),
    "deutan": (
        ((0.36198, 0.86755, -0.22953), (0.26099, 0.64512, 0.09389), (-0.01975, 0.02686, 0.99289)),
        ((0.37009, 0.88540, -0.25549), (0.25767, 0.63782, 0.10451), (-0.01950, 0.02741, 0.99209)),
        (-0.00293, -0.00645, 0.00938),
    ),
    "tritan": (
        ((1.01354, 0.14268, -0.15622), (-0.01181, 0.87561, 0.13619), (0.07707, 0.81208, 0.11085)),
        ((0.93337, 0.19999, -0.13336), (0.05809, 0.82565, 0.11626), (-0.37923, 1.13825, 0.24098)),
        (0.03960, -0.02831, -0.01129),
    ),
}
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def token(name: str, theme: str) -> Colour:
    """A colour of tokens.css as linear sRGB, 0 to 1."""
    found = re.search(rf"--{name}: light-dark\(#(\w{{6}}), #(\w{{6}})\)", TOKENS)
    assert found is not None, name
    written = found.group(1 if theme == "light" else 2)
    value = np.array([int(written[at : at + 2], 16) / 255 for at in (0, 2, 4)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def seen(colour: Colour, eyes: str) -> Colour:
    here, there, normal = map(np.array, DICHROMATS[eyes])
    return np.clip((here if colour @ normal >= 0 else there) @ colour, 0, 1)


def lab(colour: Colour) -> Colour:
    white = np.array(XYZ).sum(axis=1)
    ratio = np.array(XYZ) @ colour / white
    x, y, z = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: Colour, other: Colour) -> float:
    return float(np.linalg.norm(lab(one) - lab(other)))


def test_distances_and_eyes_are_those_of_the_sources() -> None:
    white, black = np.ones(3), np.zeros(3)
    assert distance(white, black) == pytest.approx(100, abs=0.01)  # L* from 0 to 100
    # sRGB red is L*a*b* 53.24, 80.09, 67.20 under D65.
    assert lab(np.array([1.0, 0.0, 0.0])) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    for eyes in DICHROMATS:
        assert seen(white, eyes) == pytest.approx(white, abs=0.001)  # nobody's white is coloured
    # A red and a green 130 apart, of which a deuteranope sees little more than which is lighter.
    red, green = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.3, 0.0])
    hues = [
        abs(lab(one)[1] - lab(other)[1])
        for one, other in ((red, green), (seen(red, "deutan"), seen(green, "deutan")))
    ]
    assert hues[0] > 100 > 30 > hues[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eyes", [*DICHROMATS])
def test_people_the_judge_and_other_judges_are_told_apart_by_all_eyes(eyes: str, theme: str) -> None:
    names = ("series-people", "series-judge", "series-judge-old")
    colours = {name: seen(token(name, theme), eyes) for name in names}
    found = {pair: distance(*(colours[name] for name in pair)) for pair in combinations(names, 2)}
    assert min(found.values()) >= 15, found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eyes", [*DICHROMATS])
def test_better_and_worse_are_told_apart_by_all_eyes(eyes: str, theme: str) -> None:
    """The nearest pair: a sign, an arrow or the side of zero says it as well."""
    better, worse = (seen(token(name, theme), eyes) for name in ("success-fill", "danger-fill"))
    assert distance(better, worse) >= 15


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["series-people", "series-judge", "series-judge-old"])
def test_marks_stand_out_from_the_card(name: str, theme: str) -> None:
    """By WCAG 2.2, 1.4.11: 3 to 1."""
    luminances = [float(np.array(XYZ[1]) @ token(one, theme)) for one in (name, "surface")]
    assert (max(luminances) + 0.05) / (min(luminances) + 0.05) >= 3


def test_the_picture_that_is_handed_out_has_the_colours_of_the_light_page() -> None:
    style = {name: part for part in CHART_STYLE.split("}") for name in part.partition("{")[0].split(",")}
    for kind, name in (("people", "people"), ("judge", "judge"), ("old", "judge-old")):
        found = re.search(rf"--series-{name}: light-dark\((#\w+),", TOKENS)
        assert found is not None
        assert f"fill:{found.group(1)}" in style[f".plot__mark--{kind}"]
        assert f"stroke:{found.group(1)}" in style[f".plot__interval--{kind}"]
