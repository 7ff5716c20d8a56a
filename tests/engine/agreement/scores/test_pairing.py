"""Units of two sides, and means over the several rows of one."""

import numpy as np

from rubricweb.engine.agreement.scores.pairing import paired_units, unit_means


def test_every_unit_of_either_side_has_one_place() -> None:
    units = paired_units(np.array([7, 7, 9]), np.array([9, 8]))
    assert units.keys.tolist() == [7, 8, 9]
    assert (units.one.tolist(), units.other.tolist()) == ([0, 0, 2], [2, 1])


def test_sides_without_rows_have_no_units() -> None:
    nothing = np.array([], dtype=np.int64)
    assert paired_units(nothing, nothing).keys.tolist() == []


def test_gaps_are_in_no_mean_and_a_unit_of_gaps_has_none() -> None:
    # Place 0: (1 + 0) / 2, its gap aside; place 1 has a gap alone; place 3 has no row.
    means = unit_means(np.array([1, 0, np.nan, np.nan, 0.5]), np.array([0, 0, 0, 1, 2]), 4)
    np.testing.assert_array_equal(means, [0.5, np.nan, 0.5, np.nan])
