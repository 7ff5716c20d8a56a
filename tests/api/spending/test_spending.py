"""Prices, the month's cap and retention by the API: what the pages of the settings do."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.judges.prices.shipped import AS_OF
from rubricweb.models import JournalEntry, ModelPrice, RunTally
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.endpoints import endpoints
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast

PRICE: dict[str, Any] = {
    "model": "vendor/ours-1",
    "input_usd_per_million": 1.5,
    "cached_input_usd_per_million": 0.25,
    "output_usd_per_million": 3.0,
}


@pytest.fixture
def alice(people: Cast, as_member) -> ApiClient:
    return as_member(people.alice)


def test_a_shipped_price_is_told_with_its_day(people: Cast, alice: ApiClient) -> None:
    about = {"by": people.alice, "name": "Mini", "base_url": "https://judge.example/v1"}
    endpoints.add_endpoint(people.team, **about, model="gpt-5-mini")
    [line] = alice.get("/prices")["items"]
    assert line["shipped_as_of"] == AS_OF.isoformat()
    assert line["price_source"] == f"list of {AS_OF:%Y-%m-%d}"


def test_a_price_is_set_shown_and_forgotten(people: Cast, alice: ApiClient, as_member) -> None:
    endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="Ours",
        base_url="https://judge.example/v1",
        model="vendor/ours-1",
    )
    bob = as_member(people.bob)
    [line] = bob.get("/prices")["items"]
    assert (line["price"], line["price_source"], line["endpoints"]) == (None, "", ["Ours"])
    price = alice.send("PUT", "/prices", PRICE)
    assert price == {name: usd for name, usd in PRICE.items() if name != "model"}
    [line] = bob.get("/prices")["items"]
    assert (line["price"], line["price_source"], line["shipped"]) == (price, "team", None)
    assert line["updated_at"] is not None
    assert line["shipped_as_of"] is None  # nor is there a day where nothing is listed
    # Set again without it, the cached price is none.
    without = {name: value for name, value in PRICE.items() if name != "cached_input_usd_per_million"}
    assert alice.send("PUT", "/prices", without)["cached_input_usd_per_million"] is None
    gone = alice.call("DELETE", "/prices", query={"model": "vendor/ours-1"})
    assert (gone.status_code, ModelPrice.objects.exists()) == (204, False)
    alice.refused(404, "DELETE", "/prices", query={"model": "vendor/ours-1"})


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"model": " "}, "model"),
        ({"model": "m" * 201}, "model"),
        ({"input_usd_per_million": -1}, "input_usd_per_million"),
        ({"output_usd_per_million": 1_000_001}, "output_usd_per_million"),
        ({"cached_input_usd_per_million": "cheap"}, "cached_input_usd_per_million"),
    ],
)
def test_what_is_no_price_is_refused_at_its_place(
    alice: ApiClient, changed: dict[str, Any], place: str
) -> None:
    [fault] = alice.refused(422, "PUT", "/prices", PRICE | changed)["faults"]
    assert fault["place"] == place
    assert not ModelPrice.objects.exists()


def test_the_month_is_told_run_by_run_against_its_cap(people: Cast, alice: ApiClient, as_member) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    month = month_of(timezone.now())
    for name, usd in (("cheap", 0.5), ("dear", 1.25)):
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name=name)
        RunTally.objects.create(
            run=run, team=run.team, worker="w:1", month=month, calls=10, cached=3, cost_usd=usd
        )
        RunTally.objects.create(
            run=run, team=run.team, worker="w:1", month=datetime(2020, 1, 1, tzinfo=UTC), cost_usd=9.0
        )
    seen = alice.send("PATCH", "/spending", {"monthly_budget_usd": 5})
    assert as_member(people.bob).get("/spending") == seen
    assert (seen["month"], seen["monthly_budget_usd"]) == (month.isoformat(), 5.0)
    # 0.5 + 1.25 of 5; what another month cost does not count.
    spent = seen["spending"]
    assert (spent["spent_usd"], spent["left_usd"], round(spent["share"], 9)) == (1.75, 3.25, 0.35)
    assert [(row["run"]["name"], row["cost_usd"], row["calls"], row["cached"]) for row in seen["runs"]] == [
        ("dear", 1.25, 10, 3),
        ("cheap", 0.5, 10, 3),
    ]
    # Calls that were cut off count with what they cost at most: 1.75 and 0.75 of 5.
    RunTally.objects.filter(run__name="cheap", month=month).update(lost_calls=4, lost_at_most_usd=0.75)
    seen = as_member(people.bob).get("/spending")
    spent = seen["spending"]
    assert (spent["spent_usd"], spent["lost_calls"], spent["lost_at_most_usd"]) == (1.75, 4, 0.75)
    assert (spent["left_usd"], spent["share"]) == (2.5, 0.5)
    assert [(row["lost_calls"], row["lost_at_most_usd"]) for row in seen["runs"]] == [(0, 0.0), (4, 0.75)]
    run = seen["runs"][1]["run"]["id"]
    told = as_member(people.bob).get(f"/runs/{run}/progress")
    assert (told["cost_usd"], told["lost_calls"], told["lost_at_most_usd"]) == (9.5, 4, 0.75)
    seen = alice.send("PATCH", "/spending", {"monthly_budget_usd": None})
    spent = seen["spending"]
    assert (seen["monthly_budget_usd"], spent["left_usd"], spent["share"]) == (None, None, None)


def test_how_long_calls_are_kept_is_changed_and_in_the_audit_log(
    people: Cast, alice: ApiClient, as_member
) -> None:
    bob = as_member(people.bob)
    assert bob.get("/retention") == {"keep_calls_days": None, "rounds": []}
    assert alice.send("PATCH", "/retention", {"keep_calls_days": 30})["keep_calls_days"] == 30
    assert bob.get("/retention")["keep_calls_days"] == 30
    assert JournalEntry.objects.filter(team=people.team, detail={"days": 30}).count() == 1


@pytest.mark.parametrize("value", [-1, "much", []])
@pytest.mark.parametrize(
    ("path", "field"), [("/spending", "monthly_budget_usd"), ("/retention", "keep_calls_days")]
)
def test_a_limit_that_cannot_be_is_refused_at_its_place(
    alice: ApiClient, path: str, field: str, value: Any
) -> None:
    [fault] = alice.refused(422, "PATCH", path, {field: value})["faults"]
    assert fault["place"] == field
    # What is to change must be named: nothing is not "no cap".
    assert [fault["found"] for fault in alice.refused(422, "PATCH", path, {})["faults"]] == ["nothing"]


def test_what_a_run_may_cost_is_changed_and_taken_away(people: Cast, as_member, world) -> None:
    ed = as_member(people.ed)
    path = f"/runs/{world.run.pk}"
    assert ed.send("PUT", f"{path}/budget", {"budget_usd": 2.5})["budget_usd"] == 2.5
    assert ed.get(path)["budget_usd"] == 2.5
    assert ed.send("PUT", f"{path}/budget", {"budget_usd": None})["budget_usd"] is None
    ed.refused(422, "PUT", f"{path}/budget", {"budget_usd": -1})
    assert ed.get(path)["budget_usd"] is None
