"""What options, checks, lists of labels, pass rules and length come to."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders.prompted import scored_report
from rubricweb.engine.report import criterion_report
from rubricweb.engine.rubric import Criterion, LengthPenalty, Option, PassRule, Rubric
from rubricweb.engine.scoring import (
    FAILED,
    contributions,
    length_penalty,
    outcome_of,
    passed,
    penalised,
    score_groups,
    score_holistic,
    score_labels,
    score_verdicts,
)
from rubricweb.engine.scoring.parts import score_part_columns
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict

MET, UNMET, CA = Verdict.MET, Verdict.UNMET, Verdict.CANNOT_ASSESS

SCALE = Criterion(
    name="clear",
    weight=4,
    requirement="How clear?",
    options=(
        Option(label="Low"),
        Option(label="Fair", value=0.25),
        Option(label="High", value=1.0),
        Option(label="N/A", na=True),
    ),
)
BINARY = Criterion(name="paris", weight=10, requirement="Names Paris")
RUDE = Criterion(name="rude", weight=-5, requirement="Is rude")
SIZE = Criterion(name="size", weight=2, check="length_between", params={"max": 9})
METRIC = Criterion(name="words", weight=0, check="length_between", params={"max": 9})


@pytest.mark.parametrize(
    ("criterion", "answer", "outcome"),
    [
        (BINARY, Answer(MET, ""), MET),
        (BINARY, Answer(CA, ""), CA),
        (BINARY, None, FAILED),
        (SCALE, Answer(None, "", option=" fair "), 0.25),
        (SCALE, Answer(None, "", option="N/A"), CA),
        (SCALE, Answer(CA, ""), CA),
        (SCALE, None, FAILED),
        (SIZE, Answer(None, "", value=0.5), 0.5),
        (SIZE, Answer(None, "", value=1.5), 1.0),
        (SIZE, Answer(None, "", value=-3.0), 0.0),
        (METRIC, Answer(None, "", value=-3.0), -3.0),
    ],
)
def test_an_answer_comes_to_what_its_criterion_says(criterion, answer, outcome):
    assert outcome_of(criterion, answer) == outcome


@pytest.mark.parametrize(
    ("criterion", "answer", "allowed"),
    [
        (BINARY, Answer(None, "", option="High"), "MET, UNMET, CANNOT_ASSESS"),
        (BINARY, Answer(None, "", value=1.0), "MET, UNMET, CANNOT_ASSESS"),
        (SCALE, Answer(MET, ""), "Low, Fair, High, N/A"),
        (SCALE, Answer(None, "", option="Middle"), "Low, Fair, High, N/A"),
        (SIZE, Answer(UNMET, ""), "a finite number"),
        (SIZE, Answer(None, "", value=math.inf), "a finite number"),
    ],
)
def test_an_answer_of_another_kind_is_refused(criterion, answer, allowed):
    with pytest.raises(ValueError, match=allowed):
        outcome_of(criterion, answer)


def test_an_answer_says_exactly_one_thing():
    for said in ({}, {"option": "a", "value": 1.0}):
        with pytest.raises(ValueError, match="one of verdict, option, value"):
            Answer(None, "", **said)
    with pytest.raises(ValueError, match="from 0 to 1"):
        Answer(MET, "", confidence=1.2)


def test_a_metric_of_any_size_is_tracked_and_moves_nothing():
    score = score_verdicts((10, 0), (MET, 5_000.0))
    assert (score.score, score.raw_score, score.coverage) == (1.0, 10.0, 1.0)
    with pytest.raises(ValueError, match=r"outcomes\[0\] is inf"):
        score_verdicts((0,), (math.inf,))


@pytest.mark.parametrize(
    ("labels", "score", "coverage"),
    [
        # (10 + 4 − 5 + 2)/16
        (["met", "high", "MET", 1], 11 / 16, 1.0),
        # 10 + 0.25·4 + 0.5·2 = 12 of 16
        ([MET, "Fair", UNMET, 0.5], 12 / 16, 1.0),
        # the scale abstains: 10/12, covered 17 of 21
        (["MET", "n/a", "UNMET", 0], 10 / 12, 17 / 21),
        # gaps leave both sums: 4/4, covered 4 of 21
        ([None, "High", None, None], 1.0, 4 / 21),
        # nothing positive is left: no score, covered 5 of 21
        ([None, None, "UNMET", None], None, 5 / 21),
    ],
)
def test_a_list_of_labels_is_scored_like_answers(labels, score, coverage):
    result = score_labels(Rubric([BINARY, SCALE, RUDE, SIZE]), labels)
    assert result.score == (None if score is None else pytest.approx(score))
    assert result.coverage == pytest.approx(coverage)


PARTIAL = (Option(label="Weak", value=0.4), Option(label="Good", value=0.9), Option(label="N/A", na=True))


@pytest.mark.parametrize(
    ("weights", "labels", "score"),
    [
        # the worst option of the wanted one: (4 · 0.4 + 6) / 10
        ((4, 6), ["N/A", "MET"], 0.76),
        # the worst option of the error: 6 − 4 · 0.9 of 6
        ((-4, 6), ["N/A", "MET"], 0.4),
        # binary criteria fail to the ends of the scale: 4 · 0.9 + 6 · 0 of 10
        ((4, 6), ["Good", "CANNOT_ASSESS"], 0.36),
        # 1 + (−4 · 0.9 − 6) / 10
        ((-4, -6), ["N/A", "CANNOT_ASSESS"], 0.04),
        ((0, 6), ["N/A", "MET"], 1.0),
    ],
)
def test_failing_an_abstention_costs_what_the_worst_answer_would(weights, labels, score):
    rubric = Rubric(
        [
            Criterion(weight=weights[0], requirement="How?", options=PARTIAL),
            Criterion(weight=weights[1], requirement="Does it?"),
        ]
    )
    assert score_labels(rubric, labels, abstention="fail").score == pytest.approx(score)


def test_groups_contributions_and_parts_fail_to_the_worst_option_too():
    weights, outcomes, worst = (10, -5, 10), (CA, CA, MET), (0.4, 0.9, 0.0)
    policy = {"worst": worst, "abstention": "fail"}
    assert contributions(weights, outcomes, **policy) == pytest.approx([4, -4.5, 10])
    values, failed = np.array([[math.nan, math.nan, 1.0]]), np.zeros((1, 3), dtype=bool)
    [parts] = score_part_columns(weights, values, failed, **policy)
    assert parts == pytest.approx([4 / 20, -4.5 / 20, 10 / 20])
    groups = score_groups(("a", "b", None), weights, outcomes, **policy)
    assert (groups["a"].score, groups[None].score) == (pytest.approx(0.4), 1.0)
    assert groups["b"].score == pytest.approx(0.1)  # 1 − 4.5 / 5


def test_a_report_fails_an_abstained_choice_to_its_worst_option():
    # (10 · 0.4 + 0) / 20
    criteria = [
        Criterion(name="how", weight=10, requirement="How?", options=PARTIAL, group="g"),
        Criterion(name="does", weight=10, requirement="Does it?"),
    ]
    report = scored_report(
        [criterion_report(criterion, Answer(CA, "")) for criterion in criteria],
        normalize=True,
        abstention="fail",
        on_error="exclude",
    )
    assert report.score == pytest.approx(0.2)
    assert report.groups["g"].score == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("worst", "message"),
    [((0.0,), "1 worst values for 2 weights"), ((0.0, 1.5), r"worst\[1\] is 1.5"), ((math.nan, 0), "nan")],
)
def test_worst_values_that_fit_no_criteria_are_refused(worst, message):
    with pytest.raises(ValueError, match=message):
        score_verdicts((1, 2), (CA, CA), worst=worst, abstention="fail")


def test_gaps_follow_the_error_policy():
    rubric = Rubric([BINARY, SCALE])
    assert score_labels(rubric, [None, "High"], on_error="zero").score == pytest.approx(4 / 14)
    assert score_labels(rubric, [None, "High"], on_error="fail_item").score is None


@pytest.mark.parametrize(
    ("criteria", "labels", "message"),
    [
        ([BINARY, SCALE], ["MET", "MET"], r"labels\[1\] \(clear\): .*allowed: Low, Fair, High, N/A"),
        ([BINARY, SCALE], ["MET"], "1 labels for 2 criteria"),
        ([BINARY], ["yes"], r"labels\[0\] \(paris\): unknown verdict 'yes'"),
        ([SCALE], [1.0], r"unknown label 1.0; allowed: Low"),
        ([SIZE], [True], "a finite number"),
        ([SIZE], ["0.5"], "a finite number"),
        ([METRIC], [math.nan], "a finite number"),
    ],
)
def test_labels_nobody_could_give_are_refused_with_their_criterion(criteria, labels, message):
    with pytest.raises(ValueError, match=message):
        score_labels(Rubric(criteria), labels)


@pytest.mark.parametrize(
    ("rule", "score", "outcomes", "expected"),
    [
        (None, 1.0, [MET, 1.0, UNMET], None),
        ({"min_score": 0.8}, 0.8, [MET, 1.0, UNMET], True),
        ({"min_score": 0.8}, 0.79, [MET, 1.0, UNMET], False),
        ({"min_score": 0.8}, None, [MET, 1.0, UNMET], None),
        ({"min_score": 0.0}, 0.5, None, True),
        ({"min_criterion": 0.5}, 1.0, None, None),
        ({"min_criterion": 0.5}, 1.0, [MET, 0.5, UNMET], True),
        ({"min_criterion": 0.5}, 1.0, [MET, 0.25, UNMET], False),
        # the good value of an error that was made is 1 − 1 = 0
        ({"min_criterion": 0.5}, 1.0, [MET, 1.0, MET], False),
        ({"min_criterion": 1.0}, 1.0, [MET, CA, UNMET], True),
        ({"min_criterion": 1.0}, 1.0, [MET, FAILED, UNMET], None),
        ({"min_criterion": 1.0}, 1.0, [UNMET, FAILED, UNMET], False),
        ({"min_score": 0.8, "min_criterion": 0.5}, 0.9, [MET, 0.25, UNMET], False),
        ({"min_score": 0.8, "min_criterion": 0.5}, 0.7, [FAILED, 1.0, UNMET], False),
    ],
)
def test_the_pass_rule_asks_for_a_score_and_for_every_criterion(rule, score, outcomes, expected):
    rubric = Rubric([BINARY, SCALE, RUDE], pass_rule=None if rule is None else PassRule(**rule))
    assert passed(rubric, score, outcomes) is expected


@pytest.mark.parametrize("weights", [(7, 1, 2), (0.7, 0.1, 0.2)])
def test_rounding_misses_no_limit_of_a_score(weights):
    # MET MET UNMET is (7 + 1) / 10 = 0.8 on paper; in binary (0.7 + 0.1) / 1 is 0.7999999999999999.
    score = score_verdicts(weights, [MET, MET, UNMET]).score
    criteria = [Criterion(name=f"c{i}", weight=weight, requirement="So.") for i, weight in enumerate(weights)]
    assert passed(Rubric(criteria, pass_rule=PassRule(min_score=0.8)), score, [MET, MET, UNMET]) is True
    assert passed(Rubric(criteria, pass_rule=PassRule(min_score=0.8001)), score, [MET, MET, UNMET]) is False


def test_rounding_misses_no_limit_of_a_criterion():
    # The good value of 0.9 under a negative weight is 1 − 0.9 = 0.1 on paper, 0.09999999999999998 in binary.
    severity = Criterion(
        name="severity",
        weight=-5,
        requirement="How bad?",
        options=(Option(label="None", value=0.0), Option(label="Bad", value=0.9)),
    )
    for limit, expected in ((0.1, True), (0.11, False)):
        rubric = Rubric([BINARY, severity], pass_rule=PassRule(min_criterion=limit))
        assert passed(rubric, 0.5, [MET, 0.9]) is expected


def test_a_tracked_metric_asks_nothing_of_the_pass_rule():
    rubric = Rubric([BINARY, METRIC], pass_rule=PassRule(min_criterion=1.0))
    assert passed(rubric, 1.0, [MET, -7.0]) is True
    assert passed(rubric, 1.0, [MET, FAILED]) is True
    with pytest.raises(ValueError, match="1 outcomes for 2 criteria"):
        passed(rubric, 1.0, [MET])


@pytest.mark.parametrize(
    ("words", "penalty"),
    [
        (0, 0.0),
        (6000, 0.0),
        (6001, 0.5 * (1 / 2000) ** 1.6),
        (7000, 0.5 * 0.5**1.6),  # 0.1649
        (8000, 0.5),
        (20_000, 0.5),
    ],
)
def test_length_costs_nothing_then_more_and_more_then_no_more(words, penalty):
    assert length_penalty(LengthPenalty(), Submission("word " * words)) == pytest.approx(penalty)


@pytest.mark.parametrize(
    ("counts", "thinking", "penalty"),
    [
        ("ALL", "a b c", 1.0),  # 6 words
        ("OUTPUT_ONLY", "a b c", 0.5),  # 3 words: half way from 2 to 4
        ("THINKING_ONLY", "a b", 0.0),
        ("THINKING_ONLY", None, 0.0),
    ],
)
def test_only_the_words_that_count_are_counted(counts, thinking, penalty):
    rule = LengthPenalty(free_budget=2, max_cap=4, penalty_at_cap=1.0, exponent=1.0, counts=counts)
    assert length_penalty(rule, Submission("one  two\nthree", thinking)) == pytest.approx(penalty)
    assert length_penalty(None, Submission("one " * 10)) == 0.0


def test_a_penalty_never_takes_a_normalised_score_below_zero():
    assert penalised(0.4, 0.5) == 0.0
    assert penalised(0.4, 0.5, normalize=False) == pytest.approx(-0.1)
    assert penalised(None, 0.5) is None


@pytest.mark.parametrize(
    ("weights", "llm", "checked", "score", "raw", "coverage"),
    [
        ((10, 10), 85, {1: 0.5}, 13.5 / 20, 13.5, 1.0),
        ((10, -5), 60, {1: MET}, 1 / 10, 1.0, 1.0),  # 6 − 5
        ((-4, -4), 75, {1: 0.5}, 1 - 3 / 8, -3.0, 1.0),  # −1 − 2 of 8
        ((10, 10), 85, {1: FAILED}, 0.85, 8.5, 0.5),
        ((10, 10), None, {1: 1.0}, None, None, 0.5),
        ((0, 10), 50, {1: 0.5}, 0.5, 5.0, 1.0),
    ],
)
def test_checks_add_up_with_what_a_holistic_number_stands_for(weights, llm, checked, score, raw, coverage):
    result = score_holistic(weights, llm, checked=checked)
    assert result.score == (None if score is None else pytest.approx(score))
    assert result.raw_score == (None if raw is None else pytest.approx(raw))
    assert result.coverage == pytest.approx(coverage)


def test_a_failed_check_follows_the_error_policy_beside_a_holistic_number():
    # 8.5 of 20
    assert score_holistic((10, 10), 85, checked={1: FAILED}, on_error="zero").score == pytest.approx(0.425)
    assert score_holistic((10, 10), 85, checked={1: FAILED}, on_error="fail_item").score is None


outcomes = st.sampled_from([MET, UNMET, CA, FAILED]) | st.floats(0, 1)
judged = st.lists(st.tuples(st.floats(-100, 100), outcomes), min_size=1, max_size=8)


@given(judged, st.floats(0, 100))
def test_a_holistic_score_with_checks_stays_from_zero_to_one_or_is_none(several, llm):
    weights = [weight for weight, _ in several]
    checked = {i: outcome for i, (_, outcome) in enumerate(several) if i % 2}
    score = score_holistic(weights, llm, checked=checked).score
    assert score is None or 0.0 <= score <= 1.0
