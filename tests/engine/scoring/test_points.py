"""How many points of the score a criterion moves."""

import pytest

from rubricweb.engine import Criterion, Option
from rubricweb.engine.scoring import score_verdicts
from rubricweb.engine.scoring.points import score_points
from rubricweb.engine.verdict import Verdict

MET, UNMET = Verdict.MET, Verdict.UNMET


def test_points_are_of_the_sum_of_what_is_wanted():
    # 10 + 16 = 26 is what the score divides by; the penalty takes its part of the same sum.
    assert score_points([10, 16, -6]) == pytest.approx((1000 / 26, 1600 / 26, -600 / 26))


def test_a_verdict_moves_the_score_by_just_these_points():
    weights = [10, 16, -6]
    [ten, _, penalty] = score_points(weights)
    score = score_verdicts(weights, [UNMET, MET, UNMET]).score  # 16 of 26, far from both ends
    assert 100 * (score_verdicts(weights, [MET, MET, UNMET]).score - score) == pytest.approx(ten)
    assert 100 * (score_verdicts(weights, [UNMET, MET, MET]).score - score) == pytest.approx(penalty)


def test_of_errors_alone_points_are_of_their_sum():
    assert score_points([-2, -1]) == pytest.approx((-200 / 3, -100 / 3))


def test_options_close_in_value_move_fewer_points():
    close = Criterion(
        name="clear",
        requirement="How clear?",
        options=(
            Option(label="low", value=0.4),
            Option(label="high", value=0.9),
            Option(label="n/a", na=True),
        ),
    )
    assert close.span == pytest.approx(0.5)
    assert Criterion(name="short", requirement="Is short.").span == 1
    # 10 · 0.5 of 15 and 5 · 1 of 15
    assert score_points([10, 5], [close.span, 1]) == pytest.approx((100 / 3, 100 / 3))


def test_weights_that_cannot_be_read_have_no_points():
    assert score_points([3, None, float("nan"), 1]) == (75, None, None, 25)
    assert score_points([0, 0]) == (0, 0)
    assert score_points([]) == ()
