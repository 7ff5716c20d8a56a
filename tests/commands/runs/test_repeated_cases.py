"""Several answers to a case at the terminal: figures count cases, and say so."""

import pytest

from tests.factories import Cast
from tests.worlds.attempts import attempts_run


@pytest.mark.django_db
def test_showing_a_run_says_of_how_many_cases_its_figures_are(people: Cast, at_terminal) -> None:
    said = " ".join(at_terminal(people.bob)("runs", "show", attempts_run(people).pk).out.split())
    assert "mean score 0.58 [" in said
    assert "of 3 cases, 6 items" in said
    assert "Facts 0.58 [" in said
    assert said.count("of 3 cases") == 3
