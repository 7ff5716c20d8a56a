"""Runs at providers that keep the beginnings of prompts in a cache: what questions share is paid once."""

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone

from rubricweb.judges import beginnings
from rubricweb.judges.client.reply_formats import CACHE_TRIALS
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Fail, Hang, Lexical, PromptCache, Request, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import EndpointMemory, JudgeCall, JudgeEndpoint, Judgement, Run, RunState
from rubricweb.selectors.runs.progress import progress
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db(transaction=True)

CRITERIA = [{"name": f"c{n}", "weight": 1.0, "requirement": f"Says thing number {n}."} for n in range(10)]
PRICES = {"input_usd_per_million": 1.0, "cached_input_usd_per_million": 0.1, "output_usd_per_million": 1.0}


@pytest.fixture(autouse=True)
def private_hosts() -> Iterator[None]:
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True, JUDGE_MAX_ATTEMPTS=1, GRADING_SESSION_SECONDS=60):
        yield
        close_clients()


def long_text(word: str, words: int = 3_000) -> str:
    return " ".join(f"{word}{n}" for n in range(words))


def planned(
    people: Cast, url: str, texts: Sequence[str], *, votes: int = 0, cache_marks: bool = False, **options: Any
) -> Run:
    """A run over these submissions with ten criteria, at an endpoint of its own; or so many votes of it."""
    team, ed = people.team, people.ed
    name = f"judge {JudgeEndpoint.objects.count()}"
    judge_id = endpoints.add_endpoint(
        team, by=people.alice, name=name, base_url=url, model="m", cache_marks=cache_marks, **PRICES
    ).judge_id
    judges: dict[str, Any] = {"judge_id": judge_id}
    if votes:
        judges = {"judge_id": "", "panel": Panel(members=(PanelMember(judge_id),), repeats=votes)}
    items = [{"id": f"item {n}", "submission": text} for n, text in enumerate(texts)]
    return factories.run(
        team,
        ed,
        dataset=factories.dataset(team, ed, items=items, name=f"of {name}"),
        rubric_version=factories.version(team, ed, criteria=CRITERIA, title=f"by {name}"),
        **judges,
        **options,
    )


def graded(people: Cast, script: Script, texts: Sequence[str], **options: Any) -> Run:
    with running_server(script) as url:
        run = planned(people, url, texts, **options)
        while session.grade(run.pk, now=timezone.now):
            pass
        close_clients()
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    return run


def cold(cache: PromptCache) -> int:
    """Prompts of which nothing was in the cache."""
    return sum(not bill.cached for bill in cache.bills)


def test_ten_questions_about_one_item_pay_for_what_they_share_once(people: Cast) -> None:
    cache = PromptCache()
    run = graded(people, Script(Lexical(delay_seconds=0.05), prompt_cache=cache), [long_text("word")])
    tokens, paid = sum(bill.tokens for bill in cache.bills), sum(bill.paid for bill in cache.bills)
    # All ten in full is what they cost when they are sent at once: now one in full, nine nearly at a tenth.
    assert (len(cache.bills), cold(cache)) == (10, 1)
    assert paid <= 0.35 * tokens
    seen = progress(run, viewer=people.ed, now=timezone.now())
    cached = sum(bill.cached for bill in cache.bills)
    assert (seen.prompt_tokens, seen.cached_prompt_tokens) == (tokens, cached)
    # A cached token costs 0.1 instead of 1.0 a million.
    assert seen.cache_saved_usd == pytest.approx(0.9 * cached / 1e6)
    assert seen.cost_usd == pytest.approx((paid + (seen.completion_tokens or 0)) / 1e6)
    assert seen.cache_saved_share == pytest.approx(
        seen.cache_saved_usd / (seen.cost_usd + seen.cache_saved_usd)
    )


def test_one_question_of_every_item_goes_ahead_also_with_repeats_of_a_panel(people: Cast) -> None:
    cache = PromptCache()
    script = Script(Lexical(delay_seconds=0.02), prompt_cache=cache)
    graded(people, script, [long_text(word) for word in ("oak", "elm", "ash")], votes=3)
    # Ten criteria, three times each, of three items: 90 prompts, and one of each item is cold.
    assert (len(cache.bills), cold(cache)) == (90, 3)


def test_a_provider_that_caches_nothing_is_found_out_and_not_waited_for(people: Cast) -> None:
    # It needs a longer beginning than any prompt here has.
    cache = PromptCache(least_tokens=10**6)
    script = Script(Lexical(delay_seconds=0.01), prompt_cache=cache)
    graded(people, script, [long_text(word, 1_200) for word in ("oak", "elm", "ash", "fir")])
    known = EndpointMemory.objects.get().habits
    longest = max(bill.tokens for bill in cache.bills)
    # Nine of each item's ten could have been cached: CACHE_TRIALS of these 36 were enough to learn it.
    assert CACHE_TRIALS <= 36
    assert known["has_cached"] is False
    assert 2 * 1024 < known["cached_from"] <= 2 * longest


def test_a_provider_that_caches_is_remembered_for_other_workers(people: Cast) -> None:
    script = Script(Lexical(delay_seconds=0.01), prompt_cache=PromptCache())
    graded(people, script, [long_text("word")])
    assert EndpointMemory.objects.get().habits["has_cached"] is True


@pytest.mark.parametrize("first", [Fail(400, "no such luck"), Hang(0.5)], ids=["refused", "broken off"])
def test_the_others_go_on_when_the_one_ahead_gets_no_answer(people: Cast, first: Action) -> None:
    def answer(request: Request) -> Action:
        return first if request.number == 1 else Lexical()

    run = graded(people, Script(answer, prompt_cache=PromptCache()), [long_text("word")])
    assert Judgement.objects.filter(run=run, error_kind=None).count() == 9
    assert Judgement.objects.filter(run=run).exclude(error_kind=None).count() == 1


def test_the_others_do_not_wait_longer_than_an_answer_takes_to_begin(
    people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginnings, "FIRST_TOKEN_SECONDS", 0.1)
    answered_before_the_first = []

    def answer(request: Request) -> Action:
        if request.number == 1:
            return Hang(3.0)
        answered_before_the_first.append(script.in_flight)
        return Lexical()

    script = Script(answer)
    run = graded(people, script, [long_text("word")])
    # The first was still unanswered when the second came: two were in flight then.
    assert answered_before_the_first[0] >= 2
    assert Judgement.objects.filter(run=run, error_kind=None).count() == 9


def test_marks_are_sent_where_the_endpoint_wants_them_and_are_not_in_what_is_stored(people: Cast) -> None:
    cache = PromptCache(marked_only=True)
    script = Script(Lexical(delay_seconds=0.02), prompt_cache=cache)
    run = graded(people, script, [long_text("word")], cache_marks=True)
    assert (len(cache.bills), cold(cache)) == (10, 1)
    sent = script.requests[0].body["messages"][1]["content"]
    assert sent[0]["cache_control"] == {"type": "ephemeral"}
    assert sent[0]["text"].endswith("</response>\n\n")  # all that is about the item, and no more
    # Stored is the text, as it was without the mark.
    [call] = JudgeCall.objects.filter(run=run)[:1]
    assert call.request is not None
    assert json.loads(zlib.decompress(call.request))["messages"][1]["content"] in {
        "".join(part["text"] for part in request.body["messages"][1]["content"])
        for request in script.requests
    }


def test_without_marks_such_a_provider_caches_nothing(people: Cast) -> None:
    cache = PromptCache(marked_only=True)
    graded(people, Script(Lexical(delay_seconds=0.02), prompt_cache=cache), [long_text("word")])
    assert cold(cache) == 10


def test_an_endpoint_that_refuses_marks_is_asked_without(people: Cast) -> None:
    def answer(request: Request) -> Action:
        if isinstance(request.body["messages"][1]["content"], list):
            return Fail(400, "messages.1.content: Input should be a valid string")
        return Lexical()

    run = graded(people, Script(answer), [long_text("word")], cache_marks=True)
    assert Judgement.objects.filter(run=run, error_kind=None).count() == 10
    assert EndpointMemory.objects.get().habits["without"] == ["cache_control"]
