"""alpha_nominal against a worked example, the krippendorff package and degenerate data."""

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure, Ratings, alpha_interval, alpha_nominal, alpha_ordinal
from tests.engine.agreement.oracles import krippendorff


def test_three_units_worked_by_hand():
    ratings = Ratings.from_columns([["MET", "MET", "UNMET"], ["MET", "UNMET", "UNMET"]])
    # Six values, three of each: 2 observed disagreements, (36 - 18) / 5 = 3.6 expected.
    assert alpha_nominal(ratings).value == pytest.approx(1 - 2 / 3.6)


def test_random_data_with_gaps_is_what_the_krippendorff_package_says():
    generator = np.random.default_rng(11)
    for _ in range(40):
        raters, units, labels = generator.integers(2, 6), generator.integers(3, 40), generator.integers(2, 5)
        table = generator.integers(0, labels, size=(raters, units)).astype(float)
        table[generator.random(table.shape) < 0.3] = np.nan
        columns = [[None if np.isnan(cell) else str(int(cell)) for cell in row] for row in table]
        figure = alpha_nominal(Ratings.from_columns(columns), resamples=50)
        pairable = np.sum((~np.isnan(table)).sum(axis=0) >= 2)
        assert figure.n == pairable
        used = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
        if len(np.unique(used[~np.isnan(used)])) < 2:
            assert figure.value is None
            continue
        assert figure.value == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"))


@pytest.mark.parametrize(
    ("columns", "n"),
    [
        ([["MET", None], [None, "UNMET"]], 0),  # nobody met anybody
        ([["MET", "MET"], ["MET", "MET"]], 2),  # one value in all
        ([["MET", "MET", "UNMET"], ["MET", "MET", None]], 2),  # one value in all that can be paired
        ([["MET", "UNMET"]], 0),  # one rater
        ([[], []], 0),
    ],
)
def test_alpha_is_undefined_without_disagreement_to_expect(columns, n):
    assert alpha_nominal(Ratings.from_columns(columns)) == Figure(None, None, None, n)


def test_abstentions_can_be_set_aside_as_gaps():
    columns = [["MET", "CANNOT_ASSESS", "UNMET"], ["MET", "MET", "UNMET"]]
    assert alpha_nominal(Ratings.from_columns(columns, gaps=("CANNOT_ASSESS",))).value == 1.0
    assert alpha_nominal(Ratings.from_columns(columns)).value < 1.0


def test_items_are_resampled_whole():
    generator = np.random.default_rng(2)
    columns = [generator.choice(["MET", "UNMET"], 30).tolist() for _ in range(3)]
    alone = alpha_nominal(Ratings.from_columns(columns))
    copies = alpha_nominal(
        Ratings.from_columns(
            [[label for label in column for _ in range(10)] for column in columns],
            clusters=[item for item in range(30) for _ in range(10)],
        )
    )
    # α itself moves a little with the number of values (it is corrected for small samples); the width must
    # not.
    assert copies.high - copies.low == pytest.approx(alone.high - alone.low, rel=0.05)


def test_ten_thousand_units_of_twenty_raters_have_an_interval():
    generator = np.random.default_rng(0)
    truth = generator.random(10_000) < 0.4
    codes = (truth ^ (generator.random((20, 10_000)) < 0.2)).astype(np.int64)
    ratings = Ratings(
        raters=tuple(range(20)),
        units=tuple(range(10_000)),
        labels=("UNMET", "MET"),
        codes=codes,
        clusters=np.arange(10_000),
    )
    figure = alpha_nominal(ratings, resamples=1000)
    assert figure.low < figure.value < figure.high


@pytest.mark.parametrize(
    "alpha", [alpha_nominal, alpha_ordinal, alpha_interval], ids=lambda one: one.__name__
)
def test_every_alpha_of_many_units_and_raters_has_an_interval(alpha):
    generator = np.random.default_rng(0)
    levels = ("poor", "weak", "fair", "good", "best")
    truth = generator.integers(0, 5, size=10_000)
    ratings = Ratings(
        raters=tuple(range(20)),
        units=tuple(range(10_000)),
        labels=levels,
        codes=np.clip(truth + generator.integers(-1, 2, size=(20, 10_000)), 0, 4),
        clusters=np.arange(10_000),
        levels=levels,
        values=(0.0, 0.25, 0.5, 0.75, 1.0),
    )
    figure = alpha(ratings, resamples=1000)
    assert figure.low < figure.value < figure.high
