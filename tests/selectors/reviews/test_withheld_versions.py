"""An open blind audit of one system version withholds the figures of its runs, not those of others."""

import pytest

from rubricweb.models import Run
from rubricweb.selectors.blinding import hidden_runs, is_withheld
from rubricweb.selectors.dashboard import dashboard
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs.listing import runs
from tests.factories import Cast
from tests.worlds.systems import Versions, answer, run_of_before, versions

pytestmark = pytest.mark.django_db


def audited(world: Versions, version: str) -> None:
    """ann is to review the answers of one version blind."""
    world.queue(source=Source(kind="items", item_ids=tuple(item.pk for item in world.answers(version))))


def test_runs_over_other_versions_keep_their_figures(people: Cast) -> None:
    world = versions(people)
    old, new = world.run_over("v3"), world.run_over("v4")
    audited(world, "v3")
    listed = {row.run: row for row in runs(people.team, viewer=people.ann).rows}
    assert (listed[old].withheld, listed[old].summary) == (True, None)
    assert (listed[new].withheld, listed[new].summary.scored) == (False, 5)
    assert (is_withheld(old, people.ann), is_withheld(new, people.ann)) == (True, False)
    found = dashboard(people.team, people.ann)
    points = {point.run_id: (point.withheld, point.scored) for _, point in found.points}
    assert points == {old.pk: (True, None), new.pk: (False, 5)}
    # Somebody who rates nothing sees all ten.
    assert [point.scored for _, point in dashboard(people.team, people.bob).points] == [5, 5]


def test_equal_words_of_another_version_are_hidden_alike(people: Cast) -> None:
    world = versions(people, answer("v5", "c1", submission="v3 c1"), answer("v5", "c2", submission="other"))
    planned = [world.planned(label) for label in ("v3", "v4", "v5")]
    audited(world, "v3")
    hidden = hidden_runs(people.ann, people.team)
    assert [run in hidden for run in planned] == [True, False, True]


def test_a_run_over_several_versions_is_withheld_with_its_dataset(people: Cast) -> None:
    world = versions(people)
    both = run_of_before(world, "v4")
    audited(world, "v3")
    assert is_withheld(both, people.ann)


def test_the_condition_holds_of_the_same_runs(people: Cast) -> None:
    world = versions(people)
    made = [world.planned("v3"), world.planned("v4"), run_of_before(world, "v4")]
    assert not Run.objects.filter(hidden_runs(people.ann, people.team).condition).exists()
    audited(world, "v3")
    hidden = hidden_runs(people.ann, people.team)
    assert set(Run.objects.filter(hidden.condition)) == {run for run in made if run in hidden} != set(made)
