"""Choices, checks, pass rules and length penalties in a run."""

import pytest

from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeError
from rubricweb.models import JudgeCall, Judgement, Run, RunItem, RunState
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import LabelJudge, grade, session

TONE = {
    "name": "tone",
    "weight": 4.0,
    "requirement": "How friendly is the tone?",
    "options": [
        {"label": "Cold", "value": 0.0},
        {"label": "Neutral", "value": 0.5},
        {"label": "Warm", "value": 1.0},
        {"label": "No tone", "na": True},
    ],
}
NAMES_PARIS = {"name": "paris", "weight": 4.0, "requirement": "Names Paris."}
SHORT = {"name": "short", "weight": 2.0, "check": "length_between", "params": {"max": 40}}
MIXED = [NAMES_PARIS, TONE, SHORT]
ITEMS = [
    {"id": "warm", "submission": "Paris, my friend!"},
    {"id": "long", "submission": "Paris it is. " * 10},
    {"id": "mute", "submission": "Lyon."},
]


def by_the_book(name: str, requirement: str, response: str) -> str:
    """warm: MET, Warm; long: MET, Neutral; mute: UNMET, No tone."""
    if "Paris" in requirement:
        return "MET" if "Paris" in response else "UNMET"
    return "Warm" if "friend" in response else "Neutral" if "Paris" in response else "No tone"


def planned(people: Cast, criteria=MIXED, items=ITEMS, *, head=None, **options) -> Run:
    version = factories.version(people.team, people.ed, criteria=criteria)
    for field, value in (head or {}).items():
        setattr(version, field, value)
        version.save()
    dataset = factories.dataset(people.team, people.ed, items=items)
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, **options)


def rows(run: Run) -> dict[str, RunItem]:
    return {row.item.key: row for row in RunItem.objects.filter(run=run).select_related("item")}


def test_a_mixed_rubric_is_answered_by_label_option_and_measurement(people: Cast) -> None:
    run = planned(people)
    judge = LabelJudge(by_the_book)
    grade(run, judge)
    assert run.state == RunState.FINISHED
    # Two criteria of three items are asked about; the check costs no call.
    assert len(judge.asked) == 6
    assert JudgeCall.objects.filter(run=run).count() == 6
    said = {
        (one.item.key, one.criterion.name): one.verdict if one.value is None else one.value
        for one in Judgement.objects.filter(run=run).select_related("item", "criterion")
    }
    assert said["warm", "tone"] == "Warm"
    assert said["mute", "tone"] == "No tone"
    assert said["warm", "short"] == 1.0
    assert said["long", "short"] < 1.0
    found = rows(run)
    # warm: (4 + 4·1 + 2) / 10 = 1.
    assert (found["warm"].score, found["warm"].coverage, found["warm"].errors) == (1.0, 1.0, 0)
    # mute: the option is not applicable, so (0 + 2) / (4 + 2) with 6 of 10 judged.
    assert found["mute"].score == pytest.approx(1 / 3)
    assert found["mute"].coverage == pytest.approx(0.6)
    by_name = {row.criterion.name: row for row in run.criterion_summaries.select_related("criterion")}
    assert (by_name["paris"].met, by_name["paris"].unmet, by_name["paris"].values_mean) == (2, 1, None)
    assert by_name["tone"].options == {"Warm": 1, "Neutral": 1, "No tone": 1}
    # Values 1 and 0.5; the option that is not applicable has none.
    assert by_name["tone"].values_mean == pytest.approx(0.75)
    assert (by_name["tone"].met, by_name["tone"].cannot_assess) == (0, 1)
    assert by_name["short"].options == {}


def test_options_are_shown_in_the_order_of_the_runs_seed(people: Cast) -> None:
    criteria = [
        {
            "name": "kind",
            "weight": 1.0,
            "requirement": "Which kind?",
            "scale_type": "nominal",
            "options": [{"label": letter, "value": 0.5} for letter in "ABCDEFGH"],
        }
    ]
    run = planned(people, criteria, option_seed=7)
    assert run.option_seed == 7
    judge = LabelJudge(lambda name, requirement, response: "C")
    grade(run, judge)
    orders = {prompt.options[0] for prompt in judge.prompts}
    assert len(orders) == 3
    assert {frozenset(order) for order in orders} == {frozenset("ABCDEFGH")}
    assert Judgement.objects.filter(run=run, verdict="C").count() == 3


def test_a_seed_is_drawn_and_kept_when_none_is_given(people: Cast) -> None:
    run = planned(people)
    assert run.option_seed is not None
    assert 0 <= run.option_seed < 2**32


def test_a_check_that_fails_is_an_error_that_resuming_tries_again_without_asking_the_judge(
    people: Cast,
) -> None:
    reference = {"name": "same", "weight": 6.0, "check": "matches_reference"}
    run = planned(people, [NAMES_PARIS, reference])
    judge = LabelJudge(by_the_book)
    grade(run, judge)
    failed = Judgement.objects.filter(run=run, error_kind__isnull=False)
    assert {(one.criterion.name, one.error_kind) for one in failed} == {("same", "no_reference")}
    # Σ|w| = 10, of which 4 judged.
    assert {row.coverage for row in rows(run).values()} == {0.4}
    assert run.summary.errors == 3
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps()) == 3
    grade(run, judge)
    assert len(judge.asked) == 3
    assert Judgement.objects.filter(run=run).count() == 6


def test_a_rubric_of_checks_needs_no_judge(people: Cast, settings) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    run = planned(people, [SHORT], judge_id="")
    assert run.judge.id == "none"
    judge = LabelJudge(by_the_book)
    grade(run, judge)
    assert judge.asked == []
    assert run.state == RunState.FINISHED
    assert rows(run)["warm"].score == 1.0
    assert run.summary.cost_usd in (None, 0)


def test_a_rubric_with_a_question_needs_a_judge(people: Cast) -> None:
    with pytest.raises(Invalid, match="Choose a judge"):
        planned(people, MIXED, judge_id="")
    assert not Run.objects.exists()


def test_a_holistic_number_stands_for_what_is_not_a_check(people: Cast) -> None:
    run = planned(people, autograder="rubric_as_judge")
    grade(run, LabelJudge(lambda name, requirement, response: 50.0))
    found = rows(run)["warm"]
    # 50 % of the judge's 8 points and the check's 2 of 2: (4 + 2) / 10.
    assert (found.llm_raw_score, found.score, found.coverage) == (50.0, pytest.approx(0.6), 1.0)
    assert set(Judgement.objects.filter(run=run).values_list("criterion__name", flat=True)) == {"short"}


def test_a_holistic_answer_is_kept_when_only_a_check_failed(people: Cast) -> None:
    reference = {"name": "same", "weight": 6.0, "check": "matches_reference"}
    run = planned(people, [NAMES_PARIS, reference], autograder="rubric_as_judge")
    judge = LabelJudge(lambda name, requirement, response: 80.0)
    grade(run, judge)
    assert {row.errors for row in rows(run).values()} == {1}
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    grade(run, judge)
    assert len(judge.asked) == 3
    assert {row.llm_raw_score for row in rows(run).values()} == {80.0}


def test_a_holistic_failure_is_asked_again(people: Cast) -> None:
    run = planned(people, autograder="rubric_as_judge")
    grade(run, LabelJudge(lambda name, requirement, response: JudgeError("timeout", "late")))
    assert {row.error_kind for row in rows(run).values()} == {"timeout"}
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    grade(run, LabelJudge(lambda name, requirement, response: 80.0))
    assert {row.error_kind for row in rows(run).values()} == {None}
    assert {row.errors for row in rows(run).values()} == {0}


def test_one_shot_asks_about_choices_and_verdicts_together(people: Cast) -> None:
    run = planned(people, autograder="one_shot")
    judge = LabelJudge(by_the_book)
    grade(run, judge)
    assert len(judge.prompts) == 3
    assert rows(run)["warm"].score == 1.0


def test_an_option_nobody_offered_is_an_error_and_no_answer(people: Cast) -> None:
    run = planned(people)
    grade(run, LabelJudge(lambda name, requirement, response: "Lukewarm" if "tone" in requirement else "MET"))
    failed = Judgement.objects.filter(run=run, error_kind__isnull=False)
    assert {(one.criterion.name, one.error_kind) for one in failed} == {("tone", "unreadable_reply")}


def test_the_pass_rule_and_the_length_penalty_of_the_rubric_are_applied(people: Cast) -> None:
    penalty = {"free_budget": 3, "max_cap": 10, "penalty_at_cap": 0.25, "exponent": 1.0, "counts": "ALL"}
    head = {"pass_rule": {"min_score": 0.7, "min_criterion": None}, "length_penalty": penalty}
    items = [
        {"id": "short", "submission": "Paris, my friend!"},
        {"id": "wordy", "submission": "Paris, my friend! " * 10},
    ]
    run = planned(people, [NAMES_PARIS, TONE], items, head=head)
    grade(run, LabelJudge(by_the_book))
    found = rows(run)
    # short has 3 words: nothing taken off. wordy has 30, above the cap: 1 − 0.25.
    assert (found["short"].score, found["short"].length_penalty, found["short"].passed) == (1.0, 0.0, True)
    assert (found["wordy"].score, found["wordy"].length_penalty, found["wordy"].passed) == (0.75, 0.25, True)
    assert found["wordy"].raw_score == 8.0


def test_a_criterion_below_its_limit_fails_the_item(people: Cast) -> None:
    head = {"pass_rule": {"min_criterion": 0.6}}
    run = planned(people, [NAMES_PARIS, TONE], head=head)
    grade(run, LabelJudge(by_the_book))
    # long: Neutral is 0.5; warm: Warm is 1.
    assert {key: row.passed for key, row in rows(run).items()} == {"warm": True, "long": False, "mute": False}


def test_without_a_rule_nobody_passes_or_fails(people: Cast) -> None:
    run = planned(people)
    grade(run, LabelJudge(by_the_book))
    assert {row.passed for row in rows(run).values()} == {None}


@pytest.mark.parametrize(
    ("policies", "score"),
    [
        # mute: UNMET (4), not applicable (4), short enough (2).
        ({}, 2 / 6),
        ({"abstention": "zero"}, 2 / 10),
        ({"abstention": "partial"}, 4 / 10),
    ],
)
def test_what_an_abstention_is_worth_is_the_runs_policy(people: Cast, policies, score: float) -> None:
    run = planned(people, **policies)
    grade(run, LabelJudge(by_the_book))
    assert rows(run)["mute"].score == pytest.approx(score)


def test_what_a_failure_is_worth_is_the_runs_policy(people: Cast) -> None:
    def broken(name: str, requirement: str, response: str) -> str | JudgeError:
        return (
            JudgeError("timeout", "late")
            if "tone" in requirement
            else by_the_book(name, requirement, response)
        )

    zero = planned(people, on_error="zero")
    grade(zero, LabelJudge(broken))
    # warm: (4 + 0 + 2) / 10.
    assert rows(zero)["warm"].score == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"abstention": "guess"}, "abstention: found 'guess'; allowed: skip, zero, partial, fail"),
        ({"on_error": "ignore"}, "on_error: found 'ignore'; allowed: exclude, zero, fail_item"),
    ],
)
def test_a_policy_that_does_not_exist_is_refused(people: Cast, option, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        planned(people, **option)


def test_grading_a_mixed_rubric_again_asks_nothing(people: Cast) -> None:
    run = planned(people)
    judge = LabelJudge(by_the_book)
    grade(run, judge)
    assert session(run, judge) == []
    assert len(judge.asked) == 6
