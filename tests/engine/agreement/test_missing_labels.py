"""What is missing counts for nothing, however the caller's library writes it."""

from decimal import Decimal

import numpy as np
import pytest

from rubricweb.engine.agreement import (
    OptionScale,
    Ratings,
    alpha_nominal,
    cochran_q,
    compare_labels,
    compare_options,
    effect_bias,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    human_ceiling,
    mean_figure,
    mean_pair_kappa,
    median_figure,
    panel_agreement,
    raw_agreement,
    vote_entropy,
)

NAN = float("nan")


class NAType:
    """Compares as pandas' NA does: neither equal to itself nor different."""

    def __ne__(self, other):
        return self

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


MISSING = [NAN, np.float32("nan"), np.nan, Decimal("NaN"), NAType()]


@pytest.mark.parametrize("missing", MISSING, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "figure",
    [alpha_nominal, fleiss_kappa, raw_agreement, gwet_ac1, mean_pair_kappa, flip_rate],
)
def test_every_figure_of_ratings_is_the_same_with_nan_as_with_none(figure, missing):
    columns = [["up", "up", "down", "up"], ["up", missing, "down", "down"], [missing, "up", "down", "up"]]
    with_none = [[None if label is missing else label for label in column] for column in columns]
    assert figure(Ratings.from_columns(columns)) == figure(Ratings.from_columns(with_none))


def test_raters_who_agree_wherever_both_answered_have_an_alpha_of_1():
    ratings = Ratings.from_columns([["a", NAN, "b", "b"], ["a", "a", NAN, "b"], ["a", "a", "b", NAN]])
    assert alpha_nominal(ratings).value == 1.0
    assert ratings.labels == ("a", "b")


@pytest.mark.parametrize("levels", [None, ["1", "2", "3"]])
def test_a_whole_number_is_one_label_in_a_column_that_a_missing_value_made_floats(levels):
    """One column of a table has a gap, so its numbers are 1.0 and 2.0; the other keeps 1 and 2."""
    ratings = Ratings.from_columns([[1.0, 2.0, NAN, 3.0], [1, 2, 3, 3]], levels=levels)
    assert set(ratings.labels) == {"1", "2", "3"}
    assert raw_agreement(ratings).value == 1.0


def test_columns_of_labels_beside_ratings_take_nan_as_missing_too():
    pairs = compare_labels(["MET", NAN, "UNMET"], ["MET", "MET", NAN], [1, 2, 3])
    assert (pairs.n, pairs.missing) == (1, 2)
    options = compare_options(
        ["low", NAN, "high"], ["low", "low", "high"], [1, 2, 3], OptionScale(("low", "high"))
    )
    assert (options.n, options.missing) == (2, 1)
    # Of unit 0 one vote of one, of unit 1 one of two: (1 + 1/2) / 2.
    assert panel_agreement([["a", NAN], ["a", "b"], ["a"]], ["a", "b", NAN]).value == 0.75
    assert vote_entropy([["a", NAN]], 2).value == 0.0
    assert cochran_q([[True, NAN, True], [True, True, False]]).n == 2
    people = Ratings.from_columns([["MET", "MET", "UNMET"], ["MET", "MET", "UNMET"]])
    assert human_ceiling(people, ["MET", NAN, "UNMET"], resamples=0).n == 2


def test_a_mean_of_numbers_that_are_not_all_there_is_refused_with_their_place():
    """To leave one out in silence would make it the mean of something else."""
    for figure in (mean_figure, median_figure):
        with pytest.raises(ValueError, match=r"values\[1\] is NaN; allowed: a number for each"):
            figure([0.5, NAN])
    with pytest.raises(ValueError, match=r"reference\[0\] is NaN"):
        effect_bias([1.0], [NAN], [1.0], [0])


def test_a_unit_rater_or_item_without_a_name_is_refused():
    for row in [(NAN, "ann", "MET"), (1, NAN, "MET")]:
        with pytest.raises(ValueError, match="allowed: a name for each of them"):
            Ratings.from_triples([row])
    with pytest.raises(ValueError, match="a cluster is NaN; allowed: the name of an item for each unit"):
        Ratings.from_columns([["MET", "MET"]], clusters=[1, NAN])
