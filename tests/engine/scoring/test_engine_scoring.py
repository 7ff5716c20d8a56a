"""The one score: the design's table row by row, and what must hold for every rubric."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricweb.engine.scoring import (
    ABSTENTION_POLICIES,
    ERROR_POLICIES,
    FAILED,
    score_groups,
    score_holistic,
    score_verdicts,
)
from rubricweb.engine.verdict import Verdict

MET, UNMET, CA = Verdict.MET, Verdict.UNMET, Verdict.CANNOT_ASSESS


@pytest.mark.parametrize(
    ("weights", "outcomes", "skip", "zero", "partial", "fail"),
    [
        # 5/5 · 5/15 · (5 + 5)/15 · 5/15
        ((10, 5, -15), (CA, MET, UNMET), 1, 1 / 3, 2 / 3, 1 / 3),
        # an abstention on an error costs only under fail: (15 − 15)/15
        ((10, 5, -15), (MET, MET, CA), 1, 1, 1, 0),
        # nothing · 0/15 · (5 + 2.5)/15 · −15/15 clamped
        ((10, 5, -15), (CA, CA, CA), None, 0, 0.5, 0),
        # 1 − 1/3
        ((-2, -1), (UNMET, MET), 2 / 3, 2 / 3, 2 / 3, 2 / 3),
        # 1 − 1/1 · 1 − 1/3 · 1 − 1/3 · 1 − 3/3
        ((-2, -1), (CA, MET), 0, 2 / 3, 2 / 3, 0),
        # (10 − 3)/15
        ((10, 5, -3), (MET, UNMET, MET), 7 / 15, 7 / 15, 7 / 15, 7 / 15),
    ],
)
def test_the_table_of_the_design(weights, outcomes, skip, zero, partial, fail):
    expected = {"skip": skip, "zero": zero, "partial": partial, "fail": fail}
    for policy in ABSTENTION_POLICIES:
        score = score_verdicts(weights, outcomes, abstention=policy)
        assert score.score == (None if expected[policy] is None else pytest.approx(expected[policy]))


def test_raw_score_is_the_weighted_sum_and_unclamped_without_normalising():
    assert score_verdicts((10, 5, -3), (MET, UNMET, MET)).raw_score == 7
    # 2 − 15 = −13, clamped to 0 only when normalised
    assert score_verdicts((2, -15), (MET, MET)).score == 0
    assert score_verdicts((2, -15), (MET, MET), normalize=False).score == -13


def test_skipping_never_flips_to_the_other_formula():
    score = score_verdicts((10, -5), (CA, UNMET))
    assert score.score is None
    assert score.coverage == pytest.approx(5 / 15)


def test_a_negative_rubric_with_only_its_tracked_metric_judged_has_no_score():
    assert score_verdicts((-2, 0), (CA, MET)).score is None


def test_only_tracked_metrics_score_zero_and_cover_by_count():
    score = score_verdicts((0, 0), (MET, CA))
    assert (score.score, score.raw_score, score.coverage) == (0.0, 0.0, 0.5)


def test_nothing_judged_is_none_not_zero():
    assert score_verdicts((1, 0), (CA, FAILED)) == score_verdicts((), ())
    assert score_verdicts((), ()).score is None


def test_values_between_met_and_unmet_count_in_proportion():
    # 0.25·4 + 1·4 = 5 of 8
    assert score_verdicts((4, 4), (0.25, MET)).score == pytest.approx(5 / 8)


@pytest.mark.parametrize(
    ("policy", "score", "raw"),
    [
        ("exclude", 1.0, 5.0),  # 5/5
        ("zero", 1 / 3, 5.0),  # 5/15
        ("fail_item", None, None),
    ],
)
def test_failures_are_worth_what_the_policy_says_and_never_count_as_judged(policy, score, raw):
    result = score_verdicts((10, 5), (FAILED, MET), on_error=policy)
    assert result.score == (None if score is None else pytest.approx(score))
    assert result.raw_score == raw
    assert result.coverage == pytest.approx(5 / 15)


def test_abstentions_are_not_covered_whatever_they_are_worth():
    for policy in ABSTENTION_POLICIES:
        assert score_verdicts((3, 1), (CA, MET), abstention=policy).coverage == 0.25


@pytest.mark.parametrize(
    ("weights", "outcomes", "options", "message"),
    [
        ((1,), (), {}, "0 outcomes for 1 weights"),
        ((math.nan,), (MET,), {}, r"weights\[0\] is nan"),
        ((1,), (1.5,), {}, r"outcomes\[0\] is 1.5"),
        ((1,), (math.nan,), {}, r"outcomes\[0\] is nan"),
        ((1,), (True,), {}, r"outcomes\[0\] is True"),
        ((1,), ("MET",), {}, r"outcomes\[0\] is 'MET'"),
        ((1,), (None,), {}, r"outcomes\[0\] is None"),
        ((1,), (MET,), {"abstention": "ignore"}, "skip, zero, partial, fail"),
        ((1,), (MET,), {"on_error": "ignore"}, "exclude, zero, fail_item"),
    ],
)
def test_nonsense_is_refused(weights, outcomes, options, message):
    with pytest.raises(ValueError, match=message):
        score_verdicts(weights, outcomes, **options)


@pytest.mark.parametrize(
    ("weights", "said", "score", "raw"),
    [
        ((10, 5, -3), 85, 0.85, 12.75),  # 0.85·15
        ((-2, -1), 75, 0.75, -0.75),  # −3·0.25
        ((10,), 140, 1.0, 10.0),
        ((10,), -5, 0.0, 0.0),
        ((0, 0), 85, 0.0, 0.0),
    ],
)
def test_a_holistic_number_becomes_a_weighted_sum(weights, said, score, raw):
    result = score_holistic(weights, said)
    assert (result.score, result.raw_score) == (pytest.approx(score), pytest.approx(raw))
    assert result.llm_raw_score == said
    assert score_holistic(weights, said, normalize=False).score == pytest.approx(raw)


def test_a_holistic_call_that_failed_has_no_score():
    result = score_holistic((1, 2), None)
    assert (result.score, result.raw_score, result.coverage) == (None, None, 0.0)
    with pytest.raises(ValueError, match="NaN"):
        score_holistic((1,), math.nan)


def test_groups_are_scored_as_rubrics_of_their_own():
    scores = score_groups(("a", "a", None), (1, 1, -1), (MET, UNMET, UNMET))
    assert {group: score.score for group, score in scores.items()} == {"a": 0.5, None: 1.0}


weights_and_outcomes = st.lists(
    st.tuples(
        st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float),
        st.sampled_from([MET, UNMET, CA, FAILED]) | st.floats(0, 1),
    ),
    max_size=12,
)
policies = {"abstention": st.sampled_from(ABSTENTION_POLICIES), "on_error": st.sampled_from(ERROR_POLICIES)}


@given(pairs=weights_and_outcomes, **policies)
def test_a_score_is_from_0_to_1_or_none_and_so_is_coverage(pairs, abstention, on_error):
    weights, outcomes = [w for w, _ in pairs], [o for _, o in pairs]
    result = score_verdicts(weights, outcomes, abstention=abstention, on_error=on_error)
    assert result.score is None or 0 <= result.score <= 1
    assert 0 <= result.coverage <= 1


@given(pairs=weights_and_outcomes, weight=st.floats(1e-3, 1e6), **policies)
def test_meeting_one_more_wanted_criterion_never_lowers_the_score(pairs, weight, abstention, on_error):
    weights, outcomes = [w for w, _ in pairs] + [weight], [o for _, o in pairs]
    unmet = score_verdicts(weights, [*outcomes, UNMET], abstention=abstention, on_error=on_error)
    met = score_verdicts(weights, [*outcomes, MET], abstention=abstention, on_error=on_error)
    assert (unmet.score is None) == (met.score is None)
    assert met.score is None or met.score >= unmet.score


@given(weights_and_outcomes)
def test_zero_weights_never_move_a_score(pairs):
    weights, outcomes = [w for w, _ in pairs if w], [o for w, o in pairs if w]
    with_metric = score_verdicts([*weights, 0.0], [*outcomes, MET])
    if any(weights):
        assert with_metric.score == score_verdicts(weights, outcomes).score
