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
