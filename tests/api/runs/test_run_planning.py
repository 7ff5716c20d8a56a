"""Starting and planning runs through the API: caps, the cache, samples, and what it would come to."""

from typing import Any

import pytest

from rubricweb.models import Run
from rubricweb.services.endpoints import endpoints
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast


@pytest.fixture
def ed(people: Cast, as_member: Any) -> ApiClient:
    client: ApiClient = as_member(people.ed)
    return client


@pytest.fixture
def body(people: Cast) -> dict[str, Any]:
    """A run over nine items by three criteria."""
    items = [{"id": f"i{number}", "submission": f"Paris {number}"} for number in range(9)]
    return {
        "dataset_id": factories.dataset(people.team, people.ed, items=items).pk,
        "rubric_version_id": factories.version(people.team, people.ed).pk,
        "judge": "offline",
    }


def endpoint(people: Cast, model: str) -> str:
    added = endpoints.add_endpoint(
        people.team, by=people.alice, name=model, base_url="http://127.0.0.1:9/v1", model=model
    )
    return f"endpoint-{added.pk}"


def test_a_plan_says_what_it_costs_and_stores_nothing(ed: ApiClient, people: Cast, body: Any) -> None:
    plan = ed.send("POST", "/runs/plan", body | {"judge": endpoint(people, "gpt-5-mini")})
    assert (plan["items"], plan["criteria_fewest"], plan["criteria_most"]) == (9, 3, 3)
    assert plan["new"] == {"low": 27, "high": 27}
    # Never asked before: 40 to 400 tokens an answer, at 2 dollars per million.
    assert plan["completion_tokens"] == {"low": 27 * 40, "high": 27 * 400}
    assert plan["cost_usd"]["high"] > 27 * 400 * 2 / 1e6
    assert (plan["unpriced"], plan["sampled"]) == ([], 9)
    assert [judge["price_source"] for judge in plan["judges"]] == ["list of 2026-11-28"]
    assert plan["month"]["cap_usd"] is None
    assert any("never asked here" in line for line in plan["basis"])
    assert not Run.objects.exists()


def test_a_plan_is_refused_where_the_run_would_be(ed: ApiClient, body: Any) -> None:
    assert ed.refused(422, "POST", "/runs/plan", body | {"judge": "nobody"})
    assert ed.refused(404, "POST", "/runs/plan", body | {"dataset_id": 10**6})


def test_a_sample_is_spread_over_the_dataset(ed: ApiClient, body: Any) -> None:
    assert ed.send("POST", "/runs/plan", body | {"sample": 3})["items"] == 3
    run = ed.send("POST", "/runs", body | {"sample": 3})
    rows = Run.objects.get(pk=run["id"]).run_items.order_by("item__position")
    assert [row.item.key for row in rows] == ["i1", "i4", "i7"]
    ed.refused(422, "POST", "/runs", body | {"sample": 3, "item_ids": [1]})


def test_chosen_items_must_be_of_the_dataset(ed: ApiClient, people: Cast, body: Any) -> None:
    other = factories.dataset(people.team, people.ed, name="other")
    foreign = other.items.values_list("pk", flat=True)[0]
    refused = ed.refused(422, "POST", "/runs", body | {"item_ids": [foreign]})
    assert refused["faults"][0]["place"] == "item_ids[0]"


def test_a_judge_without_a_price_needs_no_cap(ed: ApiClient, people: Cast, body: Any) -> None:
    body["judge"] = endpoint(people, "tiny")
    assert ed.send("POST", "/runs/plan", body)["unpriced"] == ["tiny"]
    refused = ed.refused(422, "POST", "/runs", body)
    assert refused["faults"][0]["place"] == "no_cap"
    ed.refused(422, "POST", "/runs", body | {"budget_usd": 1.0})
    assert ed.send("POST", "/runs", body | {"no_cap": True})["budget_usd"] is None


def test_what_a_run_may_cost_is_shown_with_it(ed: ApiClient, body: Any) -> None:
    run = ed.send("POST", "/runs", body | {"budget_usd": 2.5, "use_cache": False})
    assert (run["budget_usd"], run["use_cache"], run["mode"]) == (2.5, False, "live")
    ed.refused(422, "POST", "/runs", body | {"budget_usd": -1})
    ed.refused(422, "POST", "/runs", body | {"mode": "batch"})


def test_judges_come_with_their_price_and_whose_it_is(ed: ApiClient, people: Cast) -> None:
    endpoint(people, "gpt-5-mini")
    judges = {judge["name"]: judge for judge in ed.get("/judges")["items"]}
    mini = judges["gpt-5-mini"]
    assert (mini["input_usd_per_million"], mini["cached_input_usd_per_million"]) == (0.25, 0.025)
    assert (mini["output_usd_per_million"], mini["price_source"]) == (2.0, "list of 2026-11-28")
