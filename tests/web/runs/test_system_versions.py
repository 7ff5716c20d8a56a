"""The launch page over a dataset with answers of two system versions, and what lists say of such runs."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Run, SystemVersion
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import Versions, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


@pytest.fixture
def ed(people: Cast, sign_in: Any) -> Client:
    client: Client = sign_in(people.ed)
    return client


@pytest.fixture
def ids(world: Versions) -> dict[str, int]:
    return dict(SystemVersion.objects.filter(system__name="assistant").values_list("label", "pk"))


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


@pytest.fixture
def sent(world: Versions) -> dict[str, Any]:
    return {
        "dataset": world.dataset.pk,
        "rubric_version": world.rubric_version.pk,
        "autograder": "per_criterion",
        "judge": "offline",
        "reply_format": "json",
        "use_cache": "on",
        "normalize": "on",
        "sent": "True",
    }


def test_the_newest_version_is_proposed(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    page = ed.get(at("run_new", people), {"dataset": world.dataset.pk}).content.decode()
    assert "assistant@v3 (5 answers)" in page
    assert f'value="{ids["v4"]}" id="id_systems_1" checked' in " ".join(page.split())
    assert f'value="{ids["v3"]}" id="id_systems_0" checked' not in " ".join(page.split())


def test_a_dataset_without_systems_asks_nobody_whose_answers(people: Cast, ed: Client) -> None:
    plain = factories.dataset(people.team, people.ed)
    assert "System versions" not in ed.get(at("run_new", people), {"dataset": plain.pk}).content.decode()


def test_the_plan_follows_the_chosen_versions(
    people: Cast, ed: Client, sent: dict[str, Any], ids: dict[str, int]
) -> None:
    def items(*labels: str) -> int:
        chosen = {"systems": [ids[label] for label in labels]}
        answer = ed.get(at("run_new", people), sent | chosen, headers={"HX-Request": "true"})
        plan: Any = answer.context["plan"]
        assert 'id="run-systems"' in answer.content.decode()
        return int(plan.items)

    assert (items("v4"), items("v3", "v4")) == (5, 10)
    # What was ticked for another dataset counts for nothing: the newest version is ticked anew.
    assert items() == 5


def test_a_run_starts_for_each_ticked_version_once(
    people: Cast, ed: Client, sent: dict[str, Any], ids: dict[str, int]
) -> None:
    body = sent | {"systems": [ids["v3"], ids["v4"]], "budget_usd": "2"}
    for _ in range(2):  # a double click
        answer = ed.post(at("run_new", people), body)
        assert answer.status_code == 302
        assert answer.url == f"{at('runs', people)}?dataset={sent['dataset']}"
    runs = Run.objects.order_by("pk").select_related("system_version__system")
    assert [(run.system, run.budget_usd) for run in runs] == [("assistant@v3", 1.0), ("assistant@v4", 1.0)]
    assert len({run.launch_id for run in runs}) == 1
    listed = ed.get(at("runs", people)).content.decode()
    assert "assistant@v3" in listed
    assert "assistant@v4" in ed.get(at("run", people, runs[1].pk)).content.decode()


def test_a_try_is_of_one_version(people: Cast, ed: Client, sent: dict[str, Any], ids: dict[str, int]) -> None:
    answer = ed.post(at("run_new", people), sent | {"systems": [ids["v3"], ids["v4"]], "try": "3"})
    assert answer.status_code == 302
    run = Run.objects.get()
    assert (run.system, run.run_items.count()) == ("assistant@v4", 3)


def test_run_again_ticks_the_version_of_the_run(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    run = world.planned("v3")
    page = " ".join(ed.get(at("run_new", people), {"again": run.pk}).content.decode().split())
    assert f'value="{ids["v3"]}" id="id_systems_0" checked' in page
    assert f'value="{ids["v4"]}" id="id_systems_1" checked' not in page


def test_answers_of_no_named_system_are_named_so_and_ticked_again(
    people: Cast, ed: Client, sent: dict[str, Any], ids: dict[str, int]
) -> None:
    plain = [
        {"id": "plain", "submission": "Paris."},
        {"id": "v4", "submission": "P.", "system": "assistant@v4"},
    ]
    dataset = factories.dataset(people.team, people.ed, name="some named", items=plain)
    [unnamed] = SystemVersion.objects.filter(system__team=people.team, system__name="")
    body = sent | {"dataset": dataset.pk, "systems": [unnamed.pk, ids["v4"]], "name": "Nightly"}
    listed = ed.post(at("run_new", people), body, follow=True).content.decode()
    assert "2 runs have started: no system named, assistant@v4." in listed
    first = Run.objects.get(system_version=None)
    assert first.name == "Nightly · no system named"
    page = " ".join(ed.get(at("run_new", people), {"again": first.pk}).content.decode().split())
    assert f'value="{unnamed.pk}" id="id_systems_0" checked' in page
    assert f'value="{ids["v4"]}" id="id_systems_1" checked' not in page


def test_two_versions_are_compared_from_the_page_of_their_dataset(people: Cast, sign_in) -> None:
    world = versions(people)
    bob, slug = sign_in(people.bob), people.team.slug
    page = bob.get(reverse("dataset", args=[slug, world.dataset.pk])).content.decode()
    assert re.findall(r'<option value="([^"]+)" selected>', page)[-2:] == ["assistant@v4", "assistant@v3"]
    url = reverse("versions_against", args=[slug, world.dataset.pk])
    asked = {"version": "assistant@v4", "baseline": "assistant@v3"}
    missing = bob.get(url, asked)
    assert "Neither assistant@v4 nor assistant@v3 has a finished run" in missing.content.decode()
    older, newer = world.run_over("v3"), world.run_over("v4")
    diff = reverse("run_diff", args=[slug, newer.pk, older.pk])
    assert bob.get(url, asked).url == diff
    settings = " ".join(bob.get(diff).content.decode().split())
    assert "the same rubric, judge and autograder. What differs is the answers" in settings
    unknown = bob.get(url, {"version": "assistant@v9", "baseline": "assistant@v3"}).content.decode()
    assert "no system version &#x27;assistant@v9&#x27;" in unknown
    assert bob.get(url).status_code == 200


def test_a_baseline_of_no_named_system_is_called_the_baseline(people: Cast, sign_in) -> None:
    rows = [
        {"case_id": "c1", "prompt": "Where?", "submission": "Paris."},
        {"case_id": "c1", "prompt": "Where?", "submission": "P.", "system": "assistant@v4"},
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="some named")
    version = factories.version(people.team, people.ed)
    older, newer = (
        grade(
            factories.run(
                people.team, people.ed, dataset=dataset, rubric_version=version, item_ids=[item.pk]
            ),
            InProcessJudge(lambda requirement, response: "MET"),
        )
        for item in dataset.items.order_by("position")
    )
    url = at("run_diff", people, newer.pk, older.pk)
    page = re.sub(r"</?strong>", "", " ".join(sign_in(people.bob).get(url).content.decode().split()))
    assert "assistant@v4 against the baseline, paired by case over 1 case of some named." in page
    assert "Positive = assistant@v4 is better; several answers" in page
