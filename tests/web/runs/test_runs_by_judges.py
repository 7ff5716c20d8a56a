"""A run that is started with a version of a judge, on the page that launches runs."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording
from rubricweb.engine.judging.definition import JudgeExample, Voting
from rubricweb.models import JudgeVersion, Run
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast


@pytest.fixture
def kept(people: Cast) -> JudgeVersion:
    """A judge with words of its own, which asks about all criteria at once."""
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="gpt-5-mini", base_url="http://127.0.0.1:9/v1", model="m"
    )
    picked = started(people, row.judge_id)
    assert picked.judge_version is not None
    definition = picked.judge_version.definition.model_copy(
        update={
            "autograder": "one_shot",
            "wording": JudgeWording(instructions=FormTexts(without_options="{{frame}} Be strict.")),
        }
    )
    return versions.create_judge(people.team, definition, by=people.ed, name="Support judge")


def started(people: Cast, judge_id: str) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=judge_id,
    )


def page(people: Cast, client: Any, query: str = "") -> str:
    return " ".join(client.get(address(people) + query).content.decode().split())


def address(people: Cast) -> str:
    return reverse("run_new", args=[people.team.slug])


def form(people: Cast, judge: str, **fields: Any) -> dict[str, Any]:
    run = people.team.runs.first()
    return {
        "sent": "1",
        "dataset": run.dataset_id,
        "rubric_version": run.rubric_version_id,
        "judge": judge,
        "autograder": "per_criterion",
        "reply_format": "json",
        "repeats": "1",
        "no_cap": "on",
        "use_cache": "on",
        "normalize": "on",
    } | fields


def test_a_judge_that_people_made_is_offered_and_a_picked_one_is_its_model(
    people: Cast, sign_in, kept
) -> None:
    shown = page(people, sign_in(people.ed))
    assert 'value="support-judge@v1"' in shown
    assert "gpt-5-mini-criterion-by-criterion@v1" not in shown
    # An earlier version, or one that was picked, is offered where its page leads here.
    asked = page(people, sign_in(people.ed), "?judge=gpt-5-mini-criterion-by-criterion@v1")
    assert 'value="gpt-5-mini-criterion-by-criterion@v1" selected' in asked
    # How the chosen one asks stands below it.
    chosen = page(people, sign_in(people.ed), "?judge=support-judge@v1")
    assert "all at once; with words of its own" in chosen
    assert "nobody@v4" not in page(people, sign_in(people.ed), "?judge=nobody@v4%00")


def test_a_run_by_a_judge_is_asked_in_its_way_and_words_whatever_the_form_says(
    people: Cast, sign_in, kept
) -> None:
    client = sign_in(people.ed)
    dataset = people.team.runs.first().dataset_id
    plan = client.get(address(people), form(people, "support-judge@v1"), headers={"HX-Request": "true"})
    assert plan.context["plan"].calls == people.team.runs.first().run_items.count()  # a call for each item
    answer = client.post(address(people), form(people, "support-judge@v1"))
    run = Run.objects.latest("pk")
    assert (answer.status_code, run.dataset_id) == (302, dataset)
    assert (run.judge_version, run.autograder) == (kept, "one_shot")
    # And it can be started again so.
    assert 'value="support-judge@v1" selected' in page(people, client, f"?again={run.pk}")


def test_examples_beside_a_judge_are_refused_at_their_field(people: Cast, sign_in, kept) -> None:
    there = Run.objects.count()
    fields = {"examples_from": people.team.runs.first().dataset_id}
    answer = sign_in(people.ed).post(address(people), form(people, "support-judge@v1", **fields))
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["examples_from"])
    assert Run.objects.count() == there


def test_a_judge_is_asked_several_times_and_votes_beside_models(people: Cast, sign_in, kept) -> None:
    client = sign_in(people.ed)
    items = people.team.runs.first().run_items.count()
    thrice = form(people, "support-judge@v1", repeats="3")
    plan = client.get(address(people), thrice, headers={"HX-Request": "true"})
    assert plan.context["plan"].calls == 3 * items  # all criteria at once, as it asks
    assert client.post(address(people), thrice).status_code == 302
    run = Run.objects.latest("pk")
    assert (run.autograder, run.panel.repeats) == ("one_shot", 3)
    assert run.judge_version.definition.wording == kept.definition.wording
    # Started again it is that judge, which has no name of its own.
    assert f'value="{run.judge_version}" selected' in page(people, client, f"?again={run.pk}")
    beside = form(people, "offline", further=["support-judge@v1"], autograder="one_shot")
    assert client.post(address(people), beside).status_code == 302
    offline, ours = Run.objects.latest("pk").judge_version.definition.members
    assert (offline.wording, ours.wording) == (None, kept.definition.wording)
    otherwise = client.post(address(people), beside | {"autograder": "per_criterion"})
    assert list(otherwise.context["form"].errors) == ["autograder"]
    assert "one_shot, as support-judge@v1 asks" in otherwise.content.decode()


def test_a_judge_that_votes_itself_is_no_member_of_a_panel(people: Cast, sign_in, kept) -> None:
    [member] = kept.definition.members
    twins = (member, member.model_copy(update={"name": "other"}))
    panel = kept.definition.model_copy(update={"members": twins, "voting": Voting()})
    versions.create_judge(people.team, panel, by=people.ed, name="Panel judge")
    client = sign_in(people.ed)
    further = client.get(address(people)).context["form"].fields["further"].choices
    assert [words for words, _ in further if "@" in words] == ["support-judge@v1"]
    answer = client.post(address(people), form(people, "panel-judge@v1", repeats="2"))
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["judge"])
    assert "panel-judge@v1, which casts several votes itself" in answer.content.decode()


def test_a_judge_whose_model_is_gone_says_so(people: Cast, sign_in, kept) -> None:
    [row] = endpoints.endpoints_of(people.team)
    endpoints.remove_endpoint(row, by=people.alice, now=timezone.now())
    answer = sign_in(people.ed).post(address(people), form(people, "support-judge@v1"))
    assert answer.status_code == 422
    assert "which is none of the team" in answer.content.decode()


def test_a_run_and_the_list_of_runs_name_the_version_of_a_judge(
    people: Cast, sign_in, kept: JudgeVersion
) -> None:
    by_model = Run.objects.get()
    by_version = factories.run(
        people.team,
        people.ed,
        dataset=by_model.dataset,
        rubric_version=by_model.rubric_version,
        judge_id=str(kept),
    )
    client = sign_in(people.bob)
    for run in (by_version, by_model):
        shown = client.get(reverse("run", args=[people.team.slug, run.pk])).content.decode()
        assert str(run.judge_version) in shown
        assert reverse("judge", args=[people.team.slug, run.judge_version.judge_id]) in shown
    listed = client.get(reverse("runs", args=[people.team.slug])).content.decode()
    assert "support-judge@v1" in listed
    # What was merely picked is called as it is on the page of models.
    assert str(by_model.judge_version) not in listed
    assert "gpt-5-mini" in listed


def test_who_reviews_blind_is_not_told_of_an_earlier_version_of_a_judge_with_examples(
    people: Cast, sign_in, kept: JudgeVersion
) -> None:
    shown = JudgeExample(uid="", requirement="Names Paris.", label="MET", key="x", output="Paris.")
    first = versions.create_judge(
        people.team,
        kept.definition.model_copy(update={"examples": (shown,)}),
        by=people.ed,
        name="With examples",
    )
    versions.keep_version(first.judge, kept.definition, by=people.ed, parent=first)
    run = Run.objects.get()
    factories.queue(
        people.team, people.alice, dataset=run.dataset, rubric_version=run.rubric_version, raters=[people.ed]
    )
    for person, offered in ((people.alice, True), (people.ed, False)):
        text = page(people, sign_in(person), "?judge=with-examples@v1")
        assert ('value="with-examples@v1"' in text) == offered
        assert 'value="with-examples@v2"' in text


def test_the_first_judge_is_chosen_where_no_run_says_more(people: Cast, sign_in, kept: JudgeVersion) -> None:
    new = factories.dataset(people.team, people.ed, name="Never graded")
    shown = sign_in(people.ed).get(address(people), {"dataset": new.pk})
    first = next(iter(endpoints.judges_of(people.team)))
    assert shown.context["form"]["judge"].value() == first
    assert f'value="{first}" selected' in shown.content.decode()
    assert "Filled in from the last run" not in shown.content.decode()


def test_the_judge_of_the_last_run_over_the_dataset_is_chosen_in_its_current_version(
    people: Cast, sign_in, kept: JudgeVersion
) -> None:
    first = Run.objects.get()
    client = sign_in(people.ed)

    def chosen(query: str = "") -> dict[str, Any]:
        form = client.get(address(people) + query).context["form"]
        return {name: form[name].value() for name in ("dataset", "judge", "autograder")}

    about = {"dataset": first.dataset_id}
    assert chosen() == about | {"judge": first.judge.id, "autograder": "per_criterion"}
    again = {"dataset": first.dataset, "rubric_version": first.rubric_version}
    factories.run(people.team, people.ed, judge_id="offline", autograder="one_shot", **again)
    assert chosen() == about | {"judge": "offline", "autograder": "one_shot"}
    last = factories.run(people.team, people.ed, judge_id=str(kept), **again)
    assert chosen()["judge"] == "support-judge@v1"
    assert f'Filled in from the last run of this dataset, <a href="{run_at(people, last)}"' in page(
        people, client
    )
    versions.keep_version(
        kept.judge,
        kept.definition.model_copy(update={"autograder": "per_criterion"}),
        by=people.ed,
        parent=kept,
    )
    assert chosen()["judge"] == "support-judge@v2"
    # What the address names goes first, and brings its own way of asking.
    assert chosen("?judge=offline") == about | {"judge": "offline", "autograder": "per_criterion"}
    # Several votes of models are nothing that one line could say.
    panel = Panel([PanelMember("offline")], repeats=2)
    factories.run(people.team, people.ed, judge_id="", panel=panel, **again)
    assert chosen()["judge"] == "support-judge@v2"


def run_at(people: Cast, run: Run) -> str:
    return reverse("run", args=[people.team.slug, run.pk])


def test_a_judge_that_is_gone_is_replaced_by_none_silently(people: Cast, sign_in, kept) -> None:
    run = Run.objects.get()
    [row] = endpoints.endpoints_of(people.team)
    endpoints.remove_endpoint(row, by=people.alice, now=timezone.now())
    shown = page(people, sign_in(people.ed), f"?again={run.pk}")
    assert re.search(r'<select name="judge" required[^>]*><option value="">Choose…</option>', shown)


def test_a_judge_that_is_picked_first_is_offered_the_dataset_graded_last(people: Cast, sign_in, kept) -> None:
    graded = people.team.runs.get()
    factories.dataset(people.team, people.ed, name="Newer, never graded")
    ed = sign_in(people.ed)
    form = ed.get(address(people), {"judge": "support-judge@v1"}).context["form"]
    assert (form["dataset"].value(), form["rubric_version"].value()) == (
        graded.dataset_id,
        graded.rubric_version_id,
    )
    assert ed.get(address(people)).context["form"]["dataset"].value() == graded.dataset_id
