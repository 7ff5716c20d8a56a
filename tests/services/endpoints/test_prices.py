"""Whose price a judge has: the endpoint's own, the team's, the shipped list's, nobody's."""

from typing import Any

import pytest

from rubricweb.errors import Invalid, NotFound
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JournalEntry, JudgeEndpoint
from rubricweb.services.endpoints import endpoints, prices
from tests.factories import Cast, dataset, run, version

pytestmark = pytest.mark.django_db


def endpoint(people: Cast, model: str, **options: Any) -> str:
    """The id of a judge at a new endpoint."""
    added = endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name=f"at {model}",
        base_url="http://127.0.0.1:9/v1",
        model=model,
        **options,
    )
    return f"endpoint-{added.pk}"


def price_of(judge: JudgeConfig) -> tuple[float | None, float | None, float | None, str]:
    return (
        judge.input_usd_per_million,
        judge.cached_input_usd_per_million,
        judge.output_usd_per_million,
        judge.price_source,
    )


def test_an_endpoints_own_price_wins_over_the_teams_and_that_over_the_shipped_one(people: Cast) -> None:
    own = endpoint(people, "gpt-5", input_usd_per_million=1.0, output_usd_per_million=2.0)
    shared, listed, unknown = (endpoint(people, model) for model in ("gpt-4o", "gpt-5-mini", "tiny"))
    for model in ("gpt-5", "gpt-4o"):
        prices.set_price(
            people.team, by=people.alice, model=model, input_usd_per_million=3.0, output_usd_per_million=4.0
        )
    judges = endpoints.judges_of(people.team)
    assert price_of(judges[own]) == (1.0, None, 2.0, "endpoint")
    assert price_of(judges[shared]) == (3.0, None, 4.0, "team")
    assert price_of(judges[listed]) == (0.25, 0.025, 2.0, prices.SHIPPED)
    assert price_of(judges[unknown]) == (None, None, None, "")


def test_a_fallback_model_costs_what_it_costs_and_not_what_the_model_does(people: Cast) -> None:
    judge, odd, free = (
        endpoint(people, "gpt-5", fallback_model="gpt-5-nano"),
        endpoint(people, "gpt-5-mini", fallback_model="nobody-knows"),
        endpoint(people, "tiny", fallback_model="own", input_usd_per_million=0.0, output_usd_per_million=0.0),
    )
    judges = endpoints.judges_of(people.team)
    # A million in at 0.05 and a million out at 0.4.
    assert judges[judge].as_fallback().cost_usd(10**6, 10**6) == pytest.approx(0.45)
    assert judges[judge].as_fallback().model == "gpt-5-nano"
    assert judges[odd].as_fallback().cost_usd(1, 1) is None
    assert judges[free].as_fallback().cost_usd(1, 1) == 0.0
    prices.set_price(
        people.team, by=people.alice, model="gpt-5-nano", input_usd_per_million=1, output_usd_per_million=1
    )
    again = endpoints.judges_of(people.team)[judge]
    assert (again.cost_usd(10**6, 0), again.as_fallback().cost_usd(10**6, 0)) == (1.25, 1.0)


def test_another_teams_price_is_not_ours(people: Cast) -> None:
    judge = endpoint(people, "tiny")
    prices.set_price(
        people.other_team, by=people.charlie, model="tiny", input_usd_per_million=1, output_usd_per_million=1
    )
    assert endpoints.judges_of(people.team)[judge].price_source == prices.UNKNOWN


def test_a_run_keeps_the_price_it_started_with(people: Cast) -> None:
    judge = endpoint(people, "gpt-5-mini")
    started = run(
        people.team,
        people.ed,
        dataset=dataset(people.team, people.ed),
        rubric_version=version(people.team, people.ed),
        judge_id=judge,
    )
    prices.set_price(
        people.team, by=people.alice, model="gpt-5-mini", input_usd_per_million=9, output_usd_per_million=9
    )
    started.refresh_from_db()
    assert price_of(endpoints.loaded(started)) == (0.25, 0.025, 2.0, prices.SHIPPED)


def test_another_model_of_an_endpoint_has_a_price_of_its_own(people: Cast) -> None:
    judge = endpoint(people, "gpt-5", input_usd_per_million=1.0, output_usd_per_million=2.0)
    assert endpoints.choose_judge(people.team, judge, model="gpt-5-mini").output_usd_per_million == 2.0
    other = endpoints.choose_judge(people.team, judge, model="tiny")
    assert price_of(other) == (None, None, None, "")
    free = endpoints.choose_judge(people.team, endpoints.OFFLINE, model="other words")
    assert free.cost_usd(10**6, 10**6) == 0.0


def test_the_list_shows_what_judges_ask_and_what_the_team_set(
    people: Cast, django_assert_num_queries: Any
) -> None:
    for model in ("gpt-5-mini", "tiny"):
        endpoint(people, model)
    prices.set_price(
        people.team,
        by=people.alice,
        model="rare",
        input_usd_per_million=1.0,
        output_usd_per_million=2.0,
        cached_input_usd_per_million=0.5,
    )
    with django_assert_num_queries(2):
        lines = prices.list_for(people.team)
    assert [(line.model, line.source, line.endpoints) for line in lines] == [
        ("gpt-5-mini", prices.SHIPPED, ("at gpt-5-mini",)),
        ("rare", "team", ()),
        ("tiny", "", ("at tiny",)),
    ]
    assert lines[1].price == prices.Price(1.0, 2.0, 0.5)
    assert lines[2].price is None


def test_an_endpoint_with_its_own_price_is_told_apart_from_those_that_go_by_the_list(people: Cast) -> None:
    for name, own in (("dear", (5.0, 9.0)), ("half set", (None, None)), ("plain", (None, None))):
        endpoints.add_endpoint(
            people.team,
            by=people.alice,
            name=name,
            base_url="http://127.0.0.1:9/v1",
            model="tiny",
            input_usd_per_million=own[0],
            output_usd_per_million=own[1],
        )
    # As one of an earlier release may be.
    JudgeEndpoint.objects.filter(name="half set").update(input_usd_per_million=5.0)
    [line] = prices.list_for(people.team)
    assert (line.price, line.endpoints, line.apart) == (None, ("half set", "plain"), ("dear",))


def test_a_price_is_set_changed_and_removed_and_the_audit_log_says_so(people: Cast) -> None:
    for usd in (1.0, 2.0):
        prices.set_price(
            people.team,
            by=people.alice,
            model=" tiny ",
            input_usd_per_million=usd,
            output_usd_per_million=usd,
        )
    [line] = prices.list_for(people.team)
    assert (line.model, line.price) == ("tiny", prices.Price(2.0, 2.0))
    prices.remove_price(people.team, by=people.alice, model="tiny")
    assert prices.list_for(people.team) == []
    with pytest.raises(NotFound):
        prices.remove_price(people.team, by=people.alice, model="tiny")
    verbs = (
        JournalEntry.objects.filter(target_kind="modelprice").order_by("pk").values_list("verb", flat=True)
    )
    assert list(verbs) == ["set the price of", "set the price of", "removed the price of"]


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf"), 1e9])
@pytest.mark.parametrize("field", ["input", "output", "cached_input"])
def test_what_is_no_price_is_refused_with_its_place(field: str, usd: float, people: Cast) -> None:
    given = {"input_usd_per_million": 1.0, "output_usd_per_million": 1.0, f"{field}_usd_per_million": usd}
    with pytest.raises(Invalid) as refused:
        prices.set_price(people.team, by=people.alice, model="tiny", **given)
    assert [fault.place for fault in refused.value.faults] == [f"{field}_usd_per_million"]


@pytest.mark.parametrize("model", ["", "  ", "m" * 201])
def test_a_price_is_that_of_a_named_model(model: str, people: Cast) -> None:
    with pytest.raises(Invalid, match="model"):
        prices.set_price(
            people.team, by=people.alice, model=model, input_usd_per_million=1, output_usd_per_million=1
        )
