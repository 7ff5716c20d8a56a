"""The palette and the page of the same search: what they find, for whom, and how much they read."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from rubricweb.models import Dataset
from rubricweb.selectors.search import FIRST_ITEMS, recent, search
from rubricweb.services.reviews import queues
from tests import factories
from tests.factories import Cast

HTMX = {"HX-Request": "true"}


def found(people: Cast, text: str, **asked: Any) -> list[tuple[str, str]]:
    return [(hit.kind, hit.name) for hit in search(people.team, text, viewer=people.ed, **asked)]


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    items = [
        {
            "id": "paris-1",
            "case_id": "paris",
            "prompt": "What is the capital?",
            "submission": "Of course Paris.",
        },
        {"id": "rome-1", "case_id": "rome", "prompt": "And of Italy?", "submission": "Rome."},
    ]
    return factories.dataset(people.team, people.ed, name="Answers of May", items=items)


def test_rows_of_every_kind_are_found_by_all_their_words(people: Cast, dataset: Dataset) -> None:
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="Nightly")
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Look"
    )
    assert found(people, "capitals") == [("rubric", "Capitals")]
    assert found(people, "may answers") == [
        ("dataset", "Answers of May"),
        ("run", "Nightly"),
        ("queue", "Look"),
    ]
    assert found(people, f"#{run.pk}", kinds=["run"]) == [("run", "Nightly")]
    assert found(people, "Italy", kinds=["item"]) == [("item", "2 And of Italy?")]
    assert found(people, "course") == [("item", "1 What is the capital?")]
    assert found(people, "paris") == [("case", "paris"), ("item", "1 What is the capital?")]
    assert found(people, "ann") == [("person", "Ann")]
    assert found(people, "nothing of that") == []
    assert [hit.kind for hit in recent(people.team)] == ["queue", "run", "rubric", "dataset"]


def test_what_begins_with_the_text_comes_first(people: Cast) -> None:
    for name in ("May answers", "Answers of May"):
        factories.dataset(people.team, people.ed, name=name)
    assert [name for _, name in found(people, "may", kinds=["dataset"])] == ["May answers", "Answers of May"]


def test_who_reviews_blind_finds_items_by_their_words_alone(people: Cast, dataset: Dataset) -> None:
    version = factories.version(people.team, people.ed)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ed, people.ann]
    )
    assert found(people, "paris-1") == []
    assert found(people, "paris") == [("item", "1 What is the capital?")]
    queues.close_queue(queue, by=people.ed)
    assert found(people, "paris-1") == [("item", "1 What is the capital?")]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads plans as SQLite writes them")
def test_no_search_reads_all_items_or_cases(people: Cast) -> None:
    many = factories.dataset(people.team, people.ed, name="Many")
    many.items.all().delete()
    many.cases.all().delete()
    factories.many_items(many, FIRST_ITEMS + 100, "Bern.")
    with CaptureQueriesContext(connection) as captured:
        search(people.team, "Bern item-3", viewer=people.ed)
    queries = [query["sql"] for query in captured.captured_queries]
    assert len(queries) < 30
    for sql in queries:
        with connection.cursor() as cursor:
            plan = [row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
        grows = [line for line in plan if line in ("SCAN rubricweb_item", "SCAN rubricweb_case")]
        assert not grows, (sql, plan)


def test_the_palette_and_the_page_show_the_same(people: Cast, sign_in, dataset: Dataset) -> None:
    ann, page = sign_in(people.ann), reverse("search", args=[people.team.slug])
    for headers in ({}, HTMX):
        shown = ann.get(page, {"q": "italy"}, headers=headers).content.decode()
        assert reverse("item", args=[people.team.slug, dataset.items.get(key="rome-1").pk]) in shown
    assert "Recent" in ann.get(page).content.decode()
    assert 'role="option"' in ann.get(page, headers=HTMX).content.decode()
    assert "Nothing is called" in ann.get(page, {"q": "zzz"}).content.decode()
    # Nobody is offered a page that does not open for them.
    names = [hit.name for hit, *_ in ann.get(page).context["found"][-1].rows]
    assert ("New run" in names, "Compare" in names) == (False, True)
    assert ann.get(page, {"q": "x" * 201}).status_code == 400
