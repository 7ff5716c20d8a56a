"""What was said in calls is kept as long as the team says, and what it came to for ever."""

import uuid
import zlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb import tasks
from rubricweb.celery import app
from rubricweb.errors import Invalid
from rubricweb.models import PRUNED, JournalEntry, JudgeCall, Judgement, Run, RunItem
from rubricweb.services.teams import retention
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

NOW = timezone.now()


@pytest.fixture
def run(people: Cast) -> Run:
    """Nine calls, each with something said, made 10 days ago."""
    found = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed),
            rubric_version=factories.version(people.team, people.ed),
        ),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    Run.objects.filter(pk=found.pk).update(created_at=NOW - timedelta(days=11))
    aged(found, days=10)
    return found


def aged(run: Run, *, days: int) -> None:
    JudgeCall.objects.filter(run=run).update(
        created_at=NOW - timedelta(days=days), request=zlib.compress(b"{}"), reasoning="hm"
    )
    for call in JudgeCall.objects.filter(run=run):
        JudgeCall.objects.filter(pk=call.pk).update(content_key=uuid.uuid4())


def keeps(people: Cast, days: int | None) -> None:
    retention.change_retention(people.team, by=people.alice, days=days)


def test_old_calls_lose_what_was_said_and_keep_what_it_came_to(people: Cast, run: Run) -> None:
    before = list(Judgement.objects.filter(run=run).values("verdict", "reason").order_by("pk"))
    scores = list(RunItem.objects.filter(run=run).values_list("score", flat=True))
    keeps(people, 9)
    assert retention.prune(people.team, now=NOW, batch=4) == 9
    for call in JudgeCall.objects.filter(run=run):
        assert (call.request, call.reply, call.reasoning, call.content_key) == (None, "", "", None)
        assert (call.prompt_tokens, call.completion_tokens, call.cost_usd) == (100, 10, 0.001)
    assert list(Judgement.objects.filter(run=run).values("verdict", "reason").order_by("pk")) == before
    assert list(RunItem.objects.filter(run=run).values_list("score", flat=True)) == scores


def test_pruning_again_does_nothing_and_writes_no_second_line(people: Cast, run: Run) -> None:
    keeps(people, 9)
    assert retention.prune_all(now=NOW) == 9
    assert retention.prune_all(now=NOW) == 0
    [line] = JournalEntry.objects.filter(verb=PRUNED)
    assert (line.team, line.actor, line.detail["calls"]) == (people.team, None, 9)
    assert line.detail["before"] == (NOW - timedelta(days=9)).isoformat()


@pytest.mark.parametrize("days", [10, 11, None])
def test_calls_within_the_time_stay(people: Cast, run: Run, days: int | None) -> None:
    keeps(people, days)  # the calls are exactly ten days old: on the day itself they are still kept
    assert retention.prune_all(now=NOW) == 0
    assert JudgeCall.objects.filter(run=run, content_key=None).count() == 0


def test_what_is_left_over_is_due_next_time(people: Cast, run: Run) -> None:
    keeps(people, 1)
    # Three batches of two reach the limit of five.
    assert retention.prune(people.team, now=NOW, batch=2, at_most=5) == 6
    assert JournalEntry.objects.get(verb=PRUNED).detail["calls"] == 6
    assert retention.prune(people.team, now=NOW) == 3


def test_a_worker_goes_on_until_nothing_is_due(
    people: Cast, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeps(people, 1)
    other = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version)
    Run.objects.filter(pk=other.pk).update(created_at=NOW - timedelta(days=11))
    moved = list(JudgeCall.objects.filter(run=run).values_list("pk", flat=True)[:4])
    JudgeCall.objects.filter(pk__in=moved).update(run=other)
    monkeypatch.setattr(retention, "AT_MOST", 5)
    monkeypatch.setattr(app.conf, "task_always_eager", True)
    tasks.tidy()
    assert not JudgeCall.objects.exclude(request=None).exists()
    assert [line.detail["calls"] for line in JournalEntry.objects.filter(verb=PRUNED).order_by("pk")] == [
        5,
        4,
    ]


def test_a_killed_round_has_told_the_audit_log_what_it_pruned(
    people: Cast, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeps(people, 1)
    due = retention._due

    def killed(*asked: object) -> Iterator[list[int]]:
        yield next(due(*asked))
        raise KeyboardInterrupt

    monkeypatch.setattr(retention, "_due", killed)
    with pytest.raises(KeyboardInterrupt):
        retention.prune(people.team, now=NOW, batch=2)
    assert JournalEntry.objects.get(verb=PRUNED).detail["calls"] == 2


def test_another_teams_calls_are_not_touched(people: Cast, run: Run) -> None:
    retention.change_retention(people.other_team, by=people.charlie, days=1)
    assert retention.prune_all(now=NOW) == 0
    assert JudgeCall.objects.exclude(reply="").count() == 9


@pytest.mark.parametrize("days", [0, -1, retention.MAX_DAYS + 1])
def test_a_time_that_cannot_be_is_refused_with_its_place(people: Cast, days: int) -> None:
    with pytest.raises(Invalid) as refusal:
        keeps(people, days)
    assert refusal.value.faults[0].place == "keep_calls_days"
    people.team.refresh_from_db()
    assert people.team.keep_calls_days is None


def test_the_audit_log_tells_who_changed_the_time(people: Cast) -> None:
    keeps(people, 30)
    keeps(people, 30)
    keeps(people, None)
    lines = JournalEntry.objects.filter(verb__startswith="changed how long").order_by("pk")
    assert [(line.actor, line.detail["days"]) for line in lines] == [
        (people.alice, 30),
        (people.alice, "for ever"),
    ]
