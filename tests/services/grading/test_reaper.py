"""What the reaper frees, for whom it notifies, and what it leaves alone."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from rubricweb.models import Run, RunEvent, RunItem, RunState, RunTally, Worker
from rubricweb.selectors.shared.workers import alive, start_command
from rubricweb.services.grading import leases
from rubricweb.services.grading.workers import reaper, registry
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps

HERE = socket.gethostname()
GONE = f"{HERE}:4194301"  # above any real process number


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def run(people: Cast) -> Run:
    return a_run(people, "capital answers", 3)


def a_run(people: Cast, name: str, items: int) -> Run:
    rows = [{"id": f"item {n}", "submission": f"Text {n}."} for n in range(items)]
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name=name, items=rows),
        rubric_version=factories.version(people.team, people.ed),
    )


def hold(run: Run, owner: str, now: datetime, items: int = 1) -> list[int]:
    return leases.claim(run, owner, now, items)


def tally(run: Run, owner: str, **fields: object) -> RunTally:
    month = timezone.now().date().replace(day=1)
    return RunTally.objects.create(run=run, team=run.team, worker=owner, month=month, **fields)


@pytest.fixture
def somebody() -> Iterator[str]:
    """The name of another living process of this machine."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield f"{HERE}:{process.pid}"
        process.communicate(b"\n")


# ── Wake-ups ────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_nobody_works_on_is_rung_for_as_at_its_start(people: Cast, now: datetime, settings) -> None:
    settings.GRADING_CHUNK_ITEMS = 2
    wake_ups = WakeUps()
    small, large, last = (a_run(people, name, n) for name, n in (("small", 3), ("large", 40), ("last", 3)))
    assert reaper.reap(enqueue=wake_ups, now=now) == [small.pk, large.pk]
    # Three items are two claims, forty are twenty; eight wake-ups are the most, and who comes sees the last
    # too.
    assert wake_ups.notified == [small.pk] * 2 + [large.pk] * 6
    registry.beat("one:1", 24, now)
    wake_ups = WakeUps()
    assert reaper.reap(enqueue=wake_ups, now=now) == [small.pk, large.pk, last.pk]
    # As many as could come, and no more than eight for one run.
    assert wake_ups.notified == [small.pk] * 2 + [large.pk] * 8 + [last.pk] * 2


def test_a_run_that_somebody_works_on_is_left_to_them(run: Run, somebody: str, now: datetime) -> None:
    hold(run, somebody, now)
    wake_ups = WakeUps()
    assert reaper.reap(enqueue=wake_ups, now=now) == []
    assert wake_ups.notified == []


def test_processes_that_stand_idle_are_called_to_help(
    people: Cast, somebody: str, now: datetime, settings
) -> None:
    """A worker that was started later gets no wake-up of a run that goes on: the reaper sends it one."""
    settings.GRADING_CHUNK_ITEMS = 2
    run = a_run(people, "large", 40)
    hold(run, somebody, now)
    registry.beat("one:1", 2, now)
    registry.beat("two:2", 2, now)
    registry.beat("silent:3", 9, now - timedelta(seconds=20))
    wake_ups = WakeUps()
    reaper.reap(enqueue=wake_ups, now=now)
    assert wake_ups.notified == [run.pk] * 3  # four processes that are alive, one of them busy


def test_while_all_processes_are_busy_bells_do_not_heap_up(
    people: Cast, somebody: str, now: datetime
) -> None:
    held, other = a_run(people, "held", 40), a_run(people, "other", 40)
    hold(held, somebody, now)
    registry.beat("one:1", 1, now)
    wake_ups = WakeUps()
    assert reaper.reap(enqueue=wake_ups, now=now) == [other.pk]
    assert wake_ups.notified == [other.pk]


def test_runs_that_are_not_running_hear_nothing(run: Run, now: datetime) -> None:
    lifecycle.pause_run(run, by=None)
    wake_ups = WakeUps()
    assert reaper.reap(enqueue=wake_ups, now=now) == []
    lifecycle.cancel_run(run, by=None, now=now)
    assert reaper.reap(enqueue=wake_ups, now=now) == []


def test_a_run_with_nothing_left_that_was_not_ended_is_ended(run: Run, now: datetime) -> None:
    """Its worker died between the last score and the end."""
    factories.all_graded(run)
    assert reaper.reap(enqueue=WakeUps(), now=now) == []
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_reaping_twice_frees_once(run: Run, now: datetime) -> None:
    hold(run, GONE, now)
    first, second = WakeUps(), WakeUps()
    reaper.reap(enqueue=first, now=now)
    reaper.reap(enqueue=second, now=now)
    assert first.notified == second.notified == [run.pk]
    assert RunEvent.objects.filter(run=run, kind="taken_over").count() == 1


def test_the_cost_of_a_sweep_does_not_grow_with_the_items(
    people: Cast, now: datetime, django_assert_num_queries
) -> None:
    a_run(people, "large", 300)
    # The assignments of silent reviewers (in a savepoint here), the running runs, who holds items, what is
    # set aside, what lacks its summary, who is alive, how much is free.
    with django_assert_num_queries(9):
        reaper.reap(enqueue=WakeUps(), now=now)


# ── Leases of the dead ───────────────────────────────────────────────────────────────────────────


def test_what_a_dead_process_of_this_machine_held_is_free_at_once_and_the_log_says_so(
    run: Run, somebody: str, now: datetime
) -> None:
    [its] = hold(run, GONE, now)
    [theirs] = hold(run, somebody, now)
    reaper.reap(enqueue=WakeUps(), now=now)
    assert RunItem.objects.get(pk=its).leased_by == ""
    assert RunItem.objects.get(pk=theirs).leased_by == somebody
    line = RunEvent.objects.get(run=run, kind="taken_over")
    assert line.message == f"{GONE} is gone; 1 item it held are free again."


@pytest.mark.parametrize(
    ("its_beat", "its_hosts_beat", "dead"),
    [
        (None, None, False),  # gave no sign ever: its leases run out by themselves
        (31, None, True),
        (29, None, False),
        (None, 31, True),
        (31, 29, False),  # the process is stuck or between two runs, its worker is there
        (29, 31, False),
        (31, 31, True),
    ],
)
def test_a_process_elsewhere_is_dead_when_every_sign_is_silent_for_half_a_minute(
    its_beat: int | None, its_hosts_beat: int | None, dead: bool, run: Run, now: datetime
) -> None:
    if its_beat is not None:
        tally(run, "far:7", beat_at=now - timedelta(seconds=its_beat))
    if its_hosts_beat is not None:
        registry.beat("far:1", 2, now - timedelta(seconds=its_hosts_beat))
    registry.beat("farther:1", 2, now)  # another host, though its name begins alike
    hold(run, "far:7", now)
    assert reaper.is_dead("far:7", now) is dead
    reaper.reap(enqueue=WakeUps(), now=now)
    assert RunItem.objects.filter(run=run, leased_by="far:7").exists() is not dead


def test_what_the_dead_had_set_aside_is_set_aside_no_more(run: Run, somebody: str, now: datetime) -> None:
    dead = tally(run, GONE, reserved_usd=0.5, in_flight=7, cost_usd=1.25, calls=9)
    alive = tally(run, somebody, reserved_usd=0.25, in_flight=3)
    reaper.reap(enqueue=WakeUps(), now=now)
    dead.refresh_from_db()
    alive.refresh_from_db()
    assert (dead.reserved_usd, dead.in_flight, dead.cost_usd, dead.calls) == (0.0, 0, 1.25, 9)
    assert (alive.reserved_usd, alive.in_flight) == (0.25, 3)


# ── Workers ──────────────────────────────────────────────────────────────────────────────────────


def test_a_worker_is_alive_for_three_beats_and_forgotten_after_a_day(db: None, now: datetime) -> None:
    registry.beat("one:1", 2, now - timedelta(seconds=14))
    registry.beat("two:2", 2, now - timedelta(seconds=16))
    registry.beat("old:3", 2, now - timedelta(hours=25))
    assert [worker.name for worker in alive(now)] == ["one:1"]
    assert registry.forget_silent(now) == 1
    assert set(Worker.objects.values_list("name", flat=True)) == {"one:1", "two:2"}


def test_a_beat_keeps_the_start_and_renews_the_rest(db: None, now: datetime) -> None:
    registry.beat("one:1", 2, now - timedelta(minutes=1))
    registry.beat("one:1", 4, now)
    [worker] = Worker.objects.all()
    assert (worker.processes, worker.beat_at) == (4, now)
    assert worker.started_at == now - timedelta(minutes=1)
    registry.sign_off("one:1")
    assert not Worker.objects.exists()


def test_the_command_that_starts_a_worker_is_that_of_this_deployment(settings) -> None:
    settings.CELERY_BROKER_URL = "filesystem://"
    assert start_command() == "rubricweb serve"
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:6379/0"
    assert start_command() == "celery -A rubricweb worker"
