"""The numbers somebody may change: checked by name, and all of them documented."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from rubricweb.judges.rate_limit.knobs import Knobs

PAGE = Path(__file__).parents[3] / "docs" / "rate-limits.md"


def test_what_is_left_out_keeps_its_default():
    assert Knobs.read({"start": 16}) == Knobs(start=16)
    assert Knobs.read({}) == Knobs()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"begin": 4}, "begin"),
        ({"start": 0}, "start"),
        ({"start": "many"}, "start"),
        ({"decrease_factor": 1.5}, "decrease_factor"),
        ({"growth": None}, "growth"),
        ({"start": 4, "least": 8}, "least"),
    ],
)
def test_nonsense_is_refused_by_name(given, named):
    with pytest.raises(ValueError, match=named):
        Knobs.read(given)


def test_every_knob_is_documented_with_its_default():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE.read_text(), re.MULTILINE))
    assert {name: float(value) for name, value in rows.items()} == {
        knob.name: float(knob.default) for knob in fields(Knobs)
    }
