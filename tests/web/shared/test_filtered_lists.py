"""Lists that a form narrows: of what is swapped a screen reader hears one sentence, not the whole list."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

ITEMS = [{"id": key, "submission": f"It is in {key}."} for key in ("Lyon", "Lille", "Nice")]


@pytest.fixture
def addresses(people: Cast) -> dict[str, str]:
    """By the id of what is swapped: two rubrics, one dataset of three items, one run over it."""
    version = factories.version(people.team, people.ed, title="Places")
    factories.version(people.team, people.ed, title="Manners")
    dataset = factories.dataset(people.team, people.ed, name="Towns", items=ITEMS)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    slug = people.team.slug
    return {
        "rubrics": reverse("rubrics", args=[slug]),
        "datasets": reverse("datasets", args=[slug]),
        "items": reverse("dataset", args=[slug, dataset.pk]),
        "runs": reverse("runs", args=[slug]),
    }


def swapped(client: Client, address: str, **asked: str) -> str:
    return client.get(address, asked, headers={"HX-Request": "true"}).content.decode()


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("rubrics", {}, "2 rubrics shown"),
        ("rubrics", {"q": "places"}, "1 rubric shown"),
        ("rubrics", {"q": "none such"}, "0 rubrics shown"),
        ("datasets", {"q": "towns"}, "1 dataset shown"),
        ("items", {}, "3 items shown"),
        ("items", {"q": "lyon"}, "1 item shown"),
        ("runs", {"state": "finished"}, "1 run shown"),
        ("runs", {"state": "failed"}, "0 runs shown"),
    ],
)
def test_its_status_says_how_much_is_shown(people, sign_in, addresses, name, asked, told) -> None:
    bob = sign_in(people.bob)
    page = bob.get(addresses[name]).content.decode()
    before, _, after = page.partition('<span class="visually-hidden" id="shown" role="status"></span>')
    assert after.count(f'id="{name}"') == 1  # which is outside of what is swapped, as it must be to be heard
    assert f'id="{name}"' not in before
    (opening,) = re.findall(rf'<div[^>]* id="{name}"[^>]*>|<div id="{name}"[^>]*>', page)
    assert "aria-live" not in opening
    assert 'role="status" hx-swap-oob' not in page

    answer = swapped(bob, addresses[name], **asked)
    status = re.search(r'<span [^>]*id="shown" role="status" hx-swap-oob="morph">([^<]*)</span>', answer)
    assert status is not None
    assert status[1].split() == told.split()
