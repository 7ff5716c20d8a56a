"""The demo team is made as people would make it, once, and whole or not at all."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict
from rubricweb.models import Item, Judgement, Review, ReviewState, Run, RunState, Team, User
from rubricweb.selectors.reviews import queues
from rubricweb.services import demo
from rubricweb.services.teams import teams
from tests.factories import Bells

pytestmark = pytest.mark.django_db


@pytest.fixture
def bells() -> Bells:
    return Bells()


def load(bells: Bells) -> Team:
    return demo.load_demo(enqueue=bells, now=timezone.now())


def test_demo_has_a_half_done_queue_and_one_for_whoever_signs_in(bells: Bells) -> None:
    team = load(bells)
    alice = User.objects.get(username="alice")
    rows = {row.queue.name: row for row in queues.queues(team, alice)}
    labelled = rows["Support replies, three raters"]
    # 32 replies × 3 raters are wanted; the label file holds 20 replies × 3 raters.
    assert (labelled.progress.submitted, labelled.progress.wanted) == (60, 96)
    assert not labelled.i_rate
    own = rows["Release notes, second opinion"]
    assert own.i_rate
    assert own.progress.mine_left == 10


def test_labels_are_reviews_with_the_reasons_of_the_file(bells: Bells) -> None:
    load(bells)
    assert set(Review.objects.values_list("state", flat=True)) == {ReviewState.SUBMITTED}
    # 20 replies × 9 criteria × 3 raters.
    assert Judgement.objects.filter(review__isnull=False).count() == 540
    assert Judgement.objects.exclude(reason="").exists()


def test_runs_are_started_and_rung_for_but_not_made_up(
    bells: Bells, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        load(bells)
    runs = list(Run.objects.all())
    assert {run.state for run in runs} == {RunState.RUNNING}
    assert set(bells.rung) == {run.pk for run in runs}
    assert Judgement.objects.filter(run__isnull=False).count() == 0
    # One per version of the assistant, and three over whole datasets.
    assert len(runs) == 4 + 3


def test_loading_twice_gives_the_same_team_untouched(bells: Bells) -> None:
    first = load(bells)
    before = Item.objects.count(), Run.objects.count(), User.objects.count()
    assert load(bells) == first
    assert (Item.objects.count(), Run.objects.count(), User.objects.count()) == before


def test_demo_is_loaded_whole_or_not_at_all(bells: Bells) -> None:
    teams.create_person("somebody", email="ed@example.org", proven=True)  # the demo's editor's address
    with pytest.raises(Conflict, match="ed@example"):
        load(bells)
    assert not Team.objects.exists()
    assert list(User.objects.values_list("username", flat=True)) == ["somebody"]


def test_somebody_already_here_is_taken_on(bells: Bells) -> None:
    ann = teams.create_person("ann", email="ann@elsewhere.example")
    team = load(bells)
    assert ann.memberships.get().team == team
    ann.refresh_from_db()
    assert ann.email == "ann@elsewhere.example"
