"""Panels, repeats and cascades: votes are rows, verdicts are made of them, and nothing is asked twice."""

import threading

import pytest
from django.utils import timezone

from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import JudgeCall, Judgement, Run, RunItem, RunState, Vote
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import LabelJudge, grade, session

CRITERIA = [
    {"name": "paris", "weight": 4.0, "requirement": "Names Paris."},
    {
        "name": "tone",
        "weight": 6.0,
        "requirement": "How friendly is the tone?",
        "options": [
            {"label": "Cold", "value": 0.0},
            {"label": "Neutral", "value": 0.5},
            {"label": "Warm", "value": 1.0},
        ],
    },
]
ITEMS = [{"id": "one", "submission": "Paris, my friend."}, {"id": "two", "submission": "Lyon."}]


def judge_called(name: str) -> PanelMember:
    config = JudgeConfig(name=name, base_url="http://127.0.0.1:9/v1", model=f"model of {name}")
    return PanelMember("command-line", name=name, config=config)


def panel(*names: str, **options) -> Panel:
    return Panel([judge_called(name) for name in names], **options)


def planned(people: Cast, asked: Panel, criteria=CRITERIA, items=ITEMS, **options) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=items),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
        judge_id="",
        panel=asked,
        **options,
    )


def verdicts(run: Run) -> dict[tuple[str, str], str | None]:
    said = Judgement.objects.filter(run=run).select_related("item", "criterion")
    return {(one.item.key, one.criterion.name): one.verdict for one in said}


def split(name: str, requirement: str, response: str) -> str:
    """a and b say MET, c UNMET; a Cold, b and c Warm."""
    if "Paris" in requirement:
        return "UNMET" if name == "c" else "MET"
    return "Cold" if name == "a" else "Warm"


def test_every_vote_is_a_row_and_the_verdict_is_made_of_them(people: Cast) -> None:
    run = planned(people, panel("a", "b", "c"))
    judge = LabelJudge(split)
    grade(run, judge)
    assert run.state == RunState.FINISHED
    # 2 items × 2 criteria × 3 judges.
    assert Vote.objects.filter(run=run).count() == 12
    assert JudgeCall.objects.filter(run=run).count() == 12
    assert Judgement.objects.filter(run=run).count() == 4
    # paris: 2 of 3 MET. tone: mean (0 + 1 + 1) / 3 = 0.667, nearest option Neutral.
    assert verdicts(run)["one", "paris"] == "MET"
    assert verdicts(run)["one", "tone"] == "Neutral"
    one = Judgement.objects.filter(run=run, criterion__name="paris").first()
    assert one is not None
    assert (one.judge, one.call) == ("panel of 3", None)
    assert one.reason.startswith("2 of 3 votes say MET (majority). a: judge says MET")
    # (4 + 6 · 0.5) / 10.
    assert set(RunItem.objects.filter(run=run).values_list("score", flat=True)) == {0.7}
    votes = Vote.objects.filter(run=run, item__key="one", criterion__name="paris").order_by("judge")
    assert [(vote.judge, vote.verdict, vote.repeat) for vote in votes] == [
        ("a", "MET", 0),
        ("b", "MET", 0),
        ("c", "UNMET", 0),
    ]
    assert all(vote.call is not None for vote in votes)
    assert (run.judge.name, run.judge.model) == ("panel of 3", "model of a, model of b, model of c")


def test_weights_and_rule_decide(people: Cast) -> None:
    heavy = Panel(
        [
            judge_called("a"),
            judge_called("b"),
            PanelMember("x", 5.0, name="c", config=judge_called("c").config),
        ]
    )
    run = planned(people, Panel(heavy.members, rule="weighted"))
    grade(run, LabelJudge(split))
    # MET weighs 1 + 1, UNMET 5.
    assert verdicts(run)["one", "paris"] == "UNMET"


def test_one_judge_asked_several_times_is_a_panel_of_one(people: Cast) -> None:
    lock, said = threading.Lock(), iter(["MET", "MET", "UNMET", "MET", "UNMET", "UNMET"])

    def unsteady(name: str, requirement: str, response: str) -> str:
        with lock:
            return next(said)

    run = planned(people, panel("a", repeats=3), CRITERIA[:1])
    assert run.judge.name == "a, asked 3 times"
    grade(run, LabelJudge(unsteady))
    assert Vote.objects.filter(run=run).count() == 6
    assert set(Vote.objects.filter(run=run).values_list("repeat", flat=True)) == {0, 1, 2}
    assert Judgement.objects.filter(run=run, verdict__isnull=False).count() == 2


def test_a_member_that_fails_wholly_costs_its_own_votes_only(people: Cast) -> None:
    def answer(name: str, requirement: str, response: str) -> str | JudgeError:
        return JudgeError("connection", "refused") if name == "c" else split(name, requirement, response)

    items = [{"id": f"item {n}", "submission": "Paris."} for n in range(12)]
    run = planned(people, panel("a", "b", "c"), items=items)
    grade(run, LabelJudge(answer))
    assert run.state == RunState.FINISHED
    assert Vote.objects.filter(run=run, error_kind="connection").count() == 24
    assert Judgement.objects.filter(run=run, verdict__isnull=False).count() == 24
    assert run.summary.errors == 0


def test_a_panel_of_which_nobody_answers_ends_the_run(people: Cast) -> None:
    items = [{"id": f"item {n}", "submission": "Paris."} for n in range(40)]
    run = planned(people, panel("a", "b"), items=items)
    judge = LabelJudge(lambda name, requirement, response: JudgeError("connection", "refused"))
    grade(run, judge)
    assert run.state == RunState.FAILED
    assert "refused" in run.stop_reason
    assert len(judge.asked) < 160


def test_resuming_asks_for_the_failed_votes_of_failed_criteria_only(people: Cast) -> None:
    def broken(name: str, requirement: str, response: str) -> str | JudgeError:
        if "Paris" in requirement or name == "c":
            return JudgeError("timeout", "late")
        return "Warm"

    run = planned(people, panel("a", "b", "c"))
    grade(run, LabelJudge(broken))
    # paris: every vote failed. tone: c failed, the others settle it.
    assert Judgement.objects.filter(run=run, error_kind="timeout").count() == 2
    assert lifecycle.resume_run(run, by=None, enqueue=WakeUps()) == 2
    mended = LabelJudge(split)
    grade(run, mended)
    assert {(name, requirement) for name, requirement, _ in mended.asked} == {
        (name, "Names Paris.") for name in "abc"
    }
    assert len(mended.asked) == 6
    assert verdicts(run)["one", "paris"] == "MET"
    assert Vote.objects.filter(run=run, error_kind="timeout").count() == 2


def test_resuming_after_a_stop_asks_again_for_votes_that_failed_before_anything_was_settled(
    people: Cast,
) -> None:
    class OnlyA(LabelJudge):
        def __call__(self, config, questions, *, stop=None):
            replies = super().__call__(config, questions, stop=stop)
            return replies if config.name == "a" else iter(())

    run = planned(people, panel("a", "b"), CRITERIA[:1])
    away = OnlyA(lambda name, requirement, response: JudgeError("timeout", "late"))
    session(run, away)
    assert list(Vote.objects.filter(run=run).values_list("judge", "error_kind")) == [("a", "timeout")] * 2
    lifecycle.cancel_run(run, by=None, now=timezone.now())
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    mended = LabelJudge(split)
    grade(run, mended)
    assert sorted(name for name, _, _ in mended.asked) == ["a", "a", "b", "b"]
    assert not Vote.objects.filter(run=run, error_kind__isnull=False).exists()


def test_too_few_votes_for_the_quorum_are_no_verdict(people: Cast) -> None:
    def answer(name: str, requirement: str, response: str) -> str | JudgeError:
        return "MET" if name == "a" else JudgeError("timeout", "late")

    run = planned(people, panel("a", "b", "c", quorum=0.5), CRITERIA[:1])
    grade(run, LabelJudge(answer))
    failed = Judgement.objects.filter(run=run)
    assert {(one.verdict, one.error_kind) for one in failed} == {(None, "no_quorum")}
    assert {row.score for row in RunItem.objects.filter(run=run)} == {None}


def test_what_was_voted_before_a_crash_is_not_asked_again(people: Cast) -> None:
    class Crashing(LabelJudge):
        def __call__(self, config, questions, *, stop=None):
            for number, reply in enumerate(super().__call__(config, questions, stop=stop)):
                if config.name == "c" and number == 1:
                    raise MemoryError("killed")
                yield reply

    run = planned(people, panel("a", "b", "c"))
    with pytest.raises(MemoryError):
        session(run, Crashing(split))
    voted = Vote.objects.filter(run=run).count()
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    again = LabelJudge(split)
    grade(run, again)
    assert len(again.asked) == 12 - voted
    assert Vote.objects.filter(run=run).count() == 12
    assert Judgement.objects.filter(run=run, verdict__isnull=False).count() == 4


def cascade(**options) -> Panel:
    members = [
        judge_called("small"),
        PanelMember("x", stage=1, name="large", config=judge_called("large").config),
    ]
    return Panel(members, **options)


def test_a_cascade_asks_the_second_judge_only_where_the_first_abstains(people: Cast) -> None:
    def answer(name: str, requirement: str, response: str) -> str:
        if name == "large":
            return "MET"
        return "CANNOT_ASSESS" if "Lyon" in response else "UNMET"

    run = planned(people, cascade(), CRITERIA[:1])
    judge = LabelJudge(answer)
    grade(run, judge)
    assert run.judge.name == "cascade of 2 stages"
    assert [(name, response) for name, _, response in judge.asked if name == "large"] == [("large", "Lyon.")]
    assert verdicts(run) == {("one", "paris"): "UNMET", ("two", "paris"): "MET"}
    passed_on = Judgement.objects.get(run=run, item__key="two")
    assert passed_on.reason == "stage 1 passed it on (abstention). judge says MET"
    stages = Vote.objects.filter(run=run, item__key="two").order_by("stage").values_list("judge", "stage")
    assert list(stages) == [("small", 0), ("large", 1)]


def test_a_cascade_goes_on_when_its_first_judge_is_away(people: Cast) -> None:
    def answer(name: str, requirement: str, response: str) -> str | JudgeError:
        return "MET" if name == "large" else JudgeError("connection", "refused")

    items = [{"id": f"item {n}", "submission": "Paris."} for n in range(12)]
    run = planned(people, cascade(), CRITERIA[:1], items)
    grade(run, LabelJudge(answer))
    assert run.state == RunState.FINISHED
    assert set(verdicts(run).values()) == {"MET"}


def test_repeats_may_differ_from_stage_to_stage(people: Cast) -> None:
    run = planned(people, cascade(repeats=(3, 1), escalate_on=["abstention"]), CRITERIA[:1])
    grade(run, LabelJudge(lambda name, requirement, response: "CANNOT_ASSESS" if name == "small" else "MET"))
    votes = Vote.objects.filter(run=run, item__key="one")
    assert sorted(votes.values_list("judge", "repeat")) == [
        ("large", 0),
        ("small", 0),
        ("small", 1),
        ("small", 2),
    ]


def test_resuming_a_cascade_asks_the_stage_that_failed(people: Cast) -> None:
    def broken(name: str, requirement: str, response: str) -> str | JudgeError:
        return JudgeError("timeout", "late")

    run = planned(people, cascade(), CRITERIA[:1])
    grade(run, LabelJudge(broken))
    assert set(verdicts(run).values()) == {None}
    lifecycle.resume_run(run, by=None, enqueue=WakeUps())
    mended = LabelJudge(lambda name, requirement, response: "MET")
    grade(run, mended)
    assert {name for name, _, _ in mended.asked} == {"large"}
    assert set(verdicts(run).values()) == {"MET"}


def test_a_panel_asks_all_criteria_at_once_when_told_to(people: Cast) -> None:
    run = planned(people, panel("a", "b", "c"), autograder="one_shot")
    judge = LabelJudge(split)
    grade(run, judge)
    assert len(judge.prompts) == 6
    assert verdicts(run)["two", "tone"] == "Neutral"


@pytest.mark.parametrize(
    ("asked", "options", "place", "said"),
    [
        (Panel([]), {}, "panel.members", "found 0 members; allowed: 1 to 20"),
        (
            Panel([PanelMember("endpoint-99")]),
            {},
            "panel.members[0].judge",
            "found 'endpoint-99'; allowed: one of",
        ),
        (Panel([PanelMember("offline", -1.0)]), {}, "panel.members[0].weight", "a finite number from 0"),
        (Panel([PanelMember("offline", stage=1)]), {}, "panel.members", "stages from 0 without a gap"),
        (Panel([PanelMember("offline")], rule="loudest"), {}, "panel", "rule is 'loudest'; allowed: any"),
        (Panel([PanelMember("offline")], repeats=0), {}, "panel", "repeats is 0; allowed: 1 to 100"),
        (Panel([PanelMember("offline")], quorum=2.0), {}, "panel", "quorum is 2.0"),
        (Panel([PanelMember("offline")], escalate_on=["error"]), {}, "panel.escalate_on", "stages 0, 1"),
        (
            Panel([PanelMember("offline")]),
            {"autograder": "rubric_as_judge"},
            "autograder",
            "votes on every criterion",
        ),
        (Panel([PanelMember("offline")]), {"judge_id": "offline"}, "judge", "a panel names its own judges"),
        (Panel([PanelMember("offline", name="x")] * 2), {}, "panel.members[1].name", "'x' again"),
    ],
)
def test_a_panel_that_cannot_be_is_refused_with_its_place_and_nothing_is_stored(
    people: Cast, asked: Panel, options, place: str, said: str
) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    with pytest.raises(Invalid) as refusal:
        factories.run(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            panel=asked,
            **{"judge_id": ""} | options,
        )
    assert [fault.place for fault in refusal.value.faults] == [place]
    assert said in str(refusal.value)
    assert not Run.objects.exists()


def test_two_members_of_one_judge_are_told_apart(people: Cast) -> None:
    run = planned(people, Panel([PanelMember("offline"), PanelMember("offline")]))
    assert run.panel is not None
    names = [member.name for member in run.panel.members]
    assert names == ["offline judge (not an LLM)", "offline judge (not an LLM) (2)"]


def test_no_key_is_kept_with_a_panel(people: Cast, settings) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_MODEL = "sk-secret", "some-model"
    run = planned(people, Panel([PanelMember("environment"), PanelMember("offline")]))
    assert "sk-secret" not in str(run.panel)
