"""The pages of queues over the answers of some system versions."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import ReviewQueue, SystemVersion
from tests import factories
from tests.factories import Cast
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


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def sent(world: Versions, **more: Any) -> dict[str, Any]:
    return {
        "name": "New answers",
        "dataset": world.dataset.pk,
        "systems_of": world.dataset.pk,
        "rubric_version": world.rubric_version.pk,
        "kind": "all",
        "everyone": "on",
        "raters_per_item": 1,
    } | more


def test_the_newest_version_of_the_chosen_dataset_is_ticked(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    asked = {"dataset": world.dataset.pk}
    part = {"HX-Request": "true", "HX-Target": "systems"}
    for answer in (
        ed.get(at("queue_new", people), asked),
        ed.get(at("queue_new", people), asked, headers=part),
    ):
        page = text(answer)
        assert f'value="{ids["v4"]}" id="id_systems_1" checked' in page
        assert f'value="{ids["v3"]}" id="id_systems_0" checked' not in page
        assert "assistant@v3 (5 answers)" in page


def test_a_dataset_without_systems_asks_nobody_whose_answers(people: Cast, ed: Client) -> None:
    plain = factories.dataset(people.team, people.ed)
    assert "System versions" not in text(ed.get(at("queue_new", people), {"dataset": plain.pk}))


def test_the_ticked_versions_are_planned_opened_and_said(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    body = sent(world, systems=[ids["v4"]])
    planned = text(ed.post(at("queue_new", people), body | {"action": "plan"}))
    assert '<dt>Items</dt><dd class="num">5</dd>' in planned
    # Whoever is still to review its items blind is not told.
    opened = text(ed.post(at("queue_new", people), body, follow=True))
    assert "not told while you review blind" in opened
    queue = ReviewQueue.objects.get()
    assert [str(one) for one in queue.system_versions.all()] == ["assistant@v4"]


def test_who_may_know_reads_the_versions_of_a_queue(
    people: Cast, sign_in: Any, world: Versions, ids: dict[str, int]
) -> None:
    queue = world.queue(systems=[SystemVersion.objects.get(pk=ids["v4"])])
    ed, ann = sign_in(people.ed), sign_in(people.ann)
    told = '<dt>System versions</dt><dd class="wrap-anywhere">assistant@v4</dd>'
    assert told in text(ed.get(at("queue", people, queue.pk)))
    assert "answers of assistant@v4" in text(ed.get(at("queues", people)))
    assert "System versions: assistant@v4. Others are refused." in text(
        ed.get(at("queue_change", people, queue.pk))
    )
    for name, numbers in (("queue", [queue.pk]), ("queues", [])):
        assert "assistant@v4" not in text(ann.get(at(name, people, *numbers)))


def test_no_version_ticked_is_every_version(people: Cast, ed: Client, world: Versions) -> None:
    ed.post(at("queue_new", people), sent(world))
    queue = ReviewQueue.objects.get()
    assert (queue.system_versions.count(), queue.queue_items.count()) == (0, 10)


def test_versions_nobody_saw_are_asked_for_before_a_queue_opens(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    """As without scripts: the dataset is chosen, and no versions were on the page."""
    body = sent(world)
    del body["systems_of"]
    answer = ed.post(at("queue_new", people), body)
    assert (answer.status_code, ReviewQueue.objects.count()) == (422, 0)
    page = text(answer)
    assert "Choose whose answers of this dataset are reviewed." in page
    boxes = re.findall(r'<input type="checkbox" name="systems" value="(\d+)"([^>]*)>', page)
    assert [int(pk) for pk, attributes in boxes if "checked" in attributes] == [ids["v4"]]


@pytest.mark.parametrize("wrong", ["x", "9999999", "-1", "9" * 30])
def test_versions_without_answers_here_are_refused_beside_them(
    people: Cast, ed: Client, world: Versions, wrong: str
) -> None:
    answer = ed.post(at("queue_new", people), sent(world, systems=[wrong]))
    assert (answer.status_code, ReviewQueue.objects.count()) == (422, 0)
    assert "Select a valid choice" in text(answer)


@pytest.mark.parametrize("wrong", ["x", "", "-1", "9" * 30])
def test_a_dataset_nobody_has_offers_no_versions(people: Cast, ed: Client, wrong: str) -> None:
    part = {"HX-Request": "true", "HX-Target": "systems"}
    assert "System versions" not in text(ed.get(at("queue_new", people), {"dataset": wrong}, headers=part))


def test_selected_answers_of_other_versions_have_no_button(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    world.queue(systems=[SystemVersion.objects.get(pk=ids["v4"])])
    chosen = [item.pk for item in world.answers("v3")]
    page = text(
        ed.post(
            at("dataset_selection", people, world.dataset.pk), {"item": chosen, "use": "queue"}, follow=True
        )
    )
    assert "5 of other system versions" in page
    assert "/extend/" not in page


def test_a_queue_that_would_tell_who_answered_is_refused_in_its_form(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    world.queue(raters=[people.ed], name="Blind")
    for action in ({}, {"action": "plan"}):
        refused = ed.post(at("queue_new", people), sent(world, systems=[ids["v4"]], **action))
        assert refused.status_code == 422
        assert "so whose answers they are is not told" in text(refused)
        assert 'value="New answers"' in text(refused)
    assert not ReviewQueue.objects.filter(name="New answers").exists()


def test_a_form_says_that_one_version_cannot_be_hidden_and_offers_all(
    people: Cast, ed: Client, world: Versions, ids: dict[str, int]
) -> None:
    page = text(ed.get(at("queue_new", people), {"dataset": world.dataset.pk}))
    assert "With one version ticked reviewers can find out whose answers they review" in page
    plan = {"action": "plan", "systems": [ids["v4"]]}
    told = "All of these are answers of assistant@v4. Reviewers can find that out, blind or not"
    assert told in text(ed.post(at("queue_new", people), sent(world, **plan)))
    assert told not in text(ed.post(at("queue_new", people), sent(world, **plan, blind="none")))
    offered = ed.post(
        at("queue_new", people), sent(world, action="all-versions", systems=[ids["v4"]], name="Both")
    )
    page = text(offered)
    assert offered.status_code == 200
    assert f'value="{ids["v3"]}" id="id_systems_0" checked' in page
    assert f'value="{ids["v4"]}" id="id_systems_1" checked' in page
    assert 'value="Both"' in page
    assert not ReviewQueue.objects.exists()
    both = {"action": "plan", "systems": [ids["v3"], ids["v4"]]}
    assert "Reviewers can find that out" not in text(ed.post(at("queue_new", people), sent(world, **both)))
