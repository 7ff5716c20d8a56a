"""`rubricweb journal`: who did what, in short and page by page."""

import json

from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast


def test_the_journal_is_read_newest_first_and_narrowed(people: Cast, at_terminal) -> None:
    version = factories.version(people.team, people.ed)
    factories.dataset(people.team, people.alice)
    bob = at_terminal(people.bob)
    newest = json.loads(bob("journal", "--limit", "1", "--json").out)
    assert (newest["actor"], newest["verb"], newest["kind"]) == ("Alice", "imported", "dataset")
    ended = bob("journal", "--actor", "ed", "--kind", "rubric version")
    assert f"Ed published rubric version {version}" in ended.out
    assert ended.out.count("\n") == 1
    more = bob("journal", "--limit", "2")
    assert (more.out.count("\n"), "There is more; --limit 4" in more.err) == (2, True)
    everything = bob("journal", "--limit", "2000")
    assert (everything.code, everything.err) == (0, "")
    nothing = bob("journal", "--actor", "rae", "--kind", "run")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing of that" in nothing.err


def test_filters_come_from_a_closed_list(people: Cast, at_terminal) -> None:
    bob = at_terminal(people.bob)
    kind = bob("journal", "--kind", "user")
    assert (kind.code, "review queue, rubric, rubric version, run" in kind.err) == (1, True)
    actor = bob("journal", "--actor", "charlie")
    assert (actor.code, "alice, ann, bob, ed, rae" in actor.err) == (1, True)


def test_what_somebody_wrote_cannot_steer_the_terminal(people: Cast, at_terminal) -> None:
    teams.add_member(people.team, teams.create_person("eve", name="Eve\x1b[2J\x9b31m"), 10, by=people.alice)
    for command in (["journal"], ["members", "list"]):
        ended = at_terminal(people.bob)(*command)
        assert "Eve\N{SYMBOL FOR ESCAPE}[2J\N{REPLACEMENT CHARACTER}31m" in ended.out
        assert not {"\x1b", "\x9b"} & set(ended.out + ended.err)


def test_more_lines_than_one_page_holds_are_read_on(people: Cast, at_terminal) -> None:
    for number in range(505):
        people.team.journal.create(verb="tried", target_kind="", detail={"n": number})
    ended = at_terminal(people.bob)("journal", "--limit", "503", "--json")
    numbers = [json.loads(line)["detail"]["n"] for line in ended.out.splitlines()]
    assert numbers == list(range(504, 1, -1))
