"""The log of a run: equal lines are one with a count, and no line is lost."""

from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb.models import Run, RunEvent
from rubricweb.services.runs.events import EVENT_KINDS, TURNS, note
from tests import factories
from tests.factories import Cast


@pytest.fixture
def run(people: Cast) -> Run:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )
    RunEvent.objects.filter(run=run).delete()
    return run


def lines(run: Run) -> list[tuple[str, str, int]]:
    return list(RunEvent.objects.filter(run=run).values_list("kind", "message", "count"))


def test_equal_lines_within_a_minute_are_one_with_a_count_also_where_others_stand_between(run: Run) -> None:
    note(run.pk, "throttled", "429")
    note(run.pk, "retried", "500", 2)
    note(run.pk, "throttled", "429", 3)
    assert lines(run) == [("throttled", "429", 4), ("retried", "500", 2)]
    assert RunEvent.objects.get(kind="throttled").latest_at > RunEvent.objects.get(kind="retried").created_at


def test_what_became_of_a_run_stays_in_order_however_soon_it_comes_again(run: Run) -> None:
    note(run.pk, "paused", "Paused by Ed.")
    note(run.pk, "cached", "Used again.")
    note(run.pk, "paused", "Paused by Ed.")  # nothing became of the run in between
    note(run.pk, "resumed", "Resumed by Ed: 3 items to do.")
    note(run.pk, "cached", "Used again.")
    note(run.pk, "paused", "Paused by Ed.")
    assert lines(run) == [
        ("paused", "Paused by Ed.", 2),
        ("cached", "Used again.", 1),
        ("resumed", "Resumed by Ed: 3 items to do.", 1),
        ("cached", "Used again.", 1),
        ("paused", "Paused by Ed.", 1),
    ]
    assert set(EVENT_KINDS) > TURNS


def test_after_a_minute_a_line_of_its_own_begins(run: Run) -> None:
    note(run.pk, "throttled", "429")
    RunEvent.objects.filter(run=run).update(created_at=timezone.now() - timedelta(seconds=61))
    note(run.pk, "throttled", "429")
    assert lines(run) == [("throttled", "429", 1), ("throttled", "429", 1)]


def test_another_message_or_another_run_is_another_line(run: Run, people: Cast) -> None:
    other = factories.run(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, name="other"
    )
    note(run.pk, "throttled", "429")
    note(run.pk, "throttled", "429, waited 2 s")
    note(other.pk, "throttled", "429")
    assert lines(run) == [("throttled", "429", 1), ("throttled", "429, waited 2 s", 1)]


def test_any_text_can_be_a_message(run: Run) -> None:
    note(run.pk, "error", "a\0b" + "x" * 1000)
    [(_, message, _)] = lines(run)
    assert message == "ab" + "x" * 498


def test_a_kind_nobody_knows_is_refused_with_those_there_are(run: Run) -> None:
    with pytest.raises(ValueError, match="kind is 'boom'; allowed are started, imported, paused, "):
        note(run.pk, "boom", "…")
    assert all(meaning.endswith(".") for meaning in EVENT_KINDS.values())
