"""A run over several answers to a case through the API: figures count cases, and it says so."""

import pytest

from tests.factories import Cast
from tests.worlds.attempts import attempts_run

pytestmark = pytest.mark.django_db


def test_a_run_its_summary_and_its_groups_say_that_cases_are_counted(people: Cast, as_member) -> None:
    run, client = attempts_run(people), as_member(people.bob)
    found = client.get(f"/runs/{run.pk}")
    assert (found["unit"], found["score"]["n"]) == ("case", 3)
    assert found["score"]["value"] == pytest.approx(7 / 12)
    summary = found["summary"]
    assert (summary["items"], summary["scored"], summary["cases"]) == (6, 6, 3)
    assert summary["score"] == found["score"]
    for groups in (found["groups"], summary["groups"]):
        assert [(one["unit"], one["score"]["n"]) for one in groups] == [("case", 3), ("case", 3)]
    fact, tone = found["criteria"]
    # Right in 3/4 of the answers to a, in none of b and that of c; 4 of 6 answers.
    assert (fact["met"], fact["unmet"], fact["rate"]["n"]) == (4, 2, 3)
    assert fact["rate"]["value"] == pytest.approx(7 / 12)
    assert [one["share"]["n"] for one in tone["options"]] == [3, 3]
