"""Pages of runs before somebody who is still to review their items blind: they tell nothing."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset, Item, Run
from rubricweb.services.reviews import queues
from rubricweb.services.runs.few_shot import FewShot
from tests import factories
from tests.factories import Cast
from tests.worlds.blinding.two_systems import SystemsWorld, systems_world
from tests.worlds.blinding.two_worlds import cascade_world

HTMX = {"HX-Request": "true"}
UNTOLD = "whose answers they are is not told"


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def selected(client: Client, people: Cast, dataset: Dataset, *items: Item) -> str:
    """The id of what was selected in the list of the dataset."""
    sent = {"item": [item.pk for item in items], "use": "run"}
    address = client.post(at("dataset_selection", people, dataset.pk), sent)["Location"]
    found = re.search(r"selection=([0-9a-f]{32})", address)
    assert found, address
    return found[1]


def form(world: SystemsWorld, selection: str, system: str) -> dict[str, Any]:
    version = world.dataset.items.filter(system_version__label=system)[0].system_version_id
    return {
        "selection": selection,
        "dataset": world.dataset.pk,
        "rubric_version": world.version.pk,
        "systems": [version],
        "autograder": "per_criterion",
        "judge": "offline",
        "reply_format": "json",
        "sent": "True",
    }


def test_the_launch_page_does_not_tell_a_blind_rater_whose_the_selected_answers_are(
    people: Cast, sign_in: Any
) -> None:
    world = systems_world(people, swapped=False)
    alice, ed, before = sign_in(people.alice), sign_in(people.ed), Run.objects.count()
    chosen = [world.draft.item, world.beside]
    selection = selected(alice, people, world.dataset, *chosen)
    for system in ("v3", "v4"):
        sent = form(world, selection, system)
        plan = alice.get(at("run_new", people), sent, headers=HTMX)
        assert UNTOLD in text(plan)
        # Both that were selected, and not how many of them are the version's.
        assert plan.context["plan"].items == 2
        for button in ({}, {"try": "3"}):
            refused = alice.post(at("run_new", people), sent | button)
            assert refused.status_code == 422
            assert UNTOLD in text(refused)
    assert Run.objects.count() == before
    told = ed.get(
        at("run_new", people), form(world, selected(ed, people, world.dataset, *chosen), "v3"), headers=HTMX
    )
    assert told.context["plan"].items == 1


def test_a_dry_run_of_a_blind_rater_is_over_answers_to_reviewed_cases(people: Cast, sign_in: Any) -> None:
    world = systems_world(people, swapped=False)
    started = sign_in(people.alice).post(at("run_new", people), form(world, "", "v3") | {"try": "3"})
    assert started.status_code == 302
    run = Run.objects.latest("pk")
    assert list(run.run_items.values_list("item__submission", flat=True)) == ["c2 first"]


def test_the_page_of_a_run_does_not_tell_a_blind_rater_how_many_items_are_examples(
    people: Cast, sign_in: Any
) -> None:
    version = factories.version(people.team, people.ed)
    dev = factories.dataset(people.team, people.ed, name="dev", items=[{"id": "dev", "submission": "Rome."}])
    labels = b"item_id,criterion,rater,verdict\ndev,capital,x,UNMET\n"
    factories.import_labels(dev, version, by=people.ed, data=labels, filename="labels.csv")
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=version,
        few_shot_from=FewShot(dev),
    )
    queue = factories.queue(
        people.team, people.ed, dataset=dev, rubric_version=version, raters=[people.alice]
    )
    page = at("run", people, run.pk)
    link = f'<a href="{at("dataset", people, dev.pk)}">another dataset</a>'
    assert f"up to 3 per criterion, from {link}" in text(sign_in(people.alice).get(page))
    assert f"up to 3 per criterion, from 1 item of {link}" in text(sign_in(people.ed).get(page))
    queues.close_queue(queue, by=people.ed)
    assert f"from 1 item of {link}" in text(sign_in(people.alice).get(page))


@pytest.mark.parametrize("unsure", [False, True])
def test_failures_of_a_cascade_cannot_be_retried_by_a_blind_rater_from_its_page(
    people: Cast, sign_in: Any, unsure: bool
) -> None:
    world = cascade_world(people, unsure=unsure)
    page, resume = (at(name, people, world.broken.pk) for name in ("run", "run_resume"))
    bad = world.dataset.items.get(key="bad").pk
    alice, ed = sign_in(people.alice), sign_in(people.ed)
    assert "Retry" not in text(alice.get(page))
    for sent in ({"item": bad}, {"kind": "timeout"}, {}):
        said = text(alice.post(resume, sent, follow=True))
        assert "so whether anything failed is not told" in said
        assert "Nothing is missing" not in said
    expected = "Working on 1 item." if unsure else "Nothing is missing in this run."
    assert expected in text(ed.post(resume, {"item": bad}, follow=True))
