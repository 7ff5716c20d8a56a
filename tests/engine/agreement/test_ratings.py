"""Building raters × units from rows."""

import numpy as np
import pytest

from rubricweb.engine.agreement import Ratings


def test_rows_in_any_order_become_a_table_with_gaps():
    ratings = Ratings.from_triples(
        [
            (("a", "C1"), "ann", "MET"),
            (("b", "C1"), "rae", "UNMET"),
            (("a", "C1"), "rae", "MET"),
            (("a", "C2"), "ann", None),
        ],
        cluster_of=lambda unit: unit[0],
    )
    assert ratings.raters == ("ann", "rae")
    assert ratings.units == (("a", "C1"), ("b", "C1"), ("a", "C2"))
    assert ratings.labels == ("MET", "UNMET")
    np.testing.assert_array_equal(ratings.codes, [[0, -1, -1], [0, 1, -1]])
    np.testing.assert_array_equal(ratings.clusters, [0, 1, 0])
    np.testing.assert_array_equal(ratings.label_counts(), [[2, 0], [0, 1], [0, 0]])


def test_without_clusters_every_unit_is_its_own():
    ratings = Ratings.from_columns([["MET", "MET"], ["MET", None]])
    np.testing.assert_array_equal(ratings.clusters, [0, 1])


def test_one_rater_labels_a_unit_once():
    with pytest.raises(ValueError, match="'ann' labelled unit 'a' twice"):
        Ratings.from_triples([("a", "ann", "MET"), ("a", "ann", "MET")])


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"found lengths \[1, 2\]"):
        Ratings.from_columns([["MET"], ["MET", "UNMET"]])


def test_levels_are_the_full_list_in_their_order():
    ratings = Ratings.from_columns(
        [["high", " LOW "], ["low", None]], levels=["low", "mid", "high"], values=[0, 1, 2]
    )
    assert ratings.labels == ratings.levels == ("low", "mid", "high")
    np.testing.assert_array_equal(ratings.codes, [[2, 0], [0, -1]])
    np.testing.assert_array_equal(ratings.numbers(), [[2, 0], [0, np.nan]])


def test_an_option_that_abstains_is_a_gap():
    ratings = Ratings.from_columns([["N/A", "low"]], levels=["low", "high"], gaps=["n/a"])
    np.testing.assert_array_equal(ratings.codes, [[-1, 0]])


def test_a_label_outside_the_levels_is_refused_with_its_place():
    with pytest.raises(
        ValueError, match="rater 'ann' gave unit 'a' the label 'huge'; allowed are 'low', 'high'"
    ):
        Ratings.from_triples([("a", "ann", "huge")], levels=["low", "high"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": ["low", " LOW"]}, "levels must differ after strip and casefold; found ' LOW' twice"),
        ({"levels": ["low", "high"], "values": [1]}, "one number for each of 2 labels; found 1"),
        ({"levels": ["low", "high"], "values": [1, float("nan")]}, "values must be finite numbers"),
        ({"values": [1]}, "values belong to levels; found values without levels"),
    ],
)
def test_levels_and_values_that_make_no_scale_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Ratings.from_columns([["low"]], **options)


def test_codes_must_name_labels():
    with pytest.raises(ValueError, match=r"codes must lie in -1 … 0; found 0 … 1"):
        Ratings((0,), (0, 1), ("a",), np.array([[0, 1]]), np.array([0, 1]))
    with pytest.raises(ValueError, match="labels must be the levels"):
        Ratings((0,), (0,), ("a",), np.array([[0]]), np.array([0]), levels=("a", "b"))


def test_verdicts_are_a_full_scale_even_when_only_one_was_used():
    ratings = Ratings.from_columns([["MET", None], ["MET", "MET"]])
    full = ratings.on_full_scale()
    assert full.labels == full.levels == ("UNMET", "MET")
    np.testing.assert_array_equal(full.codes, [[1, -1], [1, 1]])
    np.testing.assert_array_equal(full.numbers(), ratings.numbers())
    other = Ratings.from_columns([["yes"], ["no"]])
    assert other.on_full_scale() is other


def test_some_units_keep_every_rater_and_label():
    ratings = Ratings.from_columns(
        [["MET", "MET", "UNMET"], [None, "MET", "UNMET"]], clusters=["a", "b", "b"]
    )
    some = ratings.of_units(lambda unit: unit > 0)
    assert (some.units, some.labels, some.raters) == ((1, 2), ("MET", "UNMET"), (0, 1))
    np.testing.assert_array_equal(some.clusters, [0, 0])
