"""Runs through the API: starting, looking, stopping, going on, and the report on one item."""

import pytest
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run, RunSummary, Vote
from rubricweb.services.endpoints import endpoints, prices
from rubricweb.services.runs import panels
from tests import factories
from tests.api.client import ApiClient
from tests.api.conftest import by_the_book
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.failing import failing_run


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def notified(monkeypatch) -> list[int]:
    """The runs workers were notified of."""
    wake_ups: list[int] = []
    monkeypatch.setattr("rubricweb.tasks.notify", wake_ups.append)
    return wake_ups


def test_judges_are_listed_without_keys_or_addresses(ed: ApiClient, settings) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_MODEL = "sk-secret", "some-model"
    page = ed.get("/judges")
    assert [(judge["id"], judge["model"]) for judge in page["items"]] == [
        ("environment", "some-model"),
        ("offline", "offline-lexical"),
    ]
    assert "sk-secret" not in str(page)
    assert "http" not in str(page)


def test_a_run_is_started_and_its_workers_rung(
    ed: ApiClient, world, notified, django_capture_on_commit_callbacks
) -> None:
    body = {
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.version.pk,
        "judge": "offline",
        "autograder": "one_shot",
        "name": "second",
    }
    with django_capture_on_commit_callbacks(execute=True):
        run = ed.send("POST", "/runs", body)
    assert (run["state"], run["autograder"], run["judge"]["id"]) == ("running", "one_shot", "offline")
    assert (run["created_by"], run["summary"]) == ("ed", None)
    assert notified == [run["id"]]
    progress = ed.get(f"/runs/{run['id']}")["progress"]
    assert (progress["items"], progress["graded"], progress["share"]) == (3, 0, 0.0)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"judge": "nobody"}, 422),
        ({"autograder": "one_shot", "reply_format": "yes_no"}, 422),
        ({"rubric_version_id": None}, 422),  # the items bring none of their own
        ({"dataset_id": 10**6}, 404),
        ({"judge_model": "x"}, 422),
    ],
)
def test_a_run_that_makes_no_sense_is_not_started(ed: ApiClient, world, change, status) -> None:
    body = {"dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk, "judge": "offline"}
    ed.refused(status, "POST", "/runs", body | change)
    assert Run.objects.count() == 1


def test_a_judge_that_falls_back_on_a_model_without_a_price_is_held_by_no_cap(
    ed: ApiClient, people: Cast, world, notified
) -> None:
    endpoint = endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="cheap",
        base_url="https://judge.example/v1",
        model="m",
        input_usd_per_million=1.0,
        output_usd_per_million=2.0,
        fallback_model="who-knows",
    )
    body = {
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.version.pk,
        "judge": f"endpoint-{endpoint.pk}",
        "budget_usd": 5.0,
    }
    [fault] = ed.refused(422, "POST", "/runs", body)["faults"]
    assert fault["place"] == "no_cap"
    assert "no price for 'who-knows', on which 'cheap' falls back" in fault["found"]
    prices.set_price(
        people.team, by=people.alice, model="who-knows", input_usd_per_million=1.0, output_usd_per_million=2.0
    )
    assert ed.send("POST", "/runs", body)["budget_usd"] == 5.0


def test_a_run_shows_score_rates_and_figures_with_their_intervals(ed: ApiClient, world) -> None:
    run = ed.get(f"/runs/{world.run.pk}")
    # weights 10, 5, −15; P = 15: good 15/15, bad 0/15, empty-ish 5/15 → mean 4/9.
    assert run["score"]["value"] == pytest.approx(4 / 9)
    assert run["score"]["n"] == 3
    assert run["score"]["low"] < 4 / 9 < run["score"]["high"]
    assert (run["coverage"], run["state"]) == (1.0, "finished")
    assert run["summary"]["score"] == run["score"]
    rates = {
        rate["criterion"]["name"]: (rate["met"], rate["unmet"], rate["rate"]["value"])
        for rate in run["criteria"]
    }
    assert rates == {
        "capital": (2, 1, pytest.approx(2 / 3)),
        "concise": (3, 0, 1.0),
        "wrong_country": (1, 2, pytest.approx(1 / 3)),
    }


def test_what_is_undefined_is_null_and_never_zero(ed: ApiClient, people: Cast, world) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    shown = ed.get(f"/runs/{run.pk}")
    assert (shown["score"]["value"], shown["score"]["n"]) == (None, 0)
    assert shown["coverage"] is None
    rate = shown["criteria"][0]["rate"]
    assert (rate["value"], rate["low"], rate["n"]) == (None, None, 0)
    assert shown["progress"]["seconds_left"] is None


def test_runs_are_filtered_by_dataset_rubric_and_state(ed: ApiClient, people: Cast, world) -> None:
    other = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    assert [row["id"] for row in ed.get("/runs", state="finished")["items"]] == [world.run.pk]
    assert [row["id"] for row in ed.get("/runs", state="running")["items"]] == [other.pk]
    assert len(ed.get("/runs", dataset=world.dataset.pk, rubric=world.version.rubric_id)["items"]) == 2
    assert ed.get("/runs", dataset=10**6)["items"] == []
    [fault] = ed.refused(422, "GET", "/runs", query={"state": "done"})["faults"]
    assert "'finished'" in fault["allowed"]


def test_a_run_is_cancelled_and_resumed(
    ed: ApiClient, people: Cast, world, notified, django_capture_on_commit_callbacks
) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    cancelled = ed.send("POST", f"/runs/{run.pk}/cancel")
    assert (cancelled["state"], cancelled["stop_reason"]) == ("cancelled", "cancelled")
    with django_capture_on_commit_callbacks(execute=True):
        resumed = ed.send("POST", f"/runs/{run.pk}/resume")
    assert (resumed["items"], resumed["run"]["state"]) == (3, "running")
    assert set(notified) == {run.pk}
    ed.refused(409, "POST", f"/runs/{run.pk}/resume")


@pytest.mark.parametrize("action", ["pause", "cancel"])
def test_calls_in_flight_are_broken_off_where_that_is_asked_for(
    ed: ApiClient, people: Cast, world, action: str
) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    [fault] = ed.refused(422, "POST", f"/runs/{run.pk}/{action}", {"in_flight": "stop"})["faults"]
    assert (fault["place"], fault["allowed"]) == ("in_flight", "'finish' or 'break_off'")
    ed.send("POST", f"/runs/{run.pk}/{action}", {"in_flight": "break_off"})
    run.refresh_from_db()
    assert not run.finish_in_flight


def test_only_the_errors_asked_for_are_tried_again(ed: ApiClient, people: Cast, world, notified) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        if "Names Paris" in requirement:
            return JudgeError("rate_limited", "429")
        if "two sentences" in requirement:
            return JudgeError("refused", "no")
        return by_the_book(requirement, response)

    run = grade(
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version),
        InProcessJudge(answer),
    )
    classes = ed.get(f"/runs/{run.pk}")["error_classes"]
    assert {(one["kind"], one["count"]) for one in classes} == {("rate_limited", 3), ("refused", 3)}
    resumed = ed.send("POST", f"/runs/{run.pk}/resume", {"error_kinds": ["rate_limited"]})
    assert resumed["items"] == 3
    asked_again = InProcessJudge(by_the_book)
    grade(run, asked_again)
    assert {requirement for requirement, _ in asked_again.asked} == {"Names Paris as the capital."}
    [left] = ed.get(f"/runs/{run.pk}")["error_classes"]
    assert (left["kind"], left["count"]) == ("refused", 3)
    [fault] = ed.refused(422, "POST", f"/runs/{run.pk}/resume", {"error_kinds": ["bad luck"]})["faults"]
    assert fault["place"] == "error_kinds[0]"


def test_a_run_whose_judge_is_gone_keeps_its_errors(ed: ApiClient, people: Cast, world, notified) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="passing", base_url="https://judge.example/v1", model="m"
    )
    asked = {"dataset": world.dataset, "rubric_version": world.version}
    alone = factories.run(people.team, people.ed, judge_id=f"endpoint-{endpoint.pk}", **asked)
    voting = factories.run(
        people.team,
        people.ed,
        judge_id="",
        panel=panels.Panel([panels.PanelMember("offline"), panels.PanelMember(f"endpoint-{endpoint.pk}")]),
        **asked,
    )
    for run in (alone, voting):
        grade(run, InProcessJudge(lambda requirement, response: JudgeError("timeout", "No answer.")))
    endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
    factories.add_items(world.dataset, by=people.ed, data=b'{"submission": "Paris."}', filename="more.jsonl")
    for run in (alone, voting):
        before = ed.get(f"/runs/{run.pk}")
        assert sum(one["count"] for one in before["error_classes"]) == 9  # 3 items of 3 criteria
        votes = Vote.objects.filter(run=run).count()
        for action in ("resume", "extend"):
            refused = ed.refused(409, "POST", f"/runs/{run.pk}/{action}")
            assert "was removed since the run started" in refused["detail"]
        assert ed.get(f"/runs/{run.pk}") == before
        assert Vote.objects.filter(run=run).count() == votes
    assert notified == []


def test_a_report_holds_every_verdict_with_its_reason_or_error(ed: ApiClient, people: Cast, world) -> None:
    def answer(requirement: str, response: str) -> str | JudgeError:
        if "two sentences" in requirement and "Belgium" in response:
            return JudgeError("timeout", "no answer within 60 s")
        return by_the_book(requirement, response)

    run = grade(
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version),
        InProcessJudge(answer),
    )
    rows = ed.get(f"/runs/{run.pk}/items", sort="errors")["items"]
    assert (rows[0]["key"], rows[0]["errors"]) == ("bad", 1)
    report = ed.get(f"/runs/{run.pk}/items/{rows[0]['item_id']}")
    assert [(one["criterion"]["name"], one["verdict"]) for one in report["verdicts"]] == [
        ("capital", "MET"),
        ("concise", None),
        ("wrong_country", "MET"),
    ]
    assert report["verdicts"][0]["reason"] == "judge says MET"
    assert report["verdicts"][1]["error"] == {"kind": "timeout", "message": "no answer within 60 s"}
    # Σ|w| = 30, of which 25 judged; raw = 10 − 15 = −5 over P = 10 → 0.
    assert (report["score"], report["coverage"]) == (0.0, pytest.approx(25 / 30))


def test_an_item_of_another_dataset_is_not_in_the_run(ed: ApiClient, people: Cast, world) -> None:
    other = factories.dataset(people.team, people.ed, name="other")
    ed.refused(404, "GET", f"/runs/{world.run.pk}/items/{other.items.first().pk}")


def test_runs_summed_up_by_an_earlier_release_have_means_of_groups_over_items(
    people: Cast, as_member
) -> None:
    run, client = failing_run(people), as_member(people.bob)
    kept = RunSummary.objects.get(run=run)
    kept.groups = [{name: part for name, part in one.items() if name != "unit"} for one in kept.groups]
    kept.save()
    [listed] = client.get("/runs")["items"]
    for shown in (listed, client.get(f"/runs/{run.pk}")):
        groups = shown["summary"]["groups"]
        assert [(one["name"], one["score"]["n"], one["unit"]) for one in groups] == [
            ("Facts", 3, "item"),
            ("Tone", 3, "item"),
            (None, 3, "item"),
        ]
