"""What a run will come to, said before it starts."""

import json
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.content import content_key
from rubricweb.models import Item, JudgeCall, Run, RunItem, RunTally
from rubricweb.selectors.runs.graders import Graders
from rubricweb.selectors.runs.planning.forecasts import Range
from rubricweb.selectors.runs.planning.samples import spread_ids
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.runs import budgets, panels
from rubricweb.services.runs.planning import RunPlan, plan_run
from rubricweb.services.runs.starting import RunOptions
from tests.factories import Cast, dataset, queue, run, version

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
PRICED = JudgeConfig(
    name="priced",
    base_url="http://127.0.0.1:9/v1",
    model="m",
    input_usd_per_million=1.0,
    output_usd_per_million=10.0,
)
UNPRICED = JudgeConfig(name="unpriced", base_url="http://127.0.0.1:9/v1", model="n")
CRITERIA: list[dict[str, Any]] = [
    {"name": "first", "weight": 1.0, "requirement": "Names Paris."},
    {"name": "second", "weight": 1.0, "requirement": "Is short."},
]


def items(count: int) -> list[dict[str, Any]]:
    return [{"id": f"i{number}", "submission": f"Paris {number:04}"} for number in range(count)]


class Room:
    """A dataset and a rubric of two criteria, and the ways a test looks at them."""

    def __init__(self, people: Cast, count: int) -> None:
        self.people, self.team = people, people.team
        self.dataset = dataset(people.team, people.ed, name=f"{count} items", items=items(count))
        self.version = version(people.team, people.ed, title=f"For {count}", criteria=CRITERIA)

    def plan(self, **options: Any) -> RunPlan:
        if "panel" not in options:
            options = {"judge_id": "command-line", "judge": PRICED} | options
        viewer = options.pop("viewer", self.people.ed)
        return plan_run(
            self.team,
            dataset=self.dataset,
            rubric_version=self.version,
            viewer=viewer,
            now=NOW,
            options=RunOptions(**options),
        )

    def earlier_run(self, judge: JudgeConfig = PRICED, *, share: float = 1.0, **call: Any) -> Run:
        """A run by this judge whose calls over the first `share` of the items are stored."""
        done = run(
            self.team,
            self.people.ed,
            dataset=self.dataset,
            rubric_version=self.version,
            judge_id="command-line",
            judge=judge,
        )
        grader = Graders(done).single(self.version.pk)
        rows = list(
            RunItem.objects.filter(run=done).select_related("item__dataset").order_by("item__position")
        )
        calls = []
        for row in rows[: round(len(rows) * share)]:
            for prompt in grader.prompts(row.item.to_engine(), self.version.to_engine()):
                texts = [prompt.system, prompt.user]
                request = {"messages": [{"role": "user", "content": text} for text in texts]}
                given: dict[str, Any] = {
                    "reply": "{}",
                    "model": judge.model,
                    "prompt_tokens": sum(map(len, texts)) // 4,
                    "completion_tokens": 50,
                    "latency_seconds": 2.0,
                    "request": zlib.compress(json.dumps(request).encode()),
                    "content_key": content_key(judge, prompt, 0),
                    **call,
                }
                calls.append(JudgeCall(run=done, item_id=row.item_id, **given))
        JudgeCall.objects.bulk_create(calls)
        RunTally.objects.create(run=done, team=done.team, worker="w:1", month=month_of(NOW), calls=len(calls))
        return done


@pytest.fixture
def room(people: Cast) -> Room:
    return Room(people, 20)


def test_without_history_ranges_are_wide_and_say_that_they_are_assumed(room: Room) -> None:
    found = room.plan().forecast
    assert found.calls == found.new == Range(40, 40)  # 20 items × 2 criteria
    assert found.cached == Range(0, 0)
    # 40 to 400 tokens an answer, one answer a call.
    assert found.completion_tokens == Range(1600, 16000)
    assert found.cost_usd is not None
    # At 1 a million in, 10 out: 0.016 + input, 0.16 + input.
    assert found.cost_usd.low == pytest.approx(found.prompt_tokens.low * 1e-6 + 0.016, abs=1e-6)
    assert found.cost_usd.high == pytest.approx(found.prompt_tokens.high * 1e-6 + 0.16, abs=1e-6)
    # 16 at once: three rounds of 1 to 10 s.
    assert found.seconds == Range(3, 30)
    assert any("was never asked here" in line for line in found.basis)


def test_prompts_are_measured_and_earlier_calls_say_what_a_token_is(room: Room) -> None:
    room.earlier_run(content_key=None)
    found = room.plan().forecast
    [judge] = found.judges
    assert judge.earlier_calls == 40
    grader = Graders(Run(team=room.team, autograder="per_criterion")).single(0)
    letters = sum(
        len(prompt.system) + len(prompt.user)
        for item in Item.objects.filter(dataset=room.dataset).select_related("dataset")
        for prompt in grader.prompts(item.to_engine(), room.version.to_engine())
    )
    # Four letters a token were counted, give or take 5 %.
    assert found.prompt_tokens.low == pytest.approx(letters / 4 / 1.05, rel=0.005)
    assert found.prompt_tokens.high == pytest.approx(letters / 4 / 0.95, rel=0.005)
    # Every reply had 50 tokens; a tenth either way is the least that is allowed for.
    assert found.completion_tokens == Range(40 * 45, 40 * 55)
    assert found.seconds == Range(3 * 2.0, 3 * 2.0)


def test_what_was_answered_before_is_counted_as_cached_and_costs_nothing(room: Room) -> None:
    room.earlier_run()
    found = room.plan().forecast
    assert (found.calls, found.cached, found.new) == (Range(40, 40), Range(40, 40), Range(0, 0))
    assert found.cost_usd == Range(0, 0)
    assert found.seconds is None
    anew = room.plan(use_cache=False).forecast
    assert (anew.cached, anew.new) == (Range(0, 0), Range(40, 40))


def test_one_changed_criterion_of_two_leaves_half_to_ask(room: Room, people: Cast) -> None:
    room.earlier_run()
    changed = [CRITERIA[0], {**CRITERIA[1], "requirement": "Is very short."}]
    room.version = version(people.team, people.ed, title="Other", criteria=changed)
    assert room.plan().forecast.new == Range(20, 20)


def test_answers_of_another_team_do_not_count(room: Room, people: Cast) -> None:
    earlier = room.earlier_run()
    Run.objects.filter(pk=earlier.pk).update(team=people.other_team)
    assert room.plan().forecast.cached == Range(0, 0)


def test_repeats_are_asked_anew_and_the_first_of_them_is_known(room: Room) -> None:
    room.earlier_run()
    panel = panels.Panel([panels.PanelMember("command-line", config=PRICED)], repeats=3)
    found = room.plan(panel=panel).forecast
    assert (found.calls, found.cached, found.new) == (Range(120, 120), Range(40, 40), Range(80, 80))


def test_two_members_that_are_the_same_judge_are_asked_independently(room: Room) -> None:
    room.earlier_run()
    panel = panels.Panel(
        [panels.PanelMember("command-line", config=PRICED, name=name) for name in ("a", "b")]
    )
    found = room.plan(panel=panel).forecast
    assert [judge.new for judge in found.judges] == [Range(0, 0), Range(40, 40)]


def test_every_judge_of_a_panel_has_its_share_and_an_unpriced_one_is_named(room: Room) -> None:
    panel = panels.Panel(
        [
            panels.PanelMember("command-line", config=PRICED),
            panels.PanelMember("command-line", config=UNPRICED),
        ]
    )
    found = room.plan(panel=panel).forecast
    assert [(judge.name, judge.new) for judge in found.judges] == [
        ("priced", Range(40, 40)),
        ("unpriced", Range(40, 40)),
    ]
    assert found.unpriced == ("unpriced",)
    assert found.cost_usd == found.judges[0].cost_usd
    assert found.new == Range(80, 80)


def test_a_cascades_next_stage_is_anything_between_nothing_and_all(room: Room) -> None:
    panel = panels.Panel(
        [
            panels.PanelMember("command-line", config=PRICED),
            panels.PanelMember("command-line", config=UNPRICED, stage=1),
        ]
    )
    made = room.plan(panel=panel)
    assert (made.plan.calls, made.plan.calls_at_most) == (40, 80)
    assert made.forecast.new == Range(40, 80)
    # One stage after the other: 3 to 30 s, and none to as much again.
    assert made.forecast.seconds == Range(3, 60)


def test_limits_per_minute_stretch_the_time(room: Room) -> None:
    slow = JudgeConfig(name="slow", base_url="http://127.0.0.1:9/v1", model="m", requests_per_minute=10)
    # 40 calls at 10 a minute: 30 of them wait, three minutes at least and four at most.
    assert room.plan(judge=slow).forecast.seconds == Range(180, 240)


def test_a_large_dataset_is_sampled_and_its_ranges_are_honest(people: Cast) -> None:
    room = Room(people, 600)
    room.earlier_run(share=0.5)
    found = room.plan().forecast
    assert (found.items, found.sampled) == (600, 200)
    assert found.calls == Range(1200, 1200)
    assert found.cached.low < 600 < found.cached.high
    assert found.cached.high - found.cached.low < 200  # a 95 % interval of 100 in 200: ±7 % of 1,200
    assert "200 of 600 items" in found.basis[0]


def test_a_sample_that_is_all_known_does_not_prove_that_everything_is(people: Cast) -> None:
    room = Room(people, 600)
    room.earlier_run()
    # None of 200 was new: up to 3 in 200 of the 1,200 may be.
    assert room.plan().forecast.new == Range(0, 18)


@pytest.mark.parametrize("votes", [1, 3])
def test_what_several_items_ask_alike_is_asked_once(room: Room, people: Cast, votes: int) -> None:
    """Twenty items of which five say what another one says: fifteen prompts for each of two criteria."""
    rows = [row | {"submission": f"Paris {number % 15:04}"} for number, row in enumerate(items(20))]
    room.dataset = dataset(people.team, people.ed, name="doubles", items=rows)
    panel = panels.Panel([panels.PanelMember("command-line", config=PRICED)], repeats=votes)
    found = room.plan(panel=panel).forecast
    assert (found.calls, found.new, found.cached) == (
        Range(40 * votes, 40 * votes),
        Range(30 * votes, 30 * votes),
        Range(10 * votes, 10 * votes),
    )
    assert f"Questions that are alike are asked once: {10 * votes} of them are." in found.basis
    anew = room.plan(panel=panel, use_cache=False).forecast
    assert (anew.new, anew.cached) == (Range(40 * votes, 40 * votes), Range(0, 0))
    assert not [line for line in anew.basis if "alike" in line]


@pytest.mark.parametrize("differing", [1, 150, 600])
def test_doubles_in_a_large_dataset_are_counted_without_reading_it(people: Cast, differing: int) -> None:
    room = Room(people, 3)
    rows = [row | {"submission": f"Paris {number % differing:04}"} for number, row in enumerate(items(600))]
    room.dataset = dataset(people.team, people.ed, name="doubles", items=rows)
    new = room.plan().forecast.new
    assert new.low == 2 * differing <= new.high
    assert new.low == 1200 if differing == 600 else new.high < 1200
    said = [line for line in room.plan().forecast.basis if "say what another one says" in line]
    assert [line.split(" items")[0] for line in said] == [f"{600 - differing} of 600"] * (differing < 600)


def test_a_plan_takes_the_same_queries_however_large_the_dataset(people: Cast) -> None:
    counts = []
    for count in (3, 250, 1000):
        room = Room(people, count)
        with CaptureQueriesContext(connection) as queries:
            assert room.plan().forecast.sampled == min(count, 200)  # bodies are read of these alone
        counts.append(len(queries))
    # Two of them for whose runs are withheld, two for systems (archived ones, and those of the items);
    # one for what tries answered; two more to see how far positions go and what says the same.
    assert counts == [15, 17, 17]


def test_a_plan_over_chosen_items_counts_those(room: Room) -> None:
    ids = spread_ids(Item.objects.filter(dataset=room.dataset), 3)
    found = room.plan(item_ids=ids)
    assert (found.plan.items, found.forecast.calls) == (3, Range(6, 6))


def test_items_of_a_trial_are_spread_over_the_dataset(people: Cast) -> None:
    room = Room(people, 9)
    all_items = Item.objects.filter(dataset=room.dataset)
    keys = (
        all_items.filter(pk__in=spread_ids(all_items, 3)).order_by("position").values_list("key", flat=True)
    )
    assert list(keys) == ["i1", "i4", "i7"]  # the middle of each third
    assert len(spread_ids(all_items, 20)) == 9
    assert len(spread_ids(all_items.filter(position__in=[0, 1, 8]), 2)) == 2


def test_a_rubric_of_checks_alone_costs_nothing(people: Cast) -> None:
    room = Room(people, 5)
    room.version = version(
        people.team,
        people.ed,
        title="Checks",
        criteria=[{"name": "short", "weight": 2.0, "check": "length_between", "params": {"max": 40}}],
    )
    found = plan_run(
        people.team,
        dataset=room.dataset,
        rubric_version=room.version,
        viewer=people.ed,
        now=NOW,
        options=RunOptions(),
    )
    assert (found.plan.calls, found.forecast.calls, found.forecast.judges) == (0, Range(0, 0), ())
    assert found.forecast.cost_usd == Range(0, 0)


def test_a_holistic_question_is_one_call_an_item(room: Room) -> None:
    found = room.plan(autograder="rubric_as_judge").forecast
    assert found.calls == Range(20, 20)
    assert found.completion_tokens == Range(20 * 40, 20 * 400)


def test_one_reply_to_all_criteria_is_as_long_as_its_answers(room: Room) -> None:
    found = room.plan(autograder="one_shot").forecast
    assert found.calls == Range(20, 20)
    assert found.completion_tokens == Range(20 * 2 * 40, 20 * 2 * 400)


def test_what_is_left_of_the_month_is_said(room: Room, people: Cast) -> None:
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=1.0)
    earlier = room.earlier_run(content_key=None)
    RunTally.objects.create(
        run=earlier, team=earlier.team, worker="a:1", month=month_of(NOW), cost_usd=0.9999
    )
    found = room.plan().forecast
    assert found.month.left_usd == pytest.approx(0.0001)
    assert found.passes_month


def test_what_could_not_start_has_no_plan(room: Room) -> None:
    with pytest.raises(Invalid, match="reply_format"):
        room.plan(reply_format="morse")
    with pytest.raises(Invalid, match="item_ids"):
        room.plan(item_ids=[10**9])


def test_a_plan_stores_nothing(room: Room) -> None:
    room.plan()
    assert not Run.objects.exists()


def test_a_blind_rater_is_not_told_what_a_judge_was_asked_about(people: Cast) -> None:
    """A second stage is asked only where the first abstained, failed or was unsure: being asked tells."""
    room = Room(people, 10)
    room.earlier_run(share=0.5)
    assert room.plan().forecast.cached == Range(10, 10)
    queue(people.team, people.alice, dataset=room.dataset, rubric_version=room.version, raters=[people.ed])
    blind = room.plan().forecast
    assert (blind.cached, blind.new) == (Range(0, 0), Range(20, 20))
    assert "not told" in " ".join(blind.basis)
    assert room.plan(viewer=people.alice).forecast.cached == Range(10, 10)


def test_starting_takes_no_more_queries_for_many_items_and_keeps_their_order(people: Cast) -> None:
    first = Room(people, 1)
    run(people.team, people.ed, dataset=first.dataset, rubric_version=first.version)  # its judge is made once
    taken = []
    for count in (3, 300):
        room = Room(people, count)
        last = Item.objects.filter(dataset=room.dataset).order_by("-position")[0]
        last.rubric_version = version(people.team, people.ed, title=f"Of one of {count}", criteria=CRITERIA)
        last.save()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            started = run(people.team, people.ed, dataset=room.dataset, rubric_version=room.version)
        taken.append(len(queries))
        rows = list(RunItem.objects.filter(run=started).select_related("item").order_by("pk"))
        assert [row.item.position for row in rows] == list(range(count))
        assert [row.rubric_version_id for row in rows[:-1]] == [room.version.pk] * (count - 1)
        assert rows[-1].rubric_version_id == last.rubric_version_id
        untouched = (None, None, "", None, 0, 0.0, "", None, "")
        for row in rows:
            assert untouched == (
                row.graded_at,
                row.score,
                row.leased_by,
                row.leased_until,
                row.errors,
                row.length_penalty,
                row.reason,
                row.error_kind,
                row.error_message,
            )
    assert taken[0] == taken[1]
