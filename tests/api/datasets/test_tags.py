"""Tags of cases over the API."""

from rubricweb.models import Dataset
from tests import factories
from tests.factories import Cast


def items_of(dataset: Dataset) -> dict[str, int]:
    return dict(dataset.items.values_list("key", "pk"))


def test_cases_are_tagged_listed_and_found(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    ed, bob, at = as_member(people.ed), as_member(people.bob), f"/datasets/{dataset.pk}"
    items = items_of(dataset)
    assert bob.get(f"{at}/tags") == []
    assert [row["tags"] for row in bob.get(f"{at}/items")["items"]] == [[], [], []]
    asked = {"item_ids": [items["good"], items["bad"]], "add": ["Hard", "billing"]}
    made = ed.send("POST", f"{at}/tags", asked)
    assert made == {"cases": 2, "added": ["billing", "hard"], "removed": []}
    case_id = bob.get(f"/items/{items['bad']}")["case_id"]
    ed.send("POST", f"{at}/tags", {"case_ids": [case_id], "remove": ["billing"]})
    assert bob.get(f"{at}/tags") == [{"tag": "hard", "cases": 2}, {"tag": "billing", "cases": 1}]
    assert bob.get(f"/items/{items['good']}")["tags"] == ["billing", "hard"]
    assert bob.get(f"/cases/{case_id}")["tags"] == ["hard"]

    def keys(**asked: object) -> list[str]:
        return [row["key"] for row in bob.get(f"{at}/items", **asked)["items"]]

    assert keys(tag="HARD") == ["good", "bad"]
    assert keys(tag=["hard", "billing"]) == ["good"]
    assert keys(tag="absent") == []
    assert ed.send("PUT", f"/cases/{case_id}/tags", {"tags": ["New"]}) == {"tags": ["new"]}
    assert bob.get(f"/items/{items['bad']}")["tags"] == ["new"]
    assert bob.get(at)["version"] == 1


def test_wrong_tags_are_refused_with_their_place_and_change_nothing(people: Cast, as_member) -> None:
    dataset, other = (factories.dataset(people.team, people.ed, name=name) for name in ("one", "two"))
    ed, bob, at = as_member(people.ed), as_member(people.bob), f"/datasets/{dataset.pk}"
    good = {"item_ids": [items_of(dataset)["good"]]}
    for body, status in (
        (good, 422),
        ({"add": ["x"]}, 422),
        (good | {"add": ["a,b"]}, 422),
        (good | {"add": ["a\u0000"]}, 400),
        (good | {"add": ["x" * 61]}, 422),
        (good | {"add": [f"t{n}" for n in range(21)]}, 422),
        (good | {"add": ["x"], "remove": ["x"]}, 422),
        (good | {"add": "x"}, 422),
        (good | {"add": ["x"], "tags": ["x"]}, 422),
        ({"item_ids": [items_of(other)["good"]], "add": ["x"]}, 404),
        ({"case_ids": [other.cases.all()[0].pk], "add": ["x"]}, 404),
    ):
        ed.refused(status, "POST", f"{at}/tags", body)
    problem = ed.refused(422, "POST", f"{at}/tags", good | {"add": ["a,b"]})
    assert "without comma" in str(problem)
    bob.refused(403, "POST", f"{at}/tags", good | {"add": ["x"]})
    bob.refused(422, "GET", f"{at}/items", query={"tag": "x" * 61})
    case = f"/cases/{dataset.cases.all()[0].pk}/tags"
    ed.refused(422, "PUT", case, {})
    ed.refused(422, "PUT", case, {"tags": [""] * 21})
    ed.refused(404, "PUT", "/cases/999999/tags", {"tags": []})
    assert bob.get(f"{at}/tags") == []


def test_who_is_to_review_a_case_blind_is_told_no_tag(people: Cast, as_member) -> None:
    team, version = people.team, factories.version(people.team, people.ed)
    dataset = factories.dataset(team, people.ed)
    items, at = items_of(dataset), f"/datasets/{dataset.pk}"
    as_member(people.bob).refused(403, "POST", f"{at}/tags", {})
    as_member(people.alice).send("POST", f"{at}/tags", {"item_ids": list(items.values()), "add": ["hard"]})
    factories.queue(team, people.alice, dataset=dataset, rubric_version=version, raters=[people.ed])
    ed = as_member(people.ed)
    assert ed.get(f"/items/{items['good']}")["tags"] is None
    assert [row["tags"] for row in ed.get(f"{at}/items")["items"]] == [None] * 3
    assert (ed.get(f"{at}/items", tag="hard")["items"], ed.get(f"{at}/tags")) == ([], [])
    ed.refused(403, "PUT", f"/cases/{dataset.cases.all()[0].pk}/tags", {"tags": ["x"]})
    given = {"item_ids": [items["good"]], "add": ["hard"]}
    assert ed.send("POST", f"{at}/tags", given) == {"cases": 1, "added": ["hard"], "removed": []}
