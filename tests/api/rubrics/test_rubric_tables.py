"""A rubric as a table through the API."""

from tests.api.client import upload
from tests.factories import Cast


def test_a_grid_becomes_a_rubric_of_choices(people: Cast, as_member) -> None:
    grid = "Criterion,Good (4),Poor (0)\nClaim,Clear,None\n"
    answer = as_member(people.ed).send("POST", "/rubrics/import", files={"file": upload(grid, "grid.csv")})
    assert [one["label"] for one in answer["criteria"][0]["options"]] == ["Poor", "Good"]


def test_a_version_is_written_as_the_table_it_is_read_from(people: Cast, as_member) -> None:
    ed, grid = (
        as_member(people.ed),
        "Criterion,Weight,Rating Name,Rating Points,Rating Name,Rating Points\nKind,2,no,0,yes,2\n",
    )
    version = ed.send("POST", "/rubrics/import", files={"file": upload(grid, "grid.csv")})
    table = ed.send("GET", f"/rubric-versions/{version['id']}/table")
    assert table["left_out"] == []
    again = ed.send("POST", "/rubrics/import", files={"file": upload(table["csv"], "again.csv")})
    told = [
        {key: one[key] for key in ("name", "requirement", "weight", "options")} for one in version["criteria"]
    ]
    assert told == [{key: one[key] for key in told[0]} for one in again["criteria"]]


def test_a_stale_draft_is_answered_with_the_fields_both_changed(people: Cast, as_member) -> None:
    ed, rae = as_member(people.ed), as_member(people.alice)
    entries = [
        {"id": "a", "weight": 1, "requirement": "Is kind."},
        {"id": "b", "weight": 1, "requirement": "Is short."},
    ]
    made = ed.send("POST", "/rubrics", {"title": "T", "criteria": entries})
    path = f"/rubrics/{made['id']}/draft"
    theirs = {"title": "T", "criteria": [{**entries[0], "weight": 5}, {**entries[1], "weight": 6}]}
    rae.send("PUT", path, {"draft": theirs, "revision": 0})
    mine = {"title": "T", "criteria": [{**entries[0], "weight": 9}, entries[1]]}
    refused = ed.refused(409, "PUT", path, {"draft": mine, "revision": 0})
    assert refused["detail"].startswith("Alice saved this draft meanwhile")
    assert "“Is kind.”: weight; “Is short.”: weight" in refused["detail"]
    assert refused["faults"] == [
        {"place": "criteria[0].weight", "found": "9", "allowed": "the saved draft says '5'"}
    ]
