"""Panels: several judges, several times, with failures that cost their own votes only."""

import asyncio
import json

import pytest

from rubricweb.engine.autograders import PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader
from rubricweb.engine.autograders.panels.panel import Member, PanelGrader
from rubricweb.engine.autograders.prompted import FailedCall
from rubricweb.engine.report import Vote
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission

RUBRIC = Rubric.from_dict(
    [
        {"weight": 10, "requirement": "Names Paris"},
        {"weight": -5, "requirement": "Is rude"},
    ]
)
SUBMISSION = Submission("A city.")


def reply(status):
    return json.dumps({"explanation": f"says {status}", "criterion_status": status})


def listed(*statuses):
    return json.dumps(
        {
            "criteria_evaluations": [
                {"criterion_number": number, "explanation": "e", "criterion_status": status}
                for number, status in enumerate(statuses, start=1)
                if status
            ]
        }
    )


class Judge:
    """A generate_fn that answers by the requirement it is asked about, one reply after another."""

    def __init__(self, **replies):
        self.replies = {key: list(value) for key, value in replies.items()}
        self.asked = []

    async def __call__(self, system_prompt, user_prompt):
        key = next((key for key in self.replies if key in user_prompt.lower()), None)
        self.asked.append(key)
        said = self.replies[key].pop(0)
        if isinstance(said, BaseException):
            raise said
        return said if said.startswith("{") or said == "nonsense" else reply(said)


def always(status, times=9):
    return Judge(paris=[status] * times, rude=[status] * times)


def member(name, judge, weight=1.0, grader=PerCriterionGrader):
    return Member(grader(judge), name, weight)


def grade(grader, rubric=RUBRIC, to_grade="A city."):
    return asyncio.run(rubric.grade(to_grade, autograder=grader))


def test_three_judges_settle_every_criterion_by_majority():
    panel = PanelGrader(
        [
            member("a", Judge(paris=["MET"], rude=["UNMET"])),
            member("b", Judge(paris=["MET"], rude=["MET"])),
            member("c", Judge(paris=["UNMET"], rude=["UNMET"])),
        ]
    )
    report = grade(panel)
    assert [entry.verdict for entry in report.report] == ["MET", "UNMET"]
    assert report.score == 1.0  # (10 · 1 − 5 · 0) / 10
    assert [vote.judge for vote in report.report[0].votes] == ["a", "b", "c"]
    assert [vote.answer.verdict for vote in report.report[1].votes] == ["UNMET", "MET", "UNMET"]


def test_a_tie_falls_on_the_side_that_scores_less():
    report = grade(PanelGrader([member("a", always("MET")), member("b", always("UNMET"))]))
    assert [entry.verdict for entry in report.report] == ["UNMET", "MET"]
    assert report.raw_score == -5.0


def test_a_member_that_fails_wholly_costs_its_own_votes_only():
    away = always(ConnectionError("no route"))
    report = grade(PanelGrader([member("away", away), member("here", always("MET"))]))
    assert [entry.verdict for entry in report.report] == ["MET", "MET"]
    assert report.errors == ()
    assert report.coverage == 1.0
    failed = report.report[0].votes[0]
    assert (failed.judge, failed.error.kind, failed.error.criterion) == ("away", "connection", "C1")


def test_a_panel_whose_members_all_fail_reports_errors_and_no_score():
    panel = PanelGrader([member("a", always(TimeoutError())), member("b", always(TimeoutError()))])
    report = grade(panel)
    assert (report.score, report.coverage) == (None, 0.0)
    assert [error.kind for error in report.errors] == ["timeout", "timeout"]


def test_interruptions_pass_through():
    with pytest.raises(KeyboardInterrupt):
        grade(PanelGrader([member("a", always("MET")), member("b", always(KeyboardInterrupt()))]))


def test_repeats_ask_every_member_that_often():
    judge = Judge(paris=["MET", "MET", "UNMET"], rude=["UNMET"] * 3)
    panel = PanelGrader([member("a", judge)], repeats=3)
    report = grade(panel)
    assert sorted(judge.asked) == ["paris"] * 3 + ["rude"] * 3
    assert [vote.repeat for vote in report.report[0].votes] == [0, 1, 2]
    settled = panel.tally(RUBRIC.criteria[0], report.report[0].votes)
    assert (settled.answer.verdict, settled.flips) == ("MET", pytest.approx(2 / 3))


def test_weights_of_members_travel_with_their_votes():
    panel = PanelGrader(
        [member("expert", always("MET"), 3), member("b", always("UNMET")), member("c", always("UNMET"))],
        rule="weighted",
    )
    assert [entry.verdict for entry in grade(panel).report] == ["MET", "MET"]  # 3 against 2


def test_a_criterions_own_rule_stands_above_the_panels():
    rubric = Rubric.from_dict(
        [
            {"weight": 1, "requirement": "Names Paris"},
            {"weight": 1, "requirement": "Is rude", "aggregation": "any"},
        ]
    )
    panel = PanelGrader([member("a", always("MET")), member("b", always("UNMET"))], rule="unanimous")
    assert [entry.verdict for entry in grade(panel, rubric).report] == ["UNMET", "MET"]


def test_a_list_that_leaves_a_criterion_out_is_asked_again_as_without_a_panel():
    judge = Judge(paris=[listed("MET", None)], rude=[listed("UNMET")])
    panel = PanelGrader([member("a", judge, grader=PerCriterionOneShotGrader)])
    assert [entry.verdict for entry in grade(panel).report] == ["MET", "UNMET"]
    assert judge.asked == ["paris", "rude"]


def test_a_list_left_incomplete_twice_is_that_members_error():
    judge = Judge(paris=[listed("MET", None)], rude=["nonsense"])
    panel = PanelGrader([member("a", judge, grader=PerCriterionOneShotGrader), member("b", always("MET"))])
    report = grade(panel)
    assert [entry.verdict for entry in report.report] == ["MET", "MET"]
    assert [vote.error.kind if vote.error else vote.answer.verdict for vote in report.report[1].votes] == [
        "unreadable_reply",
        "MET",
    ]


def test_an_unreadable_list_is_asked_for_once_more():
    judge = Judge(paris=["nonsense", listed("MET", "UNMET")])
    panel = PanelGrader([member("a", judge, grader=PerCriterionOneShotGrader)])
    assert [entry.verdict for entry in grade(panel).report] == ["MET", "UNMET"]


def test_a_panel_can_be_carried_by_somebody_else():
    panel = PanelGrader([member("a", None), member("b", None)], repeats=2)
    asked = panel.prompts(SUBMISSION, RUBRIC)
    assert [(one.judge, one.repeat, one.prompt.criteria) for one in asked] == [
        (judge, repeat, (index,)) for judge in "ab" for repeat in (0, 1) for index in (0, 1)
    ]
    votes = {0: [], 1: []}
    for one in asked[:-1]:
        reading = panel.read(one, reply("MET"), RUBRIC)
        for index, vote in panel.votes_of(one, RUBRIC, reading).items():
            votes[index].append(vote)
    (left,) = panel.prompts(SUBMISSION, RUBRIC, votes=votes)
    assert left == asked[-1]
    failed = panel.votes_of(left, RUBRIC, None, FailedCall("timeout", "too slow"))
    assert failed[1].error.kind == "timeout"
    votes[1].append(failed[1])
    assert panel.prompts(SUBMISSION, RUBRIC, votes=votes) == []
    assert [entry.verdict for entry in panel.combine(RUBRIC, votes)] == ["MET", "MET"]


def test_votes_come_back_in_the_order_of_the_panel_however_they_arrived():
    panel = PanelGrader([member("z", None), member("a", None)])
    asked = panel.prompts(SUBMISSION, RUBRIC, only=[0])
    votes = [panel.votes_of(one, RUBRIC, panel.read(one, reply("MET"), RUBRIC))[0] for one in reversed(asked)]
    assert [vote.judge for vote in panel.combine(RUBRIC, {0: votes})[0].votes] == ["z", "a"]


def test_what_nobody_was_asked_about_is_an_error_and_a_strangers_vote_is_refused():
    panel = PanelGrader([member("a", None)])
    assert [entry.error.kind for entry in panel.combine(RUBRIC, {})] == ["missing_criterion"] * 2
    failed = FailedCall("timeout", "too slow").about("C1")
    with pytest.raises(ValueError, match="a vote by 'x'; allowed: votes by a"):
        panel.combine(RUBRIC, {0: [Vote(judge="x", error=failed)]})


def test_a_quorum_of_members_can_be_asked_for():
    away = member("away", always(TimeoutError()))
    panel = PanelGrader([away, member("here", always("MET"))], quorum=0.6)  # 1 of 2 came
    assert [entry.error.kind for entry in grade(panel).report] == ["no_quorum"] * 2


CHOICES = Rubric.from_dict(
    [
        {
            "weight": 4,
            "requirement": "How clear about Paris",
            "options": [
                {"label": "Poor", "value": 0},
                {"label": "Okay", "value": 0.5},
                {"label": "Good", "value": 1},
                {"label": "N/A", "na": True},
            ],
        }
    ]
)


def test_options_are_settled_on_their_scale_and_scored_by_value():
    panel = PanelGrader([member(name, None) for name in "abc"])
    cast = [
        Vote(judge=judge, answer={"verdict": None, "option": option, "reason": "because"})
        for judge, option in zip("abc", ("Poor", "Good", "N/A"), strict=True)
    ]
    (entry,) = panel.combine(CHOICES, {0: cast})
    assert (entry.option, entry.value, entry.verdict) == ("Okay", 0.5, None)  # mean of 0 and 1
    assert asyncio.run(panel.aggregate([entry])).score == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"members": []}, "without members"),
        ({"members": [member("a", None), member("a", None)]}, "two members are called 'a'"),
        ({"repeats": 0}, "repeats is 0; allowed: 1 to 100"),
        ({"rule": "loudest"}, "rule is 'loudest'; allowed: any, majority"),
        ({"rule": {"binary": "median"}}, "rule of binary is 'median'; allowed: majority"),
        ({"rule": {"colour": "mode"}}, "the scale 'colour'; allowed: binary, ordinal, nominal"),
        ({"quorum": 1.5}, "quorum is 1.5"),
        ({"abstention": "shrug"}, "abstention is 'shrug'; allowed here: skip"),
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        PanelGrader(**({"members": [member("a", None)]} | arguments))


def test_a_member_needs_a_name_a_weight_and_answers_per_criterion():
    with pytest.raises(ValueError, match="'h' is a RubricAsJudgeGrader; allowed: a grader that answers each"):
        Member(RubricAsJudgeGrader(), "h")
    with pytest.raises(ValueError, match="weight of member 'a' is nan"):
        Member(PerCriterionGrader(), "a", float("nan"))
    with pytest.raises(ValueError, match="name is empty"):
        Member(PerCriterionGrader(), " ")


def test_a_rule_by_name_leaves_other_scales_to_their_defaults():
    assert PanelGrader([member("a", None)], rule="unanimous").rules == {
        "binary": "unanimous",
        "ordinal": "mean",
        "nominal": "unanimous",
    }


PLAIN = {"check": "no_forbidden_phrases", "params": {"phrases": ["word"]}}
WITH_A_CHECK = Rubric.from_dict(
    {
        "pass_rule": {"min_score": 0.75},
        "criteria": [
            {"weight": 3, "requirement": "Names Paris", "group": "facts"},
            {"weight": 1, "name": "plain", "group": "form", **PLAIN},
        ],
    }
)


def test_checks_are_answered_once_without_votes_and_the_rubrics_rules_apply():
    judge = Judge(paris=["MET", "MET"])
    report = grade(PanelGrader([member("a", judge)], repeats=2), WITH_A_CHECK, "word " * 9)
    assert judge.asked == ["paris", "paris"]
    assert (report.report[1].value, report.report[1].votes) == (0.0, ())
    assert report.score == 0.75  # 3 of 4
    assert report.passed is True
    assert {group: score.score for group, score in report.groups.items()} == {"facts": 1.0, "form": 0.0}
