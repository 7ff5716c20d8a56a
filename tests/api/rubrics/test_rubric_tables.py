"""A rubric as a table through the API."""

from tests.api.client import upload
from tests.factories import Cast


def test_a_grid_becomes_a_rubric_of_choices(people: Cast, as_member) -> None:
    grid = "Criterion,Good (4),Poor (0)\nClaim,Clear,None\n"
    answer = as_member(people.ed).send("POST", "/rubrics/import", files={"file": upload(grid, "grid.csv")})
    assert [one["label"] for one in answer["criteria"][0]["options"]] == ["Poor", "Good"]
