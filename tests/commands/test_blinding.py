"""What a blind rater learns at the terminal of a cascade: nothing that its calls would tell."""

import importlib

import pytest
from django.utils import timezone

from rubricweb.management import console
from rubricweb.management.runs import grade_tables
from rubricweb.management.terminal.actor import Actor
from rubricweb.models import Run, User
from rubricweb.selectors.runs import results
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.blinding.two_worlds import CascadeWorld, cascade_world, in_both_worlds, told_apart


def said(
    capsys: pytest.CaptureFixture[str], people: Cast, viewer: User, *arguments: str, room: str = "runs"
) -> str:
    """What `rubricweb runs …`, or another room of it, prints as this person."""
    options = console.parser().parse_args(
        [room, *arguments, "--team", people.team.slug, "--user", viewer.username]
    )
    command = importlib.import_module(f"rubricweb.management.{options.module}")
    getattr(command, options.function)(options)
    shown = capsys.readouterr()
    return shown.out + shown.err


def summary(capsys: pytest.CaptureFixture[str], people: Cast, viewer: User, run: Run) -> str:
    """What `rubricweb grade` prints at its end."""
    grade_tables.print_summary(run, results.result(run, viewer=viewer), Actor(people.team, viewer))
    return capsys.readouterr().out


def plan(capsys: pytest.CaptureFixture[str], people: Cast, viewer: User, world: CascadeWorld) -> str:
    """What `rubricweb grade --plan` prints."""
    made = plan_run(
        people.team,
        dataset=world.dataset,
        rubric_version=world.version,
        viewer=viewer,
        now=timezone.now(),
        options=RunOptions(judge_id=world.large),
    )
    grade_tables.print_plan(made.forecast)
    return capsys.readouterr().out


def everything(
    capsys: pytest.CaptureFixture[str], people: Cast, viewer: User, unsure: bool
) -> dict[str, str]:
    world = cascade_world(people, unsure=unsure)
    found = {"plan": plan(capsys, people, viewer, world)}
    for form in ([], ["--json"]):
        found[f"list {form}"] = said(capsys, people, viewer, "list", *form)
        found[f"spending {form}"] = said(capsys, people, viewer, "show", *form, room="spending")
        found[f"retention {form}"] = said(capsys, people, viewer, "show", *form, room="retention")
        found[f"audit log {form}"] = said(capsys, people, viewer, "--limit", "500", *form, room="audit-log")
        found[f"inbox {form}"] = said(capsys, people, viewer, "list", "--decided", *form, room="adjudication")
        for run in world.runs:
            found[f"{run} show {form}"] = said(capsys, people, viewer, "show", str(run.pk), *form)
            if run != world.paused:  # which is watched until somebody resumes it
                found[f"{run} watch {form}"] = said(capsys, people, viewer, "watch", str(run.pk), *form)
    for run in world.runs:
        found[f"{run} summary"] = summary(capsys, people, viewer, run)
    return found


def test_no_command_tells_a_blind_rater_whether_a_cascade_went_on(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = in_both_worlds(lambda unsure: everything(capsys, people, people.alice, unsure))
    assert not told_apart(*looks)
    for place in (
        *("Cascade show []", "Cascade watch []", "Cascade summary", "Again show []"),
        *("plan", "spending []"),
    ):
        assert "withheld while you review blind" in looks[0][place], place


def test_who_does_not_rate_sees_what_a_cascade_asked(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = in_both_worlds(lambda unsure: everything(capsys, people, people.ed, unsure))
    told = {line.split(": ")[0] for line in told_apart(*looks)}
    assert {"plan", "Cascade show []", "Cascade watch ['--json']", "Broken show []", "Paused show []"} <= told
    assert {"Cascade summary", "Again summary", "spending []", "spending ['--json']"} <= told


def test_no_command_asks_failures_of_a_cascade_again_for_a_blind_rater(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    def retried(unsure: bool) -> dict[str, str]:
        world = cascade_world(people, unsure=unsure)
        terminal, run = terminal_of(people.team, people.alice, capsys), world.broken.pk
        one = f"id:{world.dataset.items.get(key='bad').pk}"
        commands = (("runs", "retry", run), ("runs", "retry", run, "--item", one), ("grade", "--resume", run))
        ended = {str(command): terminal(*command) for command in commands}
        assert all(one.code and "whether anything failed is not told" in one.err for one in ended.values())
        return {command: one.out + one.err for command, one in ended.items()}

    assert not told_apart(*in_both_worlds(retried))
