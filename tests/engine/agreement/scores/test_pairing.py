"""Units of two sides, and means over the several rows of one."""

import numpy as np

from rubricweb.engine.agreement import Figure, mean_figure
from rubricweb.engine.agreement.scores.pairing import case_means, paired_units, unit_means


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


def test_answers_to_one_case_count_as_one() -> None:
    # Case 7 has 1 and 0 and a gap, case 9 has 0.5; case 8 has a gap alone and counts for nothing.
    means = case_means(np.array([1, 0, np.nan, 0.5, np.nan]), np.array([7, 7, 7, 9, 8]))
    assert means.tolist() == [0.5, 0.5]


def test_where_no_case_has_several_answers_the_values_stay_in_their_order() -> None:
    assert case_means(np.array([0.3, np.nan, 0.1]), np.array([9, 8, 7])).tolist() == [0.3, 0.1]


def test_the_interval_of_a_mean_over_attempts_holds_at_its_level() -> None:
    """1,000 draws of 40 cases with five attempts each, attempts at a case alike: 95 % hold the true mean.

    By answer, as if they were 200 cases, 66 % would.
    """
    draw, held, by_answer = np.random.default_rng(5), 0, 0
    cases = np.repeat(np.arange(40), 5)
    for _ in range(1_000):
        scores = np.clip(0.5 + draw.normal(0, 0.2, 40)[cases] + draw.normal(0, 0.05, 200), 0, 1)
        by_case = mean_figure(case_means(scores, cases).tolist())
        each = mean_figure(scores.tolist())
        held += covers(by_case, 0.5)
        by_answer += covers(each, 0.5)
    assert 0.93 <= held / 1_000 <= 0.98  # a 0 and a 1 are appended
    assert by_answer / 1_000 < 0.75


def covers(figure: Figure, value: float) -> bool:
    return figure.low is not None and figure.high is not None and figure.low <= value <= figure.high
