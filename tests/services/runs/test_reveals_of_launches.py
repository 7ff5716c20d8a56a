"""A queue over several system versions stands beside the runs of a launch: each judged some of its items."""

import pytest
from django.utils import timezone

from rubricweb.models import Item, Review, ReviewQueue, Run, User
from rubricweb.selectors.adjudication.differing_units import scope
from rubricweb.selectors.adjudication.inbox import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.reviews.reveals import has_reveal, reveal
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.services.reviews import queues, reviews, revisions
from tests.factories import Cast
from tests.worlds.systems import Versions, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


@pytest.fixture
def launched(world: Versions) -> tuple[Run, Run]:
    return world.launched()


def queue_beside(world: Versions, run: Run | None) -> ReviewQueue:
    return world.queue(run=run)


def reviewed(queue: ReviewQueue, rater: User, key: str, verdict: str = "UNMET") -> Review:
    review = queues.start_review(queue, queue.dataset.items.get(key=key), rater)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=verdict, reason="no")
    reviews.submit(review, now=timezone.now())
    return review


def both_reviewed(queue: ReviewQueue, rater: User) -> dict[str, Review]:
    """Both answers to c1, by their keys: the judge stays hidden until the last of them is submitted."""
    return {key: reviewed(queue, rater, key) for key in ("c1@assistant@v3", "c1@assistant@v4")}


@pytest.mark.parametrize(
    ("key", "said"), [("c1@assistant@v3", ["MET", "MET"]), ("c1@assistant@v4", ["UNMET", "MET"])]
)
def test_each_item_reveals_what_the_run_over_its_version_said(
    people: Cast, world: Versions, launched: tuple[Run, Run], key: str, said: list[str]
) -> None:
    review = both_reviewed(queue_beside(world, launched[-1]), people.ann)[key]
    assert has_reveal(review)
    assert [[other.verdict for other in row.others] for row in reveal(review)] == [[one] for one in said]


def test_a_revision_counts_for_the_run_whose_judge_was_revealed(
    people: Cast, world: Versions, launched: tuple[Run, Run]
) -> None:
    older, newer = launched
    queue = queue_beside(world, newer)
    review = both_reviewed(queue, people.ann)["c1@assistant@v3"]
    fact = world.rubric_version.criteria.get(name="fact")
    revision = revisions.revise(review, fact.pk, choice="change", verdict="MET", reason="It is there.")
    assert (revision.run, revision.judge_verdict) == (older, "MET")
    found = revision_rates(older, [queue], viewer=people.bob)
    assert (found.reveals, found.overall.changed.value, found.overall.changed.n) == (True, 1.0, 1)
    assert revision_rates(newer, [queue], viewer=people.bob).overall.changed.n == 0


@pytest.mark.parametrize("named", [True, False])
def test_the_judges_of_all_versions_stand_beside_the_people_of_the_queue(
    people: Cast, world: Versions, launched: tuple[Run, Run], named: bool
) -> None:
    queue = queue_beside(world, launched[-1] if named else None)
    assert set(scope(people.team, people.ed, [queue]).runs) == set(launched)


def test_the_judge_is_held_against_people_over_all_versions_of_the_launch(
    people: Cast, world: Versions, launched: tuple[Run, Run]
) -> None:
    older, newer = launched
    queue = queue_beside(world, newer)
    both_reviewed(queue, people.ann)
    for run in launched:
        found = comparison.compare(run, [queue], viewer=people.bob)
        # Ann says UNMET four times; the judge MET, MET on v3's answer and UNMET, MET on v4's: one alike.
        assert ([one.pk for one in found.runs], found.units, found.judged) == ([older.pk, newer.pk], 4, 4)
        assert (found.overall.accuracy.value, found.of_other_systems) == (0.25, 0)
        assert "count them as one judge, over the answers of assistant@v3, assistant@v4" in found.together
        assert comparison.overview(run, [queue], viewer=people.bob).overall.n == 4
        # What people would say on average is asked of one version: five items, one of them labelled.
        assert (found.scores.estimate.items, found.scores.estimate.labelled.n) == (5, 1)


def test_answers_of_versions_the_run_was_not_over_are_left_out_and_counted(
    people: Cast, world: Versions
) -> None:
    alone = world.run_over("v4")
    queue = queue_beside(world, None)
    both_reviewed(queue, people.ann)
    found = comparison.compare(alone, [queue], viewer=people.bob)
    assert (found.units, found.judged, found.coverage, found.of_other_systems) == (2, 2, 1.0, 2)
    assert (found.overall.accuracy.value, found.together) == (0.5, "")


def test_the_inbox_of_a_run_lists_no_answers_it_was_not_over(people: Cast, world: Versions) -> None:
    alone = world.run_over("v4")
    queue = world.queue(raters=[people.ann, people.rae], raters_per_item=2)
    for rater, verdict in ((people.ann, "MET"), (people.rae, "UNMET")):
        for key in ("c1@assistant@v3", "c1@assistant@v4"):
            reviewed(queue, rater, key, verdict)
    # They differ on both criteria of both answers.
    assert len(inbox(scope(people.team, people.ed, [queue]))) == 4
    of_run = inbox(scope(people.team, people.ed, [queue], alone))
    assert [str(Item.objects.get(pk=row.item_id).system_version) for row in of_run] == ["assistant@v4"] * 2
