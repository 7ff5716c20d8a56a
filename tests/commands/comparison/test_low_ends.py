"""At the terminal the low end stands beside every mean score; figures by tests/worlds/attempts.py."""

import pytest

from tests.factories import Cast
from tests.worlds.attempts import attempts_run, labelled_by_two, stricter_run

pytestmark = pytest.mark.django_db


def words(said: str) -> str:
    return " ".join(said.split())


def test_beside_people_s_mean(people: Cast, at_terminal) -> None:
    run, _ = labelled_by_two(people)
    said = words(at_terminal(people.bob)("compare", run.pk).out)
    # People's mean score by case: a (½ + ½ + 0 + ½)/4 = 3/8, b 1/8, c 3/8: 7/24.
    assert (
        "Plain mean score on 6 fully labelled items: people 0.29, lowest 0.00, 71% do not pass; the judge "
        "on the same 0.58, lowest 0.00, 42% do not pass; on all 0.58 ["
    ) in said


def test_beside_the_difference_of_two_runs(people: Cast, at_terminal) -> None:
    before = attempts_run(people)
    after = stricter_run(people, before)
    said = words(at_terminal(people.bob)("compare", after.pk, "--with", before.pk).out)
    # By case 3/4, 1/4 and 3/4 became (1/4 · 3 + 0)/4 = 3/16, 1/4 and 0.
    assert "Lowest 0.25 became 0.00. Do not pass: 42% [" in said
    assert "] became 100% [" in said
    assert "], +58% [−88%, 100%] of 3 cases. Any number of new outright failures" in said


def test_beside_the_mean_of_a_group(people: Cast, at_terminal) -> None:
    said = words(at_terminal(people.bob)("runs", "show", attempts_run(people).pk).out)
    assert said.count("of 3 cases, lowest 0.00") == 2
