"""The registry of measures: every one runs, stays in its range, is documented."""

import pathlib
import re

import numpy as np
import pytest

from rubricweb.engine.agreement import METRICS, Figure, Ratings
from tests.tools import renew_figures

LEVELS, VALUES = ("low", "mid", "high"), (0.0, 0.5, 1.0)
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "agreement.md"


def arguments(metric, seed):
    """Something that fits what the measure takes."""
    generator = np.random.default_rng(seed)
    binary = metric.applies_to == {"binary"}
    levels = ("UNMET", "MET") if binary else LEVELS
    if metric.between in ("raters", "pair", "repeats"):
        raters = 2 if metric.between == "pair" else 4
        columns = generator.choice(levels, size=(raters, 20)).tolist()
        return (Ratings.from_columns(columns, levels=levels, values=None if binary else VALUES),)
    if metric.name == "cochran_q":
        return ((generator.random((3, 20)) < 0.5).tolist(),)
    if metric.name == "mcnemar":
        return tuple((generator.random((2, 20)) < 0.5).tolist())
    if metric.name == "vote_entropy":
        return generator.choice(levels, size=(20, 5)).tolist(), len(levels)
    if metric.name == "panel_agreement":
        return generator.choice(levels, size=(20, 5)).tolist(), generator.choice(levels, size=20).tolist()
    one, other = generator.random((2, 20)).tolist()
    return (
        ([value if place < 8 else None for place, value in enumerate(one)], other)
        if metric.between == "labels"
        else (one, other)
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", METRICS)
def test_every_measure_runs_and_stays_in_its_range(name, seed):
    metric = METRICS[name]
    found = metric.function(*arguments(metric, seed))
    if metric.gives == "test":
        assert metric.low <= found.p <= metric.high
    if metric.gives == "figure":
        assert isinstance(found, Figure)
        # Precision and recall rest on the units that a side called MET.
        assert found.n == 20 or (metric.name in ("precision", "recall") and 0 < found.n < 20)
        assert metric.low <= found.low <= found.value <= found.high
        assert found.high <= metric.high


def test_names_are_keys_and_anchors():
    assert all(name == metric.name for name, metric in METRICS.items())
    assert METRICS["gwet_ac1"].anchor == "agreement.md#gwet_ac1"
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)


def test_the_page_explains_every_measure_and_no_other():
    headings = re.findall(r"^### `(.+)`$", PAGE.read_text(), re.MULTILINE)
    assert headings == list(METRICS)


def test_the_table_of_the_page_is_that_of_the_rows():
    assert renew_figures.PAGE.read_text() == renew_figures.renewed()


def test_the_same_seed_gives_the_same_interval():
    for metric in METRICS.values():
        if metric.gives == "figure":
            assert metric.function(*arguments(metric, 1)) == metric.function(*arguments(metric, 1))


def test_the_example_of_the_page_runs(capsys):
    exec(re.search(r"```python\n(.+?)```", PAGE.read_text(), re.DOTALL).group(1), {})
    # Units poor poor, fair good, good good, the fourth unpaired: values 2, 1, 3 with midranks 1.5, 3, 5.
    # Observed 2·(3 − 5)² = 8, expected 2·(2·1·2.25 + 2·3·12.25 + 1·3·4) / 5 = 36.
    assert float(capsys.readouterr().out) == pytest.approx(1 - 8 / 36)
