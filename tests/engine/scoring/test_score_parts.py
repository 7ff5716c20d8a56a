"""Parts of a score add up to it, whatever the policies say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.scoring import (
    ABSTENTION_POLICIES,
    ERROR_POLICIES,
    FAILED,
    contributions,
    score_verdicts,
    value_of,
)
from rubricweb.engine.scoring.parts import score_columns, score_part_columns
from rubricweb.engine.verdict import Verdict

MET, UNMET, UNSURE = Verdict.MET, Verdict.UNMET, Verdict.CANNOT_ASSESS


def score_parts(weights, outcomes, **policy):
    """The parts of one submission, None where a part is NaN."""
    values = [[None if one is FAILED else value_of(one) for one in outcomes]]
    failed = np.array([[one is FAILED for one in outcomes]])
    [parts] = score_part_columns(weights, np.array(values, dtype=np.float64), failed, **policy)
    return [None if math.isnan(part) else float(part) for part in parts]


def test_parts_are_contributions_over_the_positive_weights() -> None:
    # P = 10 + 5; raw 10 + 0 − 3: parts 10/15, 0 and −3/15.
    assert score_parts((10, 5, -3), (MET, UNMET, MET)) == pytest.approx([2 / 3, 0.0, -0.2])


def test_a_skipped_criterion_has_no_part_and_leaves_the_sum_it_would_be_divided_by() -> None:
    assert score_parts((10, 5, -3), (MET, UNSURE, UNMET)) == [1.0, None, 0.0]


def test_negative_weights_alone_are_divided_by_their_own_sum() -> None:
    # N = 4; score 1 + raw / N = 1 − 1/4.
    assert score_parts((-1, -3), (MET, UNMET)) == pytest.approx([-0.25, 0.0])


def test_raw_parts_are_five_of_ten_and_the_whole_penalty() -> None:
    assert score_parts((10, -3), (0.5, MET), normalize=False) == [5.0, -3.0]


def test_without_a_score_there_are_no_parts() -> None:
    assert score_parts((10, -3), (UNSURE, MET)) == [None, None]
    assert score_parts((10, 5), (MET, FAILED), on_error="fail_item") == [None, None]
    assert score_parts((10,), (FAILED,), normalize=False, on_error="fail_item") == [None]


def test_weights_of_zero_add_nothing() -> None:
    assert score_parts((0, 0), (MET, 0.3)) == [0.0, 0.0]


OUTCOMES = st.one_of(st.sampled_from([MET, UNMET, UNSURE, FAILED]), st.floats(0, 1))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-9, 9), OUTCOMES), min_size=1, max_size=6),
    st.sampled_from(ABSTENTION_POLICIES),
    st.sampled_from(ERROR_POLICIES),
)
def test_parts_add_up_to_the_score_within_its_limits(pairs, abstention, on_error) -> None:
    weights, outcomes = [float(weight) for weight, _ in pairs], [outcome for _, outcome in pairs]
    policy = {"abstention": abstention, "on_error": on_error}
    score = score_verdicts(weights, outcomes, **policy).score
    parts = score_parts(weights, outcomes, **policy)
    if score is None:
        assert parts == [None] * len(parts)
        return
    whole = math.fsum(part for part in parts if part is not None)
    if any(weights) and not any(weight > 0 for weight in weights):
        whole += 1
    assert min(1.0, max(0.0, whole)) == pytest.approx(score)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-9, 9), OUTCOMES), min_size=1, max_size=6),
    st.sampled_from(ABSTENTION_POLICIES),
    st.sampled_from(ERROR_POLICIES),
)
def test_raw_parts_are_the_contributions(pairs, abstention, on_error) -> None:
    weights, outcomes = [weight for weight, _ in pairs], [outcome for _, outcome in pairs]
    policy = {"abstention": abstention, "on_error": on_error}
    parts = score_parts(weights, outcomes, normalize=False, **policy)
    if on_error == "fail_item" and FAILED in outcomes:
        assert parts == [None] * len(parts)
    else:
        assert parts == pytest.approx(contributions(weights, outcomes, **policy))


@settings(max_examples=200)
@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=5).flatmap(
        lambda weights: st.tuples(
            st.just(weights),
            st.lists(st.tuples(*(OUTCOMES for _ in weights)), min_size=1, max_size=5),
        )
    ),
    st.sampled_from(ABSTENTION_POLICIES),
    st.sampled_from(ERROR_POLICIES),
    st.booleans(),
)
def test_many_submissions_have_the_parts_of_each_alone(table, abstention, on_error, normalize) -> None:
    weights, rows = table
    policy = {"abstention": abstention, "on_error": on_error, "normalize": normalize}
    values = [[None if one is FAILED else value_of(one) for one in row] for row in rows]
    together = score_part_columns(
        weights,
        np.array(values, dtype=np.float64),
        np.array([[one is FAILED for one in row] for row in rows]),
        **policy,
    )
    alone = [score_parts(weights, row, **policy) for row in rows]
    np.testing.assert_allclose(together, np.array(alone, dtype=np.float64), atol=1e-12)


def test_columns_of_another_number_of_criteria_are_refused() -> None:
    with pytest.raises(ValueError, match="a column of each per criterion"):
        score_part_columns((1, 2), np.ones((3, 1)), np.zeros((3, 1), dtype=bool))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-9, 9), OUTCOMES, OUTCOMES), min_size=1, max_size=6),
    st.sampled_from(ABSTENTION_POLICIES),
    st.sampled_from(ERROR_POLICIES),
    st.booleans(),
)
def test_scores_of_many_submissions_are_those_of_each(triples, abstention, on_error, normalize) -> None:
    weights = [float(weight) for weight, _, _ in triples]
    submissions = list(zip(*(outcomes for _, *outcomes in triples), strict=True))
    policy = {"abstention": abstention, "on_error": on_error, "normalize": normalize}
    values = [[value_of(outcome) for outcome in outcomes] for outcomes in submissions]
    failed = [[outcome is FAILED for outcome in outcomes] for outcomes in submissions]
    found = score_columns(weights, np.array(values, dtype=np.float64), np.array(failed), **policy)
    for score, outcomes in zip(found, submissions, strict=True):
        expected = score_verdicts(weights, outcomes, **policy).score
        assert math.isnan(score) if expected is None else score == pytest.approx(expected)
