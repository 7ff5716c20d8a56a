"""Cascades: a cheap judge first, the next one for what the first is not to be trusted with."""

import asyncio
import json

import pytest

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.autograders.panels.cascade import CascadeGrader, Stage, confidence_of
from rubricweb.engine.autograders.panels.panel import Member, PanelGrader
from rubricweb.engine.panels.voting import tally
from rubricweb.engine.report import EvaluationReport, GradingError, Vote
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict

RUBRIC = Rubric.from_dict(
    [
        {"weight": 10, "requirement": "Names Paris"},
        {"weight": 5, "requirement": "Is short"},
        {"weight": -5, "requirement": "Is rude"},
    ]
)
SUBMISSION = Submission("Paris.")


class Judge:
    """A generate_fn: one reply after another for each of paris, short and rude."""

    def __init__(self, paris=(), short=(), rude=()):
        self.replies = {"paris</criterion>": [*paris], "short</": [*short], "rude</": [*rude]}
        self.asked = []

    async def __call__(self, system_prompt, user_prompt):
        key = next(key for key in self.replies if key in user_prompt.lower())
        self.asked.append(key.partition("<")[0])
        said = self.replies[key].pop(0)
        if isinstance(said, BaseException):
            raise said
        return json.dumps({"explanation": "e", "criterion_status": said})


def grade(grader):
    return asyncio.run(RUBRIC.grade("Paris.", autograder=grader)).report


def panel(judge, name, repeats=1):
    return PanelGrader([Member(PerCriterionGrader(judge), name)], repeats=repeats)


def test_only_what_the_first_stage_could_not_settle_goes_to_the_next():
    cheap = Judge(paris=["MET"], short=["CANNOT_ASSESS"], rude=[ConnectionError("no route")])
    expert = Judge(short=["MET"], rude=["UNMET"])
    cascade = CascadeGrader([PerCriterionGrader(cheap), PerCriterionGrader(expert)])
    report = grade(cascade)
    assert [entry.verdict for entry in report] == ["MET", "MET", "UNMET"]
    assert sorted(expert.asked) == ["rude", "short"]
    assert [entry.answered_by for entry in report] == ["stage 1", "stage 2", "stage 2"]
    assert [[(e.stage, e.reason) for e in entry.escalations] for entry in report] == [
        [],
        [("stage 1", "abstention")],
        [("stage 1", "error")],
    ]
    assert [[vote.judge for vote in entry.votes] for entry in report] == [
        ["stage 1"],
        ["stage 1", "stage 2"],
        ["stage 1", "stage 2"],
    ]


def test_repeats_that_disagree_go_on():
    cheap = Judge(paris=["MET", "UNMET"], short=["MET", "MET"], rude=["UNMET", "CANNOT_ASSESS"])
    expert = Judge(paris=["MET"])
    cascade = CascadeGrader([Stage("cheap", panel(cheap, "mini", 2)), Stage("expert", panel(expert, "maxi"))])
    report = grade(cascade)
    assert [entry.answered_by for entry in report] == ["expert", "cheap", "cheap"]
    assert report[0].escalations[0].reason == "disagreement"
    assert report[0].verdict == "MET"


def test_the_last_stage_stands_even_when_it_fails():
    cheap, expert = (
        Judge(paris=["CANNOT_ASSESS"], short=["MET"], rude=["UNMET"]),
        Judge(paris=[TimeoutError()]),
    )
    report = grade(CascadeGrader([PerCriterionGrader(cheap), PerCriterionGrader(expert)]))
    assert (report[0].verdict, report[0].error.kind, report[0].answered_by) == (None, "timeout", "stage 2")
    assert len(report[0].votes) == 2


def test_conditions_that_were_not_asked_for_escalate_nothing():
    cheap = Judge(paris=["CANNOT_ASSESS"], short=["MET"], rude=[TimeoutError()])
    expert = Judge(rude=["UNMET"])
    cascade = CascadeGrader([PerCriterionGrader(cheap), PerCriterionGrader(expert)], escalate_on={"error"})
    assert [entry.answered_by for entry in grade(cascade)] == ["stage 1", "stage 1", "stage 2"]


def test_a_criterion_can_pass_through_every_stage():
    judges = [Judge(paris=["CANNOT_ASSESS"], short=["MET"], rude=["MET"]) for _ in range(3)]
    report = grade(CascadeGrader([PerCriterionGrader(judge) for judge in judges]))
    assert report[0].verdict == "CANNOT_ASSESS"
    assert [e.stage for e in report[0].escalations] == ["stage 1", "stage 2"]
    assert judges[2].asked == ["paris"]


def vote(label, confidence=None, judge="stage 1", repeat=0):
    return Vote(judge=judge, repeat=repeat, answer=Answer(Verdict(label), "r", confidence=confidence))


def two_stages(**settings):
    return CascadeGrader([PerCriterionGrader(), PerCriterionGrader()], **settings)


def test_low_confidence_is_what_the_votes_state_before_it_is_their_agreement():
    cascade = two_stages(escalate_on={"low_confidence"}, min_confidence=0.8)
    criterion = RUBRIC.criteria[0]
    assert cascade.escalated(criterion, [vote("MET", 0.79)]) == "low_confidence"
    assert cascade.escalated(criterion, [vote("MET", 0.8)]) is None
    assert cascade.escalated(criterion, [vote("MET")]) is None  # nobody knows: not low
    differing = [vote("MET"), vote("MET", repeat=1), vote("UNMET", repeat=2)]
    assert cascade.escalated(criterion, differing) == "low_confidence"  # agreement 2/3
    sure = [vote("MET", 0.9), vote("MET", 0.9, repeat=1), vote("UNMET", 0.1, repeat=2)]
    assert cascade.escalated(criterion, sure) is None


def test_confidence_is_unknown_for_one_silent_vote_and_for_none():
    criterion = RUBRIC.criteria[0]
    cases = [([vote("MET")], None), ([vote("MET", 0.25)], 0.25), ([], None)]
    cases.append(([vote("MET"), vote("UNMET", repeat=1)], 0.5))
    for votes, expected in cases:
        assert confidence_of(tally(criterion, votes), votes) == expected


def test_the_first_condition_that_holds_is_the_reason():
    cascade = two_stages(min_confidence=0.9)
    votes = [vote("MET", 0.1), vote("UNMET", 0.1, repeat=1)]
    assert cascade.escalated(RUBRIC.criteria[0], votes) == "disagreement"
    failed = Vote(judge="stage 1", error=GradingError(criterion="C1", kind="timeout", message="slow"))
    assert cascade.escalated(RUBRIC.criteria[0], [failed]) == "error"


def test_the_last_stage_and_a_criterion_without_votes_escalate_nothing():
    cascade, criterion = two_stages(), RUBRIC.criteria[0]
    assert cascade.escalated(criterion, []) is None
    unsure = [vote("CANNOT_ASSESS"), vote("CANNOT_ASSESS", judge="stage 2")]
    assert cascade.escalated(criterion, unsure[:1]) == "abstention"
    assert cascade.escalated(criterion, unsure) is None


def test_a_cascade_can_be_carried_by_somebody_else_and_resumed():
    cascade = CascadeGrader([Stage("cheap", panel(None, "mini", 2)), Stage("expert", panel(None, "maxi"))])
    first = cascade.prompts(SUBMISSION, RUBRIC)
    assert [(one.judge, one.repeat) for one in first] == [("mini", r) for r in (0, 0, 0, 1, 1, 1)]
    votes = {}
    for one in first:
        status = "MET" if one.repeat == 0 or one.prompt.criteria != (2,) else "UNMET"
        said = json.dumps({"explanation": "e", "criterion_status": status})
        for index, cast in cascade.votes_of(one, RUBRIC, cascade.read(one, said, RUBRIC)).items():
            votes.setdefault(index, []).append(cast)
    held_back = votes[0].pop()
    asked = cascade.prompts(SUBMISSION, RUBRIC, votes=votes)
    assert [(one.judge, one.repeat, one.prompt.criteria) for one in asked] == [
        ("mini", held_back.repeat, (0,)),
        ("maxi", 0, (2,)),
    ]
    waiting = cascade.combine(RUBRIC, votes)
    assert [entry.error.kind if entry.error else entry.verdict for entry in waiting] == [
        "missing_criterion",
        "MET",
        "missing_criterion",
    ]
    assert [entry.answered_by for entry in waiting] == [None, "cheap", None]
    votes[0].append(held_back)
    votes[2].append(vote("UNMET", judge="maxi"))
    assert cascade.prompts(SUBMISSION, RUBRIC, votes=votes) == []
    assert [entry.verdict for entry in cascade.combine(RUBRIC, votes)] == ["MET", "MET", "UNMET"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stages": []}, "without stages"),
        ({"escalate_on": {"boredom"}}, "'boredom'; allowed: error, abstention, disagreement"),
        ({"escalate_on": {"low_confidence"}}, "both or neither"),
        ({"escalate_on": {"error"}, "min_confidence": 0.5}, "both or neither"),
        ({"min_confidence": 80}, "min_confidence is 80; allowed: a share"),
        ({"stages": [panel(None, "mini"), panel(None, "mini")]}, "two members are called 'mini'"),
        (
            {"stages": [Stage("one", panel(None, "a")), Stage("one", panel(None, "b"))]},
            "stages are called one, one",
        ),
    ],
)
def test_a_cascade_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CascadeGrader(**({"stages": [PerCriterionGrader()]} | arguments))


def test_a_reports_plain_data_keep_the_way_through_the_stages():
    cheap = Judge(paris=["CANNOT_ASSESS"], short=["MET"], rude=["UNMET"])
    cascade = CascadeGrader([PerCriterionGrader(cheap), PerCriterionGrader(Judge(paris=["MET"]))])
    report = asyncio.run(RUBRIC.grade("A city.", autograder=cascade))
    plain = report.model_dump(mode="json")
    assert EvaluationReport.model_validate(plain) == report
    first = plain["report"][0]
    assert first["answered_by"] == "stage 2"
    assert first["escalations"] == [{"stage": "stage 1", "reason": "abstention"}]
    assert [vote["judge"] for vote in first["votes"]] == ["stage 1", "stage 2"]
