"""Archiving a team: refused while anything is under way in it, and afterwards nobody comes in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from rubricweb import access
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Combination,
    DatasetImport,
    JournalEntry,
    ReviewQueue,
    Role,
    Run,
    RunState,
    Team,
)
from rubricweb.selectors.teams import lookup
from rubricweb.services.combinations import combinations
from rubricweb.services.combinations.plans import AskedPart, CombinationRequest
from rubricweb.services.datasets import imports
from rubricweb.services.grading.workers import reaper
from rubricweb.services.reviews import queue_changes, queues
from rubricweb.services.runs import lifecycle
from rubricweb.services.shared import archiving, uploads
from rubricweb.services.teams import invitations, teams
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db


def archive(people: Cast) -> None:
    archiving.archive(people.team, by=people.alice, now=timezone.now())


def test_a_run_or_a_queue_under_way_is_named_and_keeps_the_team_open(people: Cast) -> None:
    about = {
        "dataset": factories.dataset(people.team, people.ed),
        "rubric_version": factories.version(people.team, people.ed),
    }
    run = factories.run(people.team, people.ed, **about)
    with pytest.raises(Conflict, match=f"Run {run.pk} is running: cancel it first, or wait"):
        archive(people)
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    queue = factories.queue(people.team, people.ed, raters=[people.ann], **about)
    queue_changes.pause_queue(queue, by=people.ed)
    with pytest.raises(Conflict, match="The review queue First look is paused: close it first"):
        archive(people)
    queues.close_queue(queue, by=people.ed)
    # What is under way in another team keeps nobody.
    others = factories.dataset(people.other_team, people.charlie)
    version = factories.version(people.other_team, people.charlie)
    factories.run(people.other_team, people.charlie, dataset=others, rubric_version=version)
    archive(people)
    assert Team.objects.get(pk=people.team.pk).archived_at is not None


def test_so_does_what_is_on_its_way_in(people: Cast) -> None:
    request = imports.ImportRequest(filename="items.jsonl")
    kept = uploads.keep(b'{"id": "a", "submission": "b"}\n')
    coming = imports.start(people.team, request, by=people.ed, upload_id=kept, enqueue=None)
    with pytest.raises(Conflict, match=r"The import of items\.jsonl has not ended: cancel it first"):
        archive(people)
    imports.cancel(coming, now=timezone.now())
    both = tuple(
        AskedPart(factories.dataset(people.team, people.ed, name=name), f"a@{name}") for name in ("v1", "v2")
    )
    combinations.start(people.team, CombinationRequest("Both", both), by=people.ed, enqueue=None)
    with pytest.raises(Conflict, match="Combining datasets to Both has not ended: cancel it first"):
        archive(people)
    assert people.team.archived_at is None


def test_nothing_begins_in_a_team_that_was_archived_since_it_was_read(people: Cast) -> None:
    about = {
        "dataset": factories.dataset(people.team, people.ed),
        "rubric_version": factories.version(people.team, people.ed),
    }
    kept = uploads.keep(b'{"id": "a", "submission": "b"}\n')
    both = tuple(
        AskedPart(factories.dataset(people.team, people.ed, name=name), f"a@{name}") for name in ("v1", "v2")
    )
    sent: dict[str, Any] = {"by": people.ed, "enqueue": None}
    archiving.archive(Team.objects.get(pk=people.team.pk), by=people.alice, now=timezone.now())
    begin: tuple[Callable[[], object], ...] = (
        lambda: factories.run(people.team, people.ed, **about),
        lambda: factories.queue(people.team, people.ed, raters=[people.ann], **about),
        lambda: imports.start(people.team, imports.ImportRequest("items.jsonl"), upload_id=kept, **sent),
        lambda: combinations.start(people.team, CombinationRequest("Both", both), **sent),
    )
    for one in begin:
        with pytest.raises(Conflict, match="is archived"):
            one()
    assert not any(model.objects.exists() for model in (Run, ReviewQueue, DatasetImport, Combination))


def test_archived_and_restored_stand_in_the_audit_log_once(people: Cast) -> None:
    archive(people)
    since = people.team.archived_at
    archive(people)
    assert people.team.archived_at == since
    with pytest.raises(
        Conflict, match=r"Capital quality is archived: it can be read and exported, and is ch"
    ):
        access.require_changeable(people.team)
    archiving.restore(people.team, by=people.alice)
    archiving.restore(people.team, by=people.alice)
    access.require_changeable(people.team)
    lines = JournalEntry.objects.filter(target_kind="team", verb__in=("archived", "restored")).order_by("pk")
    assert [(line.verb, line.actor) for line in lines] == [
        ("archived", people.alice),
        ("restored", people.alice),
    ]


def test_a_new_name_and_archiving_are_one_change(people: Cast) -> None:
    said = {"by": people.alice, "now": timezone.now(), "archived": True}
    with pytest.raises(Invalid, match="at most 120"):
        teams.change_team(people.team, name="x" * 121, **said)
    teams.change_team(people.team, name="Of last year", **said)
    people.team.refresh_from_db()
    assert (people.team.name, people.team.slug) == ("Of last year", "capitals")
    assert people.team.archived_at is not None


def test_an_invitation_of_before_lets_nobody_in_until_the_team_is_restored(people: Cast) -> None:
    secret = invitations.invite(
        people.team,
        "charlie",
        Role.VIEWER,
        by=people.alice,
        now=timezone.now(),
        link=lambda secret: secret,
    ).link
    assert secret is not None
    archive(people)
    with pytest.raises(Conflict, match="is archived"):
        invitations.accept(secret, user=people.charlie, now=timezone.now())
    archiving.restore(people.team, by=people.alice)
    membership = invitations.accept(secret, user=people.charlie, now=timezone.now())
    assert membership.team == people.team


def test_a_run_that_began_in_the_same_moment_is_graded_to_its_end(people: Cast) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )
    Team.objects.filter(pk=people.team.pk).update(archived_at=timezone.now())
    wake_ups = factories.WakeUps()
    reaper.reap(enqueue=wake_ups, now=timezone.now())
    assert wake_ups.notified == [run.pk]
    assert grade(run, InProcessJudge(lambda requirement, response: "MET")).state == RunState.FINISHED


def test_commands_without_a_team_mean_the_one_that_is_not_archived(people: Cast) -> None:
    with pytest.raises(Invalid, match="There are 2 teams; say which with --team"):
        lookup.team_called("")
    archive(people)
    assert lookup.team_called("") == people.other_team
    assert lookup.team_called("capitals") == people.team
    with pytest.raises(Invalid, match=r"Known: another, capitals \(archived\)"):
        lookup.team_called("x")
    archiving.archive(people.other_team, by=people.charlie, now=timezone.now())
    with pytest.raises(Invalid, match="There are 2 teams"):
        lookup.team_called("")
