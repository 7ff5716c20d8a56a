"""The report on one item, the plan of a run and pass rates, for every kind of criterion and of asking."""

import pytest

from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import Run
from rubricweb.selectors import dashboard
from rubricweb.selectors.runs import calls as run_calls
from rubricweb.selectors.runs import progress as run_progress
from rubricweb.selectors.runs import reports, results
from rubricweb.selectors.runs.planning import plans
from rubricweb.services.runs import lifecycle as run_services
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import LabelJudge, grade, session

CRITERIA = [
    {"name": "paris", "weight": 4.0, "requirement": "Names Paris."},
    {
        "name": "tone",
        "weight": 4.0,
        "requirement": "How friendly is the tone?",
        "options": [{"label": "Cold", "value": 0.0}, {"label": "Warm", "value": 1.0}],
    },
    {"name": "short", "weight": 2.0, "check": "length_between", "params": {"max": 10}},
]
ITEMS = [{"id": "one", "submission": "Paris, my friend."}, {"id": "two", "submission": "Paris."}]


def judge_called(name: str, stage: int = 0) -> PanelMember:
    config = JudgeConfig(name, "http://127.0.0.1:9/v1", f"{name}-1")
    return PanelMember("command-line", name=name, stage=stage, config=config)


def answer(name: str, requirement: str, response: str) -> str:
    return "MET" if "Paris" in requirement else "Warm" if "friend" in response else "Cold"


def planned(people: Cast, **options) -> Run:
    if "panel" in options:
        options["judge_id"] = ""
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
        **options,
    )


def report(run: Run, viewer, key: str = "one") -> reports.ItemReport:
    found = reports.item_report(run, run.dataset.items.get(key=key), viewer=viewer)
    assert found is not None
    return found


def prompt_of(run: Run, viewer, call, key: str = "one"):
    """What one call of a run of before requests were kept is rebuilt to have asked."""
    return run_calls.call_in_full(run, run.dataset.items.get(key=key), call.pk, viewer=viewer).prompt


def test_every_kind_shows_what_it_adds_and_the_prompt_that_was_sent(people: Cast) -> None:
    run = planned(people, option_seed=5)
    judge = LabelJudge(answer)
    grade(run, judge)
    paris, tone, short = report(run, people.bob).criteria
    assert [one.contribution for one in (paris, tone, short)] == [4.0, 4.0, 0.0]
    assert [one.value for one in (paris, tone, short)] == [1.0, 1.0, 0.0]
    sent = {prompt.user for prompt in judge.prompts}
    assert paris.call is not None
    assert tone.call is not None
    assert {prompt_of(run, people.bob, one.call).user for one in (paris, tone)} <= sent
    assert short.call is None
    assert short.judgement.reason.startswith("17 characters")


def test_a_one_shot_prompt_is_rebuilt_without_the_checks(people: Cast) -> None:
    run = planned(people, autograder="one_shot")
    judge = LabelJudge(answer)
    grade(run, judge)
    [call] = report(run, people.bob).calls
    prompt = prompt_of(run, people.bob, call)
    assert prompt is not None
    assert prompt.user in {prompt.user for prompt in judge.prompts}


def test_the_calls_of_a_panel_show_their_prompts_and_votes_their_agreement(people: Cast) -> None:
    run = planned(people, panel=Panel([judge_called("a"), judge_called("b")], repeats=2))
    judge = LabelJudge(answer)
    grade(run, judge)
    found = report(run, people.bob)
    assert len(found.calls) == 8
    sent = {prompt.user for prompt in judge.prompts}
    assert {prompt_of(run, people.bob, call).user for call in found.calls} <= sent
    paris, tone, short = found.criteria
    assert [len(one.votes) for one in (paris, tone, short)] == [4, 4, 0]
    assert (paris.agreement, paris.flips) == (1.0, 0.0)
    assert (short.agreement, short.flips) == (None, None)
    assert paris.call is None


def test_votes_that_are_still_coming_already_show(people: Cast) -> None:
    class Impatient(LabelJudge):
        def __call__(self, config, questions, *, stop=None):
            replies = super().__call__(config, questions, stop=stop)
            return replies if config.name == "a" else iter(())

    run = planned(people, panel=Panel([judge_called("a"), judge_called("b")]))
    session(run, Impatient(answer))
    paris, _, _ = report(run, people.bob).criteria
    assert paris.judgement is None
    assert [vote.judge for vote in paris.votes] == ["a"]
    assert paris.agreement == 1.0


def test_groups_are_scored_as_rubrics_of_their_own(people: Cast) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )
    grade(run, LabelJudge(lambda name, requirement, response: "MET"))
    found = report(run, people.bob, "good").groups
    assert found is not None
    # Facts: 10 − 15 over 10, clamped; Style: 5 of 5.
    assert {name: score.score for name, score in found.items()} == {"Facts": 0.0, "Style": 1.0}


def test_prompts_with_labels_are_kept_from_who_is_to_label_those_items_blind(people: Cast) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dev = factories.dataset(people.team, people.ed, name="dev", items=[{"id": "dev", "submission": "Rome."}])
    labels = b"item_id,criterion,rater,verdict,reason\ndev,paris,x,UNMET,SECRET-OF-A-PEER\n"
    factories.import_labels(dev, version, by=people.ed, data=labels, filename="labels.csv")
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=version,
        few_shot_from=FewShot(dev),
    )
    grade(run, LabelJudge(answer))
    factories.queue(people.team, people.ed, dataset=dev, rubric_version=version, raters=[people.ann])
    shown = [one.call for one in report(run, people.bob).criteria if one.call]
    assert any("SECRET-OF-A-PEER" in prompt_of(run, people.bob, call).user for call in shown)
    kept = report(run, people.ann)
    calls = [*kept.calls, *(one.call for one in kept.criteria if one.call)]
    assert calls
    assert {prompt_of(run, people.ann, call) for call in calls} == {None}


def test_counts_tell_verdicts_options_measurements_and_errors_apart(people: Cast) -> None:
    def broken(name: str, requirement: str, response: str) -> str | JudgeError:
        return JudgeError("timeout", "late") if "Paris" in requirement and "friend" in response else "Cold"

    run = grade(planned(people), LabelJudge(broken))
    totals = results.result(run, viewer=people.bob).totals
    # paris: one timeout, one "Cold" that is no verdict; tone: Cold twice; short: two measurements.
    assert (totals.met, totals.chosen, totals.measured, totals.errors) == (0, 2, 2, 2)
    assert [part[2] for part in totals.parts] == ["met", "unmet", "chosen", "measured", "cannot", "error"]
    progress = run_progress.progress(run, viewer=None, now=run.finished_at)
    assert (progress.verdicts, progress.errors) == (4, 2)


def test_pass_rates_of_choices_and_checks_are_mean_values(people: Cast) -> None:
    run = grade(planned(people), LabelJudge(answer))
    rates = {rate.criterion.name: rate for rate in dashboard.dashboard(people.team, people.bob).pass_rates}
    assert rates["paris"].judge.value == 1.0
    # Warm and Cold; 17 and 6 characters of at most 10.
    assert (rates["tone"].judge.value, rates["short"].judge.value) == (0.5, 0.5)
    assert rates["tone"].people.value is None
    assert run.summary.verdicts == 6


def test_a_choice_that_calls_its_options_met_and_unmet_is_still_a_choice(people: Cast) -> None:
    options = [{"label": "UNMET", "value": 0.0}, {"label": "MET", "value": 0.25}]
    criteria = [{"name": "odd", "weight": 1.0, "requirement": "Is it?", "options": options}]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
    )
    grade(run, LabelJudge(lambda name, requirement, response: "MET"))
    found = results.result(run, viewer=people.bob)
    assert (found.mean.value, found.totals.met, found.totals.chosen) == (0.25, 0, 2)
    assert (found.rates[0].met, found.rates[0].rate.value) == (0, 0.25)


@pytest.mark.parametrize(
    ("panel", "autograder", "calls", "at_most"),
    [
        # 2 items × 2 criteria that are asked about.
        (None, "per_criterion", 4, None),
        (None, "one_shot", 2, None),
        (Panel([judge_called("a"), judge_called("b")], repeats=3), "per_criterion", 24, None),
        (Panel([judge_called("a"), judge_called("b", 1)], repeats=(1, 2)), "per_criterion", 4, 12),
    ],
)
def test_a_plan_counts_what_is_asked_of_every_judge(
    people: Cast, panel: Panel | None, autograder: str, calls: int, at_most: int | None
) -> None:
    run = planned(people, autograder=autograder, **({} if panel is None else {"panel": panel}))
    plan = plans.plan(run.dataset, run.rubric_version, autograder, votes=run.votes_per_criterion)
    assert (plan.most, plan.calls, plan.calls_at_most) == (3, calls, at_most)
    judge = LabelJudge(answer)
    grade(run, judge)
    assert len(judge.prompts) == calls


def test_checks_alone_are_planned_without_a_call(people: Cast) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA[2:])
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    assert plans.plan(dataset, version, "one_shot").calls == 0
    assert run_services.needs_judge(dataset, version) is False


def test_a_resumed_panel_still_knows_what_its_calls_asked(people: Cast) -> None:
    run = planned(people, panel=Panel([judge_called("a")], repeats=2), autograder="one_shot")
    grade(run, LabelJudge(lambda name, requirement, response: JudgeError("timeout", "late")))
    run_services.resume_run(run, by=None, enqueue=WakeUps())
    grade(run, LabelJudge(answer))
    calls = report(run, people.bob).calls
    prompts = [prompt_of(run, people.bob, call) for call in calls]
    assert [prompt is None for prompt in prompts] == [True, True, False, False]
