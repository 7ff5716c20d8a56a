"""`rubricweb archive` and `rename` of endpoints, systems and teams; and every command in an archived team."""

from typing import Any

import pytest

from rubricweb.models import JournalEntry, JudgeEndpoint, Role, System, Team
from tests.commands.test_access import COMMANDS, names
from tests.factories import Cast
from tests.worlds.furnished import Furnished, at_rest

READS = {
    ("members", "invitations"),
    ("deletions",),
    ("gold", "show"),
    ("adjudication", "agreed"),
    ("queues", "sent-back"),
    ("shared-links", "list"),
}
GONE_ON = {
    ("endpoints", "remove"),
    ("members", "remove"),
    ("members", "withdraw"),
    ("shared-links", "revoke"),
}
"""Commands that take access away go on; so do `archive team`, `rename team` and `delete team`."""


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return at_rest(furnished)


def test_an_editor_renames_archives_and_restores_a_system(people: Cast, at_terminal) -> None:
    ed = at_terminal(people.ed)
    assert ed("rename", "system", "assistant", "helper").out == "It is called helper now.\n"
    system = System.objects.get(team=people.team, name="helper")
    said = ed("archive", "system", "helper").out
    assert said == f"helper is archived. Back: rubricweb archive system {system.pk} --restore\n"
    system.refresh_from_db()
    assert system.archived_at is not None
    assert ed("archive", "system", system.pk, "--restore").out == "helper is back in the lists.\n"
    assert at_terminal(people.rae)("archive", "system", "helper").code == 1


def test_an_owner_renames_archives_and_restores_an_endpoint(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    assert alice("rename", "endpoint", "local", "House model").out == "It is called House model now.\n"
    endpoint = JudgeEndpoint.objects.get(team=people.team)
    assert alice("archive", "endpoint", "House model").code == 0
    assert "House model" not in alice("endpoints", "list").out
    assert "House model" in alice("endpoints", "list", "--archived").out
    assert "House model" not in alice("judge", "list").out
    assert "archived" in alice("endpoints", "show", endpoint.pk).out
    assert alice("archive", "endpoint", endpoint.judge_id, "--restore").code == 0
    assert "No endpoint is archived." in alice("endpoints", "list", "--archived").err
    for command in (("archive", "endpoint", "House model"), ("rename", "endpoint", "House model", "Mine")):
        ended = at_terminal(people.ed)(*command)
        assert (ended.code, ended.out) == (1, "")
        assert "this needs an owner" in ended.err


def test_grading_with_an_archived_endpoint_says_what_to_do(
    furnished: Furnished, people: Cast, at_terminal
) -> None:
    alice = at_terminal(people.alice)
    alice("archive", "endpoint", "local")
    version, dataset = f"id:{furnished.ours['rubric_id']}", f"id:{furnished.ours['dataset_id']}"
    for judge in ("local", f"endpoint-{furnished.ours['endpoint_id']}"):
        ended = alice("grade", version, dataset, "--judge", judge)
        assert (ended.code, ended.out) == (1, "")
        assert "The endpoint local is archived: restore it first, or choose another." in ended.err


def test_an_owner_archives_and_restores_the_team(people: Cast, at_terminal) -> None:
    alice = at_terminal(people.alice)
    said = alice("archive", "team", "capitals").out
    assert said == "Capital quality is archived. Back: rubricweb archive team capitals --restore\n"
    assert at_terminal(people.ed)("archive", "team", "capitals", "--restore").code == 1
    assert alice("rename", "team", "capitals", "Of last year").code == 0
    assert alice("delete", "team", "capitals", "--plan").code == 0
    assert alice("archive", "team", "capitals", "--restore").out == "Of last year can be changed again.\n"
    assert Team.objects.get(pk=people.team.pk).archived_at is None


def test_in_an_archived_team_commands_read_and_change_nothing(
    furnished: Furnished, people: Cast, at_terminal
) -> None:
    alice = at_terminal(people.alice)
    alice("archive", "team", "capitals")
    last = JournalEntry.objects.latest("pk").pk
    for path, (role, arguments) in COMMANDS.items():
        if path in GONE_ON or path == ("tokens", "revoke"):
            continue
        said: Any = arguments.format(**names(furnished.ours)).split()
        ended = alice(*path, *said)
        is_refused = "Capital quality is archived: it can be read and exported" in ended.err
        assert is_refused == (role > Role.VIEWER and path not in READS), (path, ended)
    recorded = JournalEntry.objects.filter(pk__gt=last).values_list("verb", flat=True)
    # One's own token, and files that were read.
    assert set(recorded) <= {"created", "exported"}


@pytest.mark.parametrize("path", sorted(GONE_ON), ids=" ".join)
def test_what_takes_access_away_goes_on(
    path: tuple[str, ...], furnished: Furnished, people: Cast, at_terminal
) -> None:
    alice = at_terminal(people.alice)
    alice("archive", "team", "capitals")
    which = {
        "endpoints": "local",
        "members": "ann" if path[1] == "remove" else "a-newcomer",
        "shared-links": str(furnished.ours["link_id"]),
    }[path[0]]
    assert alice(*path, which).code == 0
