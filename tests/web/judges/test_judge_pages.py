"""Judges, prices, spending and retention at the interface a browser uses."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Fail, Lexical, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeEndpoint, ModelPrice, Run, RunTally
from rubricweb.selectors.spending.spending import month_of
from rubricweb.services.endpoints import endpoints, prices
from rubricweb.services.endpoints.options import MAX_KEY
from rubricweb.services.teams import retention
from rubricweb.web.judges.forms import MASK
from tests import factories
from tests.factories import Cast

KEY = "sk-very-secret-0123456789"
SECRET_HEADER = "gw-very-secret-987"
ENDPOINT = {"name": "Ours", "base_url": "http://127.0.0.1:9/v1", "model": "m-1", "api_key": KEY}
SENT = ENDPOINT | {
    "temperature": "0.5",
    "reasoning_effort": "low",
    "fallback_model": "m-0",
    "logprobs": "on",
    "batches": "on",
    "cache_marks": "on",
    "max_concurrency": "7",
    "requests_per_minute": "300",
    "input_usd_per_million": "2",
    "output_usd_per_million": "8",
    "extra_headers": f"X-Gateway-Key: {SECRET_HEADER}\nX-Team: blue\n",
}


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def added(people: Cast, **options) -> JudgeEndpoint:
    headers = {"X-Gateway-Key": SECRET_HEADER, "X-Team": "blue"}
    return endpoints.add_endpoint(
        people.team, by=people.alice, **(ENDPOINT | {"extra_headers": headers} | options)
    )


@pytest.fixture
def close() -> Iterator[None]:
    yield
    close_clients()


# ── Adding ───────────────────────────────────────────────────────────────────────────────────────


def test_an_owner_adds_an_endpoint_and_nobody_sees_its_secrets_again(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    answer = client.post(url("settings_judge_new", people), SENT, follow=True)
    assert "Ours" in answer.content.decode()
    stored = JudgeEndpoint.objects.get(name="Ours")
    assert stored.sampling == Sampling(temperature=0.5, reasoning_effort="low", logprobs=True)
    assert (stored.fallback_model, stored.batches) == ("m-0", True)
    assert stored.cache_marks
    assert (stored.max_concurrency, stored.requests_per_minute) == (7, 300)
    asked = endpoints.judge_to_ask(people.team, f"endpoint-{stored.pk}")
    assert (asked.api_key, dict(asked.extra_headers)["X-Gateway-Key"]) == (KEY, SECRET_HEADER)
    pages = [url(name, people) for name in ("settings", "settings_judges", "settings_audit_log")]
    for person in (people.alice, people.bob):
        for page in [*pages, url("settings_judge", people, stored.pk)]:
            text = sign_in(person).get(page).content.decode()
            assert KEY not in text
            assert SECRET_HEADER not in text


@override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=False)
def test_a_blocked_address_is_refused_at_its_field_without_the_secrets_coming_back(
    people: Cast, sign_in
) -> None:
    answer = sign_in(people.alice).post(url("settings_judge_new", people), SENT)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["base_url"]
    assert 'value="Ours"' in page
    assert KEY not in page
    assert SECRET_HEADER not in page
    assert f"X-Gateway-Key: {MASK}" in page
    assert not JudgeEndpoint.objects.exists()


def test_masked_headers_of_a_refused_form_must_be_typed_again(people: Cast, sign_in) -> None:
    answer = sign_in(people.alice).post(
        url("settings_judge_new", people), SENT | {"extra_headers": f"X-Team: {MASK}"}
    )
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["extra_headers"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("input_usd_per_million", "-1"),
        ("temperature", "3"),
        ("temperature", "warm"),
        ("top_p", "0"),
        ("reasoning_effort", "very low"),
        ("requests_per_minute", "0"),
        ("max_concurrency", "99999"),
        ("extra_headers", "no colon here"),
        ("extra_headers", f"Host: {SECRET_HEADER}"),
        ("extra_headers", f"X-A: {SECRET_HEADER}\nx-a: {SECRET_HEADER}"),
        ("name", ""),
        ("model", "m\x00"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(people: Cast, sign_in, field: str, value: str) -> None:
    answer = sign_in(people.alice).post(url("settings_judge_new", people), SENT | {field: value})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert SECRET_HEADER not in answer.content.decode()


def test_half_a_price_is_refused_at_the_field_of_the_other_half(people: Cast, sign_in) -> None:
    answer = sign_in(people.alice).post(
        url("settings_judge_new", people), SENT | {"output_usd_per_million": ""}
    )
    assert (answer.status_code, dict(answer.context["form"].errors)) == (
        422,
        {"output_usd_per_million": ["Found nothing; allowed: both prices, of input and of output, or none."]},
    )


def test_a_taken_name_is_refused_at_its_field(people: Cast, sign_in) -> None:
    added(people)
    answer = sign_in(people.alice).post(url("settings_judge_new", people), ENDPOINT)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["name"])


# ── Changing and removing ────────────────────────────────────────────────────────────────────────


def as_shown(people: Cast, sign_in, endpoint: JudgeEndpoint) -> dict[str, str]:
    """What a browser sends back of an untouched form."""
    form = sign_in(people.alice).get(url("settings_judge", people, endpoint.pk)).context["form"]
    fields = {name: form[name].value() for name in form.fields}
    return {name: str(value) for name, value in fields.items() if value is not None and value is not False}


def test_an_untouched_form_changes_nothing(people: Cast, sign_in) -> None:
    endpoint = added(people, logprobs=True, top_p=0.25)
    before = JudgeEndpoint.objects.values().get(pk=endpoint.pk)
    sent = as_shown(people, sign_in, endpoint)
    assert MASK in sent["extra_headers"]
    answer = sign_in(people.alice).post(url("settings_judge", people, endpoint.pk), sent)
    assert answer.status_code == 302
    assert JudgeEndpoint.objects.values().get(pk=endpoint.pk) == before


def test_an_owner_changes_a_judge_and_keeps_its_secrets(people: Cast, sign_in) -> None:
    endpoint = added(people)
    sent = as_shown(people, sign_in, endpoint) | {"model": "m-2", "extra_headers": f"X-Gateway-Key: {MASK}"}
    sign_in(people.alice).post(url("settings_judge", people, endpoint.pk), sent)
    asked = endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}")
    assert (asked.model, asked.api_key) == ("m-2", KEY)
    assert dict(asked.extra_headers) == {"X-Gateway-Key": SECRET_HEADER}
    long = "k" * MAX_KEY
    sign_in(people.alice).post(url("settings_judge", people, endpoint.pk), sent | {"api_key": long})
    assert endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}").api_key == long
    sign_in(people.alice).post(url("settings_judge", people, endpoint.pk), sent | {"forget_key": "on"})
    assert endpoints.judge_to_ask(people.team, f"endpoint-{endpoint.pk}").api_key is None


def test_another_host_asks_for_the_secrets_again(people: Cast, sign_in) -> None:
    endpoint = added(people)
    sent = as_shown(people, sign_in, endpoint) | {"base_url": "http://127.0.0.2:9/v1"}
    answer = sign_in(people.alice).post(url("settings_judge", people, endpoint.pk), sent)
    assert (answer.status_code, set(answer.context["form"].errors)) == (422, {"api_key", "extra_headers"})
    endpoint.refresh_from_db()
    assert endpoint.base_url == "http://127.0.0.1:9/v1"


def test_who_is_no_owner_reads_and_cannot_change(people: Cast, sign_in) -> None:
    endpoint = added(people)
    page = sign_in(people.ed).get(url("settings_judge", people, endpoint.pk)).content.decode()
    assert "stored, never shown" in page
    assert "X-Gateway-Key, X-Team" in page
    assert "<textarea" not in page
    assert sign_in(people.ed).post(url("settings_judge", people, endpoint.pk), SENT).status_code == 403
    assert "Test" not in sign_in(people.ed).get(url("settings_judges", people)).content.decode()


def test_removing_an_endpoint_forgets_its_key(people: Cast, sign_in) -> None:
    endpoint = added(people)
    assert sign_in(people.ed).post(url("settings_judge_remove", people, endpoint.pk)).status_code == 403
    sign_in(people.alice).post(url("settings_judge_remove", people, endpoint.pk))
    endpoint.refresh_from_db()
    assert (endpoint.sealed_key, endpoint.sealed_headers, endpoint.removed_at is not None) == ("", "", True)
    assert "Ours" not in sign_in(people.alice).get(url("settings_judges", people)).content.decode()
    assert sign_in(people.alice).get(url("settings_judge", people, endpoint.pk)).status_code == 404


@override_settings(OPENAI_API_KEY=KEY, OPENAI_MODEL="env-model")
def test_the_judge_of_the_environment_is_listed_without_its_key(people: Cast, sign_in) -> None:
    page = sign_in(people.bob).get(url("settings_judges", people)).content.decode()
    assert "env-model" in page
    assert KEY not in page
    assert endpoints.OFFLINE_ABOUT in page  # of the other judge in the list


@override_settings(OFFLINE_JUDGE_URL="")
def test_without_any_judge_the_page_says_what_to_do(people: Cast, sign_in) -> None:
    assert "No model yet" in sign_in(people.bob).get(url("settings_judges", people)).content.decode()


def test_the_list_of_judges_costs_the_same_queries_however_many(
    people: Cast, sign_in, django_assert_max_num_queries
) -> None:
    for number in range(8):
        added(people, name=f"judge {number}")
    client = sign_in(people.alice)
    client.get(url("settings_judges", people))
    # Session, person, membership, teams, open reviews, judges and prices for the banner and for the page, how
    # many are archived.
    with django_assert_max_num_queries(13):
        client.get(url("settings_judges", people))


# ── Testing ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("close")
@pytest.mark.parametrize("htmx", [True, False])
def test_the_button_says_that_a_judge_works(people: Cast, sign_in, htmx: bool) -> None:
    with running_server(Script(Lexical())) as base_url:
        endpoint = added(people, base_url=base_url)
        headers = {"HX-Request": "true"} if htmx else {}
        answer = sign_in(people.alice).post(
            url("settings_judge_test", people), {"judge": f"endpoint-{endpoint.pk}"}, headers=headers
        )
        page = answer.content.decode()
        close_clients()
    assert answer.status_code == 200
    assert "Ours works" in page
    assert "json_schema" in page
    assert ("<html" in page) is not htmx
    assert KEY not in page


@pytest.mark.usefixtures("close")
def test_the_button_says_what_to_do_about_a_judge_that_does_not(people: Cast, sign_in) -> None:
    said = '<script>alert("x")</script>'
    with running_server(Script(Fail(404, f"no such model {said}"))) as base_url:
        endpoint = added(people, base_url=base_url)
        answer = sign_in(people.alice).post(
            url("settings_judge_test", people), {"judge": f"endpoint-{endpoint.pk}"}
        )
        page = answer.content.decode()
        close_clients()
    assert "was reached, but gave no answer" in page
    assert "not_found" in page
    assert "base URL ends before /chat/completions" in page
    assert said not in page


@pytest.mark.usefixtures("close")
def test_hammering_the_button_is_refused_in_words(people: Cast, sign_in) -> None:
    script = Script(Say('{"explanation": "ok", "criterion_status": "UNMET"}'))
    with running_server(script) as base_url:
        endpoint = added(people, base_url=base_url)
        client = sign_in(people.alice)
        sent = {"judge": f"endpoint-{endpoint.pk}"}
        pages = [client.post(url("settings_judge_test", people), sent).content.decode() for _ in range(6)]
        close_clients()
    assert "answers, but wrongly" in pages[0]
    assert "tested 5 times within a minute" in pages[5]
    assert script.count == 5


def test_another_teams_judge_cannot_be_tested(people: Cast, sign_in) -> None:
    theirs = endpoints.add_endpoint(people.other_team, by=people.charlie, **ENDPOINT)
    answer = sign_in(people.alice).post(
        url("settings_judge_test", people), {"judge": f"endpoint-{theirs.pk}"}
    )
    assert "There is no judge" in answer.content.decode()
    sent = {"judge": "offline"}
    assert sign_in(people.ed).post(url("settings_judge_test", people), sent).status_code == 403


# ── Prices, spending, retention ──────────────────────────────────────────────────────────────────


def test_a_price_is_set_shown_and_forgotten(people: Cast, sign_in) -> None:
    added(people, model="gpt-5-mini")
    client = sign_in(people.alice)
    assert "list of" in client.get(url("settings_prices", people)).content.decode()
    sent = {"model": "gpt-5-mini", "input_usd_per_million": "1.5", "output_usd_per_million": "3"}
    page = client.post(url("settings_prices", people), sent, follow=True).content.decode()
    assert "the team" in page
    assert "instead of" in page
    assert sign_in(people.ed).post(url("settings_prices", people), sent).status_code == 403
    for _ in range(2):
        nothing = client.post(url("settings_price_remove", people), {"model": "gpt-5\0x"}, follow=True)
        assert "already removed" in nothing.content.decode()
        removed = client.post(url("settings_price_remove", people), {"model": "gpt-5-mini"}, follow=True)
        assert removed.status_code == 200
    assert not ModelPrice.objects.exists()


def test_a_price_that_is_none_is_refused_at_its_field(people: Cast, sign_in) -> None:
    sent = {"model": "m", "input_usd_per_million": "nan", "output_usd_per_million": "3"}
    answer = sign_in(people.alice).post(url("settings_prices", people), sent)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["input_usd_per_million"])


def test_a_model_without_a_price_is_said_to_be(people: Cast, sign_in) -> None:
    added(people, model="nobody-knows")
    prices.set_price(
        people.team, by=people.alice, model="other", input_usd_per_million=1.0, output_usd_per_million=1.0
    )
    assert "not known" in sign_in(people.bob).get(url("settings_prices", people)).content.decode()


@pytest.fixture
def spent(people: Cast) -> None:
    """Two runs this month, 1.25 and 0.50 dollars; and 9 dollars of another month."""
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


@pytest.mark.usefixtures("spent")
def test_calls_that_were_cut_off_are_shown_with_what_they_may_have_cost(people: Cast, sign_in) -> None:
    RunTally.objects.filter(run__name="dear").update(lost_calls=4, lost_at_most_usd=0.75)
    client = sign_in(people.alice)
    month = client.get(url("settings_spending", people)).content.decode()
    assert "≤ $0.75" in month
    assert "4 requests cut off or never answered" in month
    run = Run.objects.get(name="dear")
    page = client.get(reverse("run", args=[people.team.slug, run.pk])).content.decode()
    # Both of its months are lost calls here: 2 × 4 and 2 × 0.75.
    assert "perhaps up to $1.50 more, by 8 requests without an answer" in page


@pytest.mark.usefixtures("spent")
def test_the_month_is_shown_run_by_run_against_its_cap(
    people: Cast, sign_in, django_assert_max_num_queries
) -> None:
    client = sign_in(people.alice)
    client.post(url("settings_spending", people), {"monthly_budget_usd": "5"})
    figures = client.get(url("settings_spending", people)).context["figures"]
    assert (figures.spending.spent_usd, figures.spending.cap_usd) == (1.75, 5.0)
    # 1.75 of 5
    assert figures.spending.share == pytest.approx(0.35)
    assert [(row.run.name, row.cost_usd, row.calls, row.cached) for row in figures.runs] == [
        ("dear", 1.25, 10, 3),
        ("cheap", 0.5, 10, 3),
    ]
    with django_assert_max_num_queries(13):
        client.get(url("settings_spending", people))
    assert "Perhaps spent" not in client.get(url("settings_spending", people)).content.decode()
    client.post(url("settings_spending", people), {"monthly_budget_usd": ""})
    people.team.refresh_from_db()
    assert people.team.monthly_budget_usd is None
    assert sign_in(people.ed).post(url("settings_spending", people), {}).status_code == 403


@pytest.mark.parametrize(
    ("page", "field"), [("spending", "monthly_budget_usd"), ("retention", "keep_calls_days")]
)
@pytest.mark.parametrize("value", ["-1", "nan", "much"])
def test_a_limit_that_cannot_be_is_refused_at_its_field(
    people: Cast, sign_in, page: str, field: str, value: str
) -> None:
    answer = sign_in(people.alice).post(url(f"settings_{page}", people), {field: value})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])


def test_retention_is_changed_by_owners_and_its_rounds_are_listed(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    client.post(url("settings_retention", people), {"keep_calls_days": "30"})
    people.team.refresh_from_db()
    assert people.team.keep_calls_days == 30
    assert "Nothing pruned yet" in client.get(url("settings_retention", people)).content.decode()
    retention.record(
        people.team, None, "pruned", people.team, calls=12_345, before=timezone.now().isoformat()
    )
    assert "12,345" in sign_in(people.bob).get(url("settings_retention", people)).content.decode()
    assert sign_in(people.ed).post(url("settings_retention", people), {}).status_code == 403
