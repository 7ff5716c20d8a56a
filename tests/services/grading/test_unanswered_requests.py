"""Requests never answered, and answers that do not say what they used: both count against the caps."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Drop, Garbage, Hang, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeCall, Run, RunEvent, RunState, RunTally
from rubricweb.selectors.runs.progress import progress
from tests import factories
from tests.factories import Cast
from tests.judges.completion import completion
from tests.worlds.priced_room import MET, graded

pytestmark = pytest.mark.django_db(transaction=True)

# Tokens out at 1,000 a million and none in: a call of at most 100 of them costs at most 0.1.
MOST_USD = 0.1
PROSE_WITHOUT_USAGE = Garbage('{"choices": [{"message": {"role": "assistant", "content": "I like it."}}]}')


@pytest.fixture(autouse=True)
def no_connection_outlives_its_test() -> Iterator[None]:
    yield
    close_clients()


def started(
    people: Cast,
    url: str,
    *,
    items: int,
    timeout_seconds: float = 60.0,
    output_usd_per_million: float = 1000.0,
    **options: object,
) -> Run:
    """A run of one question for each item, asked one after another and each at most three times."""
    judge = JudgeConfig(
        name="judge",
        base_url=url,
        model="m",
        allow_private_hosts=True,
        concurrency=1,
        timeout_seconds=timeout_seconds,
        max_attempts=3,
        backoff_seconds=0.001,
        max_output_tokens=100,
        input_usd_per_million=0.0,
        output_usd_per_million=output_usd_per_million,
    )
    rows = [{"id": f"i{n}", "submission": f"Town {n} is nice."} for n in range(items)]
    criteria = [{"name": "town", "weight": 1.0, "requirement": "Names a town."}]
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=rows),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
        judge_id="command-line",
        judge=judge,
        **options,
    )


@pytest.mark.parametrize(
    ("silence", "timeout_seconds", "kind"), [(Hang(), 0.2, "timeout"), (Drop(), 60.0, "connection")]
)
def test_every_request_without_an_answer_is_booked_as_lost(
    people: Cast, silence: Action, timeout_seconds: float, kind: str
) -> None:
    with running_server(Script(silence)) as url:
        run = graded(started(people, url, items=2, timeout_seconds=timeout_seconds))
        close_clients()
    assert run.state == RunState.FINISHED
    assert set(JudgeCall.objects.filter(run=run).values_list("error_kind", "cost_usd")) == {(kind, None)}
    tally = RunTally.objects.get(run=run)
    # 2 questions were sent 3 times each: 6 × 0.1.
    assert (tally.attempts, tally.lost_calls) == (6, 6)
    assert tally.lost_at_most_usd == pytest.approx(6 * MOST_USD)
    assert (tally.cost_usd, tally.unpriced, tally.at_risk_calls, tally.at_risk_usd) == (0.0, 0, 0, 0.0)
    # 6 once or 3 twice, as the two questions were stored together or one after the other.
    [lost] = RunEvent.objects.filter(run=run, kind="lost")
    requests, _ = lost.message.split(" requests had no answer or were cut off;")
    assert int(requests) * lost.count == 6


def test_requests_without_an_answer_are_lost_beside_what_the_answer_after_them_cost(people: Cast) -> None:
    script = Script(Drop(), Drop(), Say(MET, prompt_tokens=100, completion_tokens=10))
    with running_server(script) as url:
        run = graded(started(people, url, items=1))
        close_clients()
    tally = RunTally.objects.get(run=run)
    # 10 tokens at 1,000 a million; two requests before them of at most 0.1 each.
    assert (tally.calls, tally.cost_usd) == (1, pytest.approx(0.01))
    assert (tally.lost_calls, tally.lost_at_most_usd) == (2, pytest.approx(2 * MOST_USD))


def test_a_request_that_reached_nobody_loses_nothing(people: Cast) -> None:
    run = graded(started(people, "http://127.0.0.1:9/v1", items=2))
    tally = RunTally.objects.get(run=run)
    assert (tally.attempts, tally.lost_calls, tally.lost_at_most_usd, tally.at_risk_calls) == (6, 0, 0.0, 0)


def test_a_cap_stops_a_run_whose_requests_nobody_answers(people: Cast) -> None:
    with running_server(Script(Hang())) as url:
        run = graded(started(people, url, items=40, timeout_seconds=0.2, budget_usd=1.0))
        close_clients()
    assert run.state == RunState.PAUSED
    assert "at most $" in run.stop_reason
    tally = RunTally.objects.get(run=run)
    # Of 3 requests a question, 12 are beyond 1 / 0.1; one more question may be on its way when that is seen.
    assert 12 <= tally.attempts <= 15
    assert (tally.lost_calls, tally.reserved_usd) == (tally.attempts, 0.0)


def test_a_cap_stops_a_run_whose_answers_do_not_say_what_they_used(people: Cast) -> None:
    with running_server(Script(PROSE_WITHOUT_USAGE)) as url:
        run = graded(started(people, url, items=10, budget_usd=1.0))
        close_clients()
    assert run.state == RunState.PAUSED
    assert set(JudgeCall.objects.filter(run=run).values_list("error_kind", "cost_usd")) == {
        ("unreadable_reply", None)
    }
    tally = RunTally.objects.get(run=run)
    # Each of 3 answers to a question counts 0.1; the fifth question does not fit beside 4 × 0.3.
    assert (tally.calls, tally.attempts, tally.unpriced, tally.lost_calls) == (4, 12, 4, 0)
    assert (tally.cost_usd, tally.reserved_usd) == (pytest.approx(1.2), 0.0)


@pytest.mark.parametrize("says", [completion(MET, usage=None), PROSE_WITHOUT_USAGE])
def test_a_judge_at_a_price_of_0_costs_nothing_though_it_does_not_say_what_it_used(
    people: Cast, says: Action
) -> None:
    with running_server(Script(says)) as url:
        run = graded(started(people, url, items=3, output_usd_per_million=0.0, budget_usd=1.0))
        close_clients()
    assert run.state == RunState.FINISHED
    assert set(JudgeCall.objects.filter(run=run).values_list("cost_usd", flat=True)) == {0.0}
    tally = RunTally.objects.get(run=run)
    assert (tally.calls, tally.unpriced, tally.cost_usd) == (3, 0, 0.0)
    seen = progress(run, viewer=None, now=timezone.now())
    assert (seen.calls, seen.unpriced, seen.cost_usd) == (3, 0, 0.0)
