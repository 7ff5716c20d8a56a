"""The runs room at its interface: lists, starting, watching, retrying, reading one item's report."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.judges.base import JudgeError
from rubricweb.models import Run, RunState, RunTally
from rubricweb.selectors.runs.planning import plans
from rubricweb.selectors.shared.workers import start_command
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

SECRET_REASON = "judge says MET"


@pytest.fixture
def graded(people: Cast) -> Run:
    """Three items; the judge finds everything MET, and fails once, on `concise` of the item "bad"."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="First run")

    def answer(requirement: str, response: str) -> str | JudgeError:
        if "two sentences" in requirement and "Belgium" in response:
            return JudgeError("timeout", "No answer within 60 s.")
        return "MET"

    return grade(run, InProcessJudge(answer))


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def test_a_runs_page_says_what_caches_of_providers_saved(people: Cast, sign_in, graded: Run) -> None:
    def page() -> str:
        return sign_in(people.bob).get(at("run", people, graded.pk)).content.decode()

    assert "cached" not in page()
    # 720 of the 900 tokens of nine calls; $1.50 of the $2.00 that they would have cost.
    RunTally.objects.filter(run=graded).update(
        prompt_tokens=900, cached_prompt_tokens=720, cost_usd=0.5, cache_saved_usd=1.5
    )
    assert "80% of in cached" in page()
    assert "$1.50 (75%) saved by cached prompts" in page()


# ── The list ─────────────────────────────────────────────────────────────────────────────────────


def test_the_list_shows_score_coverage_and_errors_together(people: Cast, sign_in, graded: Run) -> None:
    page = sign_in(people.bob).get(at("runs", people)).content.decode()
    # MET everywhere: (10 + 5 − 15) / 15 = 0, and (10 − 15) / 10 clamped to 0 where `concise` failed.
    assert "First run" in page
    assert '<span class="figure">0.00' in page
    # Coverage: (1 + 1 + 25/30) / 3 = 0.944.
    assert "94%" in page
    assert '<span class="text-danger strong">1</span>' in page


def test_the_list_of_runs_takes_as_many_queries_however_long(
    people: Cast, sign_in, graded: Run, django_assert_max_num_queries
) -> None:
    for _ in range(5):
        factories.run(people.team, people.ed, dataset=graded.dataset, rubric_version=graded.rubric_version)
    client = sign_in(people.bob)
    client.get(at("runs", people))
    with django_assert_max_num_queries(16):
        assert client.get(at("runs", people)).status_code == 200


def test_filters_narrow_the_list_and_unknown_states_are_refused(people: Cast, sign_in, graded: Run) -> None:
    client = sign_in(people.bob)
    assert "First run" in client.get(at("runs", people), {"dataset": graded.dataset_id}).content.decode()
    page = client.get(at("runs", people), {"state": "failed"}).content.decode()
    assert "No run fits these filters" in page
    refused = client.get(at("runs", people), {"state": "sleeping"})
    assert refused.status_code == 400
    assert "running, paused, finished, cancelled, failed" in refused.content.decode()
    assert client.get(at("runs", people), {"dataset": "x"}).status_code == 400


def test_an_empty_team_is_told_what_a_run_is(people: Cast, sign_in) -> None:
    assert "No runs yet" in sign_in(people.bob).get(at("runs", people)).content.decode()
    assert (
        reverse("run_new", args=[people.team.slug])
        in sign_in(people.ed).get(at("runs", people)).content.decode()
    )


# ── Starting ─────────────────────────────────────────────────────────────────────────────────────


def test_the_launch_form_counts_the_calls_before_anything_is_spent(people: Cast, sign_in) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    asked = {"dataset": dataset.pk, "rubric_version": version.pk, "autograder": "per_criterion"}
    client = sign_in(people.ed)
    plan = client.get(at("run_new", people), asked, headers={"HX-Request": "true"})
    assert plan.context["plan"] == plans.Plan(items=3, own=0, unjudged=0, fewest=3, most=3, calls=9)
    plan = client.get(at("run_new", people), asked | {"autograder": "one_shot"}).context["plan"]
    assert plan.calls == 3
    page = client.get(at("run_new", people), asked).content.decode()
    assert "offline judge (not an LLM)" in page
    assert endpoints.OFFLINE_ABOUT in page


def test_a_new_run_over_a_dataset_suggests_the_rubric_it_was_last_used_with(people: Cast, sign_in) -> None:
    version = factories.version(people.team, people.ed)
    edited_last = factories.version(people.team, people.ed, title="Newer")
    dataset = factories.dataset(people.team, people.ed)
    client = sign_in(people.ed)

    def suggested(**asked: int) -> object:
        page = client.get(at("run_new", people), {"dataset": dataset.pk, **asked})
        return page.context["form"]["rubric_version"].value()

    assert suggested() == edited_last.pk
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert suggested() == version.pk
    assert version.rubric is not None
    newest = rubrics.publish(version.rubric, by=people.ed)
    assert suggested() == newest.pk
    assert suggested(rubric_version=version.pk) == str(version.pk)
    other = factories.version(people.team, people.ed, title="Of the people")
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=other, raters=[people.ann])
    assert suggested() == other.pk
    assert client.get(at("run_new", people), {"dataset": run.dataset_id + 99}).status_code == 404
    own = {"id": "own", "submission": "4", "rubric": [{"weight": 1.0, "requirement": "Says 4."}]}
    dataset = factories.dataset(people.team, people.ed, items=[own], name="Own rubrics")
    assert suggested() is None  # each item's own


def test_counting_without_javascript_keeps_what_was_chosen_and_starts_nothing(people: Cast, sign_in) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    sent = {"dataset": dataset.pk, "rubric_version": version.pk, "autograder": "one_shot", "judge": "offline"}
    answer = sign_in(people.ed).post(at("run_new", people), sent | {"name": "Trial", "count": "1"})
    assert answer.status_code == 200
    assert answer.context["plan"].calls == 3
    assert 'value="Trial"' in answer.content.decode()
    assert not Run.objects.exists()


def test_starting_a_run_plans_every_item(people: Cast, sign_in) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    sent = {
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "autograder": "per_criterion",
        "judge": "offline",
        "reply_format": "json",
        "name": "Trial",
    }
    answer = sign_in(people.ed).post(at("run_new", people), sent)
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, at("run", people, run.pk))
    assert (run.name, run.state, run.run_items.count(), run.created_by) == ("Trial", "running", 3, people.ed)
    assert endpoints.OFFLINE_ABOUT in sign_in(people.ed).get(answer["Location"]).content.decode()


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"rubric_version": ""}, "rubric_version"),
        ({"reply_format": "yes_no", "autograder": "one_shot"}, "reply_format"),
        ({"judge": "nobody"}, "judge"),
        ({"dataset": "999999"}, "dataset"),
    ],
)
def test_what_cannot_start_is_said_beside_the_field(
    people: Cast, sign_in, changed: dict[str, str], field: str
) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    sent = {
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "autograder": "per_criterion",
        "judge": "offline",
        "reply_format": "json",
        "name": "Kept",
    }
    answer = sign_in(people.ed).post(at("run_new", people), sent | changed)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert 'value="Kept"' in answer.content.decode()
    assert not Run.objects.exists()


# ── One run ──────────────────────────────────────────────────────────────────────────────────────


def test_a_finished_run_shows_rates_errors_and_its_items_worst_first(
    people: Cast, sign_in, graded: Run
) -> None:
    answer = sign_in(people.ed).get(at("run", people, graded.pk))
    page = answer.content.decode()
    result = answer.context["result"]
    assert (result.graded, result.scored, result.errors, result.hidden) == (3, 2, 1, 0)
    assert (result.totals.met, result.totals.errors) == (8, 1)
    # Two METs each of the two fully judged items, the failed one not counted as UNMET.
    assert [(row.met, row.unmet, row.errors) for row in result.rates] == [(2, 0, 0), (2, 0, 1), (2, 0, 0)]
    assert "2 of 3 fully judged" in page
    assert "Retry these" in page
    assert "No answer in time, at every attempt." in page
    assert "Retry 1 error" in page


def test_readers_may_not_retry_cancel_or_start(people: Cast, sign_in, graded: Run) -> None:
    client = sign_in(people.rae)
    assert "Retry these" not in client.get(at("run", people, graded.pk)).content.decode()
    for name in ("run_resume", "run_cancel"):
        assert client.post(at(name, people, graded.pk)).status_code == 403


def test_items_sort_only_by_what_is_offered(people: Cast, sign_in, graded: Run) -> None:
    client = sign_in(people.bob)
    rows = client.get(at("run", people, graded.pk), {"sort": "errors"}).context["rows"]
    assert [line.row.errors for line in rows] == [1, 0, 0]
    assert client.get(at("run", people, graded.pk), {"sort": "submission"}).status_code == 400


def test_a_run_page_takes_as_many_queries_however_many_items(
    people: Cast, sign_in, graded: Run, django_assert_max_num_queries
) -> None:
    client = sign_in(people.bob)
    client.get(at("run", people, graded.pk))
    with django_assert_max_num_queries(38):  # one fewer on SQLite: PostgreSQL is asked for its clock
        client.get(at("run", people, graded.pk))


def test_polling_ends_with_the_run(people: Cast, sign_in) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    client, asked = sign_in(people.ed), {"seen": "running-moving", "sort": "errors"}
    live = client.get(at("run_live", people, run.pk), asked, headers={"HX-Request": "true"})
    assert live.status_code == 200
    page = live.content.decode()
    assert "every 2s" in page
    assert "hx-swap-oob" not in page  # nothing but figures has changed
    assert "?sort=errors&quot;" in page or '?sort=errors"' in page  # and what the page shows is kept
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    ended = client.get(at("run_live", people, run.pk), asked, headers={"HX-Request": "true"})
    assert ended.status_code == 286
    page = ended.content.decode()
    assert "every 2s" not in page
    # The chip beside the name, both rows of buttons and the results come along, once.
    assert page.count("hx-swap-oob=") == 4
    assert "seen=" not in page


def test_a_run_nobody_works_on_says_how_to_start_a_worker(people: Cast, sign_in) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    client = sign_in(people.bob)
    assert "No worker is running" not in client.get(at("run", people, run.pk)).content.decode()
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(seconds=16))
    page = client.get(at("run", people, run.pk)).content.decode()
    assert "No worker is running" in page
    assert start_command() in page
    # `rubricweb grade` at a terminal is no worker, but says that it lives.
    now = timezone.now()
    RunTally.objects.create(
        run=run, team=run.team, worker="here:2", month=now.date().replace(day=1), beat_at=now
    )
    assert "No worker is running" not in client.get(at("run", people, run.pk)).content.decode()


def test_cancelling_keeps_the_rest_for_resuming(people: Cast, sign_in) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    client = sign_in(people.ed)
    page = client.post(at("run_cancel", people, run.pk), follow=True).content.decode()
    assert "Resume: 3 items left" in page
    client.post(at("run_resume", people, run.pk), {"only": "pending"})
    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def test_retrying_one_kind_of_error_asks_for_those_verdicts_only(people: Cast, sign_in, graded: Run) -> None:
    client = sign_in(people.ed)
    page = client.post(at("run_resume", people, graded.pk), {"kind": "refused"}, follow=True).content.decode()
    assert "Nothing is missing in this run." in page
    client.post(at("run_resume", people, graded.pk), {"kind": "timeout"})
    graded.refresh_from_db()
    assert graded.state == RunState.RUNNING
    assert graded.run_items.filter(graded_at=None).count() == 1
    refused = client.post(at("run_resume", people, graded.pk), {"kind": "gremlins"}, follow=True)
    assert "is not a kind of error" in refused.content.decode()
    again = client.post(at("run_resume", people, graded.pk), follow=True)
    assert "already running" in again.content.decode()


def test_why_a_run_gave_up_is_on_its_page(people: Cast, sign_in, graded: Run) -> None:
    Run.objects.filter(pk=graded.pk).update(state=RunState.FAILED, stop_reason="The judge did not answer.")
    assert (
        "The judge did not answer." in sign_in(people.bob).get(at("run", people, graded.pk)).content.decode()
    )


# ── One item ─────────────────────────────────────────────────────────────────────────────────────


def test_the_report_adds_up_to_the_raw_score(people: Cast, sign_in, graded: Run) -> None:
    item = graded.dataset.items.get(key="bad")
    answer = sign_in(people.bob).get(at("run_item", people, graded.pk, item.pk))
    report = answer.context["report"]
    # `concise` failed and is out of the score: 10 − 15 = −5.
    assert [result.contribution for result in report.criteria] == [10.0, None, -15.0]
    assert report.row.raw_score == -5.0
    page = answer.content.decode()
    assert "timeout: No answer within 60 s." in page
    call = report.criteria[0].call
    path = at("run_call", people, graded.pk, item.pk, call.pk)
    assert path in page
    said = sign_in(people.bob).get(path).content.decode()
    assert "&lt;criterion&gt;Names Paris as the capital.&lt;/criterion&gt;" in said
    assert "criterion_status" in said


def test_previous_and_next_follow_the_order_one_came_by(people: Cast, sign_in, graded: Run) -> None:
    client = sign_in(people.bob)
    first, second, third = graded.dataset.items.order_by("position")
    answer = client.get(at("run_item", people, graded.pk, second.pk), {"sort": "position"})
    assert at("run_item", people, graded.pk, first.pk) in answer.context["previous_url"]
    assert at("run_item", people, graded.pk, third.pk) in answer.context["next_url"]
    assert client.get(at("run_item", people, graded.pk, second.pk), {"sort": "x"}).status_code == 400


def test_every_call_of_a_one_shot_run_stands_once_with_its_prompt(people: Cast, sign_in, graded: Run) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        autograder="one_shot",
    )
    grade(run, InProcessJudge(lambda requirement, response: "not json"))
    item = graded.dataset.items.first()
    assert item is not None
    lifecycle.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    grade(run, InProcessJudge(lambda requirement, response: "still not json"))
    client = sign_in(people.bob)
    report = client.get(at("run_item", people, run.pk, item.pk)).context["report"]
    assert len(report.calls) == 2
    for call in report.calls:
        said = client.get(at("run_call", people, run.pk, item.pk, call.pk)).content.decode()
        assert said.count("Names Paris as the capital.") == 1


def test_a_blind_rater_is_told_nothing_anywhere_in_the_room(people: Cast, sign_in, graded: Run) -> None:
    factories.queue(
        people.team,
        people.alice,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    item = graded.dataset.items.get(key="bad")
    client = sign_in(people.ann)
    report = client.get(at("run_item", people, graded.pk, item.pk))
    assert report.status_code == 200
    assert "Hidden until you finish your reviews" in report.content.decode()
    assert SECRET_REASON not in report.content.decode()
    answer = client.get(at("run", people, graded.pk))
    page = answer.content.decode()
    assert "3 items of this run are hidden from you" in page
    assert answer.context["rows"] == []
    assert answer.context["result"].graded == 0
    assert [(row.met, row.errors) for row in answer.context["result"].rates] == [(0, 0)] * 3
    assert "No answer within 60 s." not in page


def test_a_blind_rater_sees_an_item_as_soon_as_it_is_submitted(people: Cast, sign_in, graded: Run) -> None:
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    for criterion in graded.rubric_version.criteria.all():
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    reviews.submit(review, now=timezone.now())
    page = sign_in(people.ann).get(at("run_item", people, graded.pk, review.item_id)).content.decode()
    assert SECRET_REASON in page
