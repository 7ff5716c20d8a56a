"""`rubricweb compare` on test cases is a look at the test split, which `rubricweb datasets split` lists."""

from tests.factories import Cast
from tests.worlds.halves import halves


def test_a_look_is_counted_said_and_listed(people: Cast, at_terminal) -> None:
    world = halves(people)
    run, bob = world.judged(), at_terminal(people.bob)
    assert "Looks" not in bob("datasets", "split", world.dataset.name).out
    said = " ".join(bob("compare", str(run.pk), "--queue", world.first.name).out.split())
    assert f"look 1 at the test split of {world.dataset}: what is claimed holds at 97.5%" in said
    listed = bob("datasets", "split", world.dataset.name).out
    assert "Looks at the test split: 1." in listed
    assert "97.50%" in listed
