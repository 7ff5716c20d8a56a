"""A case over the API, with every answer to it."""

import pytest

from rubricweb.models import Case
from tests.factories import Cast
from tests.worlds.systems import versions


@pytest.fixture
def case(people: Cast) -> Case:
    world = versions(people)
    world.run_over("v3")
    world.run_over("v4")
    return Case.objects.get(dataset=world.dataset, key="c1")


def test_the_operation_tells_scores_and_verdicts_of_both(people: Cast, as_member, case: Case) -> None:
    shown = as_member(people.bob).get(f"/cases/{case.pk}")
    assert (shown["key"], shown["prompt"], shown["graded_alike"]) == ("c1", "Question c1?", True)
    assert [(one["system"], one["grading"]["score"]) for one in shown["answers"]] == [
        ("assistant@v3", 1.0),
        ("assistant@v4", 0.25),
    ]
    assert [[one["verdict"] for one in answer["verdicts"]] for answer in shown["answers"]] == [
        ["MET", "MET"],
        ["UNMET", "MET"],
    ]
    as_member(people.bob).refused(422, "GET", f"/cases/{case.pk}", query={"cursor": "made-up"})
