"""Compare says which look at a test split it is; the page of the dataset lists them."""

from typing import Any

from django.urls import reverse

from rubricweb.selectors.datasets.looks import seal_of
from tests.factories import Cast
from tests.worlds.halves import halves


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_a_look_is_counted_shown_and_listed(people: Cast, sign_in) -> None:
    world = halves(people)
    bob, run, dev = sign_in(people.bob), world.judged(), world.judged("dev")
    address = reverse("compare", args=[people.team.slug])
    home = reverse("dataset", args=[people.team.slug, world.dataset.pk])
    assert "Look " not in text(bob.get(address, {"run": dev.pk, "queue": world.first.pk}))
    assert "Looks at the test split" not in text(bob.get(home))
    for _ in range(2):
        page = text(bob.get(address, {"run": run.pk, "queue": world.first.pk}))
        assert "Look 1 at the test split of" in page
        assert "holds at 97.5%" in page
    listed = text(bob.get(home))
    assert "1, of all people, rubrics and judges" in listed
    assert seal_of(world.dataset) in listed
