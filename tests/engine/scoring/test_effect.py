"""What answers do to the score: one sign convention for words, colours and bias."""

import pytest

from rubricweb.engine.agreement import Figure, effect_bias, leaning
from rubricweb.engine.scoring.effect import (
    by_effect,
    credit,
    effect_of,
    points_lost,
    verdict_effect,
    verdict_words,
)
from rubricweb.engine.verdict import Verdict


@pytest.mark.parametrize(
    ("value", "weight", "given", "effect"),
    [
        (1, 5, 1, "helped"),
        (0, 5, 0, "hurt"),
        (1, -5, 0, "hurt"),
        (0, -5, 1, "helped"),
        (0.25, -5, 0.75, "neither"),
        (1, 0, 1, "neither"),
        (0, 0, 0, "neither"),
    ],
)
def test_an_answer_helps_or_hurts_by_its_value_and_the_sign_of_its_weight(value, weight, given, effect):
    assert credit(value, weight) == given
    assert effect_of(value, weight) == effect


def test_points_lost_are_weight_times_the_credit_that_is_missing():
    # 6 · (1 − 0.81), −10 with the error in 7 %, weight 0, and an answer without a value.
    lost = [points_lost(value, weight) for value, weight in [(0.81, 6), (0.07, -10), (0.5, 0), (None, 5)]]
    assert lost == pytest.approx([1.14, 0.7, 0, 0])


def test_what_has_no_value_has_no_effect():
    assert effect_of(None, 5) is None
    assert verdict_effect(Verdict.CANNOT_ASSESS, -5) is None


def test_penalties_are_told_as_errors_and_stay_stored_as_verdicts():
    said = [(verdict_words(verdict, 2), verdict_words(verdict, -2)) for verdict in Verdict]
    assert said == [
        ("Met", "Error present"),
        ("Unmet", "Error absent"),
        ("Cannot assess", "Cannot assess"),
    ]
    assert [by_effect(verdict, -2) for verdict in Verdict] == ["UNMET", "MET", "CANNOT_ASSESS"]
    assert by_effect(Verdict.MET, 2) == "MET"


def test_a_judge_that_sees_errors_where_people_see_none_is_strict():
    # MET rates 2/2 against 0/2 on a penalty of 5: +1 by the word, −1 by what it does to the score.
    assert effect_bias([1, 1], [0, 0], [-5, -5], ["a", "b"]).value == -1
    assert effect_bias([1, 1], [0, 0], [5, 5], ["a", "b"]).value == 1


def test_criteria_of_both_signs_add_up_by_their_weights():
    # Item a: +6 MET against UNMET adds 6, −2 MET against UNMET takes 2; item b the same on both sides.
    # (6 − 2 + 0 + 0) / (6 + 2 + 6 + 2) = 0.25.
    found = effect_bias([1, 1, 1, 0], [0, 0, 1, 0], [6, -2, 6, -2], ["a", "a", "b", "b"])
    assert found.value == pytest.approx(0.25)
    assert found.n == 4


def test_weights_of_zero_count_alike_where_there_are_no_others():
    assert effect_bias([1, 0, 1], [0, 0, 1], [0, 0, 0], ["a", "b", "c"]).value == pytest.approx(1 / 3)
    assert effect_bias([1, 0], [0, 0], [0, 3], ["a", "b"]).value == 0  # the 0 moves no score
    assert effect_bias([], [], [], []).value is None
    with pytest.raises(ValueError, match="same units"):
        effect_bias([1], [1, 0], [1, 1], ["a", "b"])


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.01, 0.2, "lenient"), (-0.2, -0.01, "strict"), (-0.1, 0.1, ""), (None, None, "")],
)
def test_a_judge_leans_only_where_the_whole_interval_does(low, high, word):
    assert leaning(Figure(0.05, low, high, 9)) == word
