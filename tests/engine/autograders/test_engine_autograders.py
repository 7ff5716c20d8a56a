"""Autograders: what they ask, how they read replies, and what a failure costs."""

import asyncio
import json

import pytest

from rubricweb.engine.autograders import (
    AUTOGRADERS,
    Answer,
    OneShotOutput,
    Overall,
    PerCriterionGrader,
    PerCriterionOneShotGrader,
    PerCriterionOutput,
    Reading,
    RubricAsJudgeGrader,
    RubricAsJudgeOutput,
)
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict

RUBRIC = Rubric.from_dict(
    [
        {"weight": 10, "requirement": "Names Paris"},
        {"weight": 5, "requirement": "Is short"},
        {"weight": -15, "requirement": "Is rude"},
    ]
)
SUBMISSION = Submission("Paris.")


def verdict_json(status, explanation="because"):
    return json.dumps({"explanation": explanation, "criterion_status": status})


def entries(*pairs):
    return json.dumps(
        {
            "criteria_evaluations": [
                {"criterion_number": number, "explanation": f"about {number}", "criterion_status": status}
                for number, status in pairs
            ]
        }
    )


class Scripted:
    """Gives back one scripted reply after another, raising those that are exceptions."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.prompts = []

    async def __call__(self, system_prompt, user_prompt):
        self.prompts.append(user_prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply


def grade(grader, rubric=RUBRIC, to_grade="Paris."):
    return asyncio.run(rubric.grade(to_grade, autograder=grader))


def outcomes(report):
    return [entry.verdict.value if entry.verdict else entry.error.kind for entry in report.report]


def test_per_criterion_asks_one_question_per_criterion():
    prompts = PerCriterionGrader().prompts(SUBMISSION, RUBRIC)
    assert [prompt.criteria for prompt in prompts] == [(0,), (1,), (2,)]
    assert {prompt.schema for prompt in prompts} == {PerCriterionOutput}
    assert [prompt.criteria for prompt in PerCriterionGrader().prompts(SUBMISSION, RUBRIC, only=[2])] == [
        (2,)
    ]


def test_one_shot_and_holistic_ask_one_question_about_all():
    (one_shot,) = PerCriterionOneShotGrader().prompts(SUBMISSION, RUBRIC)
    (holistic,) = RubricAsJudgeGrader().prompts(SUBMISSION, RUBRIC)
    assert one_shot.criteria == holistic.criteria == (0, 1, 2)
    assert (one_shot.schema, holistic.schema) == (OneShotOutput, RubricAsJudgeOutput)


def test_one_shot_numbers_what_it_asks_about_from_one():
    grader = PerCriterionOneShotGrader()
    (prompt,) = grader.prompts(SUBMISSION, RUBRIC, only=[2, 0])
    assert '<criterion number="1" type="negative" weight="-15">Is rude</criterion>' in prompt.user
    reading = grader.read(prompt, entries((1, "UNMET"), (2, "MET")), RUBRIC)
    assert {index: answer.verdict for index, answer in reading.answers.items()} == {2: "UNMET", 0: "MET"}
    assert grader.prompts(SUBMISSION, RUBRIC, only=[]) == []


def test_a_holistic_question_cannot_be_about_a_part():
    with pytest.raises(ValueError, match="whole rubric"):
        RubricAsJudgeGrader().prompts(SUBMISSION, RUBRIC, only=[0])


@pytest.mark.parametrize("name", AUTOGRADERS)
def test_every_registered_autograder_takes_the_same_options_and_asks(name):
    grader = AUTOGRADERS[name](
        system_prompt="mine {0.__class__} {{x}}", normalize=False, abstention="fail", on_error="zero"
    )
    assert {prompt.system for prompt in grader.prompts(SUBMISSION, RUBRIC)} == {"mine {0.__class__} {{x}}"}
    with pytest.raises(ValueError, match="abstention is 'x'; allowed here: skip"):
        AUTOGRADERS[name](abstention="x")
    with pytest.raises(ValueError, match="on_error is 'x'; allowed here: exclude"):
        AUTOGRADERS[name](on_error="x")


@pytest.mark.parametrize("name", AUTOGRADERS)
def test_schemas_put_the_explanation_before_the_verdict_and_close_their_objects(name):
    (schema,) = {prompt.schema for prompt in AUTOGRADERS[name]().prompts(SUBMISSION, RUBRIC)}
    written = schema.model_json_schema()
    objects = [written, *written.get("$defs", {}).values()]
    for described in objects:
        assert described["additionalProperties"] is False
        assert described["required"] == list(described["properties"])
    keys = [key for described in objects for key in described["properties"]]
    verdict = "overall_score" if "overall_score" in keys else "criterion_status"
    assert keys.index("explanation") < keys.index(verdict)


@pytest.mark.parametrize("name", ["one_shot", "rubric_as_judge"])
def test_yes_or_no_is_refused_where_one_word_cannot_answer(name):
    with pytest.raises(ValueError, match="reply_format is 'yes_no'; allowed here: json"):
        AUTOGRADERS[name](reply_format="yes_no")


@pytest.mark.parametrize(
    "reply",
    [
        verdict_json("met"),
        verdict_json(" Met "),
        '{"criterion_status": "MET", "explanation": "because", "confidence": 0.9}',
        f"Here you are:\n```json\n{verdict_json('MET')}\n```\nHope it helps.",
        f"<think>UNMET? {verdict_json('UNMET')}</think>{verdict_json('MET')}",
    ],
)
def test_one_verdict_is_read_from_whatever_it_is_wrapped_in(reply):
    grader = PerCriterionGrader()
    prompt = grader.prompts(SUBMISSION, RUBRIC)[1]
    assert grader.read(prompt, reply, RUBRIC) == Reading({1: Answer(Verdict.MET, "because")})


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "MET",
        "The criterion is MET.",
        verdict_json("YES"),
        verdict_json(None),
        verdict_json(["MET"]),
        '["MET"]',
        verdict_json("MET") + verdict_json("UNMET"),
        '{"criterion_status": "UNMET", "explanation": "x", "criterion_status": "MET"}',
        '{"explanation": "says {"criterion_status": "MET", "explanation": ""}", "criterion_status": "UNMET"}',
        verdict_json("MET")[:-5],
        f"<think>Perhaps {verdict_json('MET')}, but then",
        "[" * 100_000 + '{"a": ' * 100_000,
    ],
)
def test_a_verdict_is_never_guessed(reply):
    grader = PerCriterionGrader()
    with pytest.raises(UnreadableReply):
        grader.read(grader.prompts(SUBMISSION, RUBRIC)[0], reply, RUBRIC)


def test_yes_or_no_leads_the_prose():
    grader = PerCriterionGrader(reply_format="yes_no")
    prompt = grader.prompts(SUBMISSION, RUBRIC)[2]
    assert prompt.reply_format == "yes_no"
    assert "Yes or No" in prompt.system
    reading = grader.read(prompt, " **No**, it is polite.\n", RUBRIC)
    assert reading == Reading({2: Answer(Verdict.UNMET, "**No**, it is polite.")})
    with pytest.raises(UnreadableReply):
        grader.read(prompt, "Nothing I know; yesterday it was.", RUBRIC)
    thought = grader.read(prompt, "<think>Yes? No, wait.</think>\nYes, it is rude.", RUBRIC)
    assert thought.answers[2].verdict is Verdict.MET


def test_a_one_shot_reply_answers_by_number_in_any_order():
    grader = PerCriterionOneShotGrader()
    (prompt,) = grader.prompts(SUBMISSION, RUBRIC)
    reading = grader.read(prompt, entries((3, "UNMET"), (1, "MET"), (2, "cannot_assess")), RUBRIC)
    assert [reading.answers[i].verdict for i in range(3)] == ["MET", "CANNOT_ASSESS", "UNMET"]
    assert reading.missing == ()


@pytest.mark.parametrize(
    ("pairs", "missing"),
    [
        ([(1, "MET"), (3, "MET")], (1,)),
        ([(1, "MET"), (2, "MET"), (3, "MET"), (4, "MET"), (99, "UNMET"), (-1, "MET")], ()),
        ([(1, "MET"), (1, "UNMET"), (2, "MET"), (3, "MET")], (0,)),
        ([(1, "MET"), (1, "met"), (2, "MET"), (3, "MET")], ()),
        ([(1, "MET"), (2, "PERHAPS"), (3, "MET")], (1,)),
        ([(0, "MET"), (1, "MET"), (2, "MET"), (3, "MET")], ()),
        ([(0, "N/A"), (1, "MET"), (2, "MET"), (3, "MET")], ()),
    ],
)
def test_what_a_one_shot_reply_leaves_open_is_missing(pairs, missing):
    grader = PerCriterionOneShotGrader()
    (prompt,) = grader.prompts(SUBMISSION, RUBRIC)
    reading = grader.read(prompt, entries(*pairs), RUBRIC)
    assert reading.missing == missing
    assert set(reading.answers) == {0, 1, 2} - set(missing)


@pytest.mark.parametrize(
    "reply",
    [
        entries(),
        '{"criteria_evaluations": "all met"}',
        '{"explanation": "x"}',
        entries((7, "MET")),
    ],
)
def test_a_one_shot_reply_without_usable_entries_is_unreadable(reply):
    grader = PerCriterionOneShotGrader()
    with pytest.raises(UnreadableReply):
        grader.read(grader.prompts(SUBMISSION, RUBRIC)[0], reply, RUBRIC)


@pytest.mark.parametrize("zero", [(0, "MET"), ("0", "MET"), (0.0, "MET"), (0, "N/A"), (" 0 ", None)])
def test_a_one_shot_reply_counted_from_zero_is_unreadable(zero):
    """Each verdict would land on its neighbour, whether or not the first of them can be read."""
    grader = PerCriterionOneShotGrader()
    (prompt,) = grader.prompts(SUBMISSION, RUBRIC)
    with pytest.raises(UnreadableReply, match="counts from 0"):
        grader.read(prompt, entries(zero, (1, "MET"), (2, "UNMET")), RUBRIC)


@pytest.mark.parametrize(
    ("number", "score"), [("85", 85.0), ("0", 0.0), ("100", 100.0), ('"72.5"', 72.5), ("1e1", 10.0)]
)
def test_a_holistic_number_is_read_from_0_to_100(number, score):
    grader = RubricAsJudgeGrader()
    (prompt,) = grader.prompts(SUBMISSION, RUBRIC)
    reading = grader.read(prompt, f'{{"explanation": "why", "overall_score": {number}}}', RUBRIC)
    assert reading == Reading({}, Overall(score, "why"))


@pytest.mark.parametrize(
    "number",
    [
        *("150", "100.5", "-3", "1e3", "1e999999999", "NaN", "Infinity", "true", "null", "[85]"),
        *('"8_5"', '"1e999999999"', '"good"', '"85/100"', '"85 %"'),
    ],
)
def test_a_holistic_reply_without_a_number_from_0_to_100_is_unreadable(number):
    grader = RubricAsJudgeGrader()
    with pytest.raises(UnreadableReply):
        grader.read(
            grader.prompts(SUBMISSION, RUBRIC)[0],
            f'{{"explanation": "why", "overall_score": {number}}}',
            RUBRIC,
        )


def test_one_failed_call_costs_its_criterion_only():
    class Misnamed(Exception):
        kind = "rate_limited"

    replies = Scripted(
        verdict_json("MET"), Misnamed("slow down"), {"criterion_status": "?", "explanation": ""}
    )
    report = grade(PerCriterionGrader(replies))
    assert outcomes(report) == ["MET", "rate_limited", "unreadable_reply"]
    assert report.score == 1.0  # 10/10: what failed is excluded
    assert report.coverage == pytest.approx(10 / 30)
    assert [(error.criterion, error.kind) for error in report.errors] == [
        ("C2", "rate_limited"),
        ("C3", "unreadable_reply"),
    ]
    assert str(report.errors[0]) == "rate_limited: Misnamed: slow down"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionResetError("reset"), "connection"),
        (RuntimeError("boom"), "failed_call"),
        (None, "unreadable_reply"),
    ],
)
def test_failures_have_stable_kinds(error, kind):
    rubric = Rubric.from_dict([{"requirement": "x"}])
    report = grade(PerCriterionGrader(Scripted(error)), rubric)
    assert (outcomes(report), report.score, report.coverage) == ([kind], None, 0.0)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), asyncio.CancelledError(), SystemExit()])
@pytest.mark.parametrize("grader", [PerCriterionGrader, PerCriterionOneShotGrader, RubricAsJudgeGrader])
def test_interruptions_pass_through(grader, interruption):
    with pytest.raises(type(interruption)):
        grade(grader(Scripted(interruption, interruption, interruption)))


def test_the_error_policy_of_the_grader_decides_what_a_failure_is_worth():
    def report(policy):
        replies = Scripted(verdict_json("MET"), RuntimeError(), verdict_json("UNMET"))
        return grade(PerCriterionGrader(replies, on_error=policy))

    assert report("zero").score == pytest.approx(10 / 15)
    assert report("fail_item").score is None


def test_per_criterion_calls_run_at_the_same_time():
    waiting = 0

    async def meet_all_three(system_prompt, user_prompt):
        nonlocal waiting
        waiting += 1
        while waiting < 3:
            await asyncio.sleep(0)
        return PerCriterionOutput(explanation="together", criterion_status="UNMET")

    assert outcomes(grade(PerCriterionGrader(meet_all_three))) == ["UNMET"] * 3


def test_one_shot_asks_again_only_about_what_was_missing():
    replies = Scripted(entries((1, "MET"), (3, "UNMET")), entries((1, "MET")))
    report = grade(PerCriterionOneShotGrader(replies))
    assert outcomes(report) == ["MET", "MET", "UNMET"]
    assert "Names Paris" not in replies.prompts[1]
    assert '<criterion number="1" type="positive" weight="5">Is short</criterion>' in replies.prompts[1]


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (entries((2, "MET")), "unreadable_reply"),
        (entries((1, "MET"), (1, "UNMET")), "unreadable_reply"),
        (TimeoutError(), "timeout"),
    ],
)
def test_one_shot_reports_what_stays_missing_as_an_error_not_as_unmet(second, kind):
    report = grade(PerCriterionOneShotGrader(Scripted(entries((1, "MET"), (2, "MET")), second)))
    assert outcomes(report) == ["MET", "MET", kind]
    assert report.report[2].verdict is None


def test_one_shot_missing_part_of_the_second_answer_is_a_missing_criterion():
    report = grade(PerCriterionOneShotGrader(Scripted(entries((1, "MET")), entries((1, "MET")))))
    assert outcomes(report) == ["MET", "MET", "missing_criterion"]


def test_one_shot_asks_again_after_an_unreadable_reply_but_not_after_a_failed_call():
    replies = Scripted("sorry", entries((1, "MET"), (2, "MET"), (3, "UNMET")))
    assert outcomes(grade(PerCriterionOneShotGrader(replies))) == ["MET", "MET", "UNMET"]
    failed = Scripted(TimeoutError())
    assert outcomes(grade(PerCriterionOneShotGrader(failed))) == ["timeout"] * 3
    assert len(failed.prompts) == 1


def test_a_failed_holistic_call_is_an_error_without_a_score():
    report = grade(RubricAsJudgeGrader(Scripted("no number")))
    assert (report.score, report.raw_score, report.coverage, report.report) == (None, None, 0.0, None)
    assert [(error.criterion, error.kind) for error in report.errors] == [(None, "unreadable_reply")]


def test_a_holistic_report_keeps_what_the_judge_said():
    report = grade(RubricAsJudgeGrader(Scripted('{"explanation": "great", "overall_score": 40}')))
    assert (report.score, report.raw_score, report.llm_raw_score) == (0.4, 6.0, 40.0)  # 0.4 of 10 + 5
    assert report.explanation == "great"


def test_judge_and_aggregate_can_be_called_one_by_one():
    async def both():
        grader = PerCriterionGrader(Scripted(verdict_json("MET"), verdict_json("MET"), verdict_json("UNMET")))
        results = await grader.judge({"thinking": "t", "output": "o"}, RUBRIC.rubric, query="q")
        return await grader.aggregate(results)

    assert asyncio.run(both()).score == 1.0


def test_reference_and_guidelines_reach_the_judge():
    replies = Scripted(verdict_json("MET"))
    rubric = Rubric.from_dict({"guidelines": "Be strict.", "criteria": [{"requirement": "x"}]})
    asyncio.run(rubric.grade("o", autograder=PerCriterionGrader(replies), reference="Exemplar"))
    assert "<guidelines>\nBe strict.\n</guidelines>" in replies.prompts[0]
    assert "<reference>\nExemplar\n</reference>" in replies.prompts[0]
