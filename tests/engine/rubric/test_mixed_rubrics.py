"""Whole gradings of rubrics that mix verdicts, options and checks."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine import Criterion, LengthPenalty, Option, PassRule, Rubric
from rubricweb.engine.autograders import (
    Autograder,
    PerCriterionGrader,
    PerCriterionOneShotGrader,
    RubricAsJudgeGrader,
)
from rubricweb.engine.report import (
    CriterionReport,
    EvaluationReport,
    GradingError,
    Vote,
    apply_rubric_rules,
    criterion_report,
)
from rubricweb.engine.submission import Submission

PARIS = Criterion(name="paris", weight=10, requirement="Names Paris", group="Facts")
CLEAR = Criterion(
    name="clear",
    weight=4,
    requirement="How clear is it?",
    group="Style",
    options=(
        Option(label="Low"),
        Option(label="Fair", value=0.25),
        Option(label="High", value=1.0),
        Option(label="N/A", na=True),
    ),
)
RUDE = Criterion(name="rude", weight=-6, requirement="Is rude", group="Style")
SHORT = Criterion(name="short", weight=2, check="length_between", params={"max": 100})
MIXED = [PARIS, CLEAR, RUDE, SHORT]


def about(user_prompt):
    """The criteria a prompt names, by the words of their requirements."""
    words = {"Names Paris": "paris", "How clear is it?": "clear", "Is rude": "rude"}
    return [name for text, name in words.items() if f">{text}</criterion>" in user_prompt]


def per_criterion(**said):
    """Answers each question as told; an exception is raised."""

    async def generate(system_prompt, user_prompt):
        (name,) = about(user_prompt)
        answer = said[name]
        if isinstance(answer, BaseException):
            raise answer
        key = "option" if name == "clear" else "criterion_status"
        return json.dumps({"explanation": f"about {name}", key: answer})

    return PerCriterionGrader(generate)


def grade(grader, rubric, to_grade="Paris."):
    rubric = rubric if isinstance(rubric, Rubric) else Rubric(rubric)
    return asyncio.run(rubric.grade(to_grade, autograder=grader))


def results(report):
    return [
        (entry.name, entry.option or entry.verdict or (entry.error and entry.error.kind), entry.value)
        for entry in report.report
    ]


def test_every_kind_is_answered_in_its_own_way_and_scored_once():
    report = grade(per_criterion(paris="MET", clear="fair", rude="UNMET"), MIXED)
    assert results(report) == [
        ("paris", "MET", 1.0),
        ("clear", "Fair", 0.25),
        ("rude", "UNMET", 0.0),
        ("short", None, 1.0),
    ]
    # 10 + 0.25·4 + 0 + 2 = 13 of 16
    assert report.score == pytest.approx(13 / 16)
    assert (report.raw_score, report.coverage, report.errors) == (13.0, 1.0, ())
    assert report.report[3].reason


def test_groups_have_scores_of_their_own():
    report = grade(per_criterion(paris="MET", clear="High", rude="MET"), MIXED)
    # Style: (4 − 6)/4 clamped to 0
    assert {group: score.score for group, score in report.groups.items()} == {
        "Facts": 1.0,
        "Style": 0.0,
        None: 1.0,
    }
    assert grade(per_criterion(paris="MET"), [PARIS.model_copy(update={"group": None})]).groups is None


def test_a_choice_that_does_not_apply_abstains():
    report = grade(per_criterion(paris="UNMET", clear="N/A", rude="UNMET"), MIXED)
    assert results(report)[1] == ("clear", "N/A", None)
    # 2 of 10 + 2, covered 18 of 22
    assert report.score == pytest.approx(2 / 12)
    assert report.coverage == pytest.approx(18 / 22)


def test_one_unreadable_option_or_crashed_check_costs_its_criterion_only():
    rubric = [*MIXED, Criterion(name="same", weight=2, check="matches_reference")]
    report = grade(per_criterion(paris="MET", clear="Splendid", rude="UNMET"), rubric)
    assert [(error.criterion, error.kind) for error in report.errors] == [
        ("clear", "unreadable_reply"),
        ("same", "no_reference"),
    ]
    assert report.score == 1.0  # 12 of 12: what failed is excluded
    assert report.coverage == pytest.approx(18 / 24)


def test_a_rubric_of_checks_needs_no_judge():
    async def never(system_prompt, user_prompt):
        raise AssertionError("no call is needed")

    for grader in (PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader):
        report = grade(grader(never), [SHORT])
        assert (report.score, report.errors) == (1.0, ())
        assert [entry.value for entry in report.report] == [1.0]


def test_one_shot_asks_once_more_for_an_option_that_was_no_option():
    asked = []

    async def generate(system_prompt, user_prompt):
        asked.append(about(user_prompt))
        said = {"paris": "MET", "rude": "UNMET", "clear": "Splendid" if len(asked) == 1 else "2"}
        return json.dumps(
            {
                "criteria_evaluations": [
                    {
                        "criterion_number": number,
                        "explanation": "because",
                        ("option" if name == "clear" else "criterion_status"): said[name],
                    }
                    for number, name in enumerate(asked[-1], start=1)
                ]
            }
        )

    report = grade(PerCriterionOneShotGrader(generate), [PARIS, CLEAR, SHORT])
    assert asked == [["paris", "clear"], ["clear"]]
    assert results(report) == [("paris", "MET", 1.0), ("clear", "Fair", 0.25), ("short", None, 1.0)]


def test_a_holistic_number_stands_for_all_but_the_checks():
    async def generate(system_prompt, user_prompt):
        assert "value" in system_prompt
        return '{"explanation": "fine", "overall_score": 50}'

    report = grade(RubricAsJudgeGrader(generate), MIXED)
    # half of 10 + 4, and the check's 2: 9 of 16
    assert report.score == pytest.approx(9 / 16)
    assert (report.llm_raw_score, report.raw_score) == (50.0, 9.0)
    assert results(report) == [("short", None, 1.0)]


def test_a_failed_holistic_call_keeps_what_the_checks_measured():
    async def generate(system_prompt, user_prompt):
        raise TimeoutError

    report = grade(RubricAsJudgeGrader(generate), MIXED)
    assert (report.score, [error.kind for error in report.errors]) == (None, ["timeout"])
    assert report.coverage == pytest.approx(2 / 22)
    assert results(report) == [("short", None, 1.0)]


def test_the_length_penalty_comes_off_the_score_before_the_pass_rule_is_asked():
    penalty = LengthPenalty(free_budget=2, max_cap=4, penalty_at_cap=0.5, exponent=1.0)
    rubric = Rubric([PARIS], pass_rule=PassRule(min_score=0.8), length_penalty=penalty)
    short = grade(per_criterion(paris="MET"), rubric, "Paris it")
    assert (short.score, short.length_penalty, short.passed) == (1.0, 0.0, True)
    # three words are half way to the cap: 1 − 0.25
    long = grade(per_criterion(paris="MET"), rubric, "Paris it is")
    assert (long.score, long.length_penalty, long.passed) == (0.75, 0.25, False)
    assert (long.raw_score, long.coverage) == (10.0, 1.0)
    none_left = grade(per_criterion(paris="UNMET"), rubric, "Lyon it is then")
    assert (none_left.score, none_left.length_penalty) == (0.0, 0.5)
    failed = grade(per_criterion(paris=TimeoutError()), rubric, "Paris it is then")
    assert (failed.score, failed.passed) == (None, None)


def test_a_raw_sum_can_be_penalised_but_not_held_against_a_share():
    rubric = Rubric([PARIS, CLEAR], pass_rule=PassRule(min_score=0.5, min_criterion=0.5))
    grader = per_criterion(paris="MET", clear="High")
    grader.normalize = False
    assert (grade(grader, rubric).score, grade(grader, rubric).passed) == (14.0, None)
    grader = per_criterion(paris="MET", clear="Low")
    grader.normalize = False
    assert grade(grader, rubric).passed is False


def test_rules_reach_autograders_of_ones_own():
    class Half(Autograder):
        async def judge(self, to_grade, rubric, query=None):
            return 0.5

        async def aggregate(self, judge_results):
            return EvaluationReport(score=judge_results)

    rubric = Rubric([PARIS], pass_rule=PassRule(min_score=0.5))
    assert grade(Half(), rubric).passed is True
    assert grade(Half(), Rubric([PARIS])).passed is None


def test_a_report_and_its_votes_survive_being_written():
    error = GradingError(criterion="clear", kind="timeout", message="60 s")
    report = grade(per_criterion(paris="MET", clear="High", rude="UNMET"), MIXED)
    entry = report.report[1]
    votes = (Vote(judge="a", answer=entry.answer), Vote(judge="b", error=error, weight=2.0))
    voted = criterion_report(CLEAR, entry.answer, votes)
    assert CriterionReport.model_validate_json(voted.model_dump_json()) == voted
    assert json.loads(report.model_dump_json())["groups"].keys() == {"Facts", "Style", ""}
    assert EvaluationReport.model_validate_json(report.model_dump_json()) == report


def test_a_vote_has_an_answer_or_an_error_and_a_weight_that_counts():
    error = GradingError(criterion="c", kind="timeout", message="60 s")
    for wrong in ({}, {"error": error, "weight": -1.0}, {"error": error, "weight": float("nan")}):
        with pytest.raises(ValueError, match="vote"):
            Vote(judge="a", **wrong)


def test_rules_without_a_report_per_criterion_leave_the_criterion_limit_open():
    rubric = Rubric([PARIS], pass_rule=PassRule(min_criterion=0.5))
    assert apply_rubric_rules(EvaluationReport(score=1.0), rubric, Submission("x")).passed is None


@settings(max_examples=50)
@given(
    st.sampled_from(["MET", "UNMET", "CANNOT_ASSESS"]),
    st.sampled_from(["Low", "Fair", "High", "N/A", "none of these"]),
    st.sampled_from(["MET", "UNMET", "CANNOT_ASSESS"]),
    st.text(max_size=200),
)
def test_every_grading_scores_from_zero_to_one_or_not_at_all(paris, clear, rude, text):
    report = grade(per_criterion(paris=paris, clear=clear, rude=rude), MIXED, text)
    assert report.score is None or 0.0 <= report.score <= 1.0
    assert 0.0 <= report.coverage <= 1.0
    assert len(report.report) == 4
