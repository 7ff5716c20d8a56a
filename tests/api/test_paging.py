"""Every row once, whatever happens between two pages."""

import base64
import html
import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser

from rubricweb.selectors.shared.pages import CURSOR_CHARACTERS
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.api.client import ApiClient
from tests.factories import ITEMS, Cast
from tests.judging import InProcessJudge, grade


def pages(client: ApiClient, path: str, between: Any = lambda: None, **query: Any) -> list[Any]:
    """All items of a list, page by page; `between` is called after each page."""
    found: list[Any] = []
    cursor = None
    while True:
        page = client.get(path, **query, **({"cursor": cursor} if cursor else {}))
        assert len(page["items"]) <= query["limit"]
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
        assert page["items"], "a page with a following one is never empty"
        between()


def test_rows_added_between_pages_neither_double_nor_hide_others(people: Cast, as_member) -> None:
    before = {rubrics.create_rubric(people.team, by=people.ed, title=f"R{n}").pk for n in range(11)}

    def add() -> None:
        rubrics.create_rubric(people.team, by=people.ed, title="late")

    found = [row["id"] for row in pages(as_member(people.bob), "/rubrics", add, limit=3)]
    assert len(found) == len(set(found))
    assert before <= set(found)


def test_a_page_that_fits_exactly_is_the_last(people: Cast, as_member) -> None:
    for n in range(4):
        rubrics.create_rubric(people.team, by=people.ed, title=f"R{n}")
    assert as_member(people.bob).get("/rubrics", limit=4)["next_cursor"] is None


def test_queues_come_open_ones_first_and_each_once(people: Cast, as_member, world) -> None:
    made = [
        factories.queue(
            people.team,
            people.ed,
            dataset=world.dataset,
            rubric_version=world.version,
            raters=[people.ann],
            name=f"Q{n}",
        )
        for n in range(5)
    ]
    queues.close_queue(made[4], by=people.ed)

    def add(count: list[int] = [0]) -> None:  # noqa: B006 a counter for this test alone
        count[0] += 1
        factories.queue(
            people.team,
            people.ed,
            dataset=world.dataset,
            rubric_version=world.version,
            raters=[people.ann],
            name=f"late {count[0]}",
        )

    found = [row["id"] for row in pages(as_member(people.ann), "/queues", add, limit=2)]
    expected = [queue.pk for queue in reversed(made[:4])] + [world.queue.pk, made[4].pk]
    assert found == expected


def test_items_can_be_walked_in_every_order(people: Cast, as_member, world) -> None:
    bob = as_member(people.bob)
    path = f"/datasets/{world.dataset.pk}/items"
    walked = {
        sort: [row["key"] for row in pages(bob, path, limit=1, sort=sort)]
        for sort in ("position", "-position", "key", "-key")
    }
    keys = [item["id"] for item in ITEMS]
    assert walked == {
        "position": keys,
        "-position": keys[::-1],
        "key": sorted(keys),
        "-key": sorted(keys, reverse=True),
    }


def test_items_are_walked_on_when_the_last_of_a_page_is_retired(people: Cast, as_member, world) -> None:
    ed, dataset = as_member(people.ed), world.dataset
    path = f"/datasets/{dataset.pk}/items"
    for sort, expected in (("key", ["bad", "empty-ish", "good"]), ("position", ["good", "empty-ish"])):
        first = ed.get(path, limit=1, sort=sort)
        [last] = first["items"]
        assert last["key"] == expected[0]
        ed.send("POST", f"/datasets/{dataset.pk}/retire", {"item_ids": [last["id"]]})
        rest = ed.get(path, limit=3, sort=sort, cursor=first["next_cursor"])
        assert [row["key"] for row in rest["items"]] == expected[1:], sort


def test_run_items_come_worst_first_and_tied_ones_once(people: Cast, as_member, world) -> None:
    bob = as_member(people.bob)
    same = grade(
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    for run, sorts in ((world.run, ("score", "-score", "position", "errors")), (same, ("score", "errors"))):
        for sort in sorts:
            rows = pages(bob, f"/runs/{run.pk}/items", limit=1, sort=sort)
            assert sorted(row["key"] for row in rows) == ["bad", "empty-ish", "good"], sort
    # weights 10, 5, −15: bad 0/15, empty-ish 5/15, good 15/15.
    worst_first = [row["key"] for row in pages(bob, f"/runs/{world.run.pk}/items", limit=1, sort="score")]
    assert worst_first == ["bad", "empty-ish", "good"]


def test_the_inbox_page_by_page_while_it_is_decided(people: Cast, as_member, world) -> None:
    for rater in (people.ann, people.rae):
        client = as_member(rater)
        for _ in ITEMS:
            review = client.send("POST", f"/queues/{world.queue.pk}/next")
            for question in review["criteria"]:
                path = f"/reviews/{review['id']}/criteria/{question['criterion']['id']}"
                client.send("PUT", path, {"verdict": "UNMET"})
            client.send("POST", f"/reviews/{review['id']}/submit")
    rae = as_member(people.rae)
    query = {"run": world.run.pk, "queue": world.queue.pk}
    everything = pages(rae, "/adjudication", limit=200, **query)
    # People said UNMET to all nine; the judge said MET six times: good 2, bad 3, empty-ish 1.
    assert len(everything) == 6
    done: list[Any] = []

    def decide() -> None:
        row = everything[len(done)]
        path = f"/items/{row['item_id']}/criteria/{row['criterion']['id']}/adjudication"
        done.append(rae.send("PUT", path, {"verdict": "UNMET", "cause": "judge_wrong"}))

    assert pages(rae, "/adjudication", decide, limit=1, **query) == everything


def test_the_audit_log_is_walked_while_it_grows(people: Cast, as_member) -> None:
    alice = as_member(people.alice)
    expected = [entry["at"] for entry in alice.get("/audit-log", limit=200)["items"]]

    def write() -> None:
        rubrics.create_rubric(people.team, by=people.ed, title=str(timezone.now()))

    assert [entry["at"] for entry in pages(alice, "/audit-log", write, limit=2)] == expected


def test_a_list_costs_the_same_queries_for_one_row_as_for_many(
    people: Cast, as_member, world, django_assert_max_num_queries, settings
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 0  # the first request of a minute takes more queries to be counted
    bob, alice = as_member(people.bob), as_member(people.alice)
    bob.get("/me"), alice.get("/me")  # notes the use of the tokens once
    for n in range(8):
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
        factories.queue(
            people.team,
            people.ed,
            dataset=world.dataset,
            rubric_version=world.version,
            raters=[people.ann],
            name=f"Q{n}",
        )
        rubrics.create_rubric(people.team, by=people.ed, title=f"R{n}")
    for path in ("/runs", "/rubrics", "/datasets", f"/runs/{world.run.pk}/items", "/queues"):
        with django_assert_max_num_queries(9, info=path):  # two for the token, one counts what is archived
            bob.get(path)
    with django_assert_max_num_queries(6):  # two ask whether alice reviews blind
        alice.get("/audit-log")


def through_gunicorn(address: str) -> str:
    """The address as the web server hands it on. Raises LimitRequestLine for one it answers with 414."""
    request = next(
        RequestParser(Config(), iter([f"GET {address} HTTP/1.1\r\nHost: here\r\n\r\n".encode()]), None)
    )
    return str(request.uri)


LONG = "\U0001f5fc" * 187
"""Most of the 190 characters a key may have; in an address each takes twelve: %F0%9F%97%BC."""
LONG_ITEMS = [{"id": LONG + f"{n:03}", "submission": LONG} for n in range(60)]


@pytest.mark.parametrize("place", [[10**400, 1], [1, 10**400], [1e999, 1], ["x", 1], {}, None])
def test_a_cursor_that_is_made_up_is_refused(people: Cast, as_member, place: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")
    for path in ("/queues", "/adjudication", "/runs", "/audit-log"):
        problem = as_member(people.bob).refused(422, "GET", path, query={"cursor": cursor})
        assert "cursor" in problem["detail"], path
        assert [fault["place"] for fault in problem["faults"]] == ["cursor"], path


def test_the_cursor_of_long_keys_is_short_enough_for_the_web_server(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed, items=LONG_ITEMS)
    bob, path = as_member(people.bob), f"/datasets/{dataset.pk}/items"
    for sort, expected in (("key", LONG_ITEMS), ("-key", LONG_ITEMS[::-1])):
        found: list[str] = []
        query: dict[str, Any] = {"limit": 20, "sort": sort, "search": LONG}
        while query.get("cursor", "") is not None:
            through_gunicorn(f"/api/v1{path}?{urlencode(query)}")
            page = bob.get(path, **query)
            found += [row["key"] for row in page["items"]]
            query["cursor"] = page["next_cursor"]
            assert len(query["cursor"] or "") <= CURSOR_CHARACTERS
        assert found == [item["id"] for item in expected]


def test_the_link_to_the_next_page_of_long_keys_is_short_enough_too(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, items=LONG_ITEMS)  # 60 items: a page has 50
    browser: Client = sign_in(people.bob)
    page = reverse("dataset", args=[people.team.slug, dataset.pk])
    first = browser.get(through_gunicorn(f"{page}?{urlencode({'order': 'key', 'q': LONG})}"))
    [link] = re.findall(r'href="([^"]*)" rel="next"', first.content.decode())
    last = browser.get(through_gunicorn(page + html.unescape(link).removeprefix(page))).content.decode()
    assert [item["id"] in last for item in LONG_ITEMS] == [False] * 50 + [True] * 10


def test_a_page_refuses_a_search_that_leaves_no_room_for_a_cursor(people: Cast, sign_in, world) -> None:
    browser: Client = sign_in(people.bob)
    slug = people.team.slug
    for name, args in (("rubrics", [slug]), ("datasets", [slug]), ("dataset", [slug, world.dataset.pk])):
        page = reverse(name, args=args)
        assert browser.get(page, {"q": "a" * 200}).status_code == 200, page
        refused = browser.get(page, {"q": "a" * 201})
        assert refused.status_code == 400, page
        assert "Search for at most 200 characters, not 201." in refused.content.decode(), page
