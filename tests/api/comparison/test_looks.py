"""Comparing a judge with people on test cases is a look at the test split."""

from tests.factories import Cast
from tests.worlds.halves import halves


def test_a_look_is_counted_shown_and_listed(people: Cast, as_member) -> None:
    world = halves(people)
    run, bob = world.judged(), as_member(people.bob)
    look = bob.get(f"/runs/{run.pk}/comparison", queue=world.first.pk)["look"]
    assert (look["number"], look["confidence"], look["looked_by"]) == (1, 0.975, "bob")
    assert (look["run"]["id"], look["items"], look["dataset"]["id"]) == (run.pk, 30, world.dataset.pk)
    assert as_member(people.ed).get(f"/datasets/{world.dataset.pk}/split")["looks"] == [look]
    dev = world.judged("dev")
    assert bob.get(f"/runs/{dev.pk}/comparison", queue=world.first.pk)["look"] is None
