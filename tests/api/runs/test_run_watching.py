"""Progress and log of a run, as programs that watch it read them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import RunTally
from rubricweb.services.runs import events, lifecycle
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

HIDDEN = "reply quoted: the judge says UNMET"


@pytest.fixture
def bob(as_member, people: Cast) -> ApiClient:
    return as_member(people.bob)


def test_progress_says_how_far_and_at_what_price(bob: ApiClient, people: Cast, world) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    seen = bob.get(f"/runs/{run.pk}/progress")
    assert (seen["state"], seen["items"], seen["graded"], seen["share"]) == ("running", 3, 0, 0.0)
    assert (seen["cost_usd"], seen["seconds_left"], seen["poll_seconds"]) == (0.0, None, 2)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    seen = bob.get(f"/runs/{run.pk}/progress")
    # Three items of three criteria each; every call says 100 tokens in, 10 out and $0.001.
    assert (seen["state"], seen["graded"], seen["verdicts"], seen["errors"]) == ("finished", 3, 9, 0)
    assert (seen["calls"], seen["prompt_tokens"], seen["completion_tokens"]) == (9, 900, 90)
    assert round(seen["cost_usd"], 6) == 0.009
    assert (seen["waiting"], seen["poll_seconds"]) == ("", None)


def test_what_caches_of_providers_saved_is_told(bob: ApiClient, people: Cast, world) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    assert bob.get(f"/runs/{run.pk}/progress")["cache_saved_share"] is None
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    RunTally.objects.filter(run=run).update(cached_prompt_tokens=720, cost_usd=0.5, cache_saved_usd=1.5)
    seen = bob.get(f"/runs/{run.pk}/progress")
    assert (seen["prompt_tokens"], seen["cached_prompt_tokens"], seen["cache_saved_usd"]) == (900, 720, 1.5)
    # $1.50 of the $2.00 that it would have cost.
    assert seen["cache_saved_share"] == 0.75


def test_a_worker_counts_while_it_beats(bob: ApiClient, people: Cast, world) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    now = timezone.now()
    tallies = (
        ("here:1", now, 8, 0.25),
        ("gone:2", now - timedelta(seconds=16), 5, 0.5),
        ("dead:4", now - timedelta(hours=1), 5, 8.0),
        ("batch:3", now - timedelta(hours=1), 0, 4.0),
    )
    for name, beat, in_flight, reserved in tallies:
        month = now.date().replace(day=1)
        RunTally.objects.create(
            run=run,
            team=run.team,
            worker=name,
            month=month,
            beat_at=beat,
            in_flight=in_flight,
            reserved_usd=reserved,
        )
    seen = bob.get(f"/runs/{run.pk}/progress")
    assert seen["in_flight"] == 8
    assert [worker["name"] for worker in seen["workers"]] == ["here:1"]
    # A call may take longer than 15 s: what it set aside stays so until its lease ends; a batch takes a day.
    assert seen["held_usd"] == 0.25 + 0.5 + 4.0


def test_the_log_is_read_newest_first_page_by_page(bob: ApiClient, people: Cast, world) -> None:
    run = factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version)
    events.note(run.pk, "throttled", "429: waited.", count=2)
    events.note(run.pk, "throttled", "429: waited.")
    lifecycle.pause_run(run, by=people.ed)
    first = bob.get(f"/runs/{run.pk}/events", limit=2)
    assert [(line["kind"], line["count"]) for line in first["items"]] == [("paused", 1), ("throttled", 3)]
    rest = bob.get(f"/runs/{run.pk}/events", limit=2, cursor=first["next_cursor"])
    assert [line["kind"] for line in rest["items"]] == ["started"]
    assert rest["next_cursor"] is None


def test_a_blind_rater_reads_no_reply_in_progress_log_or_errors(as_member, people: Cast, world) -> None:
    rae = as_member(people.rae)  # a rater of the blind queue of `world`, who has submitted nothing yet
    run = grade(
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version),
        InProcessJudge(lambda requirement, response: JudgeError("unreadable_reply", HIDDEN)),
    )
    [error] = rae.get(f"/runs/{run.pk}")["error_classes"]
    assert (error["kind"], error["count"]) == ("unreadable_reply", 9)
    assert (error["example"], error["newest"]) == ("", None)
    for path in ("", "/progress", "/events"):
        assert HIDDEN not in rae.call("GET", f"/runs/{run.pk}{path}").content.decode()
    # Somebody who rates nothing is shown the newest one, and where it is.
    [error] = as_member(people.bob).get(f"/runs/{run.pk}")["error_classes"]
    assert error["example"] == HIDDEN
    assert error["newest"]["item"] in {"good", "bad", "empty-ish"}
    assert error["newest"]["criterion"] in {"capital", "concise", "wrong_country"}
