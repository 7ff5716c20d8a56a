"""Who is next when many are waiting."""

import pytest

from rubricweb.judges.turns import HEAD_START, QueueKey, Turns


def settled(*keys: QueueKey) -> Turns[str]:
    """Turns in which these keys have had their head start."""
    turns: Turns[str] = Turns()
    for queue_key in keys:
        turns.put(queue_key, ["early"] * HEAD_START)
    while turns:
        turns.next()
    return turns


def test_teams_take_turns_and_within_a_team_its_runs():
    turns = settled(("a", 1), ("a", 2), ("b", 9))
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


def test_a_new_run_is_ahead_of_its_team_for_its_first_questions():
    turns = settled(("a", 1))
    turns.put(("a", 1), ["large"] * 5000)
    turns.put(("a", 2), ["first"] * (HEAD_START + 2))
    turns.put(("a", 3), ["second"] * 5)
    assert [turns.next() for _ in range(HEAD_START)] == ["first"] * HEAD_START
    # Then the next new one, and what is left of the first in turn with the others.
    assert [turns.next() for _ in range(9)] == ["second"] * 5 + ["large", "first", "large", "first"]


def test_a_head_start_is_had_once_and_takes_no_turns_of_other_teams():
    turns = settled(("a", 1), ("b", 9))
    turns.put(("b", 9), ["b"] * 3)
    turns.put(("a", 2), ["a2"] * HEAD_START)
    assert [turns.next() for _ in range(6)] == ["b", "a2"] * 3
    while turns:
        turns.next()
    turns.put(("a", 1), ["a1"] * 2)
    turns.put(("a", 2), ["a2"] * 2)
    assert [turns.next() for _ in range(4)] == ["a1", "a2"] * 2


def test_a_cleared_queue_gives_back_what_waited_in_it():
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


def test_what_is_set_aside_uses_up_no_turn_and_comes_back_first():
    turns = settled(("a", 1), ("a", 2), ("b", 9))
    turns.put(("a", 1), ["held", "held too", "a1"])
    turns.put(("b", 9), ["b9"])
    held = []

    def waits(thing: str) -> bool:
        if thing.startswith("held"):
            held.append(thing)
        return thing.startswith("held")

    turns.set_aside(waits)
    assert (held, len(turns)) == (["held", "held too"], 2)
    assert turns.next() == "a1"  # a's turn was not used up
    turns.put(("a", 1), ["a1'"])
    turns.put(("a", 1), held, first=True)
    assert [turns.next() for _ in range(4)] == ["b9", "held", "held too", "a1'"]


def test_a_queue_all_of_which_is_set_aside_leaves_the_turn_to_the_next():
    turns = settled(("a", 1), ("b", 9))
    turns.put(("a", 1), ["held"] * 2)
    turns.put(("b", 9), ["b9"])
    turns.set_aside(lambda thing: thing == "held")
    assert [turns.next(), len(turns)] == ["b9", 0]
    turns.set_aside(lambda thing: True)  # nothing is there
