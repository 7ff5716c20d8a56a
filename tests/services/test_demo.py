"""The demo team is made as people would make it, once, and whole or not at all."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict
from rubricweb.models import Dataset, Item, Judgement, Review, ReviewState, Run, RunState, Team, User
from rubricweb.selectors.reviews import queues
from rubricweb.services import demo
from rubricweb.services.teams import teams
from tests.factories import WakeUps
from tests.worlds.remembered import remembered

pytestmark = pytest.mark.django_db


@pytest.fixture
def wake_ups() -> WakeUps:
    return WakeUps()


def load(wake_ups: WakeUps) -> Team:
    return demo.load_demo(enqueue=wake_ups, now=timezone.now())


def loaded(wake_ups: WakeUps) -> Team:
    """The demo, made once for those tests that only look at it."""
    return remembered("demo", lambda: load(wake_ups))


def test_demo_has_a_half_done_queue_and_one_for_whoever_signs_in(wake_ups: WakeUps) -> None:
    team = loaded(wake_ups)
    alice = User.objects.get(username="alice")
    rows = {row.queue.name: row for row in queues.queues(team, alice)}
    labelled = rows["Support replies, three raters"]
    # 32 replies × 3 raters are wanted; the label file holds 20 replies × 3 raters.
    assert (labelled.progress.submitted, labelled.progress.wanted) == (60, 96)
    assert not labelled.i_rate
    own = rows["Release notes, second opinion"]
    assert own.i_rate
    assert own.progress.mine_left == 10


def test_labels_are_reviews_with_the_reasons_of_the_file(wake_ups: WakeUps) -> None:
    loaded(wake_ups)
    assert set(Review.objects.values_list("state", flat=True)) == {ReviewState.SUBMITTED}
    # 20 replies × 9 criteria × 3 raters.
    assert Judgement.objects.filter(review__isnull=False).count() == 540
    assert Judgement.objects.exclude(reason="").exists()


def test_runs_are_started_and_notified_but_not_made_up(
    wake_ups: WakeUps, django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        load(wake_ups)
    runs = list(Run.objects.all())
    assert {run.state for run in runs} == {RunState.RUNNING}
    assert set(wake_ups.notified) == {run.pk for run in runs}
    assert Judgement.objects.filter(run__isnull=False).count() == 0
    assert sorted(run.system for run in runs) == [
        "",  # the release notes
        "assistant@v1",
        "assistant@v2",
        "assistant@v3",
        "assistant@v4",  # criterion by criterion with the others, and all criteria at once
        "assistant@v4",
    ]
    assert len({run.launch_id for run in runs if run.launch_id is not None}) == 1


def test_four_versions_answer_the_same_eight_cases(wake_ups: WakeUps) -> None:
    loaded(wake_ups)
    replies = Item.objects.filter(dataset__name="Support replies")
    assert (replies.count(), replies.values("case").distinct().count()) == (32, 8)
    assert set(replies.values_list("wording", flat=True)) == {1}
    assert {dataset.name for dataset in Dataset.objects.all()} == {"Support replies", "Release notes"}


def test_loading_twice_gives_the_same_team_untouched(wake_ups: WakeUps) -> None:
    first = load(wake_ups)
    before = Item.objects.count(), Run.objects.count(), User.objects.count()
    assert load(wake_ups) == first
    assert (Item.objects.count(), Run.objects.count(), User.objects.count()) == before


def test_demo_is_loaded_whole_or_not_at_all(wake_ups: WakeUps) -> None:
    teams.create_person("somebody", email="ed@example.org", proven=True)  # the demo's editor's address
    with pytest.raises(Conflict, match="ed@example"):
        load(wake_ups)
    assert not Team.objects.exists()
    assert list(User.objects.values_list("username", flat=True)) == ["somebody"]


def test_somebody_already_here_is_taken_on(wake_ups: WakeUps) -> None:
    ann = teams.create_person("ann", email="ann@elsewhere.example")
    team = load(wake_ups)
    assert ann.memberships.get().team == team
    ann.refresh_from_db()
    assert ann.email == "ann@elsewhere.example"
