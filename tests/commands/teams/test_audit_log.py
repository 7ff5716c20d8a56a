"""`rubricweb audit-log`: who did what, in short and page by page."""

import json

from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast


def test_the_audit_log_is_read_newest_first_and_narrowed(people: Cast, at_terminal) -> None:
    version = factories.version(people.team, people.ed)
    factories.dataset(people.team, people.alice)
    bob = at_terminal(people.bob)
    newest = json.loads(bob("audit-log", "--limit", "1", "--json").out)
    assert (newest["actor"], newest["verb"], newest["kind"]) == ("Alice", "imported", "dataset")
    ended = bob("audit-log", "--actor", "ed", "--kind", "rubric version")
    assert f"Ed published rubric version {version}" in ended.out
    assert ended.out.count("\n") == 1
    more = bob("audit-log", "--limit", "2")
    assert (more.out.count("\n"), "There is more; --limit 4" in more.err) == (2, True)
    everything = bob("audit-log", "--limit", "2000")
    assert (everything.code, everything.err) == (0, "")
    nothing = bob("audit-log", "--actor", "rae", "--kind", "run")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing of that" in nothing.err


def test_filters_come_from_a_closed_list(people: Cast, at_terminal) -> None:
    bob = at_terminal(people.bob)
    kind = bob("audit-log", "--kind", "user")
    assert (kind.code, "review queue, rubric, rubric version, run" in kind.err) == (1, True)
    actor = bob("audit-log", "--actor", "charlie")
    assert (actor.code, "alice, ann, bob, ed, rae" in actor.err) == (1, True)


def test_what_somebody_wrote_cannot_steer_the_terminal(people: Cast, at_terminal) -> None:
    teams.add_member(people.team, teams.create_person("eve", name="Eve\x1b[2J\x9b31m"), 10, by=people.alice)
    for command in (["audit-log"], ["members", "list"]):
        ended = at_terminal(people.bob)(*command)
        assert "Eve\N{SYMBOL FOR ESCAPE}[2J\N{REPLACEMENT CHARACTER}31m" in ended.out
        assert not {"\x1b", "\x9b"} & set(ended.out + ended.err)


def test_more_lines_than_one_page_holds_are_read_on(people: Cast, at_terminal) -> None:
    for number in range(505):
        people.team.journal.create(verb="tried", target_kind="", detail={"n": number})
    ended = at_terminal(people.bob)("audit-log", "--limit", "503", "--json")
    numbers = [json.loads(line)["detail"]["n"] for line in ended.out.splitlines()]
    assert numbers == list(range(504, 1, -1))
