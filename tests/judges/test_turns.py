"""Who is next when many are waiting."""

import pytest

from rubricweb.judges.turns import Turns


def test_teams_take_turns_and_within_a_team_its_runs():
    turns = Turns()
    turns.put(("a", 1), ["a1", "a1'"])
    turns.put(("a", 2), ["a2"])
    turns.put(("b", 9), ["b9", "b9'", "b9''"])
    # a's runs share a's turns: a, b, a, b, a, b.
    assert [turns.next() for _ in range(6)] == ["a1", "b9", "a2", "b9'", "a1'", "b9''"]
    assert len(turns) == 0


def test_what_comes_later_does_not_wait_for_what_came_first():
    turns = Turns()
    turns.put(("a", 1), range(5000))
    turns.put(("b", 2), ["small"] * 5)
    taken = [turns.next() for _ in range(10)]
    assert taken.count("small") == 5


def test_a_cleared_lane_gives_back_what_waited_in_it():
    turns = Turns()
    turns.put(("a", 1), [1, 2])
    turns.put(("a", 2), [3])
    assert turns.clear(("a", 1)) == [1, 2]
    assert turns.clear(("a", 1)) == []
    assert len(turns) == 1
    assert turns.next() == 3


def test_nothing_waiting_is_said():
    turns = Turns()
    turns.put(("a", 1), [])
    with pytest.raises(IndexError, match="nothing is waiting"):
        turns.next()
