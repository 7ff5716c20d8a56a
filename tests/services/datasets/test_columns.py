"""Declared metadata columns: lists show them and are narrowed by them, by an index."""

import json

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, ItemFacet
from rubricweb.selectors.datasets.columns import Where, columns, read_where
from rubricweb.selectors.datasets.items import items, matching_ids
from rubricweb.selectors.runs import results
from rubricweb.services.datasets.columns import declare
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.selectors.labels.query_plans import first_plan

ROWS = [
    {"id": "a", "submission": "A.", "language": "de", "turns": 3, "ok": True},
    {"id": "b", "submission": "B.", "language": "de", "turns": 4, "ok": False},
    {"id": "c", "submission": "C.", "language": "en", "tags": ["x", "y"]},
    {"id": "d", "submission": "D."},
]


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, items=ROWS)


def keys(dataset: Dataset, people: Cast, where: Where, **asked: str) -> list[str]:
    return [item.key for item in items(dataset, viewer=people.ed, where=where, **asked).rows]


def test_a_list_is_narrowed_by_columns_all_of_which_must_hold(people: Cast, dataset: Dataset) -> None:
    declare(dataset, ["language", "turns"], by=people.ed)
    assert keys(dataset, people, [("language", "de")]) == ["a", "b"]
    assert keys(dataset, people, [("language", "de"), ("turns", "4")]) == ["b"]
    assert keys(dataset, people, [("language", "en"), ("turns", "4")]) == []
    assert keys(dataset, people, [("language", "de")], search="B") == ["b"]
    assert len(matching_ids(dataset, viewer=people.ed, where=[("language", "de")], most=10)) == 2
    page = items(dataset, viewer=people.ed)
    cells = [row.cells for row in page.rows]  # type: ignore[attr-defined]  # the selector gives them
    assert cells == [["de", "3"], ["de", "4"], ["en", ""], ["", ""]]
    assert [(one.name, one.values) for one in columns(dataset)] == [
        ("language", ("de", "en")),  # the most frequent first
        ("turns", ("3", "4")),
    ]


def test_items_that_come_later_are_found_too_and_other_columns_are_gone(
    people: Cast, dataset: Dataset
) -> None:
    declare(dataset, ["language", "turns"], by=people.ed)
    more = json.dumps([{"id": "e", "submission": "E.", "language": "fr"}]).encode()
    factories.add_items(dataset, by=people.ed, data=more, filename="more.json")
    dataset.refresh_from_db()
    assert keys(dataset, people, [("language", "fr")]) == ["e"]
    # Whoever read the dataset before others declared more columns keeps those.
    earlier = Dataset.objects.get(pk=dataset.pk)
    declare(dataset, ["language", "turns", "ok"], by=people.ed)
    factories.add_items(earlier, by=people.ed, data=more.replace(b'"e"', b'"f"'), filename="again.json")
    dataset.refresh_from_db()
    assert [one.name for one in columns(dataset)] == ["language", "turns", "ok"]
    # Where an earlier release had lost some, they can be declared again.
    Dataset.objects.filter(pk=dataset.pk).update(columns=dataset.columns[:2])
    declare(dataset, ["language", "turns", "ok"], by=people.ed)
    declare(dataset, ["language", "turns"], by=people.ed)
    assert keys(dataset, people, [("language", "fr")]) == ["e", "f"]
    assert columns(dataset)[0].values == ("de", "fr", "en")
    declare(dataset, ["turns"], by=people.ed)
    assert set(ItemFacet.objects.values_list("name", flat=True)) == {"turns"}
    declare(dataset, [], by=people.ed)
    assert not ItemFacet.objects.exists()


def test_what_is_no_column_is_refused(people: Cast, dataset: Dataset) -> None:
    for wanted in (["x"] * 2, [f"c{number}" for number in range(9)], [" "], ["a=b"], ["k" * 101]):
        with pytest.raises(Invalid):
            declare(dataset, wanted, by=people.ed)
    declare(dataset, ["language"], by=people.ed)
    assert read_where(dataset, ["", "language=a=b"]) == [("language", "a=b")]
    for said in ("language", "turns=3"):
        with pytest.raises(Invalid):
            read_where(dataset, [said])


def test_results_of_a_run_are_narrowed_alike(people: Cast, dataset: Dataset) -> None:
    declare(dataset, ["language"], by=people.ed)
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=factories.version(people.team, people.ed)
    )
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    page = results.run_items(run, viewer=people.ed, order="position", where=[("language", "de")])
    assert [row.item.key for row in page.rows] == ["a", "b"]
    english = results.listed_ids(run, viewer=people.ed, order="score", most=9, where=[("language", "en")])
    assert len(english) == 1


def test_a_narrowed_list_comes_by_the_index(people: Cast, dataset: Dataset) -> None:
    declare(dataset, ["language", "turns"], by=people.ed)
    where = [("language", "de"), ("turns", "4")]
    plan = first_plan(lambda: items(dataset, viewer=people.ed, where=where), ItemFacet._meta.db_table)
    assert "item_facet_value" in plan or "item_facet_once" in plan, plan
    assert "SCAN rubricweb_itemfacet" not in plan
