"""What may be done to a run from its page, and what the page says then."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import BatchJob, Judgement, Run, RunItem, RunMode, RunState, RunTally
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import events
from rubricweb.services.runs import lifecycle as services
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def run(people: Cast) -> Run:
    """Three items, planned and not yet graded."""
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    return factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, name="Trial", no_cap=True
    )


@pytest.fixture
def failed_twice(run: Run) -> Run:
    """Graded; the judge failed on `capital` of two items, in two ways."""

    def answer(requirement: str, response: str) -> str | JudgeError:
        if "Names Paris" in requirement and "Belgium" in response:
            return JudgeError("timeout", "No answer within 60 s.")
        if "Names Paris" in requirement and "rather not" in response:
            return JudgeError("refused", "I will not judge this.")
        return "MET"

    return grade(run, InProcessJudge(answer))


def at(name: str, people: Cast, run: Run) -> str:
    return reverse(name, args=[people.team.slug, run.pk])


def page_of(client, people: Cast, run: Run) -> str:
    return client.get(at("run", people, run)).content.decode()


@pytest.mark.parametrize(("in_flight", "finish"), [("finish", True), ("break_off", False)])
@pytest.mark.parametrize(
    ("action", "state"), [("run_pause", RunState.PAUSED), ("run_cancel", RunState.CANCELLED)]
)
def test_calls_in_flight_finish_or_are_broken_off(
    people: Cast, sign_in, run: Run, action: str, state: RunState, in_flight: str, finish: bool
) -> None:
    answer = sign_in(people.ed).post(at(action, people, run), {"in_flight": in_flight})
    assert (answer.status_code, answer["Location"]) == (302, at("run", people, run))
    run.refresh_from_db()
    assert (run.state, run.finish_in_flight) == (state, finish)


def test_a_paused_run_offers_to_go_on_and_says_that_calls_still_come_in(
    people: Cast, sign_in, run: Run
) -> None:
    client = sign_in(people.ed)
    client.post(at("run_pause", people, run))
    RunItem.objects.filter(run=run).update(leased_until=timezone.now() + timedelta(seconds=60))
    assert "Answers to calls in flight still come in." in page_of(client, people, run)
    RunItem.objects.filter(run=run).update(leased_until=None)
    page = page_of(client, people, run)
    assert "still coming in" not in page
    assert "Resume: 3 items left" in page
    client.post(at("run_resume", people, run), {"only": "pending"})
    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def test_workers_have_their_line_from_the_start_and_none_once_all_is_in(
    people: Cast, sign_in, run: Run
) -> None:
    client = sign_in(people.ed)
    assert "Waiting for a worker." in page_of(client, people, run)
    RunTally.objects.create(
        run=run,
        team=run.team,
        worker="host:7",
        month=timezone.now().date().replace(day=1),
        beat_at=timezone.now(),
    )
    page = page_of(client, people, run)
    assert "<code>host:7</code>" in page
    assert "Waiting for a worker." not in page
    client.post(at("run_cancel", people, run))
    assert "host:7" not in page_of(client, people, run)


MAIN = re.compile(r'class="button button--primary[^>]*>\s*<svg.*?</svg>\s*([^<]*?)\s*<', re.DOTALL)


def main_buttons(client, people: Cast, run: Run) -> list[str]:
    """What stands out on the page, those in menus apart."""
    page = page_of(client, people, run)
    return MAIN.findall(re.sub(r'<div class="menu__panel.*?</details>', "", page, flags=re.DOTALL))


def test_the_one_main_button_is_what_makes_sense_next(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.ed)
    assert main_buttons(client, people, run) == ["Pause"]
    client.post(at("run_pause", people, run))
    assert main_buttons(client, people, run) == ["Resume: 3 items left"]
    client.post(at("run_resume", people, run), {"only": "pending"})
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    # Nobody has labelled its items: there is nothing to compare with yet.
    assert main_buttons(client, people, run) == ["Read the lowest"]
    assert "Open a review queue" in page_of(client, people, run)
    labels = b"item_id,criterion,rater,verdict\ngood,capital,zoe,MET\n"
    factories.import_labels(run.dataset, run.rubric_version, by=people.ed, data=labels, filename="labels.csv")
    assert "Open a review queue" not in page_of(client, people, run)
    assert main_buttons(client, people, run) == ["Read the lowest"]
    assert main_buttons(sign_in(people.bob), people, run) == ["Read the lowest"]


def test_after_a_dry_run_the_next_thing_is_all_of_it(people: Cast, sign_in, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(name="Dry run: capital answers")
    assert main_buttons(sign_in(people.ed), people, run) == ["Pause"]
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    assert main_buttons(sign_in(people.ed), people, run) == ["Grade them all"]


def test_only_who_may_edit_sees_buttons(people: Cast, sign_in, failed_twice: Run) -> None:
    for person, seen in ((people.ed, True), (people.bob, False)):
        page = page_of(sign_in(person), people, failed_twice)
        assert ("Retry 2 errors" in page) is seen
        assert ("Retry these" in page) is seen
        assert ('aria-label="Retry the errors of 2 Paris lies in Belgium, I believe."' in page) is seen


def test_errors_of_one_item_can_be_asked_again_by_a_click(people: Cast, sign_in, failed_twice: Run) -> None:
    bad = failed_twice.dataset.items.get(key="bad")
    sign_in(people.ed).post(at("run_resume", people, failed_twice), {"item": bad.pk})
    judge = InProcessJudge(lambda requirement, response: "UNMET")
    grade(failed_twice, judge)
    assert [response for _, response in judge.asked] == ["Paris lies in Belgium, I believe."]
    left = page_of(sign_in(people.ed), people, failed_twice)
    assert "refused" in left
    assert "timeout" not in left


def test_errors_of_a_kind_that_a_check_brought_along_can_be_asked_again(
    people: Cast, sign_in, failed_twice: Run
) -> None:
    client = sign_in(people.ed)
    answer = client.post(at("run_resume", people, failed_twice), {"kind": "no_licence"}, follow=True)
    assert "no_licence&#x27; is not a kind of error" in answer.content.decode()
    Judgement.objects.filter(run=failed_twice, error_kind="refused").update(error_kind="no_licence")
    client.post(at("run_resume", people, failed_twice), {"kind": "no_licence"})
    left = Judgement.objects.filter(run=failed_twice, error_kind__isnull=False)
    assert list(left.values_list("error_kind", flat=True)) == ["timeout"]


def test_an_item_that_is_not_in_the_run_is_refused_in_words(people: Cast, sign_in, failed_twice: Run) -> None:
    client = sign_in(people.ed)
    answer = client.post(at("run_resume", people, failed_twice), {"item": "999999"}, follow=True)
    assert "the id of an item in this run" in answer.content.decode()
    assert client.post(at("run_resume", people, failed_twice), {"item": "x"}).status_code == 400
    failed_twice.refresh_from_db()
    assert failed_twice.state == RunState.FINISHED


def test_items_that_came_later_are_offered_and_taken_in(people: Cast, sign_in, failed_twice: Run) -> None:
    client = sign_in(people.ed)
    assert "new item" not in page_of(client, people, failed_twice)
    factories.add_items(
        failed_twice.dataset,
        by=people.ed,
        data=b'{"id": "late", "submission": "Paris."}\n',
        filename="more.jsonl",
    )
    assert "Add 1 new item" in page_of(client, people, failed_twice)
    client.post(at("run_extend", people, failed_twice))
    failed_twice.refresh_from_db()
    assert (failed_twice.state, failed_twice.run_items.count()) == (RunState.RUNNING, 4)
    assert "new item" not in page_of(client, people, failed_twice)


def test_a_run_its_budget_has_paused_goes_on_with_another_one(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.ed)
    client.post(at("run_budget", people, run), {"budget_usd": "1"})
    services.pause_run(run, by=None, why="The next call would pass the run's budget.")
    page = page_of(client, people, run)
    assert "Paused: the budget is used up" in page
    assert "The next call would pass" in page
    assert "Raise the cap and resume" in page
    # Resuming alone would pause it again at once: the button that stands out is the one for the budget.
    controls = page[page.index('id="run-controls"') : page.index('id="run-live"')]
    standing_out = re.findall(r"button--primary[^>]*>(?:<svg.*?</svg>)?\s*(\w+)", controls, re.DOTALL)
    assert standing_out == ["Budget", "Set"]
    client.post(at("run_budget", people, run), {"budget_usd": "2.50", "resume": "1"})
    run.refresh_from_db()
    assert (run.state, run.budget_usd) == (RunState.RUNNING, 2.5)
    client.post(at("run_budget", people, run), {"budget_usd": ""})
    run.refresh_from_db()
    assert run.budget_usd is None
    # Against the cap of the month another budget of the run would not help.
    why = "The next call, about $0.01, would pass the team's budget of $5.00 for the month: $5.00 is spent."
    services.pause_run(run, by=None, why=why)
    page = page_of(client, people, run)
    assert "Paused: the team&#x27;s budget for the month is used up" in page
    assert "An owner of the team can raise it" in page
    assert main_buttons(client, people, run) == ["Resume: 3 items left"]


def test_another_budget_is_not_set_where_the_run_cannot_go_on_with_it(
    people: Cast, sign_in, run: Run
) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="passing", base_url="https://judge.example/v1", model="m"
    )
    Run.objects.filter(pk=run.pk).update(
        judge=replace(run.judge, id=f"endpoint-{endpoint.pk}"), endpoint=endpoint
    )
    client = sign_in(people.ed)
    client.post(at("run_budget", people, run), {"budget_usd": "0.004"})
    services.pause_run(run, by=None, why="The next call would pass the run's budget.")
    endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
    client.post(at("run_budget", people, run), {"budget_usd": "2.50", "resume": "1"})
    page = page_of(client, people, run)
    assert "was removed since the run started" in page
    run.refresh_from_db()
    assert (run.state, run.budget_usd) == (RunState.PAUSED, 0.004)
    assert "The budget was set to $0.0040 by Ed." in page
    assert "$2.50" not in page


def test_a_run_by_batch_says_so(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.ed)
    assert "by batch" not in page_of(client, people, run)
    Run.objects.filter(pk=run.pk).update(mode=RunMode.BATCH)
    assert "criterion by criterion, by batch" in page_of(client, people, run)


def test_while_a_provider_has_the_batch_it_is_its_turn_and_what_is_set_aside_is_shown(
    people: Cast, sign_in, run: Run
) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(mode=RunMode.BATCH, budget_usd=5.0)
    RunItem.objects.filter(run=run).update(leased_until=now + timedelta(days=2))
    job = BatchJob.objects.create(run=run, judge="one", provider_id="batch_1", requests=9)
    RunTally.objects.create(
        run=run,
        team=run.team,
        worker=f"batch:{job.pk}",
        month=now.date().replace(day=1),
        beat_at=now,
        reserved_usd=0.62,
    )
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page_of(sign_in(people.ed), people, run)))
    assert "In flight a batch with the provider" in page
    assert "fetches the answers once the provider has them" in page
    assert "no worker" not in page.lower()
    assert "Speed" not in page  # nobody asks
    assert "Spent $0.00 of $5.00 the run’s cap; $0.62 set aside" in page


@pytest.mark.parametrize("typed", ["much", "-1", "nan", "inf", "1e12", "1,5"])
def test_what_is_no_budget_is_refused_in_words(people: Cast, sign_in, run: Run, typed: str) -> None:
    client = sign_in(people.ed)
    answer = client.post(at("run_budget", people, run), {"budget_usd": typed}, follow=True)
    assert "US dollars from 0" in answer.content.decode()
    run.refresh_from_db()
    assert run.budget_usd is None


def test_a_poll_brings_figures_alone_until_the_run_is_in_another_phase(
    people: Cast, sign_in, run: Run, django_assert_max_num_queries
) -> None:
    client, htmx = sign_in(people.ed), {"HX-Request": "true"}
    live = at("run_live", people, run)
    client.get(live, {"seen": "running-moving"}, headers=htmx)
    # Session, person, membership, run; five for the progress; errors, log.
    with django_assert_max_num_queries(14):
        same = client.get(live, {"seen": "running-moving"}, headers=htmx).content.decode()
    assert 'id="run-live"' in same
    assert 'id="run-controls"' not in same
    services.pause_run(run, by=people.ed)
    answer = client.get(live, {"seen": "running-moving"}, headers=htmx)
    other = answer.content.decode()
    assert answer.status_code == 200  # it goes on slowly: somebody else may resume it
    assert "every 10s" in other
    swapped = {"run-state": "true", "run-actions": "true", "run-controls": "morph", "run-results": "true"}
    for name, how in swapped.items():
        assert f'id="{name}" hx-swap-oob="{how}"' in other


def test_the_log_says_what_was_decided_with_a_count_and_is_escaped(people: Cast, sign_in, run: Run) -> None:
    events.note(run.pk, "retried", "Asked again after <b>timeout</b>.", count=12)
    client = sign_in(people.bob)
    for page in (page_of(client, people, run), client.get(at("run_log", people, run)).content.decode()):
        assert "Asked again after &lt;b&gt;timeout&lt;/b&gt;." in page
        assert "× 12" in page
    for number in range(120):
        events.note(run.pk, "error", f"Something of ours broke: {number}.")
    first = client.get(at("run_log", people, run))
    assert len(first.context["page"].rows) == 100
    rest = client.get(at("run_log", people, run), {"cursor": first.context["page"].next_cursor})
    assert "Asked again" in rest.content.decode()
    assert client.get(at("run_log", people, run), {"cursor": "nonsense"}).status_code == 400


def test_listeners_are_told_tenths_not_every_item(people: Cast, sign_in, run: Run) -> None:
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    RunItem.objects.filter(pk=RunItem.objects.filter(run=run).latest("pk").pk).update(graded_at=None)
    # Two of three items are 66 %, said as 60 %.
    assert '<p class="visually-hidden" role="status">Finished: 60% graded.' in page_of(
        sign_in(people.bob), people, run
    )


def test_the_dashboard_shows_paused_runs_as_in_progress(people: Cast, sign_in, run: Run) -> None:
    services.pause_run(run, by=people.ed)
    page = sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug])).content.decode()
    assert "Needs you" in page
    assert "paused" in page
