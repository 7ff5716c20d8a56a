"""The launch page: what a run would cost, caps, a few items to try, and an earlier run filled in again."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import IdempotencyKey, Run
from rubricweb.selectors.runs.planning.forecasts import Range
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import budgets, lifecycle
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.templatetags import run_plan_words as words
from tests import factories
from tests.factories import Cast
from tests.web.problems import problems

pytestmark = pytest.mark.django_db

# What a run that is started again has in common with the first.
KEPT = (
    "dataset_id",
    "rubric_version_id",
    "autograder",
    "reply_format",
    "panel",
    "judge",
    "option_seed",
    "abstention",
    "on_error",
    "normalize",
    "use_cache",
    "mode",
    "budget_usd",
    "name",
    "few_shot",
)


@pytest.fixture
def ed(people: Cast, sign_in: Any) -> Client:
    client: Client = sign_in(people.ed)
    return client


@pytest.fixture
def sent(people: Cast) -> dict[str, Any]:
    """What a browser sends of the form with a dataset of three items and a rubric of three criteria."""
    return {
        "dataset": factories.dataset(people.team, people.ed).pk,
        "rubric_version": factories.version(people.team, people.ed).pk,
        "autograder": "per_criterion",
        "judge": "offline",
        "reply_format": "json",
        "use_cache": "on",
        "normalize": "on",
        "sent": "True",
    }


def at(people: Cast) -> str:
    return reverse("run_new", args=[people.team.slug])


def endpoint(people: Cast, model: str, **options: Any) -> str:
    added = endpoints.add_endpoint(
        people.team, by=people.alice, name=model, base_url="http://127.0.0.1:9/v1", model=model, **options
    )
    return f"endpoint-{added.pk}"


# ── The plan ─────────────────────────────────────────────────────────────────────────────────────


def test_a_change_in_the_form_asks_for_the_plan_alone(people: Cast, ed: Client, sent: dict[str, Any]) -> None:
    judge = endpoint(people, "gpt-5-mini")
    page = ed.get(at(people), sent | {"judge": judge}, headers={"HX-Request": "true"})
    assert page.context["forecast"].new == Range(9, 9)
    shown = page.content.decode()
    assert "<form" not in shown
    assert "by the list of 2026-11-28" in shown
    assert "was never asked here" in shown


@pytest.mark.parametrize("page", ["run_new", "queue_new"])
def test_a_new_team_is_led_to_the_dataset_and_then_to_the_rubric_it_lacks(
    people: Cast, ed: Client, page: str
) -> None:
    address = reverse(page, args=[people.team.slug])

    def told() -> tuple[str, ...]:
        found = re.search(r'empty__title">([^<]*)<.*?empty__actions.*?href="([^"]*)"', text(), re.DOTALL)
        return found.groups() if found else ()

    def text() -> str:
        return ed.get(address).content.decode().partition("<main")[2]

    assert told() == ("No dataset yet", reverse("dataset_import", args=[people.team.slug]))
    factories.dataset(people.team, people.ed)
    assert told() == ("No rubric yet", reverse("rubrics", args=[people.team.slug]))
    assert 'class="form"' not in text()
    # An item that brings its rubric along can be graded and reviewed by that.
    own = {"submission": "4", "rubric": [{"weight": 1.0, "requirement": "Says 4."}]}
    factories.dataset(people.team, people.ed, name="own", items=[own])
    assert told() == ()


def test_a_rubric_is_asked_for_beside_its_field_and_missed_only_when_one_starts_without(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    without = sent | {"rubric_version": "", "sent": "on"}
    beside = re.compile(r'id="id_rubric_version_helptext"[^>]*>([^<]*)<')
    # A rubric is chosen at first, so that nothing is refused; without one it is asked for.
    opened = ed.get(at(people), {"dataset": sent["dataset"]}).content.decode()
    assert "have no rubric" not in opened
    changed = ed.get(at(people), without, headers={"HX-Request": "true"}).content.decode()
    assert beside.findall(changed) == ["No item brings a rubric of its own: choose one."]
    assert "3 items have no rubric" in changed
    assert "notice--error" not in changed
    assert "field__errors" not in changed
    label = opened[opened.index('for="id_rubric_version"') :].partition("</label>")[0]
    assert "optional" not in label
    chosen = ed.get(at(people), sent, headers={"HX-Request": "true"}).content.decode()
    assert beside.findall(chosen) == ["An item that brings a rubric along is always graded by its own."]
    refused = ed.post(at(people), without)
    assert refused.status_code == 422
    [said] = refused.context["form"]["rubric_version"].errors
    assert "bring no rubric of their own; choose a rubric version" in said
    assert "No item brings" not in refused.content.decode()  # once is enough


def test_of_items_some_of_which_bring_a_rubric_it_is_said_how_many_do_not(people: Cast, ed: Client) -> None:
    own = {"id": "own", "submission": "4", "rubric": [{"weight": 1.0, "requirement": "Says 4."}]}
    mixed = factories.dataset(people.team, people.ed, items=[own, {"id": "bare", "submission": "Paris."}])
    page = ed.get(at(people), {"dataset": mixed.pk}).content.decode()
    rubrics = reverse("rubrics", args=[people.team.slug])
    assert f'1 of the 2 items has no rubric of its own: <a href="{rubrics}">write and publish' in page
    factories.version(people.team, people.ed)
    without = {"dataset": mixed.pk, "rubric_version": "", "autograder": "per_criterion", "sent": "on"}
    page = ed.get(at(people), without, headers={"HX-Request": "true"}).content.decode()
    assert "1 of the 2 items has no rubric of its own: choose one." in page


def test_a_free_judge_costs_nothing_and_the_page_says_so(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    shown = ed.get(at(people), sent, headers={"HX-Request": "true"}).content.decode()
    assert '<dd class="stat__value">$0.00</dd>' in shown


def test_an_unpriced_judge_is_named_and_started_only_with_a_tick(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    sent["judge"] = endpoint(people, "tiny")
    plan = ed.get(at(people), sent, headers={"HX-Request": "true"}).content.decode()
    assert "No budget can hold this run" in plan
    refused = ed.post(at(people), sent)
    assert refused.status_code == 422
    [said] = refused.context["form"]["no_cap"].errors
    assert said.startswith("Found no price for 'tiny', so that no budget can hold the run. Allowed: a price")
    assert problems(refused) == ["Run it without a cap"]
    plan = ed.get(at(people), sent | {"no_cap": "on"}, headers={"HX-Request": "true"}).content.decode()
    assert "Nothing caps this run" in plan
    assert ed.post(at(people), sent | {"no_cap": "on"}).status_code == 302


def test_the_box_without_a_cap_is_offered_only_where_it_matters(people: Cast, ed: Client) -> None:
    factories.dataset(people.team, people.ed)
    factories.version(people.team, people.ed)
    assert 'name="no_cap"' not in ed.get(at(people)).content.decode()
    endpoint(people, "tiny")
    assert 'name="no_cap"' in ed.get(at(people)).content.decode()


def test_a_budget_is_kept_with_the_run_and_one_too_small_is_said(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    sent |= {"judge": endpoint(people, "gpt-5"), "budget_usd": "0.001"}
    plan = ed.get(at(people), sent, headers={"HX-Request": "true"}).content.decode()
    assert "The budget of $0.0010 will be used up before it is done" in plan
    ed.post(at(people), sent)
    assert Run.objects.get().budget_usd == 0.001


def test_what_is_left_of_the_month_is_said(people: Cast, ed: Client, sent: dict[str, Any]) -> None:
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=0.001)
    sent["judge"] = endpoint(people, "gpt-5")
    shown = ed.get(at(people), sent, headers={"HX-Request": "true"}).content.decode()
    assert "$0.00 of $0.0010 spent by the team" in shown
    assert "$0.0010 is left of what the team may spend this month" in shown
    # Of two caps that are too low the one that ends it first is named.
    for budget, said in (
        ("0.0005", "The budget of $0.00050 will be used up"),
        ("0.002", "$0.0010 is left of what the team may spend this month"),
    ):
        plan = ed.get(at(people), sent | {"budget_usd": budget}, headers={"HX-Request": "true"})
        assert said in plan.content.decode()
    budgets.change_monthly_budget(people.team, by=people.alice, monthly_budget_usd=0)
    plan = ed.get(at(people), sent | {"budget_usd": "5"}, headers={"HX-Request": "true"})
    assert "Nothing is left of what the team may spend this month" in plan.content.decode()


@pytest.mark.parametrize("budget", ["-1", "many", "nan", "inf"])
def test_a_budget_that_is_no_amount_is_refused_at_its_field(
    people: Cast, ed: Client, sent: dict[str, Any], budget: str
) -> None:
    sent["budget_usd"] = budget
    assert ed.get(at(people), sent, headers={"HX-Request": "true"}).status_code == 200
    refused = ed.post(at(people), sent)
    assert refused.status_code == 422
    assert refused.context["form"]["budget_usd"].errors
    # And beside the button that was pressed, wherever the field is.
    assert refused.context["refusal"].startswith("Budget in US dollars: ")


def test_the_plan_names_what_cannot_start_as_the_form_does(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    sent |= {"examples_from": sent["dataset"], "n_examples": 1, "examples_seed": 0}
    plan = ed.get(at(people), sent, headers={"HX-Request": "true"})
    assert plan.context["refusal"].startswith("Examples from: Found ")
    assert "few_shot" not in plan.context["refusal"]
    assert ed.post(at(people), sent | {"count": "1"}).context["refusal"] == plan.context["refusal"]
    assert ed.post(at(people), sent).context["refusal"] == plan.context["refusal"]


def test_the_plan_of_a_judge_that_was_removed_is_the_count_alone(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    page = ed.get(at(people), sent | {"judge": "endpoint-77"}, headers={"HX-Request": "true"})
    assert (page.status_code, page.context["forecast"]) == (200, None)
    assert page.context["plan"].calls == 9


# ── More ─────────────────────────────────────────────────────────────────────────────────────────


def test_more_opens_where_something_in_it_was_chosen_or_refused(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    def is_open(answer: Any) -> bool:
        opened = re.search(r'<details class="disclosure launch__more"( open)?>', answer.content.decode())
        assert opened is not None
        return bool(opened[1])

    assert not is_open(ed.get(at(people)))
    # Faults of a line stand in sight and open nothing.
    assert not is_open(ed.post(at(people), sent | {"dataset": "99999"}))
    assert is_open(ed.post(at(people), sent | {"budget_usd": "-1"}))
    assert is_open(ed.post(at(people), sent | {"further": ["offline"], "further_weights": "much"}))
    for chosen in ({"name": "Careful"}, {"budget_usd": "0"}, {"abstention": "zero"}, {"repeats": "2"}):
        assert is_open(ed.post(at(people), sent | chosen | {"count": "1"})), chosen
    assert is_open(ed.post(at(people), {**sent, "use_cache": "", "count": "1"}))
    assert not is_open(ed.post(at(people), sent | {"repeats": "1", "weight": "1", "count": "1"}))
    plain = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name="Others"),
        rubric_version=factories.version(people.team, people.ed),
    )
    assert is_open(ed.get(at(people), {"again": plain.pk})) == bool(plain.name or plain.option_seed)
    Run.objects.update(name="Careful")
    assert is_open(ed.get(at(people), {"again": plain.pk}))


# ── Switches ─────────────────────────────────────────────────────────────────────────────────────


def test_boxes_that_are_not_ticked_are_off_where_the_form_was_shown(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    for box in ("use_cache", "normalize"):
        del sent[box]
    ed.post(at(people), sent)
    run = Run.objects.get()
    assert (run.use_cache, run.normalize) == (False, False)


def test_batches_are_offered_where_an_endpoint_takes_them_and_refused_elsewhere(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    assert 'name="batch"' not in ed.get(at(people)).content.decode()
    judge = endpoint(people, "gpt-5", batches=True)
    assert 'name="batch"' in ed.get(at(people)).content.decode()
    refused = ed.post(at(people), sent | {"batch": "on"})
    assert refused.status_code == 422
    assert refused.context["form"]["batch"].errors
    ed.post(at(people), sent | {"batch": "on", "judge": judge})
    assert Run.objects.get().mode == "batch"


# ── A few items first ────────────────────────────────────────────────────────────────────────────


def test_trying_it_grades_three_items_spread_over_the_dataset(
    people: Cast, ed: Client, sent: dict[str, Any]
) -> None:
    items = [{"id": f"i{number}", "submission": f"Paris {number}"} for number in range(9)]
    sent["dataset"] = factories.dataset(people.team, people.ed, name="Nine", items=items).pk
    ed.post(at(people), sent | {"try": "3", "name": "Strict"})
    run = Run.objects.get()
    assert run.name == "Dry run: Strict"
    assert [row.item.key for row in run.run_items.order_by("item__position")] == ["i1", "i4", "i7"]
    again = ed.get(at(people), {"again": run.pk})
    assert again.context["form"]["name"].value() == ""
    assert again.context["plan"].items == 9


# ── Again ────────────────────────────────────────────────────────────────────────────────────────


def test_an_earlier_run_is_filled_in_and_started_again_unchanged(people: Cast, ed: Client) -> None:
    second = endpoint(people, "gpt-5")
    items, rubric = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    first = factories.run(
        people.team,
        people.ed,
        dataset=items,
        rubric_version=rubric,
        judge_id="",
        panel=Panel(
            [PanelMember("offline", 2.0), PanelMember(second, 0.5, stage=1)],
            rule={"binary": "weighted"},
            repeats=2,
            quorum=0.5,
            escalate_on=["disagreement"],
        ),
        budget_usd=5.0,
        option_seed=42,
        abstention="partial",
        on_error="zero",
        normalize=False,
        use_cache=False,
        name="Careful",
        no_cap=False,
    )
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    page = ed.get(at(people), {"again": first.pk})
    assert "Filled in as for" in page.content.decode()
    form = page.context["form"]
    typed = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in typed.items() if value not in (None, False, "", [])}
    assert ed.post(at(people), sent).status_code == 302
    again = Run.objects.exclude(pk=first.pk).get()
    for column in KEPT:
        assert getattr(again, column) == getattr(first, column), column


def test_what_the_form_cannot_say_is_said(people: Cast, ed: Client) -> None:
    items, rubric = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    twice = factories.run(
        people.team,
        people.ed,
        dataset=items,
        rubric_version=rubric,
        judge_id="",
        panel=Panel([PanelMember("offline"), PanelMember("offline", name="other")]),
    )
    page = ed.get(at(people), {"again": twice.pk}).content.decode()
    assert "the same judge under several names" in page


def test_a_judge_that_is_gone_or_asks_another_model_is_named(people: Cast, ed: Client, settings: Any) -> None:
    items, rubric = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    first = factories.run(people.team, people.ed, dataset=items, rubric_version=rubric)
    assert first.judge.config is not None
    other = replace(first.judge, model="other", config=replace(first.judge.config, model="other"))
    Run.objects.filter(pk=first.pk).update(judge=other)
    page = ed.get(at(people), {"again": first.pk}).content.decode()
    assert f"It asked the model other; the judge chosen here asks {first.judge.model}." in page
    settings.OFFLINE_JUDGE_URL = ""
    page = ed.get(at(people), {"again": first.pk}).content.decode()
    assert "offline judge (not an LLM) cannot be chosen here any more" in page


def test_another_teams_run_is_not_filled_in(people: Cast, ed: Client) -> None:
    theirs = factories.run(
        people.other_team,
        people.charlie,
        dataset=factories.dataset(people.other_team, people.charlie),
        rubric_version=factories.version(people.other_team, people.charlie),
    )
    assert ed.get(at(people), {"again": theirs.pk}).status_code == 404
    assert ed.get(at(people), {"again": "x"}).status_code == 400


# ── Words ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (Range(9, 9), "9"),
        (Range(1200, 3400), "1,200 – 3,400"),
        (Range(12_345, 15_000), "12.3k – 15k"),
        (Range(1_234_567, 2e9), "1.23M – 2G"),
    ],
)
def test_spans_have_no_more_figures_than_anybody_believes(numbers: Range, said: str) -> None:
    assert words.span(numbers) == said


def test_money_and_time_are_said_in_spans() -> None:
    assert words.usd_span(Range(0.0, 0.0)) == "$0.00"
    assert words.usd_span(Range(0.123, 4.567)) == "$0.12 – $4.57"
    assert words.duration_span(Range(12.4, 95)) == "12 s – 1 min 35 s"
    assert words.duration_span(Range(47.4, 470)) == "47 s – 8 min"
    assert words.duration_span(Range(0, 86_400)) == "up to 1 d"
    assert words.about_duration(24.6) == "25 s"
    assert words.price_words("team") == "your team"


def test_a_second_click_starts_no_second_run(people: Cast, ed: Client, sent: dict[str, Any]) -> None:
    first, second = (ed.post(at(people), sent)["Location"] for _ in range(2))
    assert first == second
    assert Run.objects.count() == 1
    # Another wish is another run: other words, only a few items, or the same once the first was cancelled.
    ed.post(at(people), sent | {"name": "Another"})
    ed.post(at(people), sent | {"try": "1"})
    assert Run.objects.count() == 3
    lifecycle.cancel_run(Run.objects.earliest("pk"), by=people.ed, now=timezone.now())
    assert ed.post(at(people), sent)["Location"] != first
    assert Run.objects.count() == 4


def test_the_same_run_is_started_again_a_moment_later(people: Cast, ed: Client, sent: dict[str, Any]) -> None:
    ed.post(at(people), sent)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(seconds=4))
    ed.post(at(people), sent)
    assert Run.objects.count() == 2
